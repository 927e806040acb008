package openai

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
)

// format is how an answer is held to a schema.
type format struct {
	schema *llm.Schema // nil for a text
	native bool        // the server does it; else the prompt asks for it
	strict bool
	key    schemaKey
}

type schemaKey struct{ model, name string }

func (m *Model) formatOf(model string, s *llm.Schema) format {
	if s == nil {
		return format{}
	}
	f := format{schema: s, strict: s.Strict && strictly(s.Schema), key: schemaKey{model, s.Name}}
	_, refused := m.plain.Load(f.key)
	f.native = !refused
	return f
}

// messages returns those of a request, with the schema in words if the server does not
// take it otherwise.
func (f *format) messages(r *llm.Request) []llm.Message {
	if f.schema == nil || f.native {
		return r.Messages
	}
	return append(slices.Clip(r.Messages), llm.Message{Role: llm.User, Text: "Answer with one JSON value that fits this JSON Schema, without a code block and without any other text:\n" + core.JSON(f.schema.Schema)})
}

// strictly tells whether a schema is of the kind that OpenAI can hold an answer to
// exactly: all members of all objects are required and no others allowed, and all have a
// type. Schemas of other kinds are refused when strictness is asked for.
func strictly(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !strictly(e) })
	case *core.Object:
		return strictObject(v)
	}
	return true
}

// loose are keywords that are not supported.
var loose = []string{"allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else", "patternProperties", "unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "oneOf"}

func strictObject(o *core.Object) bool {
	if o.Len() == 0 {
		return false
	}
	props, _ := o.Get("properties")
	members, isObject := props.(*core.Object)
	if kind, _ := o.Get("type"); kind == "object" || isObject {
		closed, _ := o.Get("additionalProperties")
		list, _ := o.Get("required")
		required, _ := list.([]any)
		if closed != false || slices.ContainsFunc(members.Keys(), func(k string) bool { return !slices.Contains(required, any(k)) }) {
			return false
		}
	}
	for key, v := range o.All() {
		switch {
		case slices.Contains(loose, key):
			return false
		case key == "enum" || key == "const" || key == "default" || key == "examples":
		case key == "properties" || key == "$defs" || key == "definitions":
			schemas, _ := v.(*core.Object)
			for _, s := range schemas.All() {
				if !strictly(s) {
					return false
				}
			}
		case !strictly(v):
			return false
		}
	}
	return true
}
