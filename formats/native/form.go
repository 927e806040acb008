package native

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// form is the form of the graph of a document. It follows from the mode and the router.
type form uint8

const (
	formDAG form = iota
	formSteps
	formOutcomes
	formModel
	formUnrouted // a walk whose router is missing or not known
)

// forms lists, for each form, how a document selects it and the keys of its parts.
var forms = [...]struct {
	form              form
	where             string
	graph, node, edge any // their shapes
}{
	{formDAG, "mode: dag", graphShape{}, nodeShape{}, edgeShape{}},
	{formSteps, "router: steps", stepsGraph{}, stepsNode{}, stepsEdge{}},
	{formOutcomes, "router: outcomes", outcomesGraph{}, outcomesNode{}, outcomesEdge{}},
	{formModel, "router: model", modelGraph{}, modelNode{}, modelEdge{}},
}

// formOf returns the form of a document.
func formOf(tree *source.Value) form {
	if mode, _ := tree.Get("mode").Plain().(string); mode != string(core.ModeWalk) {
		return formDAG
	}
	switch router, _ := tree.Get("graph").Get("router").Plain().(string); router {
	case core.RouterSteps:
		return formSteps
	case core.RouterOutcomes:
		return formOutcomes
	case core.RouterModel:
		return formModel
	}
	return formUnrouted
}

// otherForm says to which other forms a key of a graph, node or edge belongs, "" if to none.
func otherForm(f form, part, key string) string {
	var where []string
	for _, o := range forms {
		shape := o.graph
		switch part {
		case "node":
			shape = o.node
		case "edge":
			shape = o.edge
		}
		if !slices.Contains(source.KeyNames(shape), key) {
			continue
		}
		if o.form == f {
			return ""
		}
		where = append(where, o.where)
	}
	switch {
	case where == nil:
		return ""
	case part == "graph" && key == "router":
		return "a graph with a router needs mode: walk at the top of the document"
	case f == formDAG && len(where) == len(forms)-1:
		return key + " belongs to mode: walk"
	case part == "graph" && key == "entry" && f == formOutcomes:
		return "with router: outcomes a walk begins at the node of the kind start"
	}
	hint := key + " belongs to " + where[0]
	for i, w := range where[1:] {
		if i == len(where)-2 {
			hint += " and " + w
		} else {
			hint += ", " + w
		}
	}
	return hint
}

// documentKeys are the keys that belong under graph and not to the top of a document.
var documentKeys = []string{"router", "entry", "max_visits", "max_node_visits", "max_mutations", "self_modification", "loop_until", "nodes", "edges"}

// hintOtherForms changes the hints of errors about keys that documents of another mode or
// router have: they say where the key belongs.
func (p *parser) hintOtherForms() {
	for i := range p.ds {
		d := &p.ds[i]
		subject, quoted, ok := strings.Cut(d.Message, "unknown key ")
		if d.Code != source.CodeUnknownKey || !ok {
			continue
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			continue
		}
		hint := ""
		switch {
		case subject == "" && p.form != formDAG && slices.Contains(documentKeys, key):
			hint = key + " belongs under graph"
		case subject == "graph: ":
			hint = otherForm(p.form, "graph", key)
		case strings.HasPrefix(subject, "edge ") || strings.HasPrefix(subject, "graph.edges["):
			hint = otherForm(p.form, "edge", key)
		}
		if hint != "" {
			d.Hint = hint
		}
	}
}
