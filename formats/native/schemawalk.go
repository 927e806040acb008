package native

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// def returns a definition of the schema.
func def(defs *value.Object, name string) *value.Object {
	d, _ := defs.Get(name)
	return d.(*value.Object)
}

// chooseGraph makes the schema of the graph depend on the mode and the router.
func chooseGraph(document *value.Object) {
	props := def(document, "properties")
	graph := def(props, "graph")
	graph.Delete("$ref")
	isWalk := value.ObjectOf("mode", value.ObjectOf("const", string(core.ModeWalk)))
	choice := func(condition *value.Object, required []any, graph *value.Object) any {
		return value.ObjectOf(
			"if", value.ObjectOf("properties", condition, "required", required),
			"then", value.ObjectOf("properties", value.ObjectOf("graph", graph)),
		)
	}
	var routers []any
	branches := []any{
		choice(value.ObjectOf("mode", value.ObjectOf("const", string(core.ModeDAG))), []any{}, value.ObjectOf("$ref", "#/$defs/graph")),
	}
	for _, router := range []string{core.RouterSteps, core.RouterOutcomes, core.RouterModel} {
		routers = append(routers, router)
		isRouter := value.ObjectOf("properties", value.ObjectOf("router", value.ObjectOf("const", router)), "required", []any{"router"})
		branches = append(branches, choice(value.ObjectOf("mode", value.ObjectOf("const", string(core.ModeWalk)), "graph", isRouter), []any{"mode", "graph"},
			value.ObjectOf("$ref", "#/$defs/"+router+"_graph")))
	}
	branches = append(branches, choice(isWalk, []any{"mode"},
		value.ObjectOf("type", "object", "properties", value.ObjectOf("router", value.ObjectOf("enum", routers)), "required", []any{"router"})))
	document.Set("allOf", branches)
}

// closeWalkNode restricts a node of a walk to the keys of its kind. A kind that is not
// registered may be the name of a Go function, so nothing is known about its keys.
func closeWalkNode(node *value.Object, r *core.Registry) {
	var branches []any
	for _, name := range r.KindNames() {
		k, _ := r.Kind(name)
		properties := value.NewObject(0)
		for key := range def(node, "properties").All() {
			properties.Set(key, true)
		}
		for _, key := range k.Keys() {
			properties.Set(key, true)
		}
		then := value.ObjectOf("properties", properties, "additionalProperties", false)
		if d, ok := k.(core.DocumentedKind); ok && d.Doc() != "" {
			then.Set("description", d.Doc())
		}
		branches = append(branches, value.ObjectOf(
			"if", value.ObjectOf("properties", value.ObjectOf("kind", value.ObjectOf("const", name)), "required", []any{"kind"}),
			"then", then,
		))
	}
	node.Delete("additionalProperties")
	node.Set("allOf", branches)
}

// exclusive restricts the keys of a condition: it has one form, and the keys of a kind only
// with that kind.
func exclusive(edge *value.Object) {
	without := func(condition *value.Object, keys ...string) any {
		none := value.NewObject(len(keys))
		for _, k := range keys {
			none.Set(k, false)
		}
		return value.ObjectOf("if", condition, "then", value.ObjectOf("properties", none))
	}
	// kinds returns a schema that is true for the given kinds of conditions, and for an edge
	// without a kind unless it is required.
	kinds := func(required bool, words ...any) *value.Object {
		out := value.ObjectOf("properties", value.ObjectOf("on", value.ObjectOf("enum", words)))
		if required {
			out.Set("required", []any{"on"})
		}
		return out
	}
	var notOutput, notConfidence []any
	for _, k := range core.CondKinds() {
		if k != core.CondOutput {
			notOutput = append(notOutput, k)
		}
		if k != core.CondConfidence {
			notConfidence = append(notConfidence, k)
		}
	}
	edge.Set("allOf", []any{
		without(value.ObjectOf("required", []any{"on"}), "when", "until", "ref"),
		without(value.ObjectOf("required", []any{"ref"}), "when", "until"),
		without(kinds(false, notOutput...), "key", "value"),
		without(kinds(false, notConfidence...), "min"),
		value.ObjectOf("if", kinds(true, core.CondOutput), "then", value.ObjectOf("required", []any{"key"}, "properties", value.ObjectOf("key", value.ObjectOf("pattern", `\S`)))),
	})
}
