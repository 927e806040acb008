package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/rehearse"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	runFlags
	from                        string
	mock                        string
	assume, set                 []string
	planOnly, asRecorded, adopt bool
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [RUN] --from NODE",
		Short: "Start a new run that shares the past of a stored one",
		Long: `replay starts a new run with the inputs of a stored run. NODE runs again, and with it
everything that can see its effect: nodes after it, and nodes that read what it writes
or refer to it. All other results are those of the stored run, which is not changed.
In a walk, NODE is visited as it was for the first time, and all visits since are
dropped. NODE is the id of a node, pipeline or loop; "outer/save" is a node of a
nested workflow.

Nodes that run have their effects: they write files and tables and call services
once more, with new idempotency keys. A node named by --assume does not run: it has
the given status, and writes nothing. --plan-only runs nothing. It lists what would
be kept, run and skipped, why, and which nodes have effects.

--set gives a field of the state, or a value inside it, another value than the stored
run had there: all nodes on the level of NODE and on later levels see it, whatever was
written before. In a walk, the field gets the value when the first visit of NODE
begins. Keys of its context are set as context.KEY. What reads the field from there on runs again, too.

With --mock, nodes that run take their answers from a mock file as in wavefold test: no
program, service, model or person is asked, and waits and delays take no time. A node
without an answer succeeds and writes nothing. The new run is stored, but cannot be
resumed, because its nodes would run then.

The workflow is read from its file. What is kept must not have changed since;
--as-recorded takes the workflow as it was. The new run is stored next to the other
one and can be resumed, inspected and replayed. It does not move the cursor of an
incremental workflow.

` + whereRuns + newestRun,
		Example: examples(
			"wavefold replay 4kqz7w --from price --plan-only",
			"wavefold replay 4kqz7w --from price",
			"wavefold replay 4kqz7w --from price --set rates.USD=0.92",
			"wavefold replay 4kqz7w --from price --run-id again && wavefold diff 4kqz7w again",
			"wavefold replay 4kqz7w --from price --assume price=fail --plan-only",
			"wavefold replay 4kqz7w --from price --mock outage.mock.yaml",
		),
		Args:              atMost(1, "one run"),
		ValidArgsFunction: a.completeRuns(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.replay(cmd.Context(), first(args), &f)
		},
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	f.outputFlags(cmd)
	f.idFlag(flags)
	flags.StringVar(&f.from, "from", "", "the `node` that runs again, with everything that can see its effect")
	flags.StringArrayVar(&f.set, "set", nil, "give a field of the state another value: `FIELD=VALUE`, where FIELD may be a path such as totals.eu and VALUE is as for --input; may be repeated")
	flags.StringArrayVar(&f.assume, "assume", nil, "give a node a status without running it: `NODE=STATUS`, where STATUS is fail, success or skipped; may be repeated")
	flags.StringVar(&f.mock, "mock", "", "take the answers of nodes that run from a mock `FILE` (see wavefold test): nothing outside of the run is changed")
	flags.BoolVar(&f.planOnly, "plan-only", false, "run nothing: list what would be kept, run and skipped, and why")
	flags.BoolVar(&f.asRecorded, "as-recorded", false, "ignore changes: take the documents and prompts as the store has them")
	flags.BoolVar(&f.adopt, "adopt", false, "accept a run of another version of wavefold although this one decides differently; results are kept")
	flags.BoolVar(&f.strict, "strict", false, "partial success exits with 1")
	flags.BoolVar(&f.autoApprove, "auto-approve", false, "take the first choice of every human gate instead of asking")
	f.budget.add(flags)
	_ = cmd.MarkFlagRequired("from")
	return cmd
}

