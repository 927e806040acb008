// Package jsonschema checks values against JSON Schemas: the answers of models, and the
// arguments with which they call tools. It has no functions. A program whose workflows have
// a schema imports it for its effect, unless it imports package llm/openai, which does so:
//
//	import _ "github.com/wavefold/wavefold/llm/jsonschema"
//
// Without the import such a workflow is rejected when it is compiled. The import takes a few
// milliseconds when the program starts.
package jsonschema

import (
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/validator"
)

func init() { validator.Register(compile) }

// schemaURL is the base URL of a schema for its own references. No other URL is loaded.
const schemaURL = "mem:///schema"

func compile(object *value.Object) (validator.Check, []validator.Fault) {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	err := c.AddResource(schemaURL, plain(object))
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(schemaURL)
	}
	if err != nil {
		return nil, schemaFaults(err)
	}
	return func(v any) []validator.Fault { return valueFaults(compiled.Validate(plain(v))) }, nil
}

// schemaFaults returns the faults of a schema from an error of the library.
func schemaFaults(err error) []validator.Fault {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if inner, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			if found := faultsOf(inner); len(found) > 0 {
				return found
			}
		}
	}
	return []validator.Fault{{Text: strings.ReplaceAll(err.Error(), schemaURL, "")}}
}

// valueFaults returns the faults of a value from an error of the library.
func valueFaults(err error) []validator.Fault {
	if err == nil {
		return nil
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return faultsOf(invalid)
	}
	return []validator.Fault{{Text: err.Error()}}
}

// faultsOf returns the innermost faults, sorted by path. The order of the library depends on
// the iteration of maps.
func faultsOf(e *jsonschema.ValidationError) []validator.Fault {
	var out []validator.Fault
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		_, any := e.ErrorKind.(*kind.AnyOf)
		_, one := e.ErrorKind.(*kind.OneOf)
		if (any || one) && len(e.Causes) > 0 {
			out = append(out, validator.Fault{Path: e.InstanceLocation, Text: alternatives(e)})
			return
		}
		if len(e.Causes) == 0 {
			out = append(out, validator.Fault{Path: e.InstanceLocation, Text: e.BasicOutput().Error.String()})
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(e)
	slices.SortStableFunc(out, func(a, b validator.Fault) int {
		if c := slices.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Text, b.Text)
	})
	return slices.CompactFunc(out, func(a, b validator.Fault) bool { return slices.Equal(a.Path, b.Path) && a.Text == b.Text })
}

// alternatives describes a value that matches none of several alternatives.
func alternatives(e *jsonschema.ValidationError) string {
	var texts []string
	for _, c := range e.Causes {
		for _, f := range faultsOf(c) {
			if place := f.Path[min(len(e.InstanceLocation), len(f.Path)):]; len(place) > 0 {
				f.Text = strings.Join(place, ".") + ": " + f.Text
			}
			texts = append(texts, f.Text)
		}
	}
	return strings.Join(texts, ", or ")
}

// plain converts a value to the types of the library.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	case *value.Object:
		out := make(map[string]any, v.Len())
		for k, e := range v.All() {
			out[k] = plain(e)
		}
		return out
	}
	return v
}
