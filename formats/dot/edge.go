package dot

import "github.com/wavefold/wavefold/core"

// edges adds the edges of a chain: what is said of them holds for each.
func (l *loader) edges(d drawnEdges) {
	s := l.settings(d.attributes, "edge "+d.ids[0].Value+" -> "+d.ids[1].Value)
	e := core.Edge{Label: l.labelText(s.subject, s.text("label")), LoopRestart: s.flag("loop_restart"), Freeform: s.flag("freeform")}
	if w := s.anyNumber("weight"); w != nil {
		e.Weight = *w
	}
	l.condition(&e, s)
	l.fidelity(s)
	e.Attributes = s.attributes(&edgePlace, "")
	for i := range len(d.ids) - 1 {
		one := e
		one.From, one.To, one.Pos = d.ids[i], d.ids[i+1], d.ids[i].Pos
		l.w.Edges = append(l.w.Edges, &one)
	}
}

// condition reads the condition of edges. One that is blank is none.
func (l *loader) condition(e *core.Edge, s *settings) {
	when := s.text("condition")
	if when.Value == "" {
		return
	}
	e.When = &when
	tree, ds := parseCondition(when)
	for _, d := range ds {
		if d.Code == core.CodeOrphanOutcome { // the same word is on many edges
			if l.said[d.Message] {
				continue
			}
			l.said[d.Message] = true
		}
		d.Message = s.subject + ": " + d.Message
		l.ds = append(l.ds, d)
	}
	if tree == nil {
		e.Lost = core.Lost{"when"}
		return
	}
	e.Parsed = tree
}
