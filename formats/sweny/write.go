package sweny

import (
	"cmp"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/formats/internal/unwritten"
)

// Write formats a walk that a model routes as a document. Parsing the document in the
// folder that the walk was read from gives an equal workflow, and writing that gives
// the same bytes. Positions and comments are lost. Texts in files remain in their
// files.
//
// Write fails if the workflow contains something that a document cannot express: other
// modes (a document parsed with the option Parallel is a dag), fields of the state,
// nodes of kinds other than agent, settings of the kind that documents do not have, or
// a Go function without a name. The error names the node.
func Write(w *core.Workflow) ([]byte, error) {
	out, left, err := WritePart(w)
	if err := cmp.Or(left.Err(), err); err != nil {
		return nil, err
	}
	return out, nil
}

// WritePart formats what a document can express of a walk, and returns everything that it
// has left out.
func WritePart(w *core.Workflow) ([]byte, unwritten.List, error) {
	wr := &writer{w: w, at: w.Pos, sections: map[*source.Value]bool{}}
	tree := wr.document()
	out, err := document.Print(tree, func(v *source.Value) bool { return !wr.sections[v] })
	return out, wr.left, err
}

// writer builds the tree of a document.
type writer struct {
	w *core.Workflow
	// sections are the mappings that are never printed on one line.
	sections map[*source.Value]bool
	left     unwritten.List
	at       source.Position // of what is being written
}

func (w *writer) fail(format string, args ...any) {
	w.left.Addf(w.at, format+" cannot be written as a document of SWEny", args...)
}

// section is a mapping under construction. Empty values are left out.
type section struct{ v *source.Value }

func (w *writer) section() section {
	s := section{&source.Value{Kind: source.ObjectValue}}
	w.sections[s.v] = true
	return s
}

func (s section) put(key string, v *source.Value) {
	if v != nil && s.v.Get(key) == nil {
		s.v.Set(source.Text{Value: key}, v)
	}
}

func (s section) text(key, text string) {
	if text != "" {
		s.put(key, stringTree(source.Text{Value: text}))
	}
}

func (s section) plain(key string, v any, ok bool) {
	if ok {
		s.put(key, source.Tree(v, source.Position{}))
	}
}

func number(n *source.Int) *source.Value {
	if n == nil {
		return nil
	}
	return &source.Value{Kind: source.IntValue, Scalar: int64(n.Value)}
}

func (w *writer) document() *source.Value {
	in := w.w
	if in.Mode != core.ModeWalk || in.Walk == nil || in.Walk.Router.Value != core.RouterModel {
		w.fail("workflow %s: a graph that no model routes", in.Name.Value)
		return w.section().v
	}
	if len(in.Fields) > 0 {
		w.fail("workflow %s: a field of the state", in.Name.Value)
	}
	if walk := in.Walk; walk.MaxSteps != nil || walk.MaxVisits != nil || walk.MaxRetries != nil || walk.StallTimeout != nil {
		w.fail("workflow %s: a limit of the walk", in.Name.Value)
	}
	if in.Runtime.Durability.Value != "" {
		w.fail("workflow %s: its durability", in.Name.Value)
	}
	if in.Runtime.ConcurrencyKey.Value != "" {
		w.fail("workflow %s: its concurrency_key", in.Name.Value)
	}
	kept := in.Walk.Attributes
	s := w.section()
	s.text("id", in.Name.Value)
	name, ok := kept.Get("name")
	s.plain("name", name, ok)
	s.text("name", in.Name.Value) // unless the attributes have one
	s.text("description", in.Description.Value)
	s.text("model", in.Walk.Model.Value)
	for key, v := range kept.All() {
		s.plain(key, v, true)
	}
	s.text("entry", in.Walk.Entry.Value)
	if len(in.Inputs) > 0 {
		s.put("inputs", w.inputs())
	}
	nodes := w.section()
	for _, n := range in.Nodes {
		nodes.put(n.ID.Value, w.node(n))
	}
	s.put("nodes", nodes.v)
	edges := &source.Value{Kind: source.ArrayValue}
	for _, e := range in.Edges {
		edges.Items = append(edges.Items, w.edge(e))
	}
	s.put("edges", edges)
	return s.v
}

func (w *writer) edge(e *core.Edge) *source.Value {
	s := section{&source.Value{Kind: source.ObjectValue}}
	s.text("from", e.From.Value)
	s.text("to", e.To.Value)
	if e.When != nil {
		s.text("when", e.When.Value)
	}
	s.put("max_iterations", number(e.MaxIterations))
	return s.v
}

func (w *writer) inputs() *source.Value {
	out := w.section()
	for _, in := range w.w.Inputs {
		s := section{&source.Value{Kind: source.ObjectValue}}
		word := inputWord(in.Type)
		if word == "" {
			w.fail("input %s: its type", in.Name.Value)
			return nil
		}
		s.text("type", word)
		s.plain("required", true, in.Required)
		s.plain("default", in.Default, !value.IsMissing(in.Default))
		s.plain("enum", in.Type.Enum, len(in.Type.Enum) > 0)
		s.text("description", in.Description.Value)
		out.put(in.Name.Value, s.v)
	}
	return out.v
}

