package native

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// validator checks values against the part of JSON Schema that Schema uses. An unknown
// keyword fails the test.
type validator struct {
	t    *testing.T
	defs *value.Object
}

func newValidator(t *testing.T, schema []byte) (*validator, *value.Object) {
	t.Helper()
	v, err := value.ParseJSON(schema)
	if err != nil {
		t.Fatal(err)
	}
	root := v.(*value.Object).Copy(0)
	defs, _ := root.Get("$defs")
	for _, k := range []string{"$schema", "title", "$defs"} {
		root.Delete(k)
	}
	return &validator{t, defs.(*value.Object)}, root
}

// faults returns the errors in a value.
func (c *validator) faults(schema, v any) []string {
	r := c.check(schema, v, "$")
	return r.faults
}

// result is the result of checking one value against one schema.
type result struct {
	path   string
	faults []string
	seen   map[string]bool // members that the schema has evaluated
}

func (r *result) fail(format string, args ...any) {
	r.faults = append(r.faults, r.path+": "+fmt.Sprintf(format, args...))
}

// also adds the result of another schema for the same value.
func (r *result) also(o *result) {
	r.faults = append(r.faults, o.faults...)
	for k := range o.seen {
		r.seen[k] = true
	}
}

func (c *validator) check(schema, v any, path string) *result {
	r := &result{path: path, seen: map[string]bool{}}
	s, ok := schema.(*value.Object)
	if !ok {
		if schema != true {
			r.fail("not allowed")
		}
		return r
	}
	for key, want := range s.All() {
		f, ok := keyword(key)
		if !ok {
			c.t.Fatalf("the validator does not know %q", key)
		}
		if f != nil {
			f(c, r, want, v)
		}
	}
	if cond, ok := s.Get("if"); ok && len(c.check(cond, v, path).faults) == 0 {
		then, _ := s.Get("then")
		r.also(c.check(then, v, path))
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		if rest, ok := s.Get(key); ok {
			c.rest(r, rest, v)
		}
	}
	return r
}

// rest checks the members that no other keyword has evaluated.
func (c *validator) rest(r *result, schema, v any) {
	o, _ := v.(*value.Object)
	for name, e := range o.All() {
		if !r.seen[name] {
			r.faults = append(r.faults, c.check(schema, e, r.path+"."+name).faults...)
		}
	}
}

// keyword returns the check of a keyword, nil if check itself handles the keyword.
func keyword(name string) (f func(c *validator, r *result, want, v any), ok bool) {
	switch name {
	case "description", "if", "then", "additionalProperties", "unevaluatedProperties":
		return nil, true
	case "$ref":
		return checkRef, true
	case "type":
		return checkType, true
	case "enum":
		return checkEnum, true
	case "const":
		return func(c *validator, r *result, want, v any) { checkEnum(c, r, []any{want}, v) }, true
	case "pattern":
		return checkPattern, true
	case "minimum":
		return checkMinimum, true
	case "maximum":
		return checkMaximum, true
	case "minItems":
		return checkMinItems, true
	case "required":
		return checkRequired, true
	case "items":
		return checkItems, true
	case "properties":
		return checkProperties, true
	case "anyOf":
		return checkAnyOf, true
	case "allOf":
		return checkAllOf, true
	default:
		return nil, false
	}
}

func checkRef(c *validator, r *result, want, v any) {
	def, ok := c.defs.Get(strings.TrimPrefix(want.(string), "#/$defs/"))
	if !ok {
		c.t.Fatalf("no definition %v", want)
	}
	r.also(c.check(def, v, r.path))
}

func checkType(_ *validator, r *result, want, v any) {
	list, ok := want.([]any)
	if !ok {
		list = []any{want}
	}
	for _, w := range list {
		kind, _ := value.TypeKindOf(w.(string))
		if v == nil && kind == value.NullType { // core allows null for every type
			return
		}
		if v != nil && kind != value.NullType && (&value.Type{Kind: kind}).Check(v) == nil {
			return
		}
	}
	r.fail("want type %s", value.JSON(want))
}

func checkEnum(_ *validator, r *result, want, v any) {
	if !slices.ContainsFunc(want.([]any), func(e any) bool { return value.Equal(e, v) }) {
		r.fail("not one of %s", value.JSON(want))
	}
}

func checkPattern(_ *validator, r *result, want, v any) {
	if t, ok := v.(string); ok && !regexp.MustCompile(want.(string)).MatchString(t) {
		r.fail("does not match %s", want)
	}
}

func checkMinimum(_ *validator, r *result, want, v any) {
	if n, ok := v.(int64); ok && n < want.(int64) {
		r.fail("%d is below %v", n, want)
	}
}

func checkMaximum(_ *validator, r *result, want, v any) {
	if n, ok := v.(int64); ok && n > want.(int64) {
		r.fail("%d is above %v", n, want)
	}
}

func checkMinItems(_ *validator, r *result, want, v any) {
	if l, ok := v.([]any); ok && len(l) < int(want.(int64)) {
		r.fail("too short")
	}
}

func checkRequired(_ *validator, r *result, want, v any) {
	o, ok := v.(*value.Object)
	for _, k := range want.([]any) {
		if _, has := o.Get(k.(string)); ok && !has {
			r.fail("%s is missing", k)
		}
	}
}

func checkItems(c *validator, r *result, want, v any) {
	list, _ := v.([]any)
	for i, e := range list {
		r.faults = append(r.faults, c.check(want, e, fmt.Sprintf("%s[%d]", r.path, i)).faults...)
	}
}

func checkProperties(c *validator, r *result, want, v any) {
	o, _ := v.(*value.Object)
	for name, schema := range want.(*value.Object).All() {
		if e, ok := o.Get(name); ok {
			r.seen[name] = true
			r.faults = append(r.faults, c.check(schema, e, r.path+"."+name).faults...)
		}
	}
}

func checkAnyOf(c *validator, r *result, want, v any) {
	if !slices.ContainsFunc(want.([]any), func(s any) bool { return len(c.check(s, v, r.path).faults) == 0 }) {
		r.fail("none of anyOf")
	}
}

func checkAllOf(c *validator, r *result, want, v any) {
	for _, s := range want.([]any) {
		r.also(c.check(s, v, r.path))
	}
}
