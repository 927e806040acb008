package agent

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// path leads to values in an object: names with points between them, [*] behind one that
// holds a list, and in front all: (the default) or any:, which says how many of the values
// it leads to must fit.
type path struct {
	source string
	any    bool
	steps  []step
}

type step struct {
	name string
	all  bool // of its elements
}

var stepForm = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(\[\*\])?$`)

// parsePath reads a path. The error says what is wrong with it, and a hint what would do.
func parsePath(source string) (path, error) {
	p := path{source: source}
	body := source
	if prefix, rest, ok := strings.Cut(source, ":"); ok {
		switch prefix {
		case "any":
			p.any = true
		case "all":
		default:
			return p, fmt.Errorf("%q: want all: or any: before a path, found %q", source, prefix+":")
		}
		body = rest
	}
	for part := range strings.SplitSeq(body, ".") {
		m := stepForm.FindStringSubmatch(part)
		if m == nil {
			return p, fmt.Errorf("%q: want names with points between them, such as data.items[*].id, found %q", source, part)
		}
		p.steps = append(p.steps, step{m[1], m[2] != ""})
	}
	return p, nil
}

// find returns the values that the path leads to; [*] on an empty list leads to none. why
// says what is in the way, "" if nothing is.
func (p path) find(data any) (values []any, why string) {
	values = []any{data}
	for _, s := range p.steps {
		var next []any
		for _, v := range values {
			o, ok := v.(*value.Object)
			if !ok {
				return nil, fmt.Sprintf("%s is looked for in %s", s.name, value.TypeName(v))
			}
			member, ok := o.Get(s.name)
			switch list, isList := member.([]any); {
			case !ok:
				return nil, s.name + " is not there"
			case !s.all:
				next = append(next, member)
			case !isList:
				return nil, fmt.Sprintf("%s is no list but %s", s.name, value.TypeName(member))
			default:
				next = append(next, list...)
			}
		}
		if values = next; len(values) == 0 {
			break
		}
	}
	return values, ""
}
