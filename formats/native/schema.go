package native

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Schema returns the JSON Schema (2020-12) of workflow files, indented, for editors and
// other tools. The schema allows any keys in nodes, because these depend on the kind.
// SchemaFor allows only the keys of registered kinds.
func Schema() []byte { return generate(nil) }

// SchemaFor returns a schema in which the kind of a node must be in the registry, and
// the node may only have the keys of that kind.
func SchemaFor(r *core.Registry) []byte { return generate(r) }

// sections lists the parts of a document, for the schema's definitions and the
// documentation.
var sections = []struct {
	name, doc string
	shape     any
}{
	{"document", "A workflow file.", documentShape{}},
	{"input", "A parameter of a run.", inputShape{}},
	{"state", "The data that nodes share.", stateShape{}},
	{"field", "A state field.", fieldShape{}},
	{"type", "The type of an element or member.", typeShape{}},
	{"phase", "A label that groups nodes for display.", phaseShape{}},
	{"runtime", "Limits of a run, and how safely it is stored.", runtimeShape{}},
	{"incremental", "What one run leaves for the next.", incrementalShape{}},
	{"cursor", "A value that goes from run to run.", cursorShape{}},
	{"partitions", "The nodes, each of which runs once.", partitionsShape{}},
	{"graph", "Nodes and what connects them.", graphShape{}},
	{"node", "A step of the workflow.", nodeShape{}},
	{"join", "How many predecessors a node takes.", joinKeysShape{}},
	{"for_each", "Runs a node once for each element of an array.", forEachShape{}},
	{"cache", "Keeps the results of a node for later runs.", cacheShape{}},
	{"on_error", "What happens when a node fails.", onErrorShape{}},
	{"retry_policy", "How often a node is tried, and after what waits.", retryShape{}},
	{"edge", "Says that one node comes after another.", edgeShape{}},
	{"pipeline", "Rows of an array that pass through stages.", pipelineShape{}},
	{"loop", "Nodes that are repeated.", loopShape{}},
	{"unit_on_error", "What happens when a pipeline or loop fails.", unitOnErrorShape{}},
	{"steps_graph", "The graph of a walk with router: steps.", stepsGraph{}},
	{"steps_node", "A node of a walk with router: steps.", stepsNode{}},
	{"steps_edge", "Says where the walk may go after a visit.", stepsEdge{}},
	{"loop_until", "A node that is visited again until a condition is true.", loopUntilShape{}},
	{"outcomes_graph", "The graph of a walk with router: outcomes.", outcomesGraph{}},
	{"outcomes_node", "A node of a walk with router: outcomes.", outcomesNode{}},
	{"outcomes_edge", "Says where the walk may go after an outcome.", outcomesEdge{}},
	{"model_graph", "The graph of a walk with router: model.", modelGraph{}},
	{"model_node", "A node of a walk with router: model.", modelNode{}},
	{"model_edge", "Says where a model may lead the walk.", modelEdge{}},
}

func sectionName(t reflect.Type) string {
	for _, s := range sections {
		if reflect.TypeOf(s.shape) == t {
			return s.name
		}
	}
	panic("native: no section for " + t.String())
}

