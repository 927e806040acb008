package wavefold

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Modes of durability, for WithDurability; see core.DurabilityMode.
const (
	Full  = core.DurabilityFull
	Batch = core.DurabilityBatch
	Off   = core.DurabilityOff
)

// Answer is an answer to a question of a stored run, for Running.Answer.
type Answer = inbox.Answer

// WithStore stores the run, so that it can be resumed after a crash, and so that people can answer
// its questions from other processes and after the process has ended. The caller closes the store.
// Package store/file stores runs in a folder, store/postgres in a database. The error of a run that cannot be stored is a
// core.StoreError.
func WithStore(s store.Store) RunOption {
	return runOption(func(r *runSettings) { r.recording().Store = s })
}

// WithDurability sets how much of a stored run survives a crash. The default is the durability of
// the document, or Batch.
func WithDurability(m core.DurabilityMode) RunOption {
	return runOption(func(r *runSettings) { r.recording().Durability = m })
}

// RerunFrom runs nodes again when a run is resumed, with all nodes that can see their effect. nodes are
// paths: the ids of nodes, pipelines and loops, such as "price" or, in a nested workflow, "outer/price".
// The nodes get other idempotency keys than before.
func RerunFrom(nodes ...string) RunOption {
	return runOption(func(r *runSettings) { r.recording().RerunFrom = append(r.recording().RerunFrom, nodes...) })
}

// Keep keeps the results of nodes that have changed since the run was started. nodes are paths as for
// RerunFrom. The fields that a node has written must still be declared and of a type that takes the
// values.
func Keep(nodes ...string) RunOption {
	return runOption(func(r *runSettings) { r.recording().Keep = append(r.recording().Keep, nodes...) })
}

// RerunFailed runs nodes again whose failure was tolerated or handled. Without it, Resume runs only what made
// the run fail.
func RerunFailed() RunOption { return runOption(func(r *runSettings) { r.recording().Failed = true }) }

// AsRecorded makes Engine.Resume compile the workflow from what the store has recorded, and ignores
// changes of its files.
func AsRecorded() RunOption { return runOption(func(r *runSettings) { r.asRecorded = true }) }

// Adopt continues a run of another version of the engine although this version decides differently.
// Results that fit are kept. Without it the error is a scheduler.LogicError.
func Adopt() RunOption { return runOption(func(r *runSettings) { r.recording().Adopt = true }) }

// Assume gives a node, pipeline or loop of a replay a status without running it: core.Success, core.Fail
// or core.Skipped. It writes nothing. node is a path as for RerunFrom.
func Assume(node string, status core.Status) RunOption {
	return runOption(func(r *runSettings) { r.assume = append(r.assume, machine.Assumption{Node: node, Status: status}) })
}

// SetField gives a field of the state another value in a replay. The value replaces the value that the field
// has from the shared past. field is the name of a field, or a path inside its value such as "rates.USD". The
// nodes on the level of the node where the replay begins, and all later ones, see that value; in a walk, the
// field gets it when the first visit of the node begins. Nodes that read the field there run again, too.
// Later writes are merged with the value.
func SetField(field string, v any) RunOption {
	return runOption(func(r *runSettings) { r.set = append(r.set, machine.Assignment{Path: field, Value: v}) })
}

// recording returns the settings of the store, which it makes on first use.
func (s *runSettings) recording() *scheduler.Recording {
	if s.Recording == nil {
		s.Recording = &scheduler.Recording{}
	}
	return s.Recording
}

// Running is a run in progress. Its methods are safe for concurrent use.
type Running struct{ *scheduler.Running }

// Wait waits for the end of the run. It returns the results that Graph.Run returns. It may be
// called several times.
func (r *Running) Wait() (*Result, error) {
	report, err := r.Running.Wait()
	return &Result{report}, err
}

// Start is like Run but returns as soon as the run has begun. It returns an error if the run cannot
// begin. Cancel, or the end of ctx, ends the run; Wait returns its result.
func (g *Graph) Start(ctx context.Context, options ...RunOption) (*Running, error) {
	if err := g.Compile(); err != nil {
		return nil, err
	}
	s := g.settings(options)
	r, err := scheduler.Start(ctx, g.plan, s.values, s.Options)
	if err != nil {
		return nil, err
	}
	return &Running{r}, nil
}

// Resume continues a stored run of the graph, which may have been started by another process that
// crashed, was stopped, or was paused because only people can continue the run. WithStore names the
// store. Functions that had returned are not called again. Functions that were running are called
// again, with the same idempotency key. The run keeps the inputs and limits with which it was
// started.
//
// The error is a store.HeldError if another process executes the run, store.ErrNotFound if there is no such
// run, and a scheduler.ChangedError if the graph has changed in a way that matters to the run: use Keep and
// RerunFrom to say what to do with the nodes that it names. After a crash, a changed node that would run
// next counts as one that has run, because the graph with which the run was started is not known. The code
// of functions is not compared; a function whose earlier results are invalid needs another Version.
func (g *Graph) Resume(ctx context.Context, run string, options ...RunOption) (*Running, error) {
	if err := g.Compile(); err != nil {
		return nil, err
	}
	s := g.settings(options)
	if s.asRecorded {
		return nil, errors.New("AsRecorded is for Engine.Resume: a store does not have the functions of a graph")
	}
	return resume(ctx, run, s, func(*scheduler.Stored) (*plan.Plan, error) { return g.plan, nil })
}