func (a *app) replay(ctx context.Context, id string, f *replayFlags) error {
	if err := f.checkOutput(); err != nil {
		return err
	}
	found, err := a.findRun(ctx, f.store, id, nil)
	if err != nil {
		return err
	}
	defer found.store.Close()
	st, err := scheduler.ReadStored(ctx, found.store, found.Run)
	if err != nil {
		return storedError(err)
	}
	sources := &wavefold.Sources{}
	f.previews = f.planOnly
	p, name, err := a.planOf(ctx, st, found, sources, f.asRecorded, &f.runFlags)
	if err != nil {
		return a.resumeError(err, &f.runFlags)
	}
	if err := f.chooseID(); err != nil {
		return err
	}
	head := journal.Head{Workflow: p.Name, Engine: buildVersion().Version, Options: journal.Options{AutoApprove: f.autoApprove, Model: st.Head.Options.Model}}
	keep := &keeping{app: a, store: found.store}
	keep.rec = scheduler.Recording{Waiting: a.waitsFor(&f.runFlags), Store: found.store, Durability: core.DurabilityMode(f.durability), Adopt: f.adopt, File: name, Sources: sources.Files(), Head: head}
	fork := scheduler.Fork{From: f.from}
	if fork.Assume, err = f.assumptions(); err != nil {
		return err
	}
	if fork.Set, err = f.assignments(p); err != nil {
		return err
	}
	mock, err := a.mockOf(ctx, p, found, f)
	if err != nil {
		return err
	}
	keep.mocked = mock != nil
	forecast, err := scheduler.Preview(ctx, st, p, fork, scheduler.Options{Recording: &keep.rec, Mock: mock})
	switch {
	case err != nil:
		return a.replayError(err, f)
	case f.planOnly:
		a.printSetWarnings(forecast)
		return a.printForecast(forecast, f.json)
	case !f.quiet:
		a.hintf("%s", announce(found.Run, f.runID, forecast.Steps))
	}
	a.printSetWarnings(forecast)
	err = a.executeRun(ctx, p, &f.runFlags, keep, nil, func(ctx context.Context, o scheduler.Options) (*core.Report, error) {
		o.Mock = mock
		return scheduler.Replay(ctx, st, p, fork, o)
	})
	return a.replayError(err, f)
}

// assumptions returns the values of --assume.
func (f *replayFlags) assumptions() ([]machine.Assumption, error) {
	var list []machine.Assumption
	for _, text := range f.assume {
		node, status, _ := strings.Cut(text, "=")
		a := machine.Assumption{Node: node}
		switch status {
		case "fail":
			a.Status = core.Fail
		case "success":
			a.Status = core.Success
		case "skipped":
			a.Status = core.Skipped
		default:
			return nil, fail(exitUsage, "--assume is %q, want NODE=fail, NODE=success or NODE=skipped", text)
		}
		list = append(list, a)
	}
	return list, nil
}

// mockOf returns the answers of --mock for the replay of a run, nil if there are none.
func (a *app) mockOf(ctx context.Context, p *plan.Plan, found *storedRun, f *replayFlags) (scheduler.Mock, error) {
	if f.mock == "" {
		return nil, nil
	}
	file, ds := rehearse.ReadMock(f.mock)
	if ds.Failed(false) {
		return nil, a.invalid(ds, f.json)
	}
	added, err := a.addedNodes(ctx, p, found)
	if err != nil {
		return nil, err
	}
	mock, ds := rehearse.NewMock(p, filepath.Base(f.mock), file, added...)
	if ds.Failed(false) {
		return nil, a.invalid(ds.Sorted(), f.json)
	}
	return mock, nil
}

// assignments returns the values of --set.
func (f *replayFlags) assignments(p *plan.Plan) (list []machine.Assignment, err error) {
	for _, text := range f.set {
		path, rest, ok := cutAssignment(text)
		if !ok || path == "" {
			return nil, fail(exitUsage, "--set is %q, want FIELD=VALUE", text)
		}
		field, steps, err := machine.FieldOf(p, path)
		if err != nil {
			if _, isInput := inputType(p, path); isInput {
				err = fmt.Errorf("%s is an input of the workflow, and a replay has the inputs of the stored run", path)
			}
			return nil, fail(exitUsage, "cannot set %s: %v", path, err)
		}
		var t *value.Type
		if len(steps) == 0 {
			t = p.Schema.Fields[field].Type
		}
		v, err := inputValue(t, rest)
		if err != nil {
			return nil, fail(exitUsage, "cannot set %s: %v", path, err)
		}
		list = append(list, machine.Assignment{Path: path, Value: v})
	}
	return list, nil
}

