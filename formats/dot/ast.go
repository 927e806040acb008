package dot

import "github.com/wavefold/wavefold/core"

// graph is a document as it was written.
type graph struct {
	name core.Text
	body []statement
	pos  core.Position
	// broken tells that parts of the document could not be read.
	broken bool
}

// statement is one of *defaults, *attribute (key = value), *chain and *group.
type statement any

// defaults are attributes of all nodes or edges from there on, or of the graph.
type defaults struct {
	of         string // node, edge or graph
	attributes []*attribute
	pos        core.Position
}

// chain is a node by itself or edges from one node to the next.
type chain struct {
	ids        []core.Text
	attributes []*attribute
}

// group is a subgraph.
type group struct {
	body []statement
	pos  core.Position
}

// attribute is a key and its value.
type attribute struct {
	key       core.Text
	value     value
	byDefault bool // it is given to all nodes or edges of a scope
}

// valueKind is what a value was written as.
type valueKind uint8

const (
	textValue valueKind = iota // in quotes
	wordValue                  // a bare word or duration
	boolValue
	intValue
	floatValue
)

// value is the value of an attribute. Its text is what it reads as, whatever it is.
type value struct {
	kind   valueKind
	text   core.Text
	whole  int64
	number float64
}

// plain returns the value as it is kept for saving and drawing.
func (v value) plain() any {
	switch v.kind {
	case boolValue:
		return v.text.Value == "true"
	case intValue:
		return v.whole
	case floatValue:
		return v.number
	default:
		return v.text.Value
	}
}