// Resume is Graph.Resume for a run of a document. The document is read from the file with which the
// run was started if the store is in a folder, such as one of package store/file, and from what the
// store has recorded if the file is gone.
func (e *Engine) Resume(ctx context.Context, run string, options ...RunOption) (*Running, error) {
	s := runSettings{}
	s.Router = e.router
	s.apply(options)
	return resume(ctx, run, s, e.planOf(ctx, &s))
}

// planOf returns a function that compiles the document of a stored run.
func (e *Engine) planOf(ctx context.Context, s *runSettings) func(*scheduler.Stored) (*plan.Plan, error) {
	return func(st *scheduler.Stored) (*plan.Plan, error) {
		g, err := e.graphOf(ctx, st, s)
		if err != nil {
			return nil, err
		}
		if g.sources != nil {
			s.Recording.File, s.Recording.Sources = g.file, g.sources.Files()
		}
		return g.Plan()
	}
}

// Replay starts a new run of the graph that shares the past of a stored one. from is the path of the node
// that runs again, with everything that can see its effect: the id of a node, pipeline or loop, such as
// "price" or, in a nested workflow, "outer/price". In a walk, it is the node whose first visit is repeated,
// with all visits since. Other nodes have the results that they have in the stored run, which may be in
// progress. WithStore names the store, which also stores the new run. The new run has the inputs and limits
// of the stored run. Its idempotency keys are new, because they begin with the id of the run.
//
// Nodes that run again have the effects that they have in any run. Replay returns the same errors
// as Graph.Resume.
func (g *Graph) Replay(ctx context.Context, run, from string, options ...RunOption) (*Running, error) {
	if err := g.Compile(); err != nil {
		return nil, err
	}
	s := g.settings(options)
	if s.asRecorded {
		return nil, errors.New("AsRecorded is for Engine.Replay: a store does not have the functions of a graph")
	}
	return replay(ctx, run, from, s, func(*scheduler.Stored) (*plan.Plan, error) { return g.plan, nil })
}

// Replay is Graph.Replay for a run of a document, which is read as Engine.Resume reads it.
func (e *Engine) Replay(ctx context.Context, run, from string, options ...RunOption) (*Running, error) {
	s := runSettings{}
	s.Router = e.router
	s.apply(options)
	return replay(ctx, run, from, s, e.planOf(ctx, &s))
}

func replay(ctx context.Context, run, from string, s runSettings, planOf func(*scheduler.Stored) (*plan.Plan, error)) (*Running, error) {
	if s.Recording == nil || s.Recording.Store == nil {
		return nil, errNoStore
	}
	if len(s.values) > 0 {
		return nil, errors.New("a replay has the inputs of the run whose past it shares")
	}
	st, err := scheduler.ReadStored(ctx, s.Recording.Store, run)
	if err != nil {
		return nil, err
	}
	p, err := planOf(st)
	if err != nil {
		return nil, err
	}
	fork := scheduler.Fork{From: from, Assume: s.assume, Set: s.set}
	for i := range fork.Set {
		if fork.Set[i].Value, err = value.Canonical(fork.Set[i].Value); err != nil {
			return nil, &machine.AssignmentError{Path: fork.Set[i].Path, Err: err}
		}
	}
	r, err := scheduler.StartReplay(ctx, st, p, fork, s.Options)
	if err != nil {
		return nil, err
	}
	return &Running{r}, nil
}

// errNoStore is the error of Resume and Replay without WithStore.
var errNoStore = errors.New("WithStore is missing: it names the store of the run")

func resume(ctx context.Context, run string, s runSettings, planOf func(*scheduler.Stored) (*plan.Plan, error)) (*Running, error) {
	if s.Recording == nil || s.Recording.Store == nil {
		return nil, errNoStore
	}
	if len(s.values) > 0 {
		return nil, errors.New("a resumed run has the inputs with which it was started")
	}
	st, err := scheduler.OpenStored(ctx, s.Recording.Store, run)
	if err != nil {
		return nil, err
	}
	p, err := planOf(st)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	r, err := scheduler.StartAgain(ctx, st, p, s.Options)
	if err != nil {
		return nil, err
	}
	return &Running{r}, nil
}

// documentOf returns the file of the document with which a run was started.
func documentOf(head *journal.Head, from store.Store) string {
	name := filepath.FromSlash(head.File)
	if in, ok := from.(interface{ Dir() string }); ok && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(in.Dir()), name)
	}
	return name
}

// graphOf returns the graph of the document of a stored run, and sets the plan with which the run was
// started if it is another one.
func (e *Engine) graphOf(ctx context.Context, st *scheduler.Stored, s *runSettings) (*Graph, error) {
	head, from := st.Head, s.Recording.Store
	if head.File == "" {
		return nil, fmt.Errorf("run %s was not started from a document: Graph.Resume continues it", head.Run)
	}
	name := documentOf(head, from)
	files, err := scheduler.SourceFiles(ctx, from, head)
	if err != nil {
		return nil, err
	}
	then, now := e.From(files), *e
	if s.asRecorded {
		return then.Load(name)
	}
	now.Resumed = true
	g, err := now.Load(name)
	if ds, ok := source.AsDiagnostics(err); ok && ds.Has(source.CodeMissingFile) && len(files) > 0 {
		return then.Load(name)
	}
	if err == nil && !head.IsOf(g.plan) {
		if old, err := then.Load(name); err == nil { // else Resume says that the workflow has changed
			st.Then = old.plan
		}
	}
	return g, err
}
