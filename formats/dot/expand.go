package dot

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wavefold/wavefold/core/source"
)

// expandedGraph is a graph with its defaults and groups resolved. It contains each node
// once, with all attributes of the node.
type expandedGraph struct {
	attributes      *attributeSet
	nodes           []*expandedNode
	edges           []expandedEdges
	groupAttributes []*attribute // attributes of groups other than label, which have no effect
}

type expandedNode struct {
	id         source.Text // position of the declaration, or of the first mention
	declared   bool
	attributes *attributeSet
	classes    []source.Text // from the groups that contain the node
	inClass    map[string]bool
}

// expandedEdges are edges from each of the ids to the next, with the same attributes.
type expandedEdges struct {
	ids        []source.Text
	attributes *attributeSet
}

// attributeSet holds the attributes of one node, edge or graph in the order in which
// their keys first appeared. Of several values for a key, the last one wins.
type attributeSet struct {
	list  []attribute
	used  []bool         // parallel to list: whether the loader uses the attribute
	index map[string]int // nil if there are fewer than indexFrom attributes
}

// indexFrom is the number of attributes from which a set keeps an index.
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

// reindex rebuilds the index.
func (s *attributeSet) reindex() {
	s.index = make(map[string]int, 2*len(s.list))
	for i, a := range s.list {
		s.index[a.key.Value] = i
	}
}

// clone returns an independent copy. All attributes of the copy are unused.
func (s *attributeSet) clone() *attributeSet {
	c := &attributeSet{list: slices.Clone(s.list)}
	if len(s.list) >= indexFrom {
		c.reindex()
	}
	return c
}

// take returns the attribute with the given key and marks it as used. It returns nil if
// there is none.
func (s *attributeSet) take(key string) *attribute {
	i := s.find(key)
	if i < 0 {
		return nil
	}
	if s.used == nil {
		s.used = make([]bool, len(s.list))
	}
	s.used[i] = true
	return &s.list[i]
}

// hasUnused reports whether the set has an unused attribute with the given key.
func (s *attributeSet) hasUnused(key string) bool {
	i := s.find(key)
	return i >= 0 && (s.used == nil || !s.used[i])
}

// keep marks an attribute as unused, so that it is kept in its source form.
func (s *attributeSet) keep(key string) {
	if i := s.find(key); i >= 0 && s.used != nil {
		s.used[i] = false
	}
}

// unused yields the unused attributes.
func (s *attributeSet) unused(yield func(a *attribute) bool) {
	for i := range s.list {
		if (s.used == nil || !s.used[i]) && !yield(&s.list[i]) {
			return
		}
	}
}

// expander resolves defaults and groups.
type expander struct {
	out            expandedGraph
	byID           map[string]*expandedNode
	applied        int // number of values set by defaults
	parts          int // number of nodes and edges
	ds             source.Diagnostics
	tooManyApplied bool // maxApplied is exceeded
	tooManyParts   bool // maxParts is exceeded
}

// scope holds the settings that apply to the statements of one body.
type scope struct {
	nodes, edges *attributeSet // defaults
	class        source.Text   // derived from the label of the group
	root         bool
}

func expand(g *graph) (expandedGraph, source.Diagnostics) {
	e := &expander{byID: map[string]*expandedNode{}}
	e.out.attributes = &attributeSet{}
	e.body(g.body, scope{nodes: &attributeSet{}, edges: &attributeSet{}, root: true})
	if e.tooManyParts { // further findings about such a graph would not be useful
		e.out.nodes, e.out.edges = nil, nil
	}
	return e.out, e.ds
}

// body expands statements. Defaults of a group apply from its beginning, regardless of
// their position in it. Defaults of the graph apply from their position.
func (e *expander) body(body []statement, s scope) {
	if !s.root {
		for _, st := range body {
			e.groupStatement(st, &s)
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

// groupStatement applies a statement of a group if it sets defaults or the label, and
// records the other attributes of the group.
func (e *expander) groupStatement(st statement, s *scope) {
	switch st := st.(type) {
	case *defaults:
		if st.of != "graph" {
			e.defaults(st, s)
			return
		}
		for _, a := range st.attributes {
			e.groupStatement(a, s)
		}
	case *attribute:
		if st.key.Value == "label" {
			s.class = source.At(className(st.value.text.Value), st.value.text.Pos)
		} else if !forDrawing(st.key.Value, st.value.text.Value) {
			e.out.groupAttributes = append(e.out.groupAttributes, st)
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

// with returns a set that also has the given attributes. It does not change s.
func (e *expander) with(s *attributeSet, more []*attribute) *attributeSet {
	if len(more) == 0 {
		return s
	}
	out := e.apply(s)
	for _, a := range more {
		given := *a
		given.fromDefaults = true
		out.set(given)
	}
	return out
}

// apply returns a copy of defaults. Once maxApplied is exceeded, it returns an empty
// set.
func (e *expander) apply(s *attributeSet) *attributeSet {
	if e.applied += len(s.list); e.applied <= maxApplied {
		return s.clone()
	}
	if !e.tooManyApplied {
		e.tooManyApplied = true
		e.ds.Errorf(source.CodeLimit, s.list[0].key.Pos, "defaults give more than %d values to nodes and edges", maxApplied)
	}
	return &attributeSet{}
}

// room reports whether the graph may have n more nodes or edges.
func (e *expander) room(n int, pos source.Position) bool {
	if e.parts += n; e.parts > maxParts && !e.tooManyParts {
		e.tooManyParts = true
		e.ds.Errorf(source.CodeLimit, pos, "the graph has more than %d nodes and edges", maxParts)
	}
	return !e.tooManyParts
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
		e.out.edges = append(e.out.edges, expandedEdges{ids: c.ids, attributes: set})
	}
}

// node returns the node with the given id, creates it if necessary, and adds the class
// of the group. It returns nil if maxParts is exceeded.
func (e *expander) node(id source.Text, s scope) *expandedNode {
	n := e.byID[id.Value]
	if n == nil {
		if !e.room(1, id.Pos) {
			return nil
		}
		n = &expandedNode{id: id, attributes: e.apply(s.nodes)}
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

// className derives a class from the label of a group: lower case, with dashes for
// spaces and without other punctuation.
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
