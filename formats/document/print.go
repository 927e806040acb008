package document

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// flowWidth limits the width of a list or mapping on one line.
const flowWidth = 80

// Print formats a tree as YAML: with an indentation of two spaces, without folding,
// with quotes only around strings that need them, and with multi-line strings as
// blocks. Lists of scalars are on one line if they fit. So are small mappings for which
// inline, if not nil, returns true. Parse reads the result back as the same tree, and
// printing that tree gives the same bytes. Print fails for a string that is not valid
// UTF-8, a key of more than 1,000 bytes, a value that is not a valid tree and a
// document that exceeds the limits of Parse.
func Print(v *source.Value, inline func(v *source.Value) bool) ([]byte, error) {
	p := &printer{inline: inline}
	p.block(v, 0, true)
	if p.err != nil {
		return nil, p.err
	}
	if p.b.Len() > maxBytes {
		return nil, fmt.Errorf("the document would have %d bytes, and at most %d are read", p.b.Len(), maxBytes)
	}
	return []byte(p.b.String()), nil
}

type printer struct {
	b      strings.Builder
	inline func(v *source.Value) bool
	err    error
}

func (p *printer) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// block prints a value and the end of its last line. first says that a collection
// begins on the current line; otherwise it begins on a new line.
func (p *printer) block(v *source.Value, indent int, first bool) {
	switch {
	case v.Kind == source.ObjectValue && len(v.Keys) > 0 && !p.fits(v, indent):
		for i, k := range v.Keys {
			p.item(indent, first && i == 0)
			p.key(k.Value)
			p.member(v.Values[i], indent)
		}
	case v.Kind == source.ArrayValue && len(v.Items) > 0 && !p.fits(v, indent):
		for i, e := range v.Items {
			p.item(indent, first && i == 0)
			p.b.WriteString("-")
			p.element(e, indent)
		}
	case isLiteral(v):
		p.literal(v.Scalar.(string), max(indent, 2))
	case v.Kind == source.StringValue:
		p.b.WriteString(p.text(v.Scalar.(string), inBlock) + "\n")
	default:
		p.b.WriteString(p.flow(v))
		p.b.WriteByte('\n')
	}
}

func (p *printer) item(indent int, first bool) {
	if !first {
		p.spaces(indent)
	}
}

func (p *printer) spaces(n int) {
	for range n {
		p.b.WriteByte(' ')
	}
}

func (p *printer) key(key string) {
	if len(key) > maxKey {
		p.fail("key %.40q... has %d bytes, at most %d can be written", key, len(key), maxKey)
	}
	p.b.WriteString(p.text(key, asKey) + ":")
}

// member prints the value of a key, on the same line or on new lines.
func (p *printer) member(v *source.Value, indent int) {
	if p.isBlock(v, indent+2) {
		p.b.WriteByte('\n')
		p.block(v, indent+2, false)
		return
	}
	p.b.WriteByte(' ')
	p.block(v, indent+2, true)
}

// element prints the value after a dash. A mapping begins on the same line.
func (p *printer) element(v *source.Value, indent int) {
	if v.Kind == source.ArrayValue && p.isBlock(v, indent+2) {
		p.b.WriteByte('\n')
		p.block(v, indent+2, false)
		return
	}
	p.b.WriteByte(' ')
	p.block(v, indent+2, true)
}

// isBlock reports whether a value is printed on several lines.
func (p *printer) isBlock(v *source.Value, indent int) bool {
	return (len(v.Keys) > 0 || len(v.Items) > 0) && !p.fits(v, indent)
}

// fits reports whether a collection is printed on one line. It may be a list of
// scalars, or a mapping of scalars, of lists of scalars and of mappings of scalars.
func (p *printer) fits(v *source.Value, indent int) bool {
	levels := 1
	if v.Kind == source.ObjectValue {
		levels = 2
	}
	return p.isShallow(v, levels) && indent+utf8.RuneCountInString(p.flow(v)) <= flowWidth
}

// isShallow reports whether a value has at most the given number of levels of
// collections, no string or mapping that must be a block, and no mapping in a list.
func (p *printer) isShallow(v *source.Value, levels int) bool {
	if len(v.Items)+len(v.Values) == 0 {
		return !isLiteral(v)
	}
	if v.Kind == source.ObjectValue && (p.inline == nil || !p.inline(v)) {
		return false
	}
	deep := func(e *source.Value) bool {
		return !p.isShallow(e, levels-1) || v.Kind == source.ArrayValue && len(e.Keys) > 0
	}
	return levels > 0 && !slices.ContainsFunc(v.Items, deep) && !slices.ContainsFunc(v.Values, deep)
}

func isLiteral(v *source.Value) bool {
	return v.Kind == source.StringValue && literal(v.Scalar.(string))
}

// flow returns a value formatted on one line.
func (p *printer) flow(v *source.Value) string {
	switch v.Kind {
	case source.NullValue:
		return "null"
	case source.StringValue:
		return p.text(v.Scalar.(string), inFlow)
	case source.ArrayValue:
		parts := make([]string, len(v.Items))
		for i, e := range v.Items {
			parts[i] = p.flow(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case source.ObjectValue:
		parts := make([]string, len(v.Keys))
		for i, k := range v.Keys {
			parts[i] = p.text(k.Value, asKey) + ": " + p.flow(v.Values[i])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		b, err := value.AppendJSON(nil, v.Scalar)
		if err != nil {
			p.fail("%w", err)
		}
		return string(b)
	}
}
