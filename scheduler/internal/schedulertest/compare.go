package schedulertest

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Run is one finished run of a graph.
type Run struct {
	Outcome  *Outcome     // of a dag
	Walk     *WalkOutcome // of a walk
	Recorder *Recorder
	Plan     *plan.Plan // of the engine
	Events   []core.Event
	Report   *core.Report // of the engine
}

// ended stores the outcome of a run. Only the oracle, whose run want is, knows the
// executions after a cut by max_failures; walks need no want.
func (r *Run) ended(report *core.Report, want *Run) {
	r.Report = report
	if want == nil {
		r.Walk = WalkOutcomeOf(r.Plan, report, r.Events)
	} else {
		r.Outcome = OutcomeOf(report, want.Outcome.Void)
	}
}

// neverEnded stores the reason why a run could not end.
func (r *Run) neverEnded(fault any, want *Run) {
	status := core.RunStatus(fmt.Sprint(fault))
	if want == nil {
		r.Walk = &WalkOutcome{Status: status, State: &value.Object{}, Context: &value.Object{}}
	} else {
		r.Outcome = &Outcome{Status: status, Void: want.Outcome.Void}
	}
}

// OracleRun runs a dag with the oracle.
func OracleRun(g *Graph) *Run {
	rec := &Recorder{}
	w, reg := g.Workflow(rec)
	return &Run{Outcome: Oracle(w, reg, g.Values()), Recorder: rec}
}

// OutcomeOf converts a report. Only the oracle knows the executions after a cut by
// max_failures, so the caller passes its void.
func OutcomeOf(r *core.Report, void func(Execution) bool) *Outcome {
	out := &Outcome{Status: r.Status, State: r.State, Nodes: map[string]NodeOutcome{}, Units: map[string]UnitOutcome{}, Void: void}
	for _, n := range r.Nodes() {
		o := NodeOutcome{Status: n.Status, Handled: n.Handled, Attempts: n.Attempts, Items: n.Items, Failed: n.Failed, Output: n.Output,
			Changed: n.Status.Succeeded() && n.Reason != ""}
		if n.Status == core.Skipped {
			o.Skip, o.Cause = skipOf(n.Reason), n.Cause
		}
		if n.Failure != nil {
			o.Class = n.Failure.Class
		}
		out.Nodes[n.ID] = o
	}
	for _, u := range r.Units() {
		o := UnitOutcome{Status: u.Status, Rows: u.Rows, Reason: u.Reason}
		if u.Status == core.Skipped {
			o.Skip = skipOf(u.Reason)
		}
		out.Units[u.ID] = o
	}
	return out
}

// joinReason matches the reason for skipping a join with too few predecessors if no failure
// is among the causes.
var joinReason = regexp.MustCompile(`^\d+ of \d+ predecessors succeeded, it takes \d+$`)

// skipOf classifies the reason of a skip.
func skipOf(reason string) Skip {
	switch {
	case strings.HasPrefix(reason, "the condition"):
		return SkipCondition // the condition may contain any word
	case strings.HasPrefix(reason, "lost the race"):
		return SkipLost
	case joinReason.MatchString(reason):
		return SkipJoin
	case strings.Contains(reason, "failed"):
		return SkipFailure
	case strings.Contains(reason, "skipped"):
		return SkipAll
	}
	return SkipCondition
}

// ReportText formats everything in a report that must not depend on timing.
func ReportText(r *core.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v\n%s\n", r.Status, r.Err, value.JSON(r.State))
	for _, n := range r.Nodes() {
		fmt.Fprintf(&b, "node %s %s, reason %q, cause %q, failure %v, handled %t, %d attempts, %d items, %d failed, output %s, note %q\n", n.ID, n.Status,
			n.Reason, n.Cause, n.Failure, n.Handled, n.Attempts, n.Items, n.Failed, value.JSON(n.Output), n.Note)
	}
	for _, u := range r.Units() {
		fmt.Fprintf(&b, "unit %s %s, %d rows, %s\n", u.ID, u.Status, u.Rows, u.Reason)
	}
	return b.String()
}

