package schedulertest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/store/memory"
)

// TestPropertyFork replays runs from each of their nodes without a change. A replay must end as the run
// did, and execute nothing else than what comes after the node.
func TestPropertyFork(t *testing.T) {
	var replays, executed, kept, sets int
	for _, tt := range journalShapes {
		if tt.name == "stopped" || tt.name == "races" || tt.name == "expired" { // whose ends depend on timing
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share/2, tt.generate, func(t *testing.T, g *Graph) []string {
				want := oracleOf(g)
				run, faults := forkedRuns(t, g, want, func(fork *scheduler.Fork, ran, all int) {
					replays, executed, kept, sets = replays+1, executed+ran, kept+all-ran, sets+len(fork.Set)
				})
				if run == nil {
					return append(faults, "no end")
				}
				return faults
			})
		})
	}
	t.Logf("%d replays, %d of which set a field: %d executions, %d kept", replays, sets, executed, kept)
	if *seedFlag == 0 && (executed == 0 || kept == 0 || sets == 0) {
		t.Errorf("%d executions ran again, %d were kept, %d fields were set", executed, kept, sets)
	}
}

// forkedRuns runs a graph and replays the run from each node that it has executed, without a change and with
// a field that is set to the value that it has.
func forkedRuns(t *testing.T, g *Graph, want *Run, each func(fork *scheduler.Fork, ran, all int)) (run *Run, faults []string) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil { // synctest has found a deadlock
			faults = []string{"replays", fmt.Sprint("deadlock: ", fault)}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		f := &forker{t: t, g: g, want: want, store: memory.New(nil)}
		if run = f.execute(nil); run == nil {
			return
		}
		f.run = run
		for i, n := range run.Report.Nodes() {
			if n.Attempts == 0 {
				continue
			}
			f.replay(scheduler.Fork{From: n.ID}, each)
			if set, ok := f.same(n.ID, i); ok {
				f.replay(scheduler.Fork{From: n.ID, Set: set}, each)
			}
		}
		f.fromTheStart(each)
		if len(f.faults) > 0 {
			faults = append([]string{"replays"}, f.faults...) // the way in which it was run comes first
		}
	})
	return run, faults
}

// forker replays a run of a graph.
type forker struct {
	t      *testing.T
	g      *Graph
	want   *Run
	store  *memory.Store
	run    *Run
	faults []string

	replays int
}

func (f *forker) options(run string) scheduler.Options {
	return scheduler.Options{Run: run, Concurrency: 1 + int(f.g.Seed%7), Recording: &scheduler.Recording{Store: f.store}}
}

func (f *forker) stored() *scheduler.Stored {
	st, err := scheduler.ReadStored(context.Background(), f.store, "test")
	if err != nil {
		f.t.Fatal(err)
	}
	return st
}

// execute runs the graph, or replays the run if there is a fork.
func (f *forker) execute(fork *scheduler.Fork) *Run {
	r := &Run{Recorder: &Recorder{Timing: 1 + f.g.Seed}}
	r.Plan = MustCompile(f.t, f.g, r.Recorder)
	o := f.options("test")
	o.Interviewer = r.Recorder.continues(f.g)
	o.Listener = func(e core.Event) { r.Events = append(r.Events, e) }
	var report *core.Report
	var err error
	if fork == nil {
		report, err = scheduler.Run(context.Background(), r.Plan, f.g.Values(), o)
	} else {
		f.replays++
		o.Run = fmt.Sprint("replay-", f.replays)
		report, err = scheduler.Replay(context.Background(), f.stored(), r.Plan, *fork, o)
	}
	if report == nil {
		f.faults = append(f.faults, fmt.Sprintf("%+v: %v", fork, err))
		return nil
	}
	r.ended(report, f.want)
	return r
}

// replay replays the run and compares the result with that of the run.
func (f *forker) replay(fork scheduler.Fork, each func(fork *scheduler.Fork, ran, all int)) {
	forecast, err := scheduler.Preview(context.Background(), f.stored(), f.run.Plan, fork, f.options("test"))
	if err != nil {
		f.faults = append(f.faults, fmt.Sprintf("preview of %+v: %v", fork, err))
		return
	}
	again := f.execute(&fork)
	if again == nil {
		return
	}
	f.faults = append(f.faults, unlike(again, forecast.Steps)...)
	if len(fork.Set) > 0 {
		for _, v := range Verify(again) {
			f.faults = append(f.faults, fmt.Sprintf("%+v: verify: %s", fork, v))
		}
	}
	ran := len(again.Recorder.seen)
	kept := func(Execution) bool { return true }
	if f.g.Walk != nil { // whose way may be another one, if the order in which branches end decides
		visited := map[string]bool{}
		for _, e := range again.Events {
			visited[fmt.Sprint(e.Type, e.Node, e.Visit)] = true
		}
		kept = func(e Execution) bool { return visited[fmt.Sprint(core.NodeStarted, e.Node, e.Visit)] }
	}
	for e, seen := range f.run.Recorder.seen {
		if again.Recorder.saw(e) == notRun && kept(e) {
			again.Recorder.seen[e] = seen
		}
	}
	wanted := f.want
	if wanted == nil {
		wanted = OracleWalk(f.g, 0, again.Events)
	}
	for _, d := range Differences(wanted, again) {
		f.faults = append(f.faults, fmt.Sprintf("%+v: %s", fork, d))
	}
	each(&fork, ran, len(f.run.Recorder.seen))
}

