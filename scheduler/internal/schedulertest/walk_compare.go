package schedulertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// OracleWalk runs a graph with the oracle. The durations of branches follow from timing or,
// if recorded is not nil, their order follows from these events of another run.
func OracleWalk(g *Graph, timing uint64, recorded []core.Event) *Run {
	run := &Run{Recorder: &Recorder{}}
	w, reg := g.Workflow(run.Recorder)
	var ends func(string, int) ([]string, []string)
	if recorded != nil {
		ends = branchesOf(recorded)
	}
	run.Walk = WalkOracle(w, reg, g.Values(), timing, ends)
	return run
}

// branchesOf reads from events which branches of a visit of a parallel node began, and in
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

// WalkOutcomeOf converts the report and the events of a run.
func WalkOutcomeOf(p *plan.Plan, r *core.Report, events []core.Event) *WalkOutcome {
	out := &WalkOutcome{Status: r.Status, Path: r.Path, Nodes: map[string]WalkNodeOutcome{}, State: value.NewObject(r.State.Len()), Context: &value.Object{}}
	for k, v := range r.State.All() {
		if k != core.ContextField {
			out.State.Set(k, v)
		} else if o, ok := v.(*value.Object); ok {
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
			o.Attempts = 0 // there is nothing to attempt
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

// walkDifferences lists the differences between a walk and the oracle's walk. Without
// events, the steps are known only from the path.
func walkDifferences(want, got *Run) []string {
	var d differences
	w, o := want.Walk, got.Walk
	d.compare("path", strings.Join(w.Path, " "), strings.Join(o.Path, " "))
	if got.Events != nil {
		d.compare("ways", fmt.Sprint(ways(w.Choices)), fmt.Sprint(ways(o.Choices)))
		d.compare("joins", fmt.Sprint(joins(w.Forks)), fmt.Sprint(joins(o.Forks)))
	}
	d.compare("run status", w.Status, o.Status)
	d.compare("end", w.Class+" "+w.At, o.Class+" "+o.At)
	d.compare("state", value.JSON(w.State), value.JSON(o.State))
	d.compare("context", contextText(w.Context), contextText(o.Context))
	for _, id := range sortedKeys(o.Nodes) {
		if !w.wasGivenUp(id) {
			d.compare("node "+id, w.Nodes[id], o.Nodes[id])
		}
	}
	d.executions(want, got, func(e Execution) bool { return w.Losers[e] })
	if got.Events != nil {
		d = append(d, violations(got.Plan, got.Events)...)
	}
	return d
}

// wasGivenUp reports whether a node was ever cancelled as a branch. How far such a node got
// depends on timing.
func (o *WalkOutcome) wasGivenUp(id string) bool {
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
	slices.Sort(list) // steps inside branches are in the order of their times
	return list
}