// cutAssignment divides the value of --set. The path may contain a member with = in quotes.
func cutAssignment(text string) (path, rest string, ok bool) {
	from := 0
	if i := strings.LastIndex(text, "\"]="); i >= 0 && strings.Contains(text[:i], "[\"") && strings.IndexByte(text, '=') > strings.Index(text, "[\"") {
		from = i
	}
	at := strings.IndexByte(text[from:], '=')
	if at < 0 {
		return "", "", false
	}
	return text[:from+at], text[from+at+1:], true
}

// printSetWarnings prints the warnings about what a replay sets.
func (a *app) printSetWarnings(x *scheduler.Forecast) {
	for _, w := range x.Warnings {
		a.warnf("%s", w)
	}
}

// replayError returns the error of a replay that did not begin, with its exit code.
func (a *app) replayError(err error, f *replayFlags) error {
	if changed, ok := errors.AsType[*scheduler.ChangedError](err); ok {
		if f.json && len(changed.Findings) > 0 {
			return a.invalid(changed.Findings, true)
		}
		a.printFindings(changed.Findings)
		return fail(exitUsage, "a replay of run %s cannot keep results of what has changed: replay it from %s or a node before it, or --as-recorded ignores the changes", changed.Run, strings.Join(changed.Nodes, ", "))
	}
	err = a.resumeError(err, &f.runFlags)
	if _, coded := err.(*exitError); coded || err == nil {
		return err
	}
	return &exitError{exitUsage, err}
}

// maxEffects limits the nodes that announce names.
const maxEffects = 5

// announce says, before a replay begins, which nodes may run, and which of them have effects.
func announce(from, run string, steps []scheduler.Step) string {
	kept, ran := 0, 0
	var effects []string
	for _, s := range steps {
		if strings.Contains(s.Path, "/") {
			continue // it is inside a node that is counted
		}
		switch s.Action {
		case scheduler.ActionKeep:
			kept++
		case scheduler.ActionRun:
			ran++
		}
		if s.Effects {
			effects = append(effects, s.Path)
		}
	}
	text := fmt.Sprintf("run %s replays run %s: %s kept, %d to run", run, from, plural(kept, "result"), ran)
	if n := len(effects); n > 0 {
		text += fmt.Sprintf(", %d with effects: %s", n, strings.Join(effects[:min(n, maxEffects)], ", "))
		if n > maxEffects {
			text += ", ..."
		}
	}
	return text
}

// printForecast prints what a replay would do.
func (a *app) printForecast(x *scheduler.Forecast, asJSON bool) error {
	if asJSON {
		return a.writeJSON(x.Steps)
	}
	t := tty.NewTable([]string{"node", "action", "effects", "why"})
	t.Below()
	for _, s := range x.Steps {
		action, effects := string(s.Action), ""
		if s.Maybe {
			action = "maybe " + action
		}
		if s.Effects {
			effects = "yes"
		}
		t.Row(s.Path, action, effects, a.mask.Text(s.Why))
	}
	a.printTable(a.Out, t)
	if len(x.Set) == 0 {
		return nil
	}
	tty.Fprintf(a.Out, "\n")
	t = tty.NewTable([]string{"field", "is set to", "was"})
	t.Below()
	for _, s := range x.Set {
		was := tty.Safe("-")
		switch {
		case !s.Made:
			was = tty.Safe("not known before nodes have run")
		case !value.IsMissing(s.Was):
			was = shownValue(a.mask.Value(s.Was))
		}
		t.Row(s.Path, shownValue(a.mask.Value(s.Value)), was)
	}
	a.printTable(a.Out, t)
	return nil
}

// parentOf returns the run that a run replays, and the node from which on it does; "" for other runs.
func (r *storedRun) parentOf() (run, from string) {
	p, _ := parentIn(r.Parent)
	return p.Run, fromText(&p)
}

// fromText names the node from which on a run differs from the one that it replays, and the mock file.
func fromText(p *journal.Parent) string {
	if p.Mock != "" {
		return p.From + " with " + p.Mock
	}
	return p.From
}

// parentIn reads the parent of a run, and reports whether it is the run that a replay shares its past with.
func parentIn(data []byte) (p journal.Parent, ok bool) {
	if json.Unmarshal(data, &p) != nil || p.Kind != journal.ParentReplay {
		return journal.Parent{}, false
	}
	return p, true
}
