package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/incremental"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

func (a *app) resumeCommand() *cobra.Command {
	var f runFlags
	var again rerun
	cmd := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Continue a stored run",
		Long: `resume continues a run that was stored and has not ended: its process crashed, it
was interrupted, or it waits for people. What has ended is kept. Nodes that were in
progress run again, with the same idempotency keys.

RUN is the id of the run or the beginning of it, at least four characters. Without
it, resume takes the newest run that can be resumed. Runs are looked for in the
store that --store or $WAVEFOLD_STORE names, or else in .wavefold in this folder, in
the nearest one above, and in folders up to four levels below.

A run that failed runs again what failed; a run that was interrupted, what was
stopped. If the workflow has changed where the run has been, resume runs nothing and
lists the nodes: --rerun-from runs them again, --keep keeps their results, and
--as-recorded continues with the workflow as it was.

Inputs, limits and the settings of the run are those it was started with. See
docs/durability.md.`,
		Example: examples(
			"wavefold resume",
			"wavefold resume 4kqz7w",
			"wavefold resume --rerun-from price 4kqz7w      # after the node was changed",
			"wavefold resume --keep price 4kqz7w            # its result is still right",
			"wavefold resume --salvage 4kqz7w               # its journal is damaged",
			"wavefold resume --budget-cost 2.50 4kqz7w      # in place of the limit that was reached",
		),
		Args:              atMost(1, "one run"),
		ValidArgsFunction: a.completeRuns(resumable),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.resume(cmd.Context(), first(args), &again, &f)
		},
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	f.outputFlags(cmd)
	flags.StringArrayVar(&again.nodes, "rerun-from", nil, "run a `node` again, with everything that can see its effect; may be repeated")
	flags.StringArrayVar(&again.keep, "keep", nil, "keep the result of a `node` that has changed; may be repeated")
	flags.BoolVar(&again.asRecorded, "as-recorded", false, "ignore changes: continue with the documents and prompts as the store has them")
	flags.BoolVar(&again.adopt, "adopt", false, "continue a run of another version of wavefold although this one decides differently; results are kept")
	flags.BoolVar(&again.wait, "wait", false, "if another process executes the run, wait until it has ended")
	flags.BoolVar(&again.salvage, "salvage", false, "cut a damaged journal after its last good record, and keep a copy; what ended later runs again, and so do nodes whose results are lost")
	flags.BoolVar(&again.failed, "failed", false, "run nodes again whose failure was tolerated or handled")
	flags.BoolVar(&f.strict, "strict", false, "partial success exits with 1")
	flags.BoolVar(&f.autoApprove, "auto-approve", false, "take the first choice of every human gate instead of asking")
	f.budget.add(flags)
	return cmd
}

// resumable reports whether a run can be resumed without naming it.
func resumable(s *store.Summary) bool {
	if parent, ok := parentIn(s.Parent); ok && parent.Mock != "" {
		return false
	}
	switch s.Status {
	case store.StatusInterrupted, store.StatusPaused, string(core.RunCancelled), string(core.RunFailed):
		return true
	}
	return false
}

// rerun says what of a stored run is kept and what runs again; see scheduler.Recording.
type rerun struct {
	nodes, keep []string
	failed      bool
	adopt       bool
	asRecorded  bool // continue with the workflow in the store
	wait        bool // for the process that executes the run
	// salvage makes a damaged journal readable.
	salvage bool
}

// waitEvery is the time between two attempts to take the lease of a run.
const waitEvery = 200 * time.Millisecond

func isHeld(err error) bool {
	_, ok := errors.AsType[*store.HeldError](err)
	return ok
}

func (a *app) resume(ctx context.Context, id string, again *rerun, f *runFlags) error {
	f.resumed = true
	if err := f.checkOutput(); err != nil {
		return err
	}
	found, err := a.findRun(ctx, f.store, id, resumable)
	if err != nil {
		return err
	}
	defer found.store.Close()
	st, err := scheduler.OpenStored(ctx, found.store, found.Run)
	for again.wait && isHeld(err) && ctx.Err() == nil {
		time.Sleep(waitEvery)
		st, err = scheduler.OpenStored(ctx, found.store, found.Run)
	}
	if _, damaged := errors.AsType[*store.DamageError](err); damaged && again.salvage {
		if err = a.salvage(ctx, found); err == nil {
			st, err = scheduler.OpenStored(ctx, found.store, found.Run)
		}
	}
	if err != nil {
		return storedError(err)
	}
	keep := &keeping{app: a, store: found.store}
	keep.rec = scheduler.Recording{Waiting: a.waitsFor(f), Store: found.store, Durability: core.DurabilityMode(f.durability), RerunFrom: again.nodes, Keep: again.keep, Failed: again.failed, Adopt: again.adopt}
	if st.Complete(&keep.rec) {
		return a.sayEnded(ctx, st, found, &keep.rec, f)
	}
	sources := &wavefold.Sources{}
	p, name, err := a.planOf(ctx, st, found, sources, again.asRecorded, f)
	if err != nil {
		return a.resumeError(errors.Join(err, st.Close()), f)
	}
	keep.rec.File, keep.rec.Sources = name, sources.Files()
	if again.salvage {
		keep.rec.Salvage = func(e *journal.LostError) { a.warnf("%v: the node runs again", e) }
	}
	if !f.quiet {
		keep.rec.Adopted = func(c plan.PartChange) { a.hintf("%s is %s in the workflow, and is taken over", c.Path, c.Change) }
	}
	session, err := a.resumedSession(st, p, f)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	end := st.End
	err = a.executeRun(ctx, p, f, keep, session, func(ctx context.Context, o scheduler.Options) (*core.Report, error) {
		return scheduler.Resume(ctx, st, p, o)
	})
	if errors.Is(err, scheduler.ErrEnded) && end != nil {
		if st, err = scheduler.OpenStored(ctx, found.store, found.Run); err != nil {
			return storedError(err)
		}
		return a.sayEnded(ctx, st, found, &keep.rec, f)
	}
	return a.resumeError(err, f)
}

