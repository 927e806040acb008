package dot

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/internal/condition"
)

// edges adds the edges of a chain. Its attributes apply to each edge.
func (l *loader) edges(d expandedEdges) {
	s := l.settings(d.attributes, "edge "+d.ids[0].Value+" -> "+d.ids[1].Value)
	e := core.Edge{Label: l.labelText(s.subject, s.text("label")), LoopRestart: s.flag("loop_restart"), Freeform: s.flag("freeform")}
	if w := s.anyNumber("weight"); w != nil {
		e.Weight = *w
	}
	l.condition(&e, s)
	e.Fidelity = l.fidelity(s)
	l.hintUnusedFidelity(s, d)
	l.hintUnusedFreeform(s, d, e.Freeform)
	e.Attributes = s.attributes(&edgeTable, "")
	for i := range len(d.ids) - 1 {
		one := e
		one.From, one.To, one.Pos = d.ids[i], d.ids[i+1], d.ids[i].Pos
		l.w.Edges = append(l.w.Edges, &one)
	}
}

// hintUnusedFidelity adds a hint if an edge has a fidelity but leads to no node that
// asks a model, unless the attribute is a default of all edges.
func (l *loader) hintUnusedFidelity(s *settings, d expandedEdges) {
	i := s.find("fidelity")
	if i < 0 || s.list[i].fromDefaults || slices.ContainsFunc(d.ids[1:], func(id source.Text) bool { return l.modelNodes[id.Value] }) {
		return
	}
	l.ds.Warnf(source.CodeIgnored, s.list[i].key.Pos, `%s: attribute "fidelity" has no effect on the way to a node that asks no model`, s.subject).Severity = source.Hint
}

// hintUnusedFreeform adds a hint if a freeform edge does not leave a human gate, unless
// the attribute is a default of all edges.
func (l *loader) hintUnusedFreeform(s *settings, d expandedEdges, freeform bool) {
	i := s.find("freeform")
	if !freeform || s.list[i].fromDefaults || !slices.ContainsFunc(d.ids[:len(d.ids)-1], func(id source.Text) bool { return !l.humanNodes[id.Value] }) {
		return
	}
	l.ds.Warnf(source.CodeIgnored, s.list[i].key.Pos, `%s: attribute "freeform" has no effect on an edge out of a node that asks no person`, s.subject).Severity = source.Hint
}

// condition parses the condition of edges. A blank string is not a condition.
func (l *loader) condition(e *core.Edge, s *settings) {
	when := s.text("condition")
	if when.Value == "" {
		return
	}
	e.When = &when
	tree, ds := condition.Parse(when)
	for _, d := range ds {
		if d.Code == source.CodeOrphanOutcome { // many edges use the same word, so it is reported once
			if l.reported[d.Message] {
				continue
			}
			l.reported[d.Message] = true
		}
		d.Message = s.subject + ": " + d.Message
		l.ds = append(l.ds, d)
	}
	if tree == nil {
		e.Lost = source.Lost{"when"}
		return
	}
	e.Parsed = tree
}