// inputWord returns the type name in documents, "" if they do not have the type.
func inputWord(t *value.Type) string {
	switch {
	case t == nil:
		return ""
	case t.Kind == value.ArrayType && t.Items != nil && t.Items.Kind == value.StringType:
		return "string[]"
	case t.Kind == value.StringType || t.Kind == value.NumberType || t.Kind == value.BooleanType:
		return t.Kind.String()
	}
	return ""
}

// fromConfig maps the keys of a node to keys of its kind's configuration.
var fromConfig = []struct{ key, config string }{
	{"output", "schema"}, {"max_turns", "max_turns"}, {"tools", "tool_filter"}, {"fail_soft", "fail_soft"},
	{"requires", "requires"}, {"eval", "eval"},
}

// otherConfig are the configuration keys that the method node writes in its own way, or
// that every node has.
var otherConfig = map[string]bool{"instruction": true, "preamble": true, "skills": true, "model": true, "judge_model": true,
	"retry_instruction": true, "context": true, "lenient": true}

func (w *writer) node(n *core.Node) *source.Value {
	w.at = n.Pos
	s := w.section()
	subject := n.Subject()
	if n.Kind.Value != kindAgent || n.Config == nil {
		w.fail("%s: a node of kind %s", subject, n.Kind.Value)
		return nil
	}
	if n.Timeout != nil || n.MaxVisits != nil || n.Args != nil || len(n.Reads)+len(n.Writes) > 0 || n.AllowPartial || n.AutoStatus || n.Pause.Value != "" || n.Cache != nil {
		w.fail("%s: a setting of all nodes", subject)
	}
	label := n.Label.Value
	if label == "" {
		label = n.ID.Value
	}
	s.text("name", label)
	s.put("instruction", w.instruction(n))
	for _, key := range []string{"rules", "context"} {
		v, ok := n.Attributes.Get(key)
		s.plain(key, v, ok)
	}
	if n.Attributes == nil && n.Config.Get("preamble") != nil {
		w.fail("%s: its preamble", subject)
	}
	s.put("skills", skillNames(n.Config.Get("skills")))
	if v, ok := n.Attributes.Get("disallowed_tools"); ok {
		s.plain("disallowed_tools", v, true)
	}
	known := map[string]bool{}
	for _, k := range fromConfig {
		known[k.config] = true
		s.put(k.key, n.Config.Get(k.config))
	}
	for _, k := range n.Config.Keys {
		if !known[k.Value] && !otherConfig[k.Value] {
			w.fail("%s: its key %s", subject, k.Value)
		}
	}
	w.model(s, n, "model", w.w.Walk.Model.Value)
	judge, _ := w.w.Walk.Attributes.Get("judge_model")
	common, _ := judge.(string)
	w.model(s, n, "judge_model", common)
	s.put("retry", w.retry(n))
	for key, v := range n.Attributes.All() {
		s.plain(key, v, true) // what no other setting says
	}
	return s.v
}

// model writes the model of a node if it differs from the model of the workflow.
func (w *writer) model(s section, n *core.Node, key, common string) {
	if v := n.Config.Get(key); v != nil && v.Plain() != common {
		s.put(key, v)
	}
}

// instruction returns the instruction of a node. If the document refers to a file or
// URL, it returns the reference.
func (w *writer) instruction(n *core.Node) *source.Value {
	original, _ := n.Attributes.Get("instruction")
	v := n.Config.Get("instruction")
	switch text, _ := original.(string); {
	case original != nil && (text == "" || kindOf(strings.TrimSpace(text)) != inlineSource || v != nil && strings.TrimSpace(text) == v.Scalar):
		return source.Tree(original, source.Position{})
	case v == nil:
		w.fail("node %s: a node without an instruction", n.ID.Value)
		return nil
	case kindOf(v.Scalar.(string)) != inlineSource:
		s := section{&source.Value{Kind: source.ObjectValue}}
		s.put(inlineSource, v)
		return s.v
	}
	return v
}

func skillNames(skills *source.Value) *source.Value {
	if skills == nil {
		return nil
	}
	names := &source.Value{Kind: source.ArrayValue}
	for _, s := range skills.Items {
		names.Items = append(names.Items, s.Get("name"))
	}
	return names
}

func (w *writer) retry(n *core.Node) *source.Value {
	r := n.OnError
	if r == nil {
		return nil
	}
	if r.Attempts == nil || r.Attempts.Value < 2 || r.RetryOn.Value != "transient" || r.Preset.Value != "" || r.Then.Value != "" {
		w.fail("node %s: its on_error", n.ID.Value)
		return nil
	}
	s := section{&source.Value{Kind: source.ObjectValue}}
	s.put("max", number(&source.Int{Value: r.Attempts.Value - 1}))
	s.put("instruction", n.Config.Get("retry_instruction"))
	return s.v
}
