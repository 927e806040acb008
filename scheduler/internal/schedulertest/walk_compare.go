package schedulertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// WalkRun is one finished run of a walk.
type WalkRun struct {
	Outcome  *WalkOutcome
	Recorder *Recorder
	Plan     *plan.Plan // of the engine
	Events   []core.Event
}

// OracleWalk runs a graph through the oracle. Branches take the time that timing says,
// or, if told is not nil, end in the order that the events of another run tell.
func OracleWalk(g *WalkGraph, timing uint64, told []core.Event) *WalkRun {
	run := &WalkRun{Recorder: &Recorder{}}
	w, reg := g.Workflow(run.Recorder)
	var ends func(string, int) ([]string, []string)
	if told != nil {
		ends = branchesOf(told)
	}
	run.Outcome = WalkOracle(w, reg, timing, ends)
	return run
}

// branchesOf tells from events which branches of a visit of a parallel node began and in
// which order they ended.
func branchesOf(events []core.Event) func(fork string, visit int) (begun, ended []string) {
	type visit struct {
		fork string
		n    int
	}
	begun, ended, over := map[visit][]string{}, map[visit][]string{}, map[string]int{}
	for _, e := range events {
		at := visit{e.Unit, over[e.Unit] + 1}
		ends := e.Type == core.NodeFinished || e.Type == core.NodeFailed
		if e.Unit != "" && e.Type == core.NodeStarted && !slices.Contains(begun[at], e.Node) {
			begun[at] = append(begun[at], e.Node)
		}
		if e.Unit != "" && ends {
			ended[at] = append(ended[at], e.Node)
		}
		if ends {
			over[e.Node]++
		}
	}
	return func(fork string, n int) ([]string, []string) { return begun[visit{fork, n}], ended[visit{fork, n}] }
}

// WalkOutcomeOf reads the report and the events of a run.
func WalkOutcomeOf(p *plan.Plan, r *core.Report, events []core.Event) *WalkOutcome {
	out := &WalkOutcome{Status: r.Status, Path: r.Path, Nodes: map[string]WalkNodeOutcome{}, State: core.NewObject(r.State.Len()), Context: &core.Object{}}
	for k, v := range r.State.All() {
		if k != core.ContextField {
			out.State.Set(k, v)
		} else if o, ok := v.(*core.Object); ok {
			out.Context = o
		}
	}
	if e, ok := errors.AsType[*core.NodeError](r.Err); ok {
		out.Class, out.At = e.Failure.Class, e.Node
	} else if r.Err != nil {
		out.Class = r.Err.Error()
	}
	for _, n := range r.Nodes() {
		o := WalkNodeOutcome{Status: n.Status, Visits: n.Visits, Attempts: n.Attempts, Changed: n.Status.Succeeded() && n.Reason != ""}
		if n.Failure != nil {
			o.Class = n.Failure.Class
		}
		if made, _ := p.Node(n.ID); made.Handler == nil {
			o.Attempts = 0 // there is nothing to try
		}
		out.Nodes[n.ID] = o
	}
	for _, e := range events {
		switch e.Type {
		case core.EdgeChosen:
			out.Choices = append(out.Choices, WalkChoice{From: e.From, To: e.To, Step: e.Step})
		case core.JoinDecided:
			out.Forks = append(out.Forks, ForkOutcome{Fork: e.Node, Succeeded: e.Nodes})
			_ = out.Forks[len(out.Forks)-1].Status.UnmarshalText([]byte(e.Status))
		}
	}
	return out
}