// fromTheStart sets a field before the first level, and compares the replay with a run that begins with the
// value.
func (f *forker) fromTheStart(each func(fork *scheduler.Fork, ran, all int)) {
	p := f.run.Plan
	if p.Mode.Visits || p.Vertices[0].Unit != nil {
		return
	}
	for i := range p.Schema.Fields {
		name := p.Schema.Fields[i].Name
		v, ok := f.run.Report.State.Get(name)
		if start, had := f.g.Values()[name]; !ok || v == nil || !had || value.Equal(start, v) {
			continue
		}
		values := f.g.Values()
		values[name] = v
		fresh := &Run{Recorder: &Recorder{Timing: 1 + f.g.Seed}}
		fresh.Plan = MustCompile(f.t, f.g, fresh.Recorder)
		o := f.options("fresh-" + name)
		o.Interviewer = fresh.Recorder.continues(f.g)
		want, err := scheduler.Run(context.Background(), fresh.Plan, values, o)
		if want == nil {
			f.faults = append(f.faults, err.Error())
			continue
		}
		fork := scheduler.Fork{From: p.Vertices[0].ID, Set: []machine.Assignment{{Path: name, Value: v}}}
		again := f.execute(&fork)
		if again == nil {
			continue
		}
		if a, b := value.JSON(again.Report.State), value.JSON(want.State); a != b {
			f.faults = append(f.faults, fmt.Sprintf("%s is set to %s: state\n%s\na run that begins with it has\n%s", name, value.JSON(v), a, b))
		}
		for _, n := range want.Nodes() {
			if m, _ := again.Report.Node(n.ID); m.Status != n.Status {
				f.faults = append(f.faults, fmt.Sprintf("%s is set to %s: %s is %s, and %s in a run that begins with it", name, value.JSON(v), n.ID, m.Status, n.Status))
			}
		}
		each(&fork, len(again.Recorder.seen), len(f.run.Recorder.seen))
	}
}

// same sets one of the fields, or a key of the context of a walk, to the value that it has before a node.
func (f *forker) same(from string, i int) (set []machine.Assignment, ok bool) {
	fields := f.run.Plan.Schema.Fields
	field := &fields[(int(f.g.Seed)+i)%len(fields)]
	path := field.Name
	v, ok := f.run.Report.State.Get(field.Name) // a value of the right type
	if !ok || v == nil {
		return nil, false
	}
	if keys, isObject := v.(*value.Object); isObject && field.IsContext() {
		if keys.Len() == 0 {
			return nil, false
		}
		key, member := keys.At((int(f.g.Seed) + i) % keys.Len())
		path, v = fmt.Sprintf("%s[%q]", path, key), member
	}
	set = []machine.Assignment{{Path: path, Value: v}}
	forecast, err := scheduler.Preview(context.Background(), f.stored(), f.run.Plan, scheduler.Fork{From: from, Set: set}, f.options("test"))
	if err != nil {
		return nil, false // a stream
	}
	x := forecast.Set[0]
	if !x.Made || value.IsMissing(x.Was) || x.Was == nil {
		return nil, false
	}
	set[0].Value = x.Was
	return set, true
}

// unlike lists the steps of a preview that said for certain what the replay has not done.
func unlike(again *Run, steps []scheduler.Step) (faults []string) {
	for _, x := range steps {
		n, _ := again.Report.Node(x.Path)
		began := n.Attempts > 0 || n.Visits > 0
		switch {
		case x.Maybe:
		case x.Action == scheduler.ActionSkip && n.Status != core.Skipped,
			x.Action == scheduler.ActionRun && !began && n.Status != core.Fail, // its items may be none
			x.Action == scheduler.ActionKeep && n.Status == core.Skipped && n.Visits == 0:
			faults = append(faults, fmt.Sprintf("preview: %+v, and its status is %s", x, n.Status))
		}
	}
	return faults
}