func generate(r *core.Registry) []byte {
	defs := value.NewObject(len(sections))
	for _, s := range sections {
		defs.Set(s.name, sectionSchema(s.doc, source.KeysOf(s.shape)))
	}
	chooseGraph(def(defs, "document"))
	for _, name := range []string{"node", "steps_node", "outcomes_node", "model_node"} {
		switch node := def(defs, name); {
		case r == nil:
			node.Delete("additionalProperties")
		case name == "node":
			closeNode(node, r)
		default:
			closeWalkNode(node, r)
		}
	}
	for _, name := range []string{"steps_edge", "loop_until"} {
		exclusive(def(defs, name))
	}
	doc, err := value.AppendJSON(nil, value.ObjectOf(
		"$schema", "https://json-schema.org/draft/2020-12/schema",
		"title", "wavefold workflow",
		"$ref", "#/$defs/document",
		"$defs", defs,
	))
	if err != nil {
		panic("native: the schema has no JSON form: " + err.Error())
	}
	var out bytes.Buffer
	if err := json.Indent(&out, doc, "", "  "); err != nil {
		panic("native: the schema is not JSON: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// sectionSchema returns the schema of a mapping. Unless a key is required, a null value
// is allowed and means an empty mapping.
func sectionSchema(doc string, keys []source.Key) *value.Object {
	props := value.NewObject(len(keys))
	var required []any
	for _, k := range keys {
		v := valueSchema(k.Type, &k)
		v.Set("description", k.Doc)
		props.Set(k.Name, v)
		if k.Required {
			required = append(required, k.Name)
		}
	}
	out := value.ObjectOf("description", doc)
	if required == nil {
		out.Set("type", []any{"object", "null"})
	} else {
		out.Set("type", "object")
		out.Set("required", required)
	}
	out.Set("properties", props)
	out.Set("additionalProperties", false)
	return out
}

// closeNode restricts a node to the keys of its kind.
func closeNode(node *value.Object, r *core.Registry) {
	var names, branches []any
	for _, name := range r.KindNames() {
		k, _ := r.Kind(name)
		properties := value.NewObject(0)
		for _, key := range k.Keys() {
			properties.Set(key, true)
		}
		then := value.ObjectOf("properties", properties)
		if d, ok := k.(core.DocumentedKind); ok && d.Doc() != "" {
			then.Set("description", d.Doc())
		}
		names = append(names, name)
		branches = append(branches, value.ObjectOf(
			"if", value.ObjectOf("properties", value.ObjectOf("kind", value.ObjectOf("const", name))),
			"then", then,
		))
	}
	props, _ := node.Get("properties")
	kind, _ := props.(*value.Object).Get("kind")
	kind.(*value.Object).Set("enum", names)
	node.Delete("additionalProperties")
	node.Set("allOf", branches)
	node.Set("unevaluatedProperties", false)
}

// schemaProvider is implemented by types that define their own schema.
type schemaProvider interface{ schema() *value.Object }

func (conditionShape) schema() *value.Object {
	return value.ObjectOf("type", []any{"string", "boolean", "number"})
}

func (mappingShape) schema() *value.Object { return value.ObjectOf("type", []any{"object", "null"}) }

func (joinShape) schema() *value.Object {
	return joinSchema(core.JoinAll, core.JoinAllDone, core.JoinAny, nil)
}

// joinSchema returns the schema of one of the words or a mapping with a number.
func joinSchema(words ...any) *value.Object {
	const keys = "#/$defs/join"
	return value.ObjectOf("anyOf", []any{
		value.ObjectOf("enum", words),
		value.ObjectOf("$ref", keys, "type", "object", "required", []any{core.JoinKOfN}),
		value.ObjectOf("$ref", keys, "type", "object", "required", []any{core.JoinQuorum}),
	})
}

func (textShape) schema() *value.Object {
	return value.ObjectOf("type", "string", "pattern", `\S`)
}

func (parallelJoinShape) schema() *value.Object {
	return joinSchema(core.JoinWaitAll, core.JoinFirstSuccess, nil)
}

func (bodyShape) schema() *value.Object {
	return value.ObjectOf("anyOf", []any{
		value.ObjectOf("type", "string", "pattern", `\S`),
		value.ObjectOf("type", "array", "items", value.ObjectOf("type", "string"), "minItems", int64(1)),
	})
}

var (
	stringType    = reflect.TypeFor[source.Text]()
	intType       = reflect.TypeFor[source.Int]()
	numberType    = reflect.TypeFor[source.Located[float64]]()
	boolType      = reflect.TypeFor[source.Located[bool]]()
	durationType  = reflect.TypeFor[source.Located[time.Duration]]()
	treeType      = reflect.TypeFor[source.Value]()
	interfaceType = reflect.TypeFor[any]()
)

// durationPattern matches the strings that time.ParseDuration accepts, without a minus
// sign.
const durationPattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// valueSchema returns the schema of a value, given the Go type that it is decoded into
// and its key. The limits of the key apply to the scalars in the value.
func valueSchema(t reflect.Type, k *source.Key) *value.Object {
	if s, ok := reflect.Zero(t).Interface().(schemaProvider); ok {
		return s.schema()
	}
	inner := *k
	inner.Required = false
	if of, ok := source.MembersOf(t); ok {
		return collection(k, "object", "additionalProperties", valueSchema(of, &inner), "minProperties")
	}
	switch {
	case t == interfaceType || t == treeType:
		return &value.Object{}
	case t == stringType:
		return stringSchema(k)
	case t == intType:
		return limited(value.ObjectOf("type", "integer"), k)
	case t == numberType:
		return limited(value.ObjectOf("type", "number"), k)
	case t == durationType:
		return durationSchema(k)
	case t == boolType, t.Kind() == reflect.Bool:
		return value.ObjectOf("type", "boolean")
	case t.Kind() == reflect.Pointer:
		return valueSchema(t.Elem(), k)
	case t.Kind() == reflect.Slice:
		return collection(k, "array", "items", valueSchema(t.Elem(), &inner), "minItems")
	default:
		return value.ObjectOf("$ref", "#/$defs/"+sectionName(t))
	}
}

func collection(k *source.Key, kind, content string, of *value.Object, minKey string) *value.Object {
	if k.Required {
		return value.ObjectOf("type", kind, content, of, minKey, int64(1))
	}
	return value.ObjectOf("type", []any{kind, "null"}, content, of)
}

func stringSchema(k *source.Key) *value.Object {
	out := value.ObjectOf("type", "string")
	switch {
	case len(k.OneOf) > 0:
		var words []any
		for _, w := range k.OneOf {
			words = append(words, w)
		}
		out.Set("enum", words)
	case k.Name == "version" && strings.Contains(k.Doc, "three numbers"): // the version of a document
		out.Set("pattern", versionPattern.String())
	case k.Required:
		out.Set("pattern", `\S`)
	}
	return out
}

// limited adds the limits of a number.
func limited(out *value.Object, k *source.Key) *value.Object {
	for _, limit := range []struct{ key, value string }{{"minimum", k.Min}, {"maximum", k.Max}} {
		if limit.value != "" {
			n, err := value.ParseNumber(limit.value)
			if err != nil {
				panic("native: key " + k.Name + ": " + err.Error())
			}
			out.Set(limit.key, n)
		}
	}
	return out
}

func durationSchema(k *source.Key) *value.Object {
	text := value.ObjectOf("type", "string", "pattern", durationPattern)
	if k.Millis {
		return value.ObjectOf("anyOf", []any{value.ObjectOf("type", "integer", "minimum", int64(0)), text})
	}
	return text
}

// Keys returns the keys of a section of the format ("document", "node", "edge" ...) in
// the order in which Write prints them, or nil if the section does not exist.
func Keys(section string) []source.Key {
	for _, s := range sections {
		if s.name == section {
			return slices.Clone(source.KeysOf(s.shape))
		}
	}
	return nil
}