// WalkDifferences lists where a run differs from what the oracle came to. Without events
// the ways are known from the path only.
func WalkDifferences(want, got *WalkRun) []string {
	var d differences
	w, o := want.Outcome, got.Outcome
	d.compare("path", strings.Join(w.Path, " "), strings.Join(o.Path, " "))
	if got.Events != nil {
		d.compare("ways", fmt.Sprint(ways(w.Choices)), fmt.Sprint(ways(o.Choices)))
		d.compare("joins", fmt.Sprint(joins(w.Forks)), fmt.Sprint(joins(o.Forks)))
	}
	d.compare("run status", w.Status, o.Status)
	d.compare("end", w.Class+" "+w.At, o.Class+" "+o.At)
	d.compare("state", core.JSON(w.State), core.JSON(o.State))
	d.compare("context", contextText(w.Context), contextText(o.Context))
	for _, id := range sortedKeys(o.Nodes) {
		if !w.lost(id) {
			d.compare("node "+id, w.Nodes[id], o.Nodes[id])
		}
	}
	for _, e := range got.Recorder.twice {
		d.compare("executed twice: "+e.String(), nil, true)
	}
	var all []Execution
	for _, r := range []*Recorder{want.Recorder, got.Recorder} {
		for e := range r.seen {
			if !w.Losers[e] && !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b Execution) int { return strings.Compare(a.String(), b.String()) })
	for _, e := range all {
		d.compare("execution "+e.String(), want.Recorder.saw(e), got.Recorder.saw(e))
	}
	if got.Events != nil {
		d = append(d, violations(got.Plan, got.Events)...)
	}
	return d
}

// lost reports whether a node was ever given up as a branch: how far it got is a matter
// of time.
func (o *WalkOutcome) lost(id string) bool {
	for e := range o.Losers {
		if e.Node == id {
			return true
		}
	}
	return false
}

func ways(choices []WalkChoice) (list []string) {
	for _, c := range choices {
		list = append(list, fmt.Sprintf("%s->%s (%s)", c.From, c.To, c.Step))
	}
	return list
}

func joins(forks []ForkOutcome) (list []string) {
	for _, f := range forks {
		list = append(list, fmt.Sprintf("%s %s %v", f.Fork, f.Status, f.Succeeded))
	}
	slices.Sort(list) // those inside of branches come when time lets them
	return list
}

// compile compiles a walk, recording into rec.
func (g *WalkGraph) compile(t *testing.T, rec *Recorder) *plan.Plan {
	t.Helper()
	w, reg := g.Workflow(rec)
	p, ds := plan.Compile(w, reg, plan.Options{})
	if p == nil {
		t.Fatalf("graph does not compile: %v\n%s", ds, g)
	}
	return p
}

// EngineWalk runs a graph through the real engine in virtual time.
func EngineWalk(t *testing.T, g *WalkGraph, s Setting) (run *WalkRun) {
	t.Helper()
	run = &WalkRun{Recorder: &Recorder{Timing: s.Timing}}
	run.Plan = g.compile(t, run.Recorder)
	defer func() {
		if fault := recover(); fault != nil { // synctest found that nothing can go on
			run.Outcome = &WalkOutcome{Status: core.RunStatus(fmt.Sprint(fault)), State: &core.Object{}, Context: &core.Object{}}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		o := scheduler.Options{Run: "test", Concurrency: s.Concurrency, MaxInFlight: s.InFlight}
		if !s.Silent {
			o.Listener = func(e core.Event) { run.Events = append(run.Events, e) }
		}
		report, err := scheduler.Run(t.Context(), run.Plan, nil, o)
		if err != report.Err {
			t.Errorf("Run returned error %v, the report has %v", err, report.Err)
		}
		run.Outcome = WalkOutcomeOf(run.Plan, report, run.Events)
	})
	return run
}

// HostileWalk runs a graph through a hostile driver of the bare machine.
func HostileWalk(t *testing.T, g *WalkGraph, h Hostile, o machine.Options) (*WalkRun, error) {
	t.Helper()
	run := &WalkRun{Recorder: &Recorder{Repeats: h.Reload || h.Double}}
	run.Plan = g.compile(t, run.Recorder)
	report, events, err := h.Run(run.Plan, nil, o)
	if err != nil {
		return nil, err
	}
	run.Events, run.Outcome = events, WalkOutcomeOf(run.Plan, report, events)
	return run, nil
}
