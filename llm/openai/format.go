package openai

import (
	"slices"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

// format describes how an answer is made to conform to a schema.
type format struct {
	schema *llm.Schema // nil if the answer is plain text
	native bool        // the server enforces the format; otherwise only the prompt describes it
	strict bool
	key    schemaKey
}

type schemaKey struct{ model, name string }

func (m *Model) formatOf(model string, s *llm.Schema) format {
	if s == nil {
		return format{}
	}
	f := format{schema: s, strict: s.Strict && supportsStrict(s.Schema), key: schemaKey{model, s.Name}}
	_, refused := m.schemaRejected.Load(f.key)
	f.native = !refused
	return f
}

// messages returns the messages of a request. If the server does not accept the schema, the
// last message contains it.
func (f *format) messages(r *llm.Request) []llm.Message {
	if f.schema == nil || f.native {
		return r.Messages
	}
	return append(slices.Clip(r.Messages), llm.Message{Role: llm.User, Text: "Answer with one JSON value that fits this JSON Schema, without a code block and without any other text:\n" + value.JSON(f.schema.Schema)})
}

// supportsStrict reports whether OpenAI can enforce a schema strictly: every object requires all
// of its members and allows no others, and every schema has a type. The API rejects other
// schemas in strict mode.
func supportsStrict(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !supportsStrict(e) })
	case *value.Object:
		return strictObject(v)
	}
	return true
}

// unsupportedKeywords lists the keywords that strict mode does not support.
var unsupportedKeywords = []string{"allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else", "patternProperties", "unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "oneOf"}

func strictObject(o *value.Object) bool {
	if o.Len() == 0 {
		return false
	}
	props, _ := o.Get("properties")
	members, isObject := props.(*value.Object)
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
		case slices.Contains(unsupportedKeywords, key):
			return false
		case key == "enum" || key == "const" || key == "default" || key == "examples":
		case key == "properties" || key == "$defs" || key == "definitions":
			schemas, _ := v.(*value.Object)
			for _, s := range schemas.All() {
				if !supportsStrict(s) {
					return false
				}
			}
		case !supportsStrict(v):
			return false
		}
	}
	return true
}
