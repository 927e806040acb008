package schedulertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Limits are the settings a run had.
type Limits struct {
	Concurrency int // nodes and units in flight; 0: not checked
	MaxInFlight int // executions in flight; 0: not checked
	Barrier     bool
}

// Check proves from the events of a whole run that it kept to the rules: events
// are numbered without gaps, every node ended once, nothing started before what
// it depends on was resolved, no limit was exceeded, attempts follow the retry
// policy, every execution has one end, and writes only if that is a good one, and
// every skip, no more and no fewer, follows from the statuses and from what the
// judged conditions said. It returns all faults found, joined.
//
// Events of nested runs are passed over. A run that was stopped early proves less: what was never reached is not asked
// for.
func Check(w *core.Workflow, events []core.Event, limits Limits) error {
	t := newTrace(w, events, limits)
	t.numbering()
	t.collect()
	t.order()
	t.skips()
	t.attempts()
	t.overlap()
	t.startOrder()
	t.writes()
	return errors.Join(t.faults...)
}

type trace struct {
	*oracle
	events []core.Event
	limits Limits
	faults []error

	first    map[*unit]int // index of the first event of work
	resolved map[*unit]int // index of the event that resolved it
	ended    map[string]core.Event
	judged   map[string]bool
	// runs and failures count the items, rows and rounds of a node by how they
	// ended.
	runs, failures map[string]int
	failedAt       map[*unit]int
	frames         map[*unit]bool // units with nested runs
	stopped        bool
}

func newTrace(w *core.Workflow, events []core.Event, limits Limits) *trace {
	t := &trace{oracle: newOracle(w, nil), events: events, limits: limits, first: map[*unit]int{}, resolved: map[*unit]int{},
		ended: map[string]core.Event{}, judged: map[string]bool{}, runs: map[string]int{}, failures: map[string]int{},
		failedAt: map[*unit]int{}, frames: map[*unit]bool{}}
	t.truth = t.recorded
	return t
}

func (t *trace) fault(format string, args ...any) {
	t.faults = append(t.faults, fmt.Errorf(format, args...))
}

func (t *trace) numbering() {
	if len(t.events) < 2 || t.events[0].Type != core.RunStarted || t.events[len(t.events)-1].Type != core.RunFinished {
		t.fault("the log does not begin with %s and end with %s", core.RunStarted, core.RunFinished)
		return
	}
	for i, e := range t.events {
		if e.Seq != int64(i+1) {
			t.fault("event %d has number %d", i+1, e.Seq)
			return
		}
	}
}

// collect finds where each node and unit began and ended.
func (t *trace) collect() {
	for i, e := range t.events {
		if outer, _, inside := strings.Cut(e.Node+e.Unit, "/"); inside {
			outer, _, _ = strings.Cut(outer, "[")
			t.frames[t.of[outer]] = true
			continue
		}
		switch e.Type {
		case core.NodeStarted, core.ItemStarted:
			if u := t.of[e.Node]; u != nil {
				if _, ok := t.first[u]; !ok {
					t.first[u] = i
				}
			}
		case core.NodeFinished, core.NodeFailed, core.NodeSkipped:
			t.end(i, e)
		case core.ItemFinished:
			t.runs[e.Node]++
		case core.ItemFailed:
			t.failures[e.Node]++
			t.noteFailure(e)
		case core.UnitFinished:
			t.unitEnd(i, e)
		case core.EdgeJudged: // its node is the target
			t.judged[edgeKey(e.From, e.To, e.When)] = e.Result != nil && *e.Result
		case core.RunFinished:
			t.stopped = e.Status == string(core.RunCancelled)
		}
	}
	for _, n := range t.w.Nodes {
		_, ok := t.ended[n.ID.Value]
		t.stopped = t.stopped || n.OnError != nil && (n.OnError.Policy.Value == "fail_run" || n.OnError.Then.Value == "fail_run")
		if !ok && !t.stopped {
			t.fault("node %s never ended", n.ID.Value)
		}
	}
}

// noteFailure finds where the failure of a unit began: in its first row or
// round with a failure, whichever came first in the log.
func (t *trace) noteFailure(e core.Event) {
	u := t.of[e.Node]
	if u == nil || u.rank == 0 {
		return
	}
	row, _ := e.Item.Get()
	round, _ := e.Round.Get()
	if before, ok := t.failedAt[u]; !ok || row+round < before {
		t.failedAt[u] = row + round
		u.failedFirst = e.Node
	}
}

func edgeKey(from, to, when string) string { return from + " -> " + to + " when " + when }

