package workflow

import (
	"errors"
	"io/fs"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/rootfs"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/lookup"
)

// Kind is the kind "workflow". The zero Kind is ready to use.
type Kind struct{}

var _ core.Kind = Kind{}

const name = "workflow"

type config struct {
	File    core.Text               `wavefold:"file,required" doc:"the other workflow, a path below this workflow's folder"`
	Outputs core.Members[core.Text] `wavefold:"outputs" doc:"which of its fields fill which of ours: {ours: theirs}"`

	subject string
}

func (c *config) DecodeSubject(*core.Value) string { return c.subject }

// Name returns "workflow".
func (Kind) Name() string { return name }

// Keys lists the kind's own keys.
func (Kind) Keys() []string { return core.KeyNames(config{}) }

// Compile loads the other workflow and checks that it does not lead back to
// itself. What is inside it is checked by whoever compiles the frame.
func (Kind) Compile(n *core.Node, env core.Env) (core.Compiled, core.Diagnostics) {
	if n.Child != nil {
		return core.Compiled{Frame: &core.Frame{Workflow: n.Child}}, nil
	}
	c := config{subject: "node " + n.ID.Value}
	ds := core.Decode(n.Config, &c)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	l := &loader{env: env}
	inner, found := l.load(c)
	if ds = append(ds, found...); ds.Failed(false) {
		return core.Compiled{}, ds
	}
	if round := l.cycle(files.Clean(c.File.Value), inner); round != "" {
		ds.Errorf(core.CodeCycle, c.File.Pos, "%s: file: the workflow includes itself: %s", c.subject, round)
		return core.Compiled{}, ds
	}
	frame := &core.Frame{Workflow: inner}
	if n.Config.Get("outputs") != nil {
		frame.Outputs = make(map[string]string, len(c.Outputs))
		for _, o := range c.Outputs {
			frame.Outputs[o.Key.Value] = o.Value.Value
		}
	}
	ds = append(ds, c.checkOutputs(n, inner)...)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	return core.Compiled{Frame: frame}, ds
}

// checkOutputs compares both sides of the mapping with what is declared.
func (c *config) checkOutputs(n *core.Node, inner *core.Workflow) core.Diagnostics {
	var ds core.Diagnostics
	writes, fields := core.Strings(n.Writes), fieldsOf(inner)
	for _, o := range c.Outputs {
		if !contains(writes, o.Key.Value) {
			hint := core.DidYouMean(o.Key.Value, writes)
			if hint == "" {
				hint = "add it: writes: [" + o.Key.Value + "]"
			}
			ds.Errorf(core.CodeUnknownField, o.Key.Pos, "%s: outputs: field %q is not among the node's writes", c.subject, o.Key.Value).WithHint("%s", hint)
		}
		if !contains(fields, o.Value.Value) && !inner.Lost.Any("schema", "inputs") {
			ds.Errorf(core.CodeUnknownField, o.Value.Pos, "%s: outputs: %q has no field %q", c.subject, c.File.Value, o.Value.Value).
				WithHint("%s", core.DidYouMean(o.Value.Value, fields))
		}
	}
	if n.Config.Get("outputs") == nil {
		return ds
	}
	for _, w := range n.Writes {
		if _, ok := c.Outputs.Get(w.Value); !ok {
			ds.Warnf(core.CodeUnused, w.Pos, "%s: field %q is among the writes, but outputs does not fill it", c.subject, w.Value)
		}
	}
	return ds
}

// fieldsOf lists the fields a nested run has: the declared ones, and an input
// declares one by itself. A walk has its context.
func fieldsOf(w *core.Workflow) []string {
	var names []string
	if w.Mode == core.ModeWalk {
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

// load loads the file the node names.
func (l *loader) load(c config) (*core.Workflow, core.Diagnostics) {
	var ds core.Diagnostics
	if err := files.Local(c.File.Value); err != nil {
		ds.Errorf(core.CodeBadValue, c.File.Pos, "%s: file: %v", c.subject, err).WithHint("files must lie in the workflow's folder")
		return nil, ds
	}
	if l.env.LoadWorkflow == nil {
		ds.Errorf(core.CodeMissingFile, c.File.Pos, "%s: file: there is no folder to look for %q in", c.subject, c.File.Value).
			WithHint("the workflow was not loaded from a folder; give it one")
		return nil, ds
	}
	inner, err := l.env.LoadWorkflow(files.Clean(c.File.Value))
	if err != nil {
		return nil, c.loadError(err, l.env)
	}
	return inner, ds
}

// loadError turns an error of the loader into findings. Findings about the other
// file keep their places in it.
func (c *config) loadError(err error, env core.Env) core.Diagnostics {
	found, ok := core.AsDiagnostics(err)
	var ds core.Diagnostics
	for _, d := range found {
		if !d.Pos.IsValid() {
			d.Pos = c.File.Pos
		}
		ds = append(ds, d)
	}
	switch {
	case ok && ds.Failed(false):
	case rootfs.Leaves(err):
		ds.Errorf(core.CodeBadValue, c.File.Pos, "%s: file: %v", c.subject, rootfs.Word(c.File.Value, env.Dir, err)).
			WithHint("files must lie in the workflow's folder")
	case errors.Is(err, fs.ErrNotExist):
		d := ds.Errorf(core.CodeMissingFile, c.File.Pos, "%s: file: there is no file %q", c.subject, c.File.Value)
		if env.Files != nil {
			d.WithHint("%s", lookup.Near(env.Files, files.Clean(c.File.Value)))
		}
	default:
		ds.Errorf(core.CodeMissingFile, c.File.Pos, "%s: file: %q cannot be loaded: %v", c.subject, c.File.Value, err)
	}
	return ds
}
