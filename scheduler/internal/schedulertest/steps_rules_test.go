package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// stepsCase is a walk by steps for an example of a rule.
type stepsCase struct {
	name    string
	nodes   string   // the entry first
	edges   []string // such as "a b", "a b 10" or "a b 10 $visits == 2"
	results map[string][]core.Result
	change  func(w *core.Workflow)
	want    string // the path, the steps and the end
}

var errStep = errors.New("broken")

// stepNode returns a node of a workflow.
func stepNode(w *core.Workflow, id string) *core.Node {
	for _, n := range w.Nodes {
		if n.ID.Value == id {
			return n
		}
	}
	return nil
}

func sends(members ...any) core.Result { return core.Send(value.ObjectOf(members...)) }

// saying adds what a result says besides its output.
func saying(r core.Result, rt core.Routing) core.Result {
	r.Routing = &rt
	return r
}

// failing is a result that says itself that the visit failed.
func failing(r core.Result) core.Result { r.Status, r.Note = core.Fail, "no"; return r }

func results(list ...core.Result) []core.Result { return list }

// workflow returns the walk; the last result of a node repeats.
func (c *stepsCase) workflow() (*core.Workflow, *core.Registry) {
	handler := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		list := c.results[in.Node()]
		if len(list) == 0 {
			return core.Result{}, nil
		}
		r := list[min(in.Visit(), len(list))-1]
		switch r.Note {
		case "error":
			return r, core.Permanent(errStep)
		case "panic":
			panic("wanted panic")
		}
		return r, nil
	})
	reg := core.NewRegistry()
	_ = reg.AddTool("note", handler)
	_ = reg.AddTool("forbidden", handler)
	w := &core.Workflow{Name: text("rule"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(core.RouterSteps)}}
	for _, id := range strings.Fields(c.nodes) {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Handler: handler, Writes: texts([]string{"m"}), HasWrites: true})
	}
	w.Walk.Entry = w.Nodes[0].ID
	for _, e := range c.edges {
		part := strings.SplitN(e, " ", 4)
		edge := &core.Edge{From: text(part[0]), To: text(part[1])}
		if len(part) > 2 {
			_, _ = fmt.Sscan(part[2], &edge.Priority.Value)
		}
		if len(part) > 3 {
			if kind, isData := strings.CutPrefix(part[3], "on "); isData {
				edge.Cond = &core.Cond{Kind: text(kind)}
			} else {
				edge.When = &source.Text{Value: part[3]}
			}
		}
		w.Edges = append(w.Edges, edge)
	}
	if c.change != nil {
		c.change(w)
	}
	return w, reg
}

func (c *stepsCase) run(t *testing.T) string {
	w, reg := c.workflow()
	p, ds := plan.Compile(w, reg, plan.Options{AddedKinds: []string{"note"}})
	if p == nil {
		t.Fatal(ds)
	}
	var out []string
	var events []core.Event
	r, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) {
		if events = append(events, e); e.Type == core.EdgeChosen {
			out = append(out, e.Step+">"+e.To)
		}
		if e.Type == core.GraphRejected {
			out = append(out, "rejected")
		}
	}})
	for _, v := range violations(p, events) {
		t.Error(v)
	}
	end := string(r.Status)
	if f, ok := errors.AsType[*core.NodeError](r.Err); ok {
		end += " " + f.Failure.Class + " " + f.Node
	}
	return strings.Join(r.Path, " ") + " | " + strings.Join(out, " ") + " | " + end
}

// loop adds a loop_until.
func loop(node, exit, until string, most int) func(*core.Workflow) {
	return func(w *core.Workflow) {
		l := &core.LoopUntil{Node: text(node), ExitTo: text(exit), Until: &source.Text{Value: until}}
		if most != 0 {
			l.MaxIterations = &source.Int{Value: most}
		}
		w.Walk.LoopUntil = append(w.Walk.LoopUntil, l)
	}
}

// transitions sets the transitions of a node, such as "ok b".
func transitions(id string, list ...string) func(*core.Workflow) {
	return func(w *core.Workflow) {
		for _, s := range list {
			key, to, _ := strings.Cut(s, " ")
			n := stepNode(w, id)
			n.Transitions = append(n.Transitions, core.Transition{Key: text(key), To: text(to)})
		}
	}
}

func allOf(list ...func(*core.Workflow)) func(*core.Workflow) {
	return func(w *core.Workflow) {
		for _, f := range list {
			f(w)
		}
	}
}

func mostVisits(id string, n int) func(*core.Workflow) {
	return func(w *core.Workflow) { stepNode(w, id).MaxVisits = &source.Int{Value: n} }
}

func runBudget(n int) func(*core.Workflow) {
	return func(w *core.Workflow) { w.Walk.MaxSteps = &source.Int{Value: n} }
}

func defaultNext(id, to string) func(*core.Workflow) {
	return func(w *core.Workflow) { stepNode(w, id).DefaultNext = text(to) }
}

// same returns an edge many times.
func same(edge string, n int) (list []string) {
	for range n {
		list = append(list, edge)
	}
	return list
}

func TestStepsRules(t *testing.T) {
	for _, c := range stepsCases() {
		t.Run(c.name, func(t *testing.T) {
			if got := c.run(t); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}
