package machine

import "slices"

// asking is a vertex that is about to ask a person. It needs no slot, so that the question does
// not wait for handlers that have nothing to do with it.
type asking struct {
	f *frame
	v int32
}

// ask begins the vertices that ask a person, in canonical order, until none is left: a question that
// cannot be asked ends its vertex, which may make others begin.
func (m *Machine) ask() {
	for len(m.asking) > 0 {
		m.askAll()
	}
}

func (m *Machine) askAll() {
	list := m.asking
	m.asking = nil
	slices.SortFunc(list, func(a, b asking) int { return slices.Compare(a.position(), b.position()) })
	for _, a := range list {
		if f := a.f; f.v[a.v].Phase == startable && !f.Stopped {
			f.startPlain(a.v)
			f.propagate()
			m.notifyParents(f)
		}
	}
}

// position returns the canonical position in the whole run: the ranks of the vertices around it and
// of its own, from the outside in, each followed by the number of the item, row, round or visit.
func (a asking) position() []int32 {
	list := []int32{0, a.f.rank(a.v)}
	for f := a.f; f.parent != nil; f = f.parent {
		list = append(list, f.Owner.From, f.parent.rank(f.vertexInParent()))
	}
	slices.Reverse(list)
	return list
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
