package agent

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// path selects values in an object. It consists of names separated by dots; [*] after a name
// selects all elements of a list. The prefix all: (the default) or any: says whether all
// selected values must satisfy a condition, or at least one.
type path struct {
	source string
	any    bool
	steps  []step
}

type step struct {
	name string
	all  bool // selects all elements
}

var stepForm = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)(\[\*\])?$`)

// parsePath parses a path. The error includes a hint.
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

// find returns the selected values; [*] on an empty list selects none. If the path cannot be
// followed, why is the reason; otherwise it is "".
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
				return nil, fmt.Sprintf("%s is not a list but %s", s.name, value.TypeName(member))
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
