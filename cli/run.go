package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/incremental"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// runFlags are the flags of run.
type runFlags struct {
	concurrency, maxInFlight int // 0 if not set
	inputs, inputFiles       []string
	events, runID            string
	json, strict, dryRun     bool
	noState                  bool
	log                      string // one of logForms
	barrier, quiet           bool
	since                    string
	fullRefresh, retryFailed bool
	autoApprove              bool
	goal                     string
	hasGoal                  bool
	stdoutTaken              bool // a node writes to standard output
	model                    string
	failFast                 bool
	maxVisits                int
	budget                   budgetFlags
	ended                    *ending  // of a walk that a model routes, nil for others
	changes                  *changes // of a walk by steps, nil for others
	store, durability        string
	noCache                  bool
	refresh                  []string
	resumed                  bool // the run continues: events are appended
	previews                 bool // nothing is executed
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run a workflow",
		Long: `run runs a workflow and prints a summary with the result of each node. On a
terminal it shows a live tree while it runs; otherwise it prints one line for each
event to standard error.

For a walk (a graph in DOT, .dot or .fabro) the summary lists nodes in the order of
their first visits and shows the path. A human gate asks at the terminal. Without a
terminal its question waits: the run is paused with exit code 3, and continues after
answer and resume. If the run is not stored, the gate fails. --auto-approve takes the
first choice of every gate.
If a model chooses the path or runs nodes, set OPENAI_API_KEY, or OPENAI_BASE_URL
for a server that implements the same API; see docs/models.md.

Nodes run in parallel up to the limit of the document (runtime.concurrency, 1 by
default) or of -j. The result is the same at every limit.

The first Ctrl-C cancels running nodes, waits for them and prints what finished.
Programs get SIGTERM, and SIGKILL five seconds later or on a second Ctrl-C. SIGTERM
and SIGHUP do the same. The exit code is 128 plus the number of the first signal:
130 after Ctrl-C, 143 after SIGTERM.`,
		Example: examples(
			"wavefold run flow.yaml",
			"wavefold run -j 8 --input day=2024-01-31 --input rows=@rows.json flow.yaml",
			"wavefold run --json flow.yaml | jq .state",
			"wavefold run --events run.ndjson flow.yaml; wavefold why --run run.ndjson",
			"wavefold run --log json flow.yaml 2>> flow.log",
			"wavefold run --dry-run flow.yaml",
			"wavefold run --goal 'ship version 2' release.dot",
			"wavefold run --dry-run release.dot            # the path if every node succeeds",
			"wavefold run triage.yml --input issue=@issue.json --budget-cost 0.50",
			"wavefold run --since 2024-01-31 flow.yaml     # in place of the saved cursor",
			"wavefold run --retry-failed flow.yaml         # only the partitions that failed",
		),
		Args:              atMost(1, oneWorkflow),
		ValidArgsFunction: workflowFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkOutput(); err != nil {
				return err
			}
			f.hasGoal = cmd.Flags().Changed("goal")
			return a.runWorkflow(cmd.Context(), args, &f)
		},
	}
	a.addRunFlags(cmd, &f)
	return cmd
}

// checkOutput checks the flags of outputFlags.
func (f *runFlags) checkOutput() error {
	if !slices.Contains(logForms, f.log) {
		return fail(exitUsage, "--log is %q, want one of %s%s", f.log, strings.Join(logForms, ", "), suggest(f.log, logForms))
	}
	if f.events == "-" && f.json {
		return errors.New("--events - and --json both write to standard output; name a file for the events")
	}
	return nil
}

// outputFlags adds the flags of run and resume about what they print.
func (f *runFlags) outputFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.events, "events", "", "write every event as a line of JSON to a `file`, - for standard output")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON instead of the summary")
	flags.BoolVar(&f.noState, "no-state", false, "leave the final state out of the summary, of --json and of the last event")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "hide progress and hints; show warnings and errors")
	flags.StringVar(&f.log, "log", logAuto, "how to show progress on standard error: "+strings.Join(logForms, ", "))
	_ = cmd.RegisterFlagCompletionFunc("log", cobra.FixedCompletions(logForms, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&f.durability, "durability", "", "how much of the stored run survives a crash: "+durabilityNames()+" (default: runtime.durability of the document, or batch)")
	_ = cmd.RegisterFlagCompletionFunc("durability", cobra.FixedCompletions(durabilityList(), cobra.ShellCompDirectiveNoFileComp))
	flags.BoolVar(&f.noCache, "no-cache", false, "neither use nor keep results of nodes that have a cache")
	flags.StringArrayVar(&f.refresh, "refresh", nil, "run a `node` that has a cache, and keep its new result; may be repeated")
}

