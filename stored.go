package wavefold

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/inbox"
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
// Package store/file stores runs in a folder. The error of a run that cannot be stored is a
// core.StoreError.
func WithStore(s store.Store) RunOption {
	return runOption(func(r *runSettings) { r.recording().Store = s })
}

// WithDurability sets how much of a stored run survives a crash. The default is the durability of
// the document, or Batch.
func WithDurability(m core.DurabilityMode) RunOption {
	return runOption(func(r *runSettings) { r.recording().Durability = m })
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

// Wait waits for the end of the run. Its results are those of Graph.Run. It may be called several
// times.
func (r *Running) Wait() (*Result, error) {
	report, err := r.Running.Wait()
	return &Result{report}, err
}

// Start is Run, except that it returns as soon as the run has begun. The error is that of a run that
// cannot begin. Cancel, or the end of ctx, ends the run; Wait returns its result.
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
// store. Functions that had returned are not called again; functions that were running are, with the
// same idempotency key. Inputs and limits are those with which the run was started.
//
// The error is a store.HeldError if another process executes the run, store.ErrNotFound if there is no
// such run, and a scheduler.ChangedError if the graph has changed in a way that matters to the run.
// The code of functions is not compared; a function whose results are no longer valid needs another
// Version.
func (g *Graph) Resume(ctx context.Context, run string, options ...RunOption) (*Running, error) {
	if err := g.Compile(); err != nil {
		return nil, err
	}
	s := g.settings(options)
	return resume(ctx, run, s, func(*scheduler.Stored) (*plan.Plan, error) { return g.plan, nil })
}

// Resume is Graph.Resume for a run of a document. The document is read from the file with which the
// run was started if the store is in a folder, such as one of package store/file, and from what the
// store has recorded if the file is gone.
func (e *Engine) Resume(ctx context.Context, run string, options ...RunOption) (*Running, error) {
	s := runSettings{}
	s.Router = e.router
	s.apply(options)
	return resume(ctx, run, s, func(st *scheduler.Stored) (*plan.Plan, error) {
		g, err := e.graphOf(ctx, st, s.Recording.Store)
		if err != nil {
			return nil, err
		}
		if g.sources != nil {
			s.Recording.File, s.Recording.Sources = g.file, g.sources.Files()
		}
		return g.Plan()
	})
}

// errNoStore is the error of Resume without WithStore.
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

// graphOf returns the graph of the document of a stored run.
func (e *Engine) graphOf(ctx context.Context, st *scheduler.Stored, s store.Store) (*Graph, error) {
	head := st.Head
	if head.File == "" {
		return nil, fmt.Errorf("run %s was not started from a document: Graph.Resume continues it", head.Run)
	}
	name := filepath.FromSlash(head.File)
	if in, ok := s.(interface{ Dir() string }); ok && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(in.Dir()), name)
	}
	g, err := e.Load(name)
	if ds, ok := source.AsDiagnostics(err); !ok || !ds.Has(source.CodeMissingFile) || len(head.Sources) == 0 {
		return g, err
	}
	var files []core.SourceFile
	for _, f := range head.Sources {
		data, err := s.Get(ctx, f.Blob)
		if err != nil {
			return nil, err
		}
		files = append(files, core.SourceFile{Path: f.Path, Kind: core.SourceKind(f.Kind), SHA256: f.SHA256, Data: data})
	}
	return e.From(files).Load(name)
}
