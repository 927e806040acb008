package dot

import "github.com/wavefold/wavefold/core/source"

// graph is the syntax tree of a document.
type graph struct {
	name source.Text
	body []statement
	pos  source.Position
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
	pos        source.Position
}

// chain is a statement that declares one node, or edges from each id to the next.
type chain struct {
	ids        []source.Text
	attributes []*attribute
}

// group is a subgraph.
type group struct {
	body []statement
	pos  source.Position
}

// attribute is a key with its value.
type attribute struct {
	key          source.Text
	value        attrValue
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

// attrValue is the value of an attribute. text holds its source form, whatever the kind.
type attrValue struct {
	kind    valueKind
	text    source.Text
	integer int64
	float   float64
}

// plain returns the value in the form that is kept for saving and drawing.
func (v attrValue) plain() any {
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
