package dot

import "github.com/wavefold/wavefold/core"

// graph is the syntax tree of a document.
type graph struct {
	name core.Text
	body []statement
	pos  core.Position
	// broken reports whether parts of the document could not be parsed.
	broken bool
}

// statement is one of *defaults, *attribute (key = value), *chain and *group.
type statement any

// defaults is a statement that sets attributes of all later nodes or edges, or of the
// graph.
type defaults struct {
	of         string // node, edge or graph
	attributes []*attribute
	pos        core.Position
}

// chain is a statement that declares one node, or edges from each id to the next.
type chain struct {
	ids        []core.Text
	attributes []*attribute
}

// group is a subgraph.
type group struct {
	body []statement
	pos  core.Position
}

// attribute is a key with its value.
type attribute struct {
	key          core.Text
	value        value
	fromDefaults bool // set by a defaults statement
}

// valueKind is the syntactic form of a value.
type valueKind uint8

const (
	textValue valueKind = iota // quoted
	wordValue                  // an unquoted word or duration
	boolValue
	intValue
	floatValue
)

// value is the value of an attribute. text holds its source form, whatever the kind.
type value struct {
	kind    valueKind
	text    core.Text
	integer int64
	float   float64
}

// plain returns the value in the form that is kept for saving and drawing.
func (v value) plain() any {
	switch v.kind {
	case boolValue:
		return v.text.Value == "true"
	case intValue:
		return v.integer
	case floatValue:
		return v.float
	default:
		return v.text.Value
	}
}
