package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Step leads from a value to a value inside it: to a member of an object or an element of an array.
type Step struct {
	Key   string
	Index int // -1 for a member
}

// String returns the step as written in a path: ".name", `["a.b"]` or "[3]".
func (s Step) String() string {
	if s.Index >= 0 {
		return "[" + strconv.Itoa(s.Index) + "]"
	}
	if s.Key == "" || strings.ContainsAny(s.Key, ".[]\" ") {
		return "[" + strconv.Quote(s.Key) + "]"
	}
	return "." + s.Key
}

// ParsePath returns the steps of a path such as `.totals["a.b"][3]`, and reports whether it is one. An
// empty path has no steps.
func ParsePath(path string) (steps []Step, ok bool) {
	for path != "" {
		var s Step
		if s, path, ok = cutStep(path); !ok {
			return nil, false
		}
		steps = append(steps, s)
	}
	return steps, true
}

// cutStep cuts the first step from a path that is not empty.
func cutStep(path string) (s Step, rest string, ok bool) {
	s.Index = -1
	if path[0] == '.' {
		end := strings.IndexAny(path[1:], ".[")
		if end < 0 {
			end = len(path) - 1
		}
		s.Key = path[1 : end+1]
		return s, path[end+1:], s.Key != ""
	}
	if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
		s.Key, _ = strconv.Unquote(quoted)
		rest, ok = strings.CutPrefix(path[1+len(quoted):], "]")
		return s, rest, ok
	}
	number, rest, ok := strings.Cut(path[1:], "]")
	n, err := strconv.ParseUint(number, 10, 31)
	s.Index = int(n)
	return s, rest, ok && err == nil && path[0] == '['
}

// Inside returns the member or element of a canonical value to which the step leads, and reports whether
// there is one.
func (s Step) Inside(v any) (any, bool) {
	switch v := v.(type) {
	case *Object:
		if s.Index < 0 {
			return v.Get(s.Key)
		}
	case []any:
		if s.Index >= 0 && s.Index < len(v) {
			return v[s.Index], true
		}
	}
	return nil, false
}

// With returns a copy of a canonical value in which the value at the end of the steps is replaced. The
// last step may add a member to an object; everything else on the path must exist. Parts that are not
// on the path are shared with v.
func With(v any, steps []Step, new any) (any, error) {
	if len(steps) == 0 {
		return new, nil
	}
	s, last := steps[0], len(steps) == 1
	in, ok := s.Inside(v)
	switch o := v.(type) {
	case *Object:
		if s.Index >= 0 || !ok && !last {
			return nil, NotInside(s, v)
		}
		changed, err := With(in, steps[1:], new)
		if err != nil {
			return nil, err
		}
		c := o.Copy(1)
		c.Set(s.Key, changed)
		return c, nil
	case []any:
		if !ok {
			return nil, NotInside(s, v)
		}
		changed, err := With(in, steps[1:], new)
		if err != nil {
			return nil, err
		}
		c := slices.Clone(o)
		c[s.Index] = changed
		return c, nil
	}
	return nil, NotInside(s, v)
}

// NotInside returns an error that says that a step leads to nothing. Keys are named as they are written in a path.
func NotInside(s Step, v any) error {
	name := func(s Step) string { return strings.TrimPrefix(s.String(), ".") }
	switch v := v.(type) {
	case []any:
		return fmt.Errorf("%s is not in an array of %d", name(s), len(v))
	case *Object:
		var keys []string
		for _, k := range v.Keys() {
			if s.Key != "" && strings.HasPrefix(k, s.Key+".") {
				return fmt.Errorf("%s is not in the object, which has %s", name(s), name(Step{Key: k, Index: -1}))
			}
			keys = append(keys, name(Step{Key: k, Index: -1}))
		}
		if len(keys) > 0 && len(keys) <= 8 {
			return fmt.Errorf("%s is not in an object with %s", name(s), strings.Join(keys, ", "))
		}
		return fmt.Errorf("%s is not in an object of %d members", name(s), v.Len())
	}
	if IsMissing(v) {
		return fmt.Errorf("there is no value with %s", name(s))
	}
	return fmt.Errorf("%s is not in %s", name(s), TypeName(v))
}
