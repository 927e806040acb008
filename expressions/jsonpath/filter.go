package jsonpath

import (
	"errors"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// blankFilters records the positions of the filters and returns the source with each
// filter replaced by [?@ ], padded to the same length. jp can thus parse the rest of
// the path and report correct positions. blankFilters also rejects syntax that jp would
// misread.
func (c *compiler) blankFilters() (string, bool) {
	src := c.src.Value
	out := []byte(src)
	for i := 0; i < len(src); i++ {
		switch {
		case strings.HasPrefix(src[i:], "..."):
			c.fail(i, `"..." is not a step`)
			return "", false
		case src[i] == '[':
			end, ok := c.bracket(i)
			if !ok {
				return "", false
			}
			if q := i + 1 + spaces(src[i+1:]); src[q] == '?' {
				c.filters = append(c.filters, span{q + 1, end})
				for j := q + 1; j < end; j++ {
					out[j] = ' '
				}
				if q+1 < end {
					out[q+1] = '@'
				}
			}
			i = end
		}
	}
	return string(out), true
}

func spaces(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\r\n")) }

// bracket returns the offset of the bracket that closes the one at open, skipping
// quoted strings.
func (c *compiler) bracket(open int) (end int, ok bool) {
	src := c.src.Value
	first := open + 1 + spaces(src[open+1:])
	isFilter := first < len(src) && src[first] == '?'
	depth, digits := 0, 0
	for i := open; i < len(src); i++ {
		switch b := src[i]; {
		case b == '[':
			depth++
		case b == ']':
			if depth--; depth == 0 {
				return i, true
			}
		case b == '\'' || b == '"':
			n := quotedLength(src[i:], !isFilter)
			if n == 0 {
				c.fail(i, "this string is never closed")
				return 0, false
			}
			i += n - 1
			digits = -1
		case b < '0' || b > '9':
			digits = -1
		}
		if digits++; digits > maxDigits && !isFilter {
			c.fail(first, "the index does not fit 64 bits")
			return 0, false
		}
	}
	c.fail(open, `"[" is never closed`)
	return 0, false
}

// maxDigits is the number of decimal digits that always fit in an int64. jp lets larger
// indexes overflow.
const maxDigits = 18

// quotedLength returns the length of the quoted string at the start of s, or 0 if it is
// never closed. Names in a path support escapes; strings in a filter do not.
func quotedLength(s string, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return i + 1
		case s[i] == '\\' && escapes:
			i++
		}
	}
	return 0
}

// filter compiles the next filter as a condition on $item.
func (c *compiler) filter() (step, bool) {
	at := c.filters[0]
	c.filters = c.filters[1:]
	text := source.Cut(c.src, at.from, at.to)
	tree, err := expressions.ParseFilter(text.Value)
	if err == nil {
		tree, err = expressions.NewTree(text.Value, existenceTests(tree.Root()))
	}
	if err != nil {
		c.badFilter(err, at.from)
		return step{}, false
	}
	for _, p := range tree.Paths() {
		if p.Root != expressions.RootItem {
			c.fail(at.from+p.Start(), "a filter sees the element only, not %s", expressions.Print(p)).
				WithHint("write @.name for a member of the element")
			return step{}, false
		}
	}
	p, ds := expressions.CompileTree(tree, text, expressions.Scope{}, "")
	if p == nil {
		c.ds = append(c.ds, ds...)
		return step{}, false
	}
	return step{kind: filterStep, cost: 1 + len(text.Value)/bytesPerStep, filter: p}, true
}

// bytesPerStep is the number of bytes of a filter that are charged like one visited
// value.
const bytesPerStep = 4

func (c *compiler) badFilter(err error, from int) {
	e, ok := errors.AsType[*expressions.SyntaxError](err)
	if !ok {
		c.fail(from, "%s", err)
		return
	}
	c.ds.Errorf(e.Code, source.Inside(c.src, from+e.Offset), "filter: %s", e.Message).WithHint("%s", e.Hint)
}

// existenceTests rewrites a condition so that a path used as a truth value tests
// whether the value exists, as in JSONPath, even if it is false. The test compares the
// path with itself, because only an existing value equals itself.
func existenceTests(n expressions.Node) expressions.Node {
	switch n := n.(type) {
	case *expressions.Path:
		other := *n
		return &expressions.Binary{Span: n.Span, Op: expressions.Equal, At: n.From, X: n, Y: &other}
	case *expressions.Not:
		return &expressions.Not{Span: n.Span, X: existenceTests(n.X)}
	case *expressions.Logic:
		terms := make([]expressions.Node, len(n.Terms))
		for i, t := range n.Terms {
			terms[i] = existenceTests(t)
		}
		return &expressions.Logic{Span: n.Span, Op: n.Op, Terms: terms}
	}
	return n
}
