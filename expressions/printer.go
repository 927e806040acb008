package expressions

import (
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// String returns the expression in its canonical form: one space around operators,
// double quotes, no redundant parentheses. Parsing the result with the parser that
// produced the tree gives an equal tree.
func (t *Tree) String() string { return string(appendNode(nil, t.root)) }

// Print returns the canonical form of a node.
func Print(n Node) string { return string(appendNode(nil, n)) }

func appendNode(b []byte, n Node) []byte {
	switch n := n.(type) {
	case *Literal:
		return appendLiteral(b, n.Value)
	case *Path:
		return appendPath(b, n)
	case *Not:
		return appendOperand(append(b, '!'), n.X, precPrefix)
	case *Logic:
		for i, t := range n.Terms {
			if i > 0 {
				b = appendOp(b, n.Op)
			}
			// Keep the parentheses of a chain inside a chain of the same operator, so
			// that it is parsed as a separate node.
			b = appendOperand(b, t, n.Op.prec()+1)
		}
		return b
	case *Binary:
		left := n.Op.prec()
		if left == precCompare {
			left++ // comparisons cannot be chained
		}
		b = appendOperand(b, n.X, left)
		return appendOperand(appendOp(b, n.Op), n.Y, n.Op.prec()+1)
	case *Call:
		b = append(append(b, n.Func.String()...), '(')
		for i, a := range n.Args {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendNode(b, a)
		}
		return append(b, ')')
	case *Clause:
		return appendClause(b, n)
	}
	return b
}

func appendOp(b []byte, op Op) []byte {
	b = append(b, ' ')
	b = append(b, op.String()...)
	return append(b, ' ')
}

// appendOperand appends a node, in parentheses if its precedence is lower than least.
func appendOperand(b []byte, n Node, least int) []byte {
	if precOf(n) >= least {
		return appendNode(b, n)
	}
	return append(appendNode(append(b, '('), n), ')')
}

func precOf(n Node) int {
	switch n := n.(type) {
	case *Not:
		return precPrefix
	case *Logic:
		return n.Op.prec()
	case *Binary:
		return n.Op.prec()
	}
	return precPrimary
}

func appendLiteral(b []byte, v any) []byte {
	if s, ok := v.(string); ok {
		return appendText(b, s)
	}
	b, _ = value.AppendJSON(b, v) // a literal always has a JSON form
	return b
}

func appendText(b []byte, s string) []byte {
	quote := byte('"')
	if strings.IndexByte(s, quote) >= 0 {
		quote = '\''
	}
	b = append(b, quote)
	b = append(b, s...)
	return append(b, quote)
}

func appendPath(b []byte, p *Path) []byte {
	b = append(b, p.Root.String()...)
	for _, s := range p.Steps {
		switch {
		case s.IsIndex:
			b = strconv.AppendInt(append(b, '['), s.Index, 10)
			b = append(b, ']')
		case isPlainName(s.Name):
			b = append(append(b, '.'), s.Name...)
		default:
			b = append(appendName(append(b, '['), s.Name), ']')
		}
	}
	return b
}
