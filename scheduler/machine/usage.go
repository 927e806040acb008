package machine

import "github.com/wavefold/wavefold/core"

// This file keeps the books of the calls to models. What an answer took counts whatever
// becomes of it.

// account takes in that an answer was accepted.
func (f *frame) addUsageOf(e *Event) {
	if e.Kind != Finished || e.ID.Node < 0 {
		return
	}
	if e.Outcome.Usage != nil {
		f.addUsage(e.ID.Node, *e.Outcome.Usage)
	}
	if !f.p.Nodes[e.ID.Node].Models {
		return
	}
	for i := range e.Items {
		if u := e.Items[i].Usage; u != nil {
			f.addUsage(e.ID.Node, *u)
		}
	}
}

// charge adds to what the calls of a node took.
func (f *frame) addUsage(node int32, u core.Usage) {
	if u == (core.Usage{}) {
		return
	}
	if f.Usage == nil {
		f.Usage = map[int32]core.Usage{}
	}
	f.Usage[node] = f.Usage[node].Plus(u)
}

// totalUsage is what the calls of all nodes took.
func (f *frame) totalUsage() (sum core.Usage) {
	if f.Usage == nil {
		return sum
	}
	for i := range f.p.Nodes { // costs are added in one order
		sum = sum.Plus(f.Usage[int32(i)])
	}
	return sum
}
