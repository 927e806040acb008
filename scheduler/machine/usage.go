package machine

import "github.com/wavefold/wavefold/core"

// addUsageOf adds the usage of models of an accepted answer, whatever its outcome is.
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

// addUsage adds to the usage of a node.
func (f *frame) addUsage(node int32, u core.Usage) {
	if u == (core.Usage{}) {
		return
	}
	if f.Usage == nil {
		f.Usage = map[int32]core.Usage{}
	}
	f.Usage[node] = f.Usage[node].Plus(u)
}

// totalUsage returns the usage of all nodes.
func (f *frame) totalUsage() (sum core.Usage) {
	if f.Usage == nil {
		return sum
	}
	for i := range f.p.Nodes { // in a fixed order, because costs are floating-point numbers
		sum = sum.Plus(f.Usage[int32(i)])
	}
	return sum
}
