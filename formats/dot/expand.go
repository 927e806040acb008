package dot

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wavefold/wavefold/core"
)

// drawn is a graph with its defaults and groups resolved: each node once, with all its
// attributes.
type drawn struct {
	attributes *attributeSet
	nodes      []*drawnNode
	edges      []drawnEdges
	idle       []*attribute // what groups say of themselves beside their label
}

type drawnNode struct {
	id         core.Text // where it is declared, or first mentioned
	declared   bool
	attributes *attributeSet
	classes    []core.Text // of the groups it is in
	inClass    map[string]bool
}

// drawnEdges are edges from each of the ids to the next, with the same attributes.
type drawnEdges struct {
	ids        []core.Text
	attributes *attributeSet
}

// attributeSet is what is said of one thing: each key once, in the order in which the
// keys came; the last value wins.
type attributeSet struct {
	list  []attribute
	taken []bool         // parallel to list: what the loader has a meaning for
	index map[string]int // nil while there are few
}

// indexFrom is the number of attributes from which a set keeps a map.
const indexFrom = 16

func (s *attributeSet) find(key string) int {
	if s.index != nil {
		if i, ok := s.index[key]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(s.list, func(a attribute) bool { return a.key.Value == key })
}

func (s *attributeSet) set(a attribute) {
	if i := s.find(a.key.Value); i >= 0 {
		s.list[i] = a
		return
	}
	s.list = append(s.list, a)
	switch n := len(s.list); {
	case s.index != nil:
		s.index[a.key.Value] = n - 1
	case n >= indexFrom:
		s.reindex()
	}
}

// reindex makes the map of a set that is large enough for one.
func (s *attributeSet) reindex() {
	s.index = make(map[string]int, 2*len(s.list))
	for i, a := range s.list {
		s.index[a.key.Value] = i
	}
}

// clone returns a copy that can be added to.
func (s *attributeSet) clone() *attributeSet {
	c := &attributeSet{list: slices.Clone(s.list)}
	if len(s.list) >= indexFrom {
		c.reindex()
	}
	return c
}

// take returns the attribute of a key, nil for none, and notes that it has a meaning.
func (s *attributeSet) take(key string) *attribute {
	i := s.find(key)
	if i < 0 {
		return nil
	}
	if s.taken == nil {
		s.taken = make([]bool, len(s.list))
	}
	s.taken[i] = true
	return &s.list[i]
}

// has reports whether there is an attribute of a key that nobody has taken.
func (s *attributeSet) has(key string) bool {
	i := s.find(key)
	return i >= 0 && (s.taken == nil || !s.taken[i])
}

// keep takes back that an attribute has a meaning: it is to be kept as it is.
func (s *attributeSet) keep(key string) {
	if i := s.find(key); i >= 0 && s.taken != nil {
		s.taken[i] = false
	}
}

// rest yields the attributes that nobody has taken.
func (s *attributeSet) rest(yield func(a *attribute) bool) {
	for i := range s.list {
		if (s.taken == nil || !s.taken[i]) && !yield(&s.list[i]) {
			return
		}
	}
}

// expander resolves defaults and groups.
type expander struct {
	out     drawn
	byID    map[string]*drawnNode
	applied int // values given by defaults
	parts   int // nodes and edges
	ds      core.Diagnostics
	full    bool // maxApplied is exceeded
	crowded bool // maxParts is exceeded
}

// scope is what holds for the statements of one body.
type scope struct {
	nodes, edges *attributeSet // defaults
	class        core.Text     // of the group
	root         bool
}

func expand(g *graph) (drawn, core.Diagnostics) {
	e := &expander{byID: map[string]*drawnNode{}}
	e.out.attributes = &attributeSet{}
	e.body(g.body, scope{nodes: &attributeSet{}, edges: &attributeSet{}, root: true})
	if e.crowded { // nobody wants to read what else is wrong with them
		e.out.nodes, e.out.edges = nil, nil
	}
	return e.out, e.ds
}

// body works through statements. Defaults of a group hold from its beginning, wherever
// in it they stand; those of the graph hold from where they stand.
func (e *expander) body(body []statement, s scope) {
	if !s.root {
		for _, st := range body {
			e.ofGroup(st, &s)
		}
	}
	for _, st := range body {
		switch st := st.(type) {
		case *defaults:
			if s.root {
				e.defaults(st, &s)
			}
		case *attribute:
			if s.root {
				e.out.attributes.set(*st)
			}
		case *chain:
			e.chain(st, s)
		case *group:
			e.body(st.body, scope{nodes: s.nodes, edges: s.edges})
		}
	}
}

// ofGroup takes the defaults and the label out of a statement of a group, and notes the other
// attributes.
func (e *expander) ofGroup(st statement, s *scope) {
	switch st := st.(type) {
	case *defaults:
		if st.of != "graph" {
			e.defaults(st, s)
			return
		}
		for _, a := range st.attributes {
			e.ofGroup(a, s)
		}
	case *attribute:
		if st.key.Value == "label" {
			s.class = core.At(className(st.value.text.Value), st.value.text.Pos)
		} else if !forDrawing(st.key.Value, st.value.text.Value) {
			e.out.idle = append(e.out.idle, st)
		}
	}
}

func (e *expander) defaults(d *defaults, s *scope) {
	switch d.of {
	case "node":
		s.nodes = e.with(s.nodes, d.attributes)
	case "edge":
		s.edges = e.with(s.edges, d.attributes)
	default:
		for _, a := range d.attributes {
			e.out.attributes.set(*a)
		}
	}
}

// with returns a set with further attributes; the set itself stays as it is.
func (e *expander) with(s *attributeSet, more []*attribute) *attributeSet {
	if len(more) == 0 {
		return s
	}
	out := e.apply(s)
	for _, a := range more {
		given := *a
		given.byDefault = true
		out.set(given)
	}
	return out
}

// apply returns a copy of defaults, none once there were too many.
func (e *expander) apply(s *attributeSet) *attributeSet {
	if e.applied += len(s.list); e.applied <= maxApplied {
		return s.clone()
	}
	if !e.full {
		e.full = true
		e.ds.Errorf(core.CodeLimit, s.list[0].key.Pos, "defaults give more than %d values to nodes and edges", maxApplied)
	}
	return &attributeSet{}
}

// room reports whether there may be n more nodes or edges.
func (e *expander) room(n int, pos core.Position) bool {
	if e.parts += n; e.parts > maxParts && !e.crowded {
		e.crowded = true
		e.ds.Errorf(core.CodeLimit, pos, "the graph has more than %d nodes and edges", maxParts)
	}
	return !e.crowded
}

func (e *expander) chain(c *chain, s scope) {
	if !e.room(len(c.ids)-1, c.ids[0].Pos) {
		return
	}
	for _, id := range c.ids {
		n := e.node(id, s)
		if n == nil {
			return
		}
		if len(c.ids) > 1 {
			continue
		}
		if !n.declared {
			n.id, n.declared = id, true
		}
		for _, a := range c.attributes {
			n.attributes.set(*a)
		}
	}
	if len(c.ids) > 1 {
		set := e.apply(s.edges)
		for _, a := range c.attributes {
			set.set(*a)
		}
		e.out.edges = append(e.out.edges, drawnEdges{ids: c.ids, attributes: set})
	}
}

// node returns the node of an id, made if it is new, and gives it the class of the
// group. It is nil when there is no room for it.
func (e *expander) node(id core.Text, s scope) *drawnNode {
	n := e.byID[id.Value]
	if n == nil {
		if !e.room(1, id.Pos) {
			return nil
		}
		n = &drawnNode{id: id, attributes: e.apply(s.nodes)}
		e.byID[id.Value] = n
		e.out.nodes = append(e.out.nodes, n)
	}
	if s.class.Value != "" && !n.inClass[s.class.Value] {
		if n.inClass == nil {
			n.inClass = map[string]bool{}
		}
		n.inClass[s.class.Value] = true
		n.classes = append(n.classes, s.class)
	}
	return n
}

// className makes a class of the label of a group: lower case, dashes for blanks,
// without other signs.
func className(label string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '-'
		case r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, label)
}
