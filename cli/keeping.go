package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

func durabilityList() []string {
	var names []string
	for _, m := range core.DurabilityModes() {
		names = append(names, string(m))
	}
	return names
}

func durabilityNames() string { return strings.Join(durabilityList(), ", ") }

// keeping is how a run is stored. The zero value stores nothing.
type keeping struct {
	mocked   bool // a replay with mock answers, which cannot be resumed
	app      *app
	store    runStore
	optional bool // the run continues without a store that cannot be written
	rec      scheduler.Recording
}

// maxRunID limits the length of a run id in bytes, so that it can be part of the name of a file.
const maxRunID = 64

// recordingOf returns how a new run of a workflow is stored.
func (a *app) recordingOf(ctx context.Context, p *plan.Plan, args []string, sources *wavefold.Sources, f *runFlags) (*keeping, error) {
	mode := core.DurabilityMode(f.durability)
	if f.durability != "" && !slices.Contains(core.DurabilityModes(), mode) {
		return nil, fail(exitUsage, "--durability is %q, want one of %s%s", f.durability, durabilityNames(), suggest(f.durability, durabilityList()))
	}
	s, optional, err := a.newRunStore(ctx, f.store, p.Workflow.Dir)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	k := &keeping{app: a, store: s, optional: optional}
	if s == nil {
		return k, k.needed(p)
	}
	if err := f.chooseID(); err != nil {
		return nil, err
	}
	head := journal.Head{Workflow: p.Name, Engine: buildVersion().Version, Options: journal.Options{AutoApprove: f.autoApprove, Model: f.model}}
	name, _ := fileOf(a.engine, args) // it has been read
	k.rec = scheduler.Recording{Waiting: a.waitsFor(f), Store: s, Durability: mode, File: name, Sources: sources.Files(), Head: head}
	return k, nil
}

// idFlag defines the flag for the id of the new run.
func (f *runFlags) idFlag(flags *pflag.FlagSet) {
	flags.StringVar(&f.runID, "run-id", "", "the `id` of the run in events and idempotency keys (default: a random one)")
}

// chooseID makes an id for the new run unless a flag has named one.
func (f *runFlags) chooseID() error {
	if f.runID == "" {
		f.runID = newRunID()
	}
	if len(f.runID) > maxRunID {
		return fail(exitUsage, "--run-id has %d bytes, at most %d are possible", len(f.runID), maxRunID)
	}
	return nil
}

// needed returns an error if a run of p needs a store.
func (k *keeping) needed(p *plan.Plan) error {
	if !p.HasConcurrencyKey() {
		return nil
	}
	return fail(exitUsage, "runs of %s have a concurrency_key, which needs a store (leave out --store none)", p.Name)
}

// claimKey takes the concurrency key of a run that is stored.
func (k *keeping) claimKey(ctx context.Context, p *plan.Plan, run string, inputs map[string]any) error {
	if k.store == nil {
		return nil
	}
	err := k.rec.ClaimKey(ctx, p, run, inputs)
	if _, unwritable := errors.AsType[*core.StoreError](err); unwritable && k.optional {
		return k.needed(p)
	}
	return err
}

// waitsFor returns a function that says that a run waits for another one with its concurrency key; nil if
// nothing is to be said.
func (a *app) waitsFor(f *runFlags) func(*core.OverlapError) {
	if f.noHints() {
		return nil
	}
	return func(other *core.OverlapError) { a.hintf("waiting: %v", other) }
}

// overlaps returns how the command ends if the run did not begin.
func (a *app) overlaps(other *core.OverlapError) error {
	if other.Overlap != core.OverlapSkip {
		return &exitError{exitHeld, other}
	}
	tty.Fprintf(a.Err, "skipped: %v\n", other)
	return nil
}

func (k *keeping) recording() *scheduler.Recording {
	if k.store == nil {
		return nil
	}
	return &k.rec
}

func (k *keeping) close() {
	if k.store == nil {
		return
	}
	_ = k.rec.Unclaim() // closing the store does it, too
	if err := k.store.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
		k.app.errorf("%v", err)
	}
}

// retain removes the runs of the store that are not worth keeping, when a run of the workflow has ended. What cannot be removed stays: that is not an error
// of the run that has just ended.
func (k *keeping) retain(ctx context.Context, workflow string) {
	if k.store != nil {
		_, _ = k.store.Retain(ctx, workflow)
	}
}

// leftOut reports whether a run could not begin because the default store cannot be written. The run
// then begins without it. A run that has begun is never repeated: its nodes have had effects. Nor does a
// run begin that another process executes.
func (k *keeping) leftOut(p *plan.Plan, r *core.Report, err error) bool {
	failed, ok := errors.AsType[*core.StoreError](err)
	if !ok || !k.optional || r != nil || lostLease(err) || p.HasConcurrencyKey() {
		return false
	}
	k.app.warnf("the run is not stored: %v (--store none stores nothing and does not warn)", failed.Err)
	k.store = nil
	return true
}

// lostLease reports whether a run ended, or did not begin, because another process executes it.
func lostLease(err error) bool {
	_, fenced := errors.AsType[*store.FencedError](err)
	_, held := errors.AsType[*store.HeldError](err)
	return fenced || held
}

// sayHowToContinue prints the command that continues a stored run, as the last line.
func (a *app) sayHowToContinue(p *plan.Plan, r *core.Report, k *keeping, quiet bool) {
	if k.store == nil || k.mocked {
		return
	}
	paused, ok := errors.AsType[*core.PausedError](r.Err)
	switch {
	case ok:
		for _, q := range paused.Questions {
			tty.Fprintf(a.Err, "%s asks: %s\n", q.Node, a.mask.Text(q.Text))
			tty.Fprintf(a.Err, "answer with: %s\n", answerCommand(r.Run, &q))
		}
	case r.Status == core.RunFailed && !quiet && p.Mode.Final:
		a.hintf("a %s that has failed cannot be resumed; %s starts a new run with the results up to there", p.Mode.Graph, replayCommand(r.Run))
	case r.Status == core.RunFailed && !quiet:
		a.hintf("once the cause is fixed, %s runs what failed again", resumeCommand(r.Run))
	case r.Status == core.RunCancelled:
		tty.Fprintf(a.Err, "resume with: %s\n", resumeCommand(r.Run))
	}
}

// warnf prints a warning; secrets are masked.
func (a *app) warnf(format string, args ...any) {
	tty.Fprintf(a.Err, "%s %s\n", a.palette(a.Err).Warn("warning:"), a.mask.Text(fmt.Sprintf(format, args...)))
}

// newRunID returns a random id of a run that is short enough to be typed.
func newRunID() string { return strings.ToLower(rand.Text()[:12]) }