func (t *trace) end(i int, e core.Event) {
	u := t.of[e.Node]
	if u == nil {
		t.fault("%s of an unknown node %s", e.Type, e.Node)
		return
	}
	if before, ok := t.ended[e.Node]; ok && e.Node != "" {
		t.fault("node %s ended twice: %s, then %s", e.Node, before.Type, e.Type)
	}
	t.ended[e.Node] = e
	t.resolved[u] = i
	r := t.records[e.Node]
	switch e.Type {
	case core.NodeSkipped:
		r.Status, r.Skip, r.Cause = core.Skipped, skipOf(e.Reason), e.Cause
	case core.NodeFailed:
		r.Status, r.Class = core.Fail, ""
		if e.Error != nil {
			r.Class = e.Error.Class
		}
	default:
		r.Status = core.Success
	}
}

func (t *trace) unitEnd(i int, e core.Event) {
	k := slices.IndexFunc(t.units, func(u *unit) bool { return u.rank > 0 && u.id == e.Unit })
	if k < 0 {
		t.fault("%s of an unknown unit %s", e.Type, e.Unit)
		return
	}
	u := t.units[k]
	t.resolved[u] = i
	if e.Status == core.Fail.String() {
		u.fails(u.id, "") // unless a member failed before
	}
	for _, n := range u.members {
		t.memberEnd(u, n.ID.Value, e)
	}
}

// memberEnd gives a member the status that follows from its executions: it has
// no event of its own at its end.
func (t *trace) memberEnd(u *unit, id string, e core.Event) {
	t.ended[id] = e
	r := t.records[id]
	switch {
	case t.failures[id] > 0:
		r.Status = core.Fail
	case t.runs[id] > 0 || u.status != core.Fail:
		r.Status = core.Success
	default:
		r.Status, r.Skip = core.Skipped, SkipFailure
	}
}

// recorded is what the log says about a condition.
func (t *trace) recorded(e *core.Edge, _ int) bool {
	key := edgeKey(e.From.Value, e.To.Value, e.When.Value)
	result, ok := t.judged[key]
	if !ok {
		t.fault("%s was never judged", key)
	}
	return result
}

// order checks that work began after everything it depends on was resolved.
func (t *trace) order() {
	for _, u := range t.units {
		if at, ok := t.first[u]; ok {
			t.after(u, at, "started")
		} else if at, ok := t.resolved[u]; ok {
			t.afterPredecessors(u, at, "was resolved")
		}
	}
}

func (t *trace) after(u *unit, at int, what string) {
	t.afterPredecessors(u, at, what)
	for _, w := range t.units {
		if w.level >= u.level {
			continue
		}
		if t.limits.Barrier {
			t.mustFollow(u, w, at, what, "a lower level")
			continue
		}
		for field, below := range t.readSet(u) {
			if w.level < below && w.writes(field) {
				t.mustFollow(u, w, at, what, "a writer of "+field)
			}
		}
	}
}

func (t *trace) afterPredecessors(u *unit, at int, what string) {
	for _, e := range u.in {
		t.mustFollow(u, t.of[e.From.Value], at, what, "a predecessor")
	}
}

func (t *trace) mustFollow(u, w *unit, at int, what, why string) {
	if done, ok := t.resolved[w]; !ok || done > at {
		t.fault("%s %s before %s, %s, was resolved", u.id, what, w.id, why)
	}
}

func (u *unit) writes(field string) bool {
	return slices.ContainsFunc(u.members, func(n *core.Node) bool { return slices.Contains(core.Strings(n.Writes), field) })
}

// readSet gives the fields that a unit sees, each with the level below which
// its writers count.
func (t *trace) readSet(u *unit) map[string]int {
	set := map[string]int{}
	add := func(level int, names ...string) {
		for _, f := range names {
			set[f] = max(set[f], level)
		}
	}
	for _, n := range u.members {
		add(u.level, core.Strings(n.Reads)...)
		add(u.level, argPaths(n.Args)...)
		if n.ForEach != nil {
			add(u.level, pathNames(n.ForEach.Source.Value)...)
		}
	}
	if u.pipeline != nil {
		add(u.level, pathNames(u.pipeline.Items.Value)...)
	}
	if u.loop != nil && u.loop.Until != nil {
		add(u.level, pathNames(u.loop.Until.Value)...)
	}
	for _, e := range u.in {
		if e.When != nil {
			add(t.judgedAt(e, u), pathNames(e.When.Value)...)
		}
	}
	return set
}

func argPaths(v *core.Value) []string {
	if v == nil {
		return nil
	}
	var names []string
	if s, ok := v.Scalar.(string); ok && v.Kind == core.StringValue {
		names = pathNames(s)
	}
	for _, e := range slices.Concat(v.Items, v.Values) {
		names = append(names, argPaths(e)...)
	}
	return names
}
