package rehearse

import (
	"context"
	"errors"
	"slices"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Registry returns a registry in which every kind checks its nodes as usual but gets a
// handler that does nothing, unless it is a bookkeeping handler, see
// core.Compiled.Bookkeeping. Resources that are needed only to execute a node may be
// missing: files, programs and Go functions. A nested workflow is answered like a plain
// node, unless the file has answers for nodes inside it; a wait without an answer remains a
// timer, in virtual time.
//
// A node for which the engine has no handler must be answered by the file.
func Registry(real *core.Registry, f *mock.File) *core.Registry { return registry(real, f, false) }

// registry implements Registry; with dry, nodes without a handler need no answer either.
func registry(real *core.Registry, f *mock.File, dry bool) *core.Registry {
	reg := core.NewRegistry()
	for _, name := range real.KindNames() {
		k, _ := real.Kind(name)
		reg.AddKind(noop{k, f, dry})
	}
	for _, name := range real.ConditionNames() {
		condition, _ := real.Condition(name)
		_ = reg.AddCondition(name, condition) // each name is unique
	}
	for _, m := range f.Conditions {
		_ = reg.AddCondition(m.Key.Value, neverAsked) // the file answers for it
	}
	for _, name := range real.ToolNames() {
		_ = reg.AddTool(name, core.HandlerFunc(neverCalled)) // each name is unique
	}
	return reg
}

// withTypes registers a handler that must never be called for each node type of a walk that
// has no handler: the file answers for these nodes.
func withTypes(reg *core.Registry, w *core.Workflow) {
	if !plan.ModeOf(w).Functions {
		return
	}
	for _, n := range w.Nodes {
		if _, ok := reg.Kind(n.Kind.Value); !ok && n.Kind.Value != "" {
			_ = reg.AddTool(n.Kind.Value, core.HandlerFunc(neverCalled)) // another node may have the same type
		}
	}
}

// noop wraps a kind so that its nodes do nothing.
type noop struct {
	core.Kind
	file *mock.File
	dry  bool
}

// executionCodes lists the codes of findings that do not matter to a rehearsal.
var executionCodes = []source.Code{source.CodeMissingFile, source.CodeUnresolvedFile, source.CodeUnknownImpl}

// Compile checks the node and gives it a handler that must never be called.
func (k noop) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	made, ds := k.Kind.Compile(n, lenientEnv(env))
	ds, _ = withoutExecutionFindings(ds)
	if ds.Failed(false) {
		return made, ds
	}
	answered := answersFor(k.file, n.ID.Value)
	switch {
	case made.Role != core.RoleStage: // it runs nothing, or a person answers it
		return made, ds
	case made.Bookkeeping && !answered:
		made.Handler = bookkeeper{made.Handler}
		return made, ds
	case made.Wait != nil && !answered:
		return made, ds
	case made.NoHandler != "" && !answered && !k.dry:
		made.NoHandler += "; or let the mock file answer for the node"
		return made, ds
	case made.Frame != nil && !answered && answersInside(k.file, n.ID.Value):
		return made, ds
	}
	return neverRun(made), ds
}

// Read reads a workflow file that will not be run: resources that are needed only to
// execute it may be missing.
func Read(e *wavefold.Engine, path string) (*core.Workflow, source.Diagnostics) {
	w, ds := e.Read(path)
	if w == nil {
		return nil, ds // the file itself cannot be read
	}
	ds, _ = withoutExecutionFindings(ds)
	dropExecutionFindings(w)
	return w, ds
}

// dropExecutionFindings drops the findings of reading a workflow that matter only to execution.
func dropExecutionFindings(w *core.Workflow) {
	if w != nil {
		w.Findings, _ = withoutExecutionFindings(w.Findings)
	}
}

// lenientEnv wraps the environment of a kind: findings of nested workflows that matter only
// to execution are dropped.
func lenientEnv(env core.Env) core.Env {
	if load := env.LoadWorkflow; load != nil {
		env.LoadWorkflow = func(path string) (*core.Workflow, error) {
			w, err := load(path)
			dropExecutionFindings(w)
			return w, err
		}
	}
	return env
}

// withoutExecutionFindings drops the findings that matter only to execution.
func withoutExecutionFindings(ds source.Diagnostics) (rest source.Diagnostics, dropped bool) {
	rest = slices.DeleteFunc(slices.Clone(ds), func(d source.Diagnostic) bool { return slices.Contains(executionCodes, d.Code) })
	return rest, len(rest) < len(ds)
}

// neverRun replaces the handler that a kind has compiled for a node by a handler that must
// never be called. The dependencies of the node are unchanged; a stream becomes an ordinary
// array, which is how a mock file answers.
func neverRun(made core.Compiled) core.Compiled {
	return core.Compiled{Handler: plan.Placeholder{HandlerFunc: neverCalled}, Reads: made.Reads, Nodes: made.Nodes, Effects: made.Effects, Columns: made.Columns,
		Outputs: made.Outputs, Inputs: made.Inputs, Next: made.Next}
}

// bookkeeper is a handler that a rehearsal calls: its only effect is its result.
type bookkeeper struct{ core.Handler }

func neverCalled(context.Context, core.Input) (core.Result, error) {
	return core.Result{}, errors.New("a rehearsal calls no handler")
}

// Lenient returns a registry for inspecting workflows that will not be run: resources that
// are needed only to execute a node may be missing, everything else is unchanged.
func Lenient(real *core.Registry) *core.Registry {
	reg := real.Clone()
	for _, name := range real.KindNames() {
		k, _ := real.Kind(name)
		reg.AddKind(lenient{k})
	}
	return reg
}

// lenient is a kind that ignores findings that matter only to execution.
type lenient struct{ core.Kind }

// Compile checks the node.
func (k lenient) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	made, ds := k.Kind.Compile(n, lenientEnv(env))
	rest, dropped := withoutExecutionFindings(ds)
	if dropped && !rest.Failed(false) {
		stream, streams := made.Stream, made.Streams
		made = neverRun(made)
		made.Stream, made.Streams = stream, streams
	}
	return made, rest
}