// addRunFlags adds the flags of run.
func (a *app) addRunFlags(cmd *cobra.Command, f *runFlags) {
	flags := cmd.Flags()
	flags.VarP(count{&f.concurrency, "-j"}, "concurrency", "j", "maximum number of nodes that run at the same time (default: the limit of the document)")
	flags.Var(count{&f.maxInFlight, "--max-in-flight"}, "max-in-flight", "maximum number of executions in progress over nodes, items, rows and nested workflows")
	flags.StringArrayVarP(&f.inputs, "input", "i", nil, "an input as `name=value` or name=@file, or many as @file; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("input", a.completeInputs)
	flags.StringArrayVar(&f.inputFiles, "inputs", nil, "inputs from a JSON or YAML `file`; may be repeated")
	f.outputFlags(cmd)
	a.allowAddedFlag(cmd)
	flags.StringVar(&f.goal, "goal", "", "the goal of a walk, in place of the `goal` in its file")
	flags.BoolVar(&f.dryRun, "dry-run", false, "run nothing: print the plan, or the path of a walk in which every node succeeds")
	a.parallelFlag(cmd)
	flags.BoolVar(&f.strict, "strict", false, "a warning at load stops the run, a node that warns while it runs fails, and partial success exits with 1")
	f.idFlag(flags)
	flags.StringVar(&f.model, "model", "", "the `name` of the model to ask, in place of the models in the workflow")
	flags.BoolVar(&f.failFast, "fail-fast", false, "end a walk that a model routes at the first visit that fails")
	flags.Var(count{&f.maxVisits, "--max-visits"}, "max-visits", "maximum number of visits of a walk, or of arrivals in a flow (default: the limit of the document)")
	f.budget.add(flags)
	flags.StringVar(&f.since, "since", "", "begin at this `value` instead of the cursor that the last run saved")
	flags.BoolVar(&f.fullRefresh, "full-refresh", false, "ignore the saved cursor and run every partition")
	flags.BoolVar(&f.retryFailed, "retry-failed", false, "run only the partitions that failed in earlier runs")
	flags.BoolVar(&f.autoApprove, "auto-approve", false, "take the first choice of every human gate instead of asking")
	a.storeFlag(flags, &f.store)
	flags.BoolVar(&f.barrier, "barrier", false, "finish each level before the next one starts")
	_ = flags.MarkHidden("barrier") // hidden: it exists for comparison only
}

// compiler returns the compiler of a run. Except for a dry run, a node without a handler is
// an error. checkModel reports a missing model.
func (f *runFlags) compiler(e *wavefold.Engine) compiler {
	if f.dryRun {
		return e
	}
	return runCompiler{e}
}

type runCompiler struct{ *wavefold.Engine }

func (c runCompiler) Compile(w *core.Workflow, strict bool) (*plan.Plan, source.Diagnostics) {
	p, ds := c.Engine.Compile(w, strict)
	if p == nil || !ds.Has(source.CodeNoHandler) {
		return p, ds
	}
	ds = slices.DeleteFunc(ds, func(d source.Diagnostic) bool { return d.Code == source.CodeNoHandler })
	return nil, append(ds, p.Refused...).Capped()
}

// goalInput is the input that holds the goal of a walk.
const goalInput = "goal"

// values returns the inputs that the flags set.
func (f *runFlags) values(p *plan.Plan) (map[string]any, error) {
	values, err := inputsOf(p, f.inputFiles, f.inputs)
	if err != nil || !f.hasGoal {
		return values, err
	}
	if !slices.Contains(inputNames(p), goalInput) {
		return nil, errors.New("--goal: the workflow has no input \"goal\"; walks have one (.dot, .fabro)")
	}
	values[goalInput] = f.goal
	return values, nil
}

// inputs returns the inputs of a run, and prints warnings about values that look like the
// name of a file.
func (a *app) inputs(p *plan.Plan, f *runFlags) (map[string]any, error) {
	values, err := f.values(p)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	ds := literalPaths(p, values)
	if ds.Failed(f.strict) {
		return nil, a.invalid(ds, f.json)
	}
	a.printFindings(ds)
	return values, nil
}

// checkStdout rejects flags that write to standard output if a node does, too.
func (f *runFlags) checkStdout(p *plan.Plan) error {
	flag := ""
	switch {
	case !p.Stdout:
		return nil
	case f.json:
		flag = "--json"
	case f.events == "-":
		flag = "--events -"
	default:
		f.stdoutTaken = true
		return nil
	}
	at := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Stdout })
	return fail(exitUsage, "%s writes to standard output, and so does node %s; let one of them write to a file", flag, p.Nodes[at].ID)
}