// Differences lists the differences between a run and the oracle's run.
func Differences(want, got *Run) []string {
	if want.Walk != nil {
		return walkDifferences(want, got)
	}
	var d differences
	d.compare("run status", want.Outcome.Status, got.Outcome.Status)
	if got.Outcome.State == nil {
		return d // the run never ended
	}
	d.compare("state", value.JSON(want.Outcome.State), value.JSON(got.Outcome.State))
	for _, id := range slices.Sorted(maps.Keys(want.Outcome.Nodes)) {
		d.node(id, want.Outcome.Nodes[id], got.Outcome.Nodes[id])
	}
	for _, id := range slices.Sorted(maps.Keys(want.Outcome.Units)) {
		w, g := want.Outcome.Units[id], got.Outcome.Units[id]
		if w.Skip != "" {
			w.Reason, g.Reason = "", ""
		}
		d.compare("unit "+id, w, g)
	}
	d.executions(want, got, want.Outcome.Void)
	return d
}

type differences []string

func (d *differences) compare(what string, want, got any) {
	if !reflect.DeepEqual(want, got) {
		*d = append(*d, fmt.Sprintf("%s\n    want %+v\n    got  %+v", what, want, got))
	}
}

func (d *differences) node(id string, want, got NodeOutcome) {
	for _, n := range []*NodeOutcome{&want, &got} {
		if n.Output = value.JSON(n.Output); !n.Status.Succeeded() {
			n.Output, n.Changed = nil, false // the output of a failed node is not delivered
		}
	}
	d.compare("node "+id, want, got)
}

// executions compares the inputs of each execution. Void executions may or may not have
// run.
func (d *differences) executions(want, got *Run, void func(Execution) bool) {
	for _, e := range got.Recorder.twice {
		d.compare("executed twice: "+e.String(), nil, true)
	}
	all := map[Execution]bool{}
	for _, r := range []*Recorder{want.Recorder, got.Recorder} {
		for e := range r.seen {
			all[e] = !void(e)
		}
	}
	list := slices.SortedFunc(maps.Keys(all), func(a, b Execution) int { return strings.Compare(a.String(), b.String()) })
	for _, e := range list {
		if all[e] {
			d.compare("execution "+e.String(), want.Recorder.saw(e), got.Recorder.saw(e))
		}
	}
}

func (r *Recorder) saw(e Execution) string {
	if s, ok := r.seen[e]; ok {
		return s
	}
	return notRun
}

// notRun is what a Recorder says of an execution that it has not seen.
const notRun = "did not run"

// EventKeys counts the events of a run by key, excluding times, progress, log lines and
// void executions.
func EventKeys(r *Run) map[string]int {
	keys := map[string]int{}
	for _, e := range r.Events {
		item, _ := e.Item.Get()
		round, _ := e.Round.Get()
		void := r.Outcome.Void(Execution{Node: e.Node, Item: item}) || r.Outcome.Void(Execution{Node: e.Unit, Item: -1})
		if e.Type == core.LogLine || e.Type == core.Progress || void {
			continue
		}
		keys[fmt.Sprintf("%s %s[%d]#%d/%d unit=%s %s->%s field=%s", e.Type, e.Node, item, round, e.Attempt, e.Unit, e.From, e.To, e.Field)]++
	}
	return keys
}

// failureCounts compares the number of failed executions of each node in its events with
// the number in its report.
func failureCounts(r *Run) []string {
	var d differences
	counts := endsOf(r, core.ItemFailed)
	for _, id := range sortedKeys(r.Outcome.Nodes) {
		d.compare("events of failed executions of "+id, r.Outcome.Nodes[id].Failed, counts[id])
	}
	return d
}

// endsOf counts, by node, the executions that ended with an event of type how, excluding
// void ones.
func endsOf(r *Run, how core.EventType) map[string]int {
	counts := map[string]int{}
	for _, e := range r.Events {
		if key := executionOf(&e); e.Type == how && !r.Outcome.Void(Execution{Node: key.Node, Item: key.Item}) {
			counts[e.Node]++
		}
	}
	return counts
}

// executionOf returns the execution that an event is about.
func executionOf(e *core.Event) Execution {
	item, _ := e.Item.Get()
	round, _ := e.Round.Get()
	return Execution{Node: e.Node, Item: item, Round: round}
}

// EventDifferences lists the events that only one of two runs has.
func EventDifferences(want, got *Run) []string {
	var d differences
	w, g := EventKeys(want), EventKeys(got)
	for _, k := range slices.Sorted(maps.Keys(w)) {
		d.compare("event "+k, w[k], g[k])
	}
	for _, k := range slices.Sorted(maps.Keys(g)) {
		if w[k] == 0 {
			d.compare("event "+k, 0, g[k])
		}
	}
	return d
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
