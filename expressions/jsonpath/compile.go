package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ohler55/ojg/jp"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Path is a compiled path. It is immutable and safe for concurrent use.
type Path struct {
	text  source.Text
	root  string
	steps []step // after the root field
}

// IsSimple reports whether src is a plain path such as $.a.b[2], which the expression
// language can evaluate.
func IsSimple(src string) bool {
	t, err := expressions.Parse(src)
	if err != nil {
		return false
	}
	_, ok := t.Path()
	return ok
}

// Compile parses a path. The path must begin with the name of a state field, so that it
// is known which field it reads. The path is nil if any finding is an error.
func Compile(src source.Text) (*Path, source.Diagnostics) {
	c := &compiler{src: src}
	p := c.path()
	if c.ds.Failed(false) {
		return nil, c.ds
	}
	return p, c.ds
}

// Root returns the name of the state field the path begins with.
func (p *Path) Root() string { return p.root }

// String returns the source of the path.
func (p *Path) String() string { return p.text.Value }

// compiler compiles one path.
type compiler struct {
	src     source.Text
	filters []span // in source order
	ds      source.Diagnostics
}

// span is a range of the source.
type span struct{ from, to int }

func (c *compiler) fail(offset int, format string, args ...any) *source.Diagnostic {
	return c.ds.Errorf(source.CodeExprSyntax, source.Inside(c.src, offset), "%s", fmt.Sprintf(format, args...))
}

func (c *compiler) path() *Path {
	if len(c.src.Value) > expressions.MaxLength {
		c.ds.Errorf(source.CodeLimit, source.Inside(c.src, expressions.MaxLength), "the path is longer than %d bytes", expressions.MaxLength)
		return nil
	}
	text, ok := c.blankFilters()
	if !ok {
		return nil
	}
	frags, err := jp.ParseString(text)
	if err != nil {
		c.grammarError(err)
		return nil
	}
	root, ok := c.start(frags)
	if !ok {
		return nil
	}
	p := &Path{text: c.src, root: root}
	p.steps = c.steps(frags[2:])
	return p
}

// errorPosition matches the position in an error message of jp, whose errors have no
// field for it.
var errorPosition = lazyregexp.New(` at ([0-9]+) in [\s\S]*$`)

// grammarError reports an error of jp.
func (c *compiler) grammarError(err error) {
	message, offset := err.Error(), 0
	if m := errorPosition.FindStringSubmatchIndex(message); m != nil {
		n, _ := strconv.Atoi(message[m[2]:m[3]])
		message, offset = message[:m[0]], n-1
	}
	rest := c.src.Value[min(offset, len(c.src.Value)):]
	switch {
	case strings.Contains(message, "CompileScript"):
		message = "scripts such as [(@.length-1)] are not supported"
	case message == "parse error" && rest != "" && rest[0] >= ' ':
		r, _ := utf8.DecodeRuneInString(rest)
		message = fmt.Sprintf("unexpected %q in a path", string(r))
	default:
		c.fail(offset, "this is not a step of a path").
			WithHint("brackets hold a name, a number, several of one sort as in [0, 2], a range as in [1:3], * or a filter as in [?@.n > 1]")
		return
	}
	c.fail(offset, "%s", message)
}

// start checks that a path begins with a field and returns its name.
func (c *compiler) start(frags jp.Expr) (string, bool) {
	if len(frags) == 0 {
		c.fail(0, "the path is empty")
		return "", false
	}
	if _, ok := frags[0].(jp.Root); !ok {
		c.fail(0, `a path begins with "$."`)
		return "", false
	}
	if len(frags) > 1 {
		if name, ok := frags[1].(jp.Child); ok {
			return string(name), true
		}
	}
	c.fail(min(1, len(c.src.Value)), "a path begins with the name of a state field").
		WithHint("write $.name before wildcards and ..")
	return "", false
}

func (c *compiler) steps(frags jp.Expr) []step {
	steps := make([]step, 0, len(frags))
	for i, f := range frags {
		if _, ok := f.(jp.Descent); ok && i == len(frags)-1 {
			c.fail(len(c.src.Value), `expected a name after ".."`)
			return nil
		}
		s, ok := c.step(f)
		if !ok {
			return nil
		}
		steps = append(steps, s)
	}
	return steps
}

func (c *compiler) step(f jp.Frag) (step, bool) {
	switch f := f.(type) {
	case jp.Child:
		return step{kind: nameStep, cost: 1, name: string(f)}, true
	case jp.Nth:
		return step{kind: indexStep, cost: 1, index: int(f)}, true
	case jp.Wildcard:
		return step{kind: anyStep, cost: 1}, true
	case jp.Descent:
		return step{kind: descentStep}, true
	case jp.Slice:
		return step{kind: sliceStep, cost: 1, slice: f}, true
	case jp.Union:
		return union(f), true
	case *jp.Filter:
		return c.filter()
	}
	c.fail(0, "%s is not supported in a path", f.Append(nil, true, true))
	return step{}, false
}

func union(f jp.Union) step {
	s := step{kind: unionStep, cost: len(f)}
	for _, u := range f {
		if name, ok := u.(string); ok {
			s.union = append(s.union, step{kind: nameStep, name: name})
			continue
		}
		n, _ := u.(int64)
		s.union = append(s.union, step{kind: indexStep, index: int(n)})
	}
	return s
}
