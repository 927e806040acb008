package agent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	faults "github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// schema is a compiled JSON Schema. It is immutable.
type schema struct {
	object   *value.Object // the source
	compiled *jsonschema.Schema
	// properties lists the declared members, required lists the required members.
	properties, required []string
}

// schemaURL is the base URL of a schema for its own references. No other URL is loaded.
const schemaURL = "mem:///schema"

// compileSchema compiles a schema that is a mapping. Findings have the position of the
// faulty part.
func compileSchema(v *source.Value, at string) (*schema, source.Diagnostics) {
	var ds source.Diagnostics
	object, ok := v.Plain().(*value.Object)
	if !ok {
		ds.Errorf(source.CodeWrongType, v.Pos, "%s: want a JSON Schema, which is a mapping, found %s", at, v.Describe())
		return nil, ds
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	err := c.AddResource(schemaURL, forSchema(object))
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(schemaURL)
	}
	if err != nil {
		schemaFindings(&ds, v, at, err)
		return nil, ds
	}
	return &schema{object, compiled, memberNames(object, "properties"), requiredOf(object)}, ds
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

// schemaFindings converts an error of the schema library to findings.
func schemaFindings(ds *source.Diagnostics, v *source.Value, at string, err error) {
	invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err)
	var found []fault
	if ok {
		if inner, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			found = faultsOf(inner)
		}
	}
	if len(found) == 0 {
		ds.Errorf(source.CodeBadValue, v.Pos, "%s: this is no JSON Schema: %s", at, strings.ReplaceAll(err.Error(), schemaURL, ""))
	}
	for _, f := range found {
		pos, place := within(v, f.place)
		if place != "" {
			place += ": "
		}
		ds.Errorf(source.CodeBadValue, pos, "%s: this is no JSON Schema: %s%s", at, place, f.text)
	}
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

// check validates a value. It returns the faults in a fixed order, nil if there are none.
func (s *schema) check(v any) []string {
	err := s.compiled.Validate(forSchema(v))
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	var out []string
	for _, f := range faultsOf(invalid) {
		if len(f.place) > 0 {
			f.text = strings.Join(f.place, ".") + ": " + f.text
		}
		out = append(out, f.text)
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

// fault is one violation of a schema, with the path of the value.
type fault struct {
	place []string
	text  string
}

// faultsOf returns the innermost faults, sorted by path. The order of the library depends on
// the iteration of maps.
func faultsOf(e *jsonschema.ValidationError) []fault {
	var out []fault
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		_, any := e.ErrorKind.(*faults.AnyOf)
		_, one := e.ErrorKind.(*faults.OneOf)
		if (any || one) && len(e.Causes) > 0 {
			out = append(out, fault{e.InstanceLocation, alternatives(e)})
			return
		}
		if len(e.Causes) == 0 {
			out = append(out, fault{e.InstanceLocation, e.BasicOutput().Error.String()})
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(e)
	slices.SortStableFunc(out, func(a, b fault) int {
		if c := slices.Compare(a.place, b.place); c != 0 {
			return c
		}
		return strings.Compare(a.text, b.text)
	})
	return slices.CompactFunc(out, func(a, b fault) bool { return slices.Equal(a.place, b.place) && a.text == b.text })
}

// alternatives describes a value that matches none of several alternatives.
func alternatives(e *jsonschema.ValidationError) string {
	var texts []string
	for _, c := range e.Causes {
		for _, f := range faultsOf(c) {
			if place := f.place[min(len(e.InstanceLocation), len(f.place)):]; len(place) > 0 {
				f.text = strings.Join(place, ".") + ": " + f.text
			}
			texts = append(texts, f.text)
		}
	}
	return strings.Join(texts, ", or ")
}

// forSchema converts a value to the types of the schema library.
func forSchema(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = forSchema(e)
		}
		return out
	case *value.Object:
		out := make(map[string]any, v.Len())
		for k, e := range v.All() {
			out[k] = forSchema(e)
		}
		return out
	}
	return v
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