func (a *app) runWorkflow(ctx context.Context, args []string, f *runFlags) error {
	if err := a.useModel(f.model, f.budget.prices); err != nil {
		return err
	}
	sources := &wavefold.Sources{}
	p, err := a.load(f.compiler(a.engine.Recording(sources)), args, f.strict, f.json, f.quiet, givenNames(f.inputFiles, f.inputs)...)
	if err != nil {
		return err
	}
	a.mask = secret.MaskerOf(p.Secrets)
	inputs, err := a.inputs(p, f)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.dryRun(p, args, inputs, f)
	}
	if err := f.checkRouted(p); err != nil {
		return &exitError{exitUsage, err}
	}
	if err := a.checkModel(p, inputs); err != nil {
		return &exitError{exitUsage, err}
	}
	keep, err := a.recordingOf(ctx, p, args, sources, f)
	if err != nil {
		return err
	}
	defer keep.close()
	if err := keep.claimKey(ctx, p, f.runID, inputs); err != nil {
		return a.badInputs(p, err, f.json)
	}
	session, err := f.session(p, inputs)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if session != nil {
		inputs = session.Inputs
		keep.rec.Head.Progress, keep.rec.Head.From = session.Path(), session.From
	}
	err = a.executeRun(ctx, p, f, keep, session, func(ctx context.Context, o scheduler.Options) (*core.Report, error) {
		report, err := scheduler.Run(ctx, p, inputs, o)
		if keep.leftOut(p, report, err) {
			o.Recording = nil
			report, err = scheduler.Run(ctx, p, inputs, o)
		}
		return report, err
	})
	keep.retain(ctx, p.Name)
	return err
}

// executeRun runs a workflow, or resumes a run of it, and prints the result.
func (a *app) executeRun(ctx context.Context, p *plan.Plan, f *runFlags, keep *keeping, session *incremental.Session, run func(context.Context, scheduler.Options) (*core.Report, error)) error {
	if err := f.checkStdout(p); err != nil {
		return err
	}
	watch, err := a.watch(p, f)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	listener := withSession(session, watch.listener())
	f.ended, listener = endingOf(p, listener)
	f.changes = changesOf(p)
	listener = f.changes.listener(listener)
	stop := watch.announceInterrupt(ctx)
	a.running.Store(true)
	report, err := run(ctx, scheduler.Options{
		Run: f.runID, Recording: keep.recording(), Concurrency: f.concurrency, MaxInFlight: f.maxInFlight, Barrier: f.barrier, Backpressure: true,
		FailFast: f.failFast, MaxVisits: f.maxVisits, Budget: f.budget.Budget, Strict: f.strict, NoCache: f.noCache, Refresh: f.refresh,
		Listener: listener, Drained: watch.flush, Replayed: f.changes.listener(watch.replayed(session)), Interviewer: a.interviewer(p, f, watch), Router: a.engine.Router(),
	})
	logErr := watch.close(ctx, undelivered(report))
	stop()
	a.running.Store(false)
	if report == nil {
		return a.badInputs(p, err, f.json)
	}
	if _, ok := logErr.(*unwritten); ok {
		f.ended, f.changes = nil, nil // the listener may still be writing to them
	}
	if err := a.printReport(p, report, f); err != nil {
		return err
	}
	unsaved := a.endSession(session, report, f)
	if unsaved != nil {
		a.errorf("what this run leaves for the next one was not saved: %v", unsaved)
	}
	a.hintConcurrency(p, f)
	err = a.outcome(report, logErr, f)
	if err == nil && unsaved != nil {
		err = reported(exitFailed)
	}
	a.sayHowToContinue(p, report, keep, f.noHints())
	return err
}