// salvage cuts the damaged journal of a run.
func (a *app) salvage(ctx context.Context, found *storedRun) error {
	damaged, ok := found.store.(store.Salvager)
	if !ok {
		return fail(exitFailed, "%s cannot salvage damaged journals", found.store)
	}
	holder := store.NewHolder()
	lease, err := found.store.Acquire(ctx, found.Run, holder, time.Minute)
	if err != nil {
		return err
	}
	damage, err := damaged.Salvage(ctx, found.Run, lease.Token)
	switch {
	case err != nil || damage == nil:
	case damage.File != "":
		a.warnf("%v: it was cut there; %s.damaged is a copy of it", damage, damage.File)
	default:
		a.warnf("%v: it was cut there; the table wavefold_damaged_records has the records after it", damage)
	}
	_, rerr := found.store.Acquire(context.WithoutCancel(ctx), found.Run, holder, 0)
	return errors.Join(err, rerr)
}

// resumedSession returns the session of an incremental workflow, nil for others.
func (a *app) resumedSession(st *scheduler.Stored, p *plan.Plan, f *runFlags) (*incremental.Session, error) {
	if p.Incremental == nil || st.Head.Parent != nil { // a replay does not move the cursor
		return nil, nil
	}
	inputs, err := st.Inputs(p)
	if err != nil {
		return nil, err
	}
	s, err := incremental.Resume(p, inputs, st.Head.From, incremental.Options{Strict: f.strict})
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return s, nil
}

// replayHint names the command that runs a part of a run again that has failed for good.
func replayHint(p *plan.Plan, run, status string) string {
	if !p.Mode.Visits || status != string(core.RunFailed) {
		return ""
	}
	return " (" + replayCommand(run) + " starts a new run with the results up to there)"
}

// sayEnded prints the result of a run that has ended, as the run did, and returns its exit code. If the
// process died before it had moved the cursor of an incremental workflow, that is done now.
func (a *app) sayEnded(ctx context.Context, st *scheduler.Stored, found *storedRun, rec *scheduler.Recording, f *runFlags) error {
	p, _, err := a.planOf(ctx, st, found, &wavefold.Sources{}, false, f)
	if err == nil {
		if wrong := st.CheckNames(p, rec); wrong != nil {
			err = &exitError{exitUsage, wrong}
		}
	}
	if err != nil {
		return a.resumeError(errors.Join(err, st.Close()), f)
	}
	if !f.quiet {
		a.hintf("run %s has ended with %s; there is nothing to resume%s", found.Run, st.End.Status, replayHint(p, found.Run, st.End.Status))
	}
	if st.Then != nil {
		p = st.Then
	}
	session, err := a.resumedSession(st, p, f)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	o := scheduler.Options{}
	if session != nil {
		o.Replayed = session.Listen
	}
	f.changes = changesOf(p)
	o.Replayed = f.changes.listener(o.Replayed)
	report, err := scheduler.Ended(ctx, st, p, o)
	if err != nil {
		return a.resumeError(err, f)
	}
	if err := a.printReport(p, report, f); err != nil {
		return err
	}
	if err := a.endSession(session, report, f); err != nil {
		return &exitError{exitFailed, err}
	}
	return a.outcome(report, nil, f)
}

