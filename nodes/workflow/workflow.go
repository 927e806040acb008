package workflow

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

const name = "workflow"

// Kind is the kind "workflow".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    name,
	Doc:     "Runs another workflow as a node of this one.",
	Before:  nested,
	Compile: compile,
	Partial: true,
})

// nested compiles a node that contains its workflow, so that no file is loaded.
func nested(n *core.Node, _ core.Env) (made core.Compiled, done bool, ds source.Diagnostics) {
	if n.Child != nil {
		return core.Compiled{Frame: &core.Frame{Workflow: n.Child}}, true, nil
	}
	return core.Compiled{}, false, nil
}

type config struct {
	File    source.Text                 `wavefold:"file,required" doc:"the other workflow, a path below this workflow's folder"`
	Outputs source.Members[source.Text] `wavefold:"outputs" doc:"which of its fields fill which of ours: {ours: theirs}"`
}

// compile loads the other workflow and checks that it does not include itself. The content of
// the other workflow is checked when the frame is compiled.
func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	ds := c.checkWrites(n)
	if c.File.Value == "" && !n.Config.Whole() {
		return core.Compiled{Lacks: "what names its workflow cannot be read"}, ds
	}
	l := &loader{env: env, subject: n.Subject(), key: "file", name: c.File}
	inner, found := l.load()
	ds = append(ds, found...)
	if found.Failed(false) {
		return core.Compiled{}, ds
	}
	ds = append(ds, c.checkFields(n, inner, env)...)
	frame := &core.Frame{Workflow: inner}
	if n.Config.Get("outputs") != nil {
		frame.Outputs = make(map[string]string, len(c.Outputs))
		for _, o := range c.Outputs {
			frame.Outputs[o.Key.Value] = o.Value.Value
		}
	}
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	return core.Compiled{Frame: frame}, ds
}

// checkWrites checks that outputs and the writes of the node are the same fields.
func (c *config) checkWrites(n *core.Node) source.Diagnostics {
	var ds source.Diagnostics
	writes := source.Strings(n.Writes)
	for _, o := range c.Outputs {
		if !contains(writes, o.Key.Value) {
			hint := source.DidYouMean(o.Key.Value, writes)
			if hint == "" {
				hint = "add it: writes: [" + o.Key.Value + "]"
			}
			ds.Errorf(source.CodeUnknownField, o.Key.Pos, "%s: outputs: field %q is not among the node's writes", n.Subject(), o.Key.Value).WithHint("%s", hint)
		}
	}
	if n.Config.Get("outputs") == nil {
		return ds
	}
	for _, w := range n.Writes {
		if _, ok := c.Outputs.Get(w.Value); !ok {
			ds.Warnf(source.CodeUnused, w.Pos, "%s: field %q is among the writes, but outputs does not fill it", n.Subject(), w.Value)
		}
	}
	return ds
}

// checkFields checks that outputs refers to fields of the other workflow.
func (c *config) checkFields(n *core.Node, inner *core.Workflow, env core.Env) source.Diagnostics {
	var ds source.Diagnostics
	if inner.Lost.Any("schema", "inputs") {
		return nil
	}
	fields := fieldsOf(inner, env)
	for _, o := range c.Outputs {
		if !contains(fields, o.Value.Value) {
			ds.Errorf(source.CodeUnknownField, o.Value.Pos, "%s: outputs: %q has no field %q", n.Subject(), c.File.Value, o.Value.Value).
				WithHint("%s", source.DidYouMean(o.Value.Value, fields))
		}
	}
	return ds
}

// fieldsOf lists the fields of a nested run: the declared fields, one for each input, and the
// context if the run has one.
func fieldsOf(w *core.Workflow, env core.Env) []string {
	var names []string
	if env.ConventionsOf != nil && env.ConventionsOf(w).Context {
		names = append(names, core.ContextField)
	}
	for _, f := range w.Fields {
		names = append(names, f.Name.Value)
	}
	for _, in := range w.Inputs {
		names = append(names, in.Name.Value)
	}
	return names
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
