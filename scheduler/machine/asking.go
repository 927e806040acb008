package machine

import (
	"cmp"
	"slices"
)

// asking is a vertex that is about to ask a person. It needs no slot, so that the question does
// not wait for handlers that have nothing to do with it.
type asking struct {
	f *frame
	v int32
}

// ask begins the vertices that ask a person, in canonical order.
func (m *Machine) ask() {
	if len(m.asking) > 0 {
		m.askAll()
	}
}

func (m *Machine) askAll() {
	list := m.asking
	m.asking = nil
	slices.SortFunc(list, func(a, b asking) int {
		return cmp.Or(cmp.Compare(a.f.ID, b.f.ID), cmp.Compare(a.f.rank(a.v), b.f.rank(b.v)))
	})
	for _, a := range list {
		if f := a.f; f.v[a.v].Phase == startable && !f.Stopped {
			f.startPlain(a.v)
			f.propagate()
			m.notifyParents(f)
		}
	}
}

// addStartable makes a startable vertex begin: at once if it asks a person, otherwise when it gets
// a slot.
func (f *frame) addStartable(v int32) {
	if f.p.Vertices[v].Asks && f.asksNow(v) {
		f.m.asking = append(f.m.asking, asking{f, v})
		return
	}
	f.ready.add(f.rank(v))
}

// asksNow reports whether what begins at a vertex is a question. After the pause before its first
// attempt an execution needs a slot.
func (f *frame) asksNow(v int32) bool {
	return f.p.Nodes[f.p.Vertices[v].Node].Asks || pausesFirst(plainNode{f, v})
}