// resumeError returns the error of a run that could not be resumed, with its exit code. It prints what
// has changed in the workflow.
func (a *app) resumeError(err error, f *runFlags) error {
	if logic, ok := errors.AsType[*scheduler.LogicError](err); ok {
		return fail(exitUsage, "%w: --adopt continues it by the rules of this version (%s) and keeps its results", logic, buildVersion().Version)
	}
	if diverged, ok := errors.AsType[*journal.DivergedError](err); ok {
		return fail(exitFailed, "%w [RESUME_DIVERGED]; the journal is left as it is", diverged)
	}
	if unknown, ok := errors.AsType[*journal.UnknownKindsError](err); ok {
		return &exitError{exitUsage, unknown}
	}
	if lost, ok := errors.AsType[*journal.LostError](err); ok {
		return fail(exitFailed, "%w: --salvage runs the node again [JOURNAL_DAMAGED]", lost)
	}
	if damage, ok := errors.AsType[*store.DamageError](err); ok {
		return fail(exitFailed, "%w [JOURNAL_DAMAGED]", damage)
	}
	if source, ok := errors.AsType[*core.SourceChangedError](err); ok {
		return fail(exitUsage, "%w: --rerun-from %s reads it from its beginning", source, plan.PartPath(source.Node))
	}
	changed, ok := errors.AsType[*scheduler.ChangedError](err)
	if !ok {
		return err
	}
	if len(changed.Findings) > 0 {
		if f.json {
			return a.invalid(changed.Findings, true)
		}
		a.printFindings(changed.Findings)
	}
	return fail(exitUsage, "run %s cannot continue with the changed workflow: %s", changed.Run, afterChange(changed))
}

// maxFlags limits the nodes that a message repeats as values of flags.
const maxFlags = 4

// afterChange lists the flags with which a run can continue although its workflow has changed.
func afterChange(e *scheduler.ChangedError) string {
	var list []string
	if len(e.Nodes) > 0 {
		it, result := "it", "its result"
		if len(e.Nodes) > 1 {
			it, result = "them", "their results"
		}
		again := it
		if e.After > 0 {
			again += " and " + plural(e.After, "node") + " after " + it
		}
		list = append(list, forNodes("--rerun-from", e.Nodes)+" runs "+again+" again")
		if e.Kept {
			list = append(list, forNodes("--keep", e.Nodes)+" keeps "+result)
		}
	}
	return strings.Join(append(list, "--as-recorded ignores the changes"), ", ")
}

// forNodes returns a flag for each of several nodes.
func forNodes(flag string, nodes []string) string {
	if len(nodes) > maxFlags {
		return flag + " NODE for each of these nodes"
	}
	flags := make([]string, len(nodes))
	for i, n := range nodes {
		flags[i] = flag + " " + n
	}
	return strings.Join(flags, " ")
}

// planOf compiles the workflow of a stored run. The document is read from its file, or from the store
// with asRecorded or if the file is gone. If it has changed, it is also compiled as it was. name is its
// file; sources gets the files that it is compiled from, unless they are those of the store.
func (a *app) planOf(ctx context.Context, st *scheduler.Stored, found *storedRun, sources *wavefold.Sources, asRecorded bool, f *runFlags) (p *plan.Plan, name string, err error) {
	if err := a.useModel(st.Head.Options.Model, f.budget.prices); err != nil {
		return nil, "", err
	}
	if f.autoApprove = f.autoApprove || st.Head.Options.AutoApprove; st.Head.File == "" {
		return nil, "", fail(exitUsage, "run %s was not started from a document; the program that started it can resume it", found.Run)
	}
	name = filepath.FromSlash(st.Head.File)
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(folderOf(found.store)), name)
	}
	files, lost := scheduler.SourceFiles(ctx, found.store, st.Head)
	then, now := a.engine.From(files), a.engine.Recording(sources)
	if f.previews {
		then, now = then.LookingBack(ctx, found.store), now.LookingBack(ctx, found.store)
	}
	now.Resumed = true
	if !asRecorded {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			a.hintf("%s does not exist: the run continues with the copy of the workflow in the store", name)
			asRecorded = true
		}
	}
	if asRecorded && lost != nil {
		return nil, "", lost
	}
	if asRecorded {
		now = then
	}
	p, err = a.load(f.compiler(now), []string{name}, f.strict, f.json, f.quiet)
	if err != nil {
		return nil, "", err
	}
	a.mask = secret.MaskerOf(p.Secrets)
	if !st.Head.IsOf(p) {
		if lost != nil {
			return nil, "", lost
		}
		st.Then, _ = check(f.compiler(then), []string{name}, false) // if it does not compile, Resume says that the workflow has changed
	}
	return p, name, nil
}

// storedError returns the error of a command for an error of a store, with its exit code.
func storedError(err error) error {
	switch {
	case isHeld(err):
		return &exitError{exitHeld, err}
	case errors.Is(err, store.ErrNotFound), errors.As(err, new(*store.FormatError)), errors.As(err, new(*fs.PathError)):
		return &exitError{exitUsage, err}
	}
	if damage, ok := errors.AsType[*store.DamageError](err); ok {
		return fail(exitFailed, "%w [JOURNAL_DAMAGED]", damage)
	}
	return &exitError{exitFailed, err}
}