// noHints reports whether standard error is to have no hints.
func (f *runFlags) noHints() bool { return f.quiet || f.log == logJSON || f.log == logNone }

// undelivered returns the number of events of a run that had not been delivered when it ended.
// It removes them from the error of the report, because outcome reports them.
func undelivered(r *core.Report) int64 {
	if r == nil {
		return 0
	}
	stray, ok := r.Err.(*core.StrayError)
	if !ok {
		return 0
	}
	if len(stray.Nodes) == 0 && len(stray.Code) == 0 {
		r.Err = stray.Err
	} else {
		stray.Listener = false
	}
	return stray.Unheard
}

// badInputs returns the error of a run that was not started, mostly because its inputs are invalid.
func (a *app) badInputs(p *plan.Plan, err error, asJSON bool) error {
	ds, ok := source.AsDiagnostics(err)
	if lostLease(err) {
		return &exitError{exitHeld, err}
	}
	if overlap, ok := errors.AsType[*core.OverlapError](err); ok {
		return a.overlaps(overlap)
	}
	if canceled, ok := errors.AsType[*core.CancelError](err); ok {
		return &exitError{a.stopCode(), canceled}
	}
	if !ok {
		return &exitError{exitUsage, err}
	}
	if !asJSON && ds.Has(source.CodeInput) {
		goal := ""
		if p.Mode.Goal && slices.Contains(inputNames(p), core.InputGoal) {
			goal = "; the goal as --goal TEXT"
		}
		if !ds.Has(source.CodeNoHandler) {
			defer a.hintf("inputs are given as --input NAME=VALUE, --input NAME=@FILE or --inputs FILE%s", goal)
		}
	}
	return a.invalid(ds, asJSON)
}

// outcome returns the exit code of a run as an error, nil for exit code 0. An incomplete
// event log, or a summary that could not be written, fails a successful run, because the
// caller relies on them.
func (a *app) outcome(r *core.Report, logErr error, f *runFlags) error {
	code := exitFailed
	switch r.Status {
	case core.RunSuccess:
		code = exitOK
	case core.RunPartial:
		code = exitOK
		if f.strict {
			code = exitFailed
		}
	case core.RunPaused:
		code = exitPaused
	case core.RunCancelled:
		code = a.stopCode()
	}
	if lostLease(r.Err) {
		code = exitHeld
	} else if _, ok := errors.AsType[*core.SourceChangedError](r.Err); ok || errors.Is(r.Err, core.ErrReadTwice) {
		code = exitUsage
	}
	if r.Err != nil && r.Status != core.RunPaused {
		a.errorf("%v", r.Err)
	}
	if u, ok := logErr.(*unwritten); ok && !u.log {
		logErr = nil
	}
	if logErr != nil {
		a.errorf("the log of events is not complete: %v", logErr)
	}
	_, interrupted := logErr.(*unwritten)
	switch {
	case code == exitOK && interrupted:
		code = a.stopCode()
	case code == exitOK && (logErr != nil || f.events == "-" && a.err.failed() != nil):
		code = exitFailed
	}
	if code == exitOK {
		return nil
	}
	return reported(code)
}

// maxSuggested is the highest concurrency that a hint proposes.
const maxSuggested = 16

// hintConcurrency prints a hint if a run used one slot by default although its graph could
// use more.
func (a *app) hintConcurrency(p *plan.Plan, f *runFlags) {
	width := int32(0)
	for i := range len(p.Levels) - 1 {
		width = max(width, p.Levels[i+1]-p.Levels[i])
	}
	if f.quiet || f.resumed || f.log == logJSON || f.log == logNone || f.concurrency > 0 || width < 2 || p.Concurrency != 1 || p.Workflow.Runtime.Concurrency != nil {
		return
	}
	a.hintf("this graph is up to %d wide: try -j %d", width, min(width, maxSuggested))
}
