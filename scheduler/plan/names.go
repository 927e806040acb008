package plan

import (
	"cmp"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// place names a part of a document as messages begin: "node build: reads". The string is built only
// when it is needed, because building it cost more than everything else that a valid node needs.
type place struct {
	what string // "node", "edge", "pipeline", "loop", "graph"; "" for the document
	id   string
	to   string // the other end of an edge
	part string
}

// String returns the words that a message begins with.
func (s place) String() string {
	if s.what == "" {
		return s.part
	}
	text := s.what
	if s.what != "graph" { // of which there is one
		text += " " + cmp.Or(s.id, "?")
	}
	if s.what == "edge" {
		text += " -> " + cmp.Or(s.to, "?")
	}
	if s.part != "" {
		text += ": " + s.part
	}
	return text
}

// at returns a part of a place.
func (s place) at(part string) place {
	s.part = part
	return s
}

// sub returns a member of the part.
func (s place) sub(key string) place {
	s.part += "." + key
	return s
}

// key returns a key of the place, or of its part if it has one.
func (s place) key(key string) place {
	if s.part == "" {
		return s.at(key)
	}
	return s.sub(key)
}

// documentPlace returns a key of the document.
func documentPlace(key string) place { return place{part: key} }

func nodePlace(id string) place { return place{what: "node", id: id} }

func edgePlace(e *core.Edge) place { return place{what: "edge", id: e.From.Value, to: e.To.Value} }

// isID reports whether a name consists of letters, digits and underscores, and does not begin with
// a digit.
func isID(s string) bool {
	for i := range len(s) {
		b := s[i]
		letter := b == '_' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
		if !letter && (i == 0 || b < '0' || b > '9') {
			return false
		}
	}
	return s != ""
}

func (c *compiler) badID(what string, id source.Text) {
	rule := "letters, digits and underscore, not starting with a digit"
	switch m := c.p.Mode; {
	case what != "node":
	case modelRouted(c.w):
		rule = "letters, digits, underscore and dash"
	case m != nil && m.nodes.idRule != "":
		rule = m.nodes.idRule
	}
	d := c.ds.Errorf(source.CodeBadID, id.Pos, "%s %q: a name is %s", what, id.Value, rule)
	if fixed := wellFormed(id.Value); strings.Trim(fixed, "_") != "" {
		d.WithHint("for example %q", fixed)
	}
}

// wellFormed returns the corrected form of a malformed name.
func wellFormed(name string) string {
	fixed := strings.Map(func(r rune) rune {
		if !isID("a" + string(r)) {
			return '_'
		}
		return r
	}, name)
	if !isID(fixed) {
		fixed = "_" + fixed
	}
	return fixed
}

// hint adds a suggestion while there are few findings.
func (c *compiler) hint(d *source.Diagnostic, word string, names func() []string) {
	if len(c.ds) <= message.MaxHinted {
		d.WithHint("%s", message.Near(word, names()))
	}
}

// fieldIndex returns the index of a field and reports a field that is not declared.
func (c *compiler) fieldIndex(name source.Text, at place) (int32, bool) {
	i, ok := c.p.Schema.Index(name.Value)
	if ok {
		c.fieldUsed[i] = true
	} else if !c.invalid.has(expressions.RootState, name.Value) {
		d := c.ds.Errorf(source.CodeUnknownField, name.Pos, "%s: state field %q is not declared", at, name.Value)
		c.hint(d, name.Value, c.p.Schema.FieldNames)
	}
	return int32(i), ok
}

// nodeRef returns the index of a node and reports a node that does not exist.
func (c *compiler) nodeRef(id source.Text, at place) (int32, bool) {
	i, ok := c.p.nodeIndex[id.Value]
	if !ok && !c.invalid.has(expressions.RootNodes, id.Value) {
		d := c.ds.Errorf(source.CodeUnknownNode, id.Pos, "%s: unknown node %q", at, id.Value)
		c.hint(d, id.Value, c.nodeIDs)
	}
	return i, ok
}

// nodeIDs lists the ids of all nodes in declared order.
func (c *compiler) nodeIDs() []string {
	if c.ids == nil {
		c.ids = make([]string, len(c.w.Nodes))
		for i, n := range c.w.Nodes {
			c.ids[i] = n.ID.Value
		}
	}
	return c.ids
}

// code returns the code with which the mode of the workflow reports a finding.
func (c *compiler) code(code source.Code) source.Code {
	if c.ownCode == nil {
		return code
	}
	return c.ownCode(code)
}
