package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/validator"
)

// schema is a JSON Schema. It is immutable.
type schema struct {
	object *value.Object // the source
	// validate returns the faults of a value. It is nil if no value can occur, because the
	// node has no model.
	validate validator.Check
	// properties lists the declared members, required lists the required members.
	properties, required []string
}

func newSchema(object *value.Object, validate validator.Check) *schema {
	return &schema{object, validate, memberNames(object, "properties"), requiredOf(object)}
}

// compileSchema compiles a schema that is a mapping. Findings have the position of the
// faulty part.
func compileSchema(v *source.Value, at string) (*schema, source.Diagnostics) {
	var ds source.Diagnostics
	object, ok := v.Plain().(*value.Object)
	if !ok {
		ds.Errorf(source.CodeWrongType, v.Pos, "%s: want a JSON Schema, which is a mapping, found %s", at, v.Describe())
		return nil, ds
	}
	compile := validator.Registered()
	if compile == nil {
		ds.Errorf(source.CodeNoHandler, v.Pos, "%s: this program cannot check a JSON Schema", at).WithHint("add to the program: import _ %q", validator.Import)
		return nil, ds
	}
	validate, faults := compile(object)
	for _, f := range faults {
		pos, place := within(v, f.Path)
		if place != "" {
			place += ": "
		}
		ds.Errorf(source.CodeBadValue, pos, "%s: this is not JSON Schema: %s%s", at, place, f.Text)
	}
	if faults != nil {
		return nil, ds
	}
	return newSchema(object, validate), nil
}

// ownSchema returns a schema that follows from types and is not in the document. It is not
// compiled if there is no model.
func (b *builder) ownSchema(object *value.Object, pos source.Position, at string) *schema {
	if b.model == nil {
		return newSchema(object, nil)
	}
	s, ds := compileSchema(source.Tree(object, pos), b.subject+": "+at)
	if validator.Registered() == nil {
		b.find.Found = append(b.find.Found, ds...)
	}
	return s
}

// requiredOf lists the members that a schema requires.
func requiredOf(object *value.Object) []string {
	var names []string
	required, _ := object.Get("required")
	list, _ := required.([]any)
	for _, e := range list {
		if name, ok := e.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// optional reports whether a member is declared and not required.
func (s *schema) optional(name string) bool {
	return s != nil && slices.Contains(s.properties, name) && !slices.Contains(s.required, name)
}

// within returns the position of the value at a path, and the path as a string.
func within(v *source.Value, way []string) (source.Position, string) {
	var words strings.Builder
	for _, name := range way {
		var next *source.Value
		if i, err := strconv.Atoi(name); err == nil && v.Kind == source.ArrayValue && i < len(v.Items) {
			next = v.Items[i]
			fmt.Fprintf(&words, "[%d]", i)
		} else {
			next = v.Get(name)
			if words.Len() > 0 {
				words.WriteByte('.')
			}
			words.WriteString(name)
		}
		if next == nil {
			break
		}
		v = next
	}
	return v.Pos, words.String()
}

// check validates a value. It returns the faults in a fixed order, or nil if there are
// none.
func (s *schema) check(v any) []string {
	var out []string
	for _, f := range s.validate(v) {
		if len(f.Path) > 0 {
			f.Text = strings.Join(f.Path, ".") + ": " + f.Text
		}
		out = append(out, f.Text)
	}
	return out
}

// missing returns the required members that a value lacks.
func (s *schema) missing(v any) []string { return lacking(v, s.required) }

func lacking(v any, names []string) []string {
	o, _ := v.(*value.Object)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := o.Get(name)
		return ok
	})
}

func memberNames(o *value.Object, key string) []string {
	v, _ := o.Get(key)
	members, _ := v.(*value.Object)
	if members == nil {
		return nil
	}
	return members.Keys()
}

// schemaOf returns the JSON Schema of a type, which is empty if the type is unknown.
func schemaOf(t *value.Type) *value.Object {
	out := &value.Object{}
	if t == nil {
		return out
	}
	if t.Desc != "" {
		out.Set("description", t.Desc)
	}
	if t.Kind != value.AnyType {
		out.Set("type", t.Kind.String())
	}
	if len(t.Enum) > 0 {
		out.Set("enum", t.Enum)
	}
	if t.Items != nil {
		out.Set("items", schemaOf(t.Items))
	}
	if len(t.Properties) > 0 {
		members := value.NewObject(len(t.Properties))
		for _, p := range t.Properties {
			members.Set(p.Name, schemaOf(p.Type))
		}
		out.Set("properties", members)
	}
	if len(t.Required) > 0 {
		list := make([]any, len(t.Required))
		for i, name := range t.Required {
			list[i] = name
		}
		out.Set("required", list)
	}
	return out
}
