package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Recording says where a run is stored.
type Recording struct {
	Store store.Store
	// Durability is the mode of the run; "" means the mode of the plan, or core.DurabilityBatch.
	Durability core.DurabilityMode
	// File is the document of the run, or "" if there is none. Sources are the files that its plan
	// was compiled from; the store keeps them.
	File    string
	Sources []core.SourceFile
	// Recorded returns plan.Plan.Recorded of the plan of a new run; nil means that each run computes it.
	// That takes as long as compiling the plan, so callers that run a plan often should keep the result.
	Recorded func() plan.Recorded
	// RerunFrom are nodes that run again when the run is resumed, with all nodes that can see their
	// effect, by path. Keep are nodes whose results count although the nodes have changed. Failed lets
	// nodes run again whose failure was tolerated. Adopt continues a run that another version of the
	// engine has started although this one decides differently: what has a result is not executed
	// again. The four are for Resume.
	RerunFrom []string
	Keep      []string
	Failed    bool
	Adopt     bool
	// Adopted is called by Resume, before anything runs, with each part of the workflow that is new or
	// has changed and is taken over because it has not started or computes the same. It may be nil.
	Adopted func(plan.PartChange)
	// Salvage, if it is not nil, lets Resume continue a run although values of its results are missing in
	// the store. It is called with each of these results; their executions run again, with the same
	// idempotency keys. Results of other executions are kept.
	Salvage func(*journal.LostError)
	// Waiting is called when the run begins to wait for another run that has its concurrency key. It may
	// be nil.
	Waiting func(*core.OverlapError)
	// Head holds what the journal says about the run and the driver does not know: the names of the
	// workflow and of the version of the program, and settings of the caller. The driver sets the rest.
	Head journal.Head

	claimed *tenure // by ClaimKey, for the next run
}

// beginJournal takes the concurrency key and the lease of a new run, and writes the head of its journal.
func (r *run) beginJournal(p *plan.Plan, settings machine.Options) (err error) {
	o := r.opts.Recording
	key, err := p.ConcurrencyKey(r.m.Inputs())
	if err != nil {
		return err
	}
	claim, err := o.claim(r.parent, r.opts.Run, key, p.Overlap)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = claim.release() // the first error counts
		}
	}()
	if claim != nil {
		r.beginNow() // it may have waited
	}
	holder := store.NewHolder()
	lease, err := o.Store.Acquire(r.parent, r.opts.Run, holder, leaseTime)
	if err != nil {
		return storeError(err)
	}
	head := o.Head
	head.ConcurrencyKey = key
	head.SetMachine(settings)
	head.Format, head.Logic, head.Cut = journal.Format, machine.Logic, machine.Cut
	recorded := o.Recorded
	if recorded == nil {
		recorded = p.Recorded
	}
	head.SetPlan(p, recorded())
	head.Inputs, head.Started = r.m.Inputs(), r.origin
	head.Options.Budget, head.Options.Strict = r.opts.Budget, r.opts.Strict
	mode := cmp.Or(o.Durability, p.Durability, core.DurabilityBatch)
	head.Options.Durability = string(mode)
	r.startRecording(p, holder, lease, mode, nil)
	r.rec.claim = claim
	var data []byte
	if err = o.addSources(r.parent, &head); err == nil {
		data, err = r.rec.codec.AppendHead(nil, &head)
	}
	if err == nil {
		err = o.Store.Append(r.parent, r.opts.Run, lease.Token, []store.Record{{Seq: 1, Type: store.Head, Data: data}}, true)
	}
	if err != nil {
		r.rec = nil
		_, _ = o.Store.Acquire(context.Background(), r.opts.Run, holder, 0) // the first error counts
		if errors.Is(err, store.ErrExists) {
			return fmt.Errorf("there is a run %s already", r.opts.Run)
		}
		return storeError(err)
	}
	r.rec.seq = 1
	return nil
}

// beginNow makes this the moment at which the run has the time of its machine: 0, or that at which the past
// of a replay ends.
func (r *run) beginNow() {
	now := time.Now()
	r.started = now.Add(-time.Duration(r.m.Now()))
	r.origin = r.started.Round(0)
}

// addSources stores the files that a plan was compiled from, and adds their names to the head.
func (o *Recording) addSources(ctx context.Context, head *journal.Head) error {
	if o.File == "" {
		return nil
	}
	name, err := filepath.Abs(o.File)
	if err != nil {
		return err
	}
	if in, ok := o.Store.(interface{ Dir() string }); ok {
		if rel, err := filepath.Rel(filepath.Dir(in.Dir()), name); err == nil { // else it is on another volume
			name = rel
		}
	}
	head.File = filepath.ToSlash(name)
	for _, f := range o.Sources {
		blob, err := o.Store.Put(ctx, f.Data)
		if err != nil {
			return err
		}
		putParsed(ctx, o.Store, head.Run, &f)
		head.Sources = append(head.Sources, journal.Source{Path: f.Path, Kind: string(f.Kind), SHA256: f.SHA256, Blob: blob})
	}
	return nil
}

// SourceFiles returns the files that the plan of a stored run was compiled from. h is the head of its
// journal.
func SourceFiles(ctx context.Context, s store.Store, h *journal.Head) ([]core.SourceFile, error) {
	files := make([]core.SourceFile, len(h.Sources))
	for i, f := range h.Sources {
		data, err := s.Get(ctx, f.Blob)
		if err != nil {
			return nil, err
		}
		files[i] = core.SourceFile{Path: f.Path, Kind: core.SourceKind(f.Kind), SHA256: f.SHA256, Data: data}
	}
	return files, nil
}

func storeError(err error) error { return &core.StoreError{Err: err} }

// startRecording makes the run a stored one. checkpoints are the checkpoints of earlier processes.
func (r *run) startRecording(p *plan.Plan, holder store.Holder, lease store.Lease, mode core.DurabilityMode, checkpoints map[string]*value.Object) {
	s := r.opts.Recording.Store
	rec := &recording{run: r, store: s, own: &tenure{s, holder, lease}, mode: mode, checkpoints: checkpoints, done: make(chan struct{})}
	rec.wake.L = &rec.mu
	rec.codec = codecOf(p, s)
	put := rec.codec.Put
	rec.codec.Put = func(data []byte) (string, error) {
		sum, err := put(data)
		if err != nil {
			rec.blobs.CompareAndSwap(nil, &err) // it ends the run, whatever the policy of the node is
		}
		return sum, err
	}
	r.rec = rec
	if mode != core.DurabilityOff {
		r.baseInput.Durability = &core.Durability{Checkpoint: rec.checkpoint, Checkpointed: rec.checkpointed, Owned: rec.owned, Resumed: checkpoints != nil}
		if in, ok := s.(interface{ RunDir(run string) string }); ok {
			r.baseInput.Durability.Folder = in.RunDir(r.opts.Run)
		}
		if to, ok := s.(store.Attacher); ok {
			mask := sync.OnceValue(func() secret.Masker { return secret.MaskerOf(p.Secrets) })
			r.logs = &logFile{run: r.opts.Run, to: to, mask: mask}
			r.baseInput.Durability.Output = newOutputs(r.opts.Run, to, mask, checkpoints != nil).writer
		}
	}
}

// codecOf returns the codec of the journal of a run.
func codecOf(p *plan.Plan, s store.Store) *journal.Codec {
	return &journal.Codec{Plan: p, Secrets: secret.SealerOf(p.Secrets),
		Put: func(data []byte) (string, error) { return s.Put(context.Background(), data) },
		Get: func(sum string) ([]byte, error) { return s.Get(context.Background(), sum) }}
}
