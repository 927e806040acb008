package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// stepWalk is a walk by steps whose nodes return scripted results, one for each visit.
type stepWalk struct {
	w       *core.Workflow
	results map[string][]core.Result
	errs    map[string][]error
	seen    map[string][]string // conversations, by node
	opts    plan.Options
	reg     *core.Registry
}

func str(s string) source.Text { return source.Text{Value: s} }

func newStepWalk(nodes ...string) *stepWalk {
	s := &stepWalk{w: &core.Workflow{Name: str("t"), Mode: core.ModeWalk, Walk: &core.Walk{Router: str(core.RouterSteps), Entry: str(nodes[0])}},
		results: map[string][]core.Result{}, errs: map[string][]error{}, seen: map[string][]string{}}
	for _, id := range nodes {
		s.w.Nodes = append(s.w.Nodes, &core.Node{ID: str(id), Handler: s.handler(id)})
	}
	return s
}

func (s *stepWalk) handler(id string) core.Handler {
	return core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		s.seen[id] = append(s.seen[id], fmt.Sprint(in.Conversation()))
		i := in.Visit() - 1
		var err error
		if list := s.errs[id]; len(list) > 0 {
			err = list[min(i, len(list)-1)]
		}
		list := s.results[id]
		if len(list) == 0 {
			return core.Result{}, err
		}
		return list[min(i, len(list)-1)], err
	})
}

func (s *stepWalk) node(id string) *core.Node {
	return s.w.Nodes[slices.IndexFunc(s.w.Nodes, func(n *core.Node) bool { return n.ID.Value == id })]
}

func (s *stepWalk) edge(from, to string) *core.Edge {
	e := &core.Edge{From: str(from), To: str(to)}
	s.w.Edges = append(s.w.Edges, e)
	return e
}

func when(e *core.Edge, text string, priority int) {
	t := str(text)
	e.When, e.Priority.Value = &t, priority
}

func sends(o ...any) core.Result { return core.Send(value.ObjectOf(o...)) }

// run returns the path, the steps of the transitions, and how the run ended.
func (s *stepWalk) run(t *testing.T, inputs map[string]any) (string, *core.Report) {
	t.Helper()
	p, ds := plan.Compile(s.w, s.reg, s.opts)
	if p == nil {
		t.Fatal(ds)
	}
	var steps []string
	r, _ := scheduler.Run(t.Context(), p, inputs, scheduler.Options{Listener: func(e core.Event) {
		if e.Type == core.EdgeChosen {
			steps = append(steps, e.Step+">"+e.To)
		}
	}})
	class := ""
	if ne, ok := errors.AsType[*core.NodeError](r.Err); ok {
		class = " " + ne.Failure.Class
	}
	return strings.Join(r.Path, " ") + " | " + strings.Join(steps, " ") + " | " + string(r.Status) + class, r
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() *stepWalk
		want string
	}{
		{"an edge", func() *stepWalk { s := newStepWalk("a", "b"); s.edge("a", "b"); return s }, "a b | edge>b end>(end) | success"},
		{"tool loop before route", func() *stepWalk {
			s := newStepWalk("a", "c")
			r := sends("route", "c")
			r.Routing = &core.Routing{ToolCalls: []string{"x"}, Messages: []any{"m"}}
			s.results["a"] = []core.Result{r, sends("route", "c")}
			return s
		}, "a a c | tool_loop>a route>c end>(end) | success"},
		{"route to a ghost, then goto", func() *stepWalk {
			s := newStepWalk("a", "c")
			s.results["a"] = []core.Result{sends("goto", "c", "route", "ghost")}
			return s
		}, "a c | route>c end>(end) | success"},
		{"next node that is not there", func() *stepWalk {
			s := newStepWalk("a")
			s.results["a"] = []core.Result{{Routing: &core.Routing{Next: "ghost"}}}
			return s
		}, "a | next_node>ghost | failed unknown_node"},
		{"conditions before free edges", func() *stepWalk {
			s := newStepWalk("a", "b", "c")
			s.errs["a"] = []error{errors.New("no")}
			s.edge("a", "b")
			s.edge("a", "c").Cond = &core.Cond{Kind: str(core.CondError)}
			return s
		}, "a c | edge>c end>(end) | success"},
		{"refine until good", func() *stepWalk {
			s := newStepWalk("refine", "deliver")
			until := str("$output.score > 8")
			s.w.Walk.LoopUntil = []*core.LoopUntil{{Node: str("refine"), ExitTo: str("deliver"), Until: &until, MaxIterations: &source.Int{Value: 3}}}
			s.results["refine"] = []core.Result{sends("score", int64(1))}
			return s
		}, "refine refine refine deliver | edge>refine edge>refine budget>deliver end>(end) | success"},
		{"the run budget", func() *stepWalk {
			s := newStepWalk("a", "b")
			s.edge("a", "b")
			s.edge("b", "a")
			s.w.Walk.MaxSteps = &source.Int{Value: 3}
			return s
		}, "a b a | edge>b edge>a edge>b | failed max_iterations"},
		{"exhausted", func() *stepWalk {
			s := newStepWalk("a")
			s.edge("a", "a")
			return s
		}, "a a a a a a a a a a | edge>a edge>a edge>a edge>a edge>a edge>a edge>a edge>a edge>a budget>(end) | failed node_budget"},
		{"critical", func() *stepWalk {
			s := newStepWalk("a", "b")
			s.errs["a"] = []error{errors.New("no")}
			s.node("a").Critical = true
			s.edge("a", "b")
			return s
		}, "a |  | failed error"},
		{"add an edge", func() *stepWalk {
			s := newStepWalk("a", "d")
			s.results["a"] = []core.Result{sends("_graph_action", "add_edge", "_from", "a", "_to", "d")}
			return s
		}, "a d | edge>d end>(end) | success"},
		{"skip to", func() *stepWalk {
			s := newStepWalk("a", "b", "c")
			s.edge("a", "b")
			s.results["a"] = []core.Result{sends("_graph_action", "skip_to", "_target", "c")}
			return s
		}, "a c | jump>c end>(end) | success"},
		{"retry with", func() *stepWalk {
			s := newStepWalk("a", "b")
			when(s.edge("a", "b"), "$.k == 1", 0)
			s.results["a"] = []core.Result{sends("_graph_action", "retry_with", "_context_update", value.ObjectOf("k", int64(1))), {}}
			return s
		}, "a a b | jump>a edge>b end>(end) | success"},
		{"transitions", func() *stepWalk {
			s := newStepWalk("a", "b", "c")
			s.node("a").Transitions = []core.Transition{{Key: str("no"), To: str("b")}, {Key: str("yes"), To: str("c")}}
			s.node("c").DefaultNext = str(core.EndNode)
			s.results["a"] = []core.Result{sends("yes", "x", "no", false)}
			return s
		}, "a c | transition>c default_next>(end) | success"},
		{"functions", func() *stepWalk {
			s := newStepWalk("a", "b", "c")
			s.edge("a", "b").Cond = &core.Cond{Func: func(r *core.VisitResult) bool { return r.Output.(*value.Object).Len() > 3 }}
			s.edge("a", "c").Cond = &core.Cond{Func: func(r *core.VisitResult) bool { return r.Visit == 1 }}
			s.results["a"] = []core.Result{core.Send("text")}
			return s
		}, "a c | edge>c end>(end) | success"},
		{"an added node", func() *stepWalk {
			s := newStepWalk("a")
			reg := core.NewRegistry()
			_ = reg.AddTool("note", core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
				return core.Send(in.Args()["instructions"]), nil
			}))
			s.opts.AddedKinds = []string{"note"}
			s.results["a"] = []core.Result{sends("_graph_action", "add_node", "_node_config", value.ObjectOf("name", "n", "instructions", "hi", "default_next", "a"), "route", "n"), {}}
			s.reg = reg
			return s
		}, "a n a | route>n default_next>a end>(end) | success"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, r := c.make().run(t, nil); got != c.want {
				t.Errorf("got  %s (%v)\nwant %s", got, r.Err, c.want)
			}
		})
	}
}

// TestStepConversation checks that the messages of visits are passed on while step 1 leads back to the
// node, and not after any other step.
func TestStepConversation(t *testing.T) {
	s := newStepWalk("a", "b")
	call := func(m string) core.Result {
		return core.Result{Routing: &core.Routing{ToolCalls: []string{"x"}, Messages: []any{m}}}
	}
	s.results["a"] = []core.Result{call("1"), call("2"), {}, {}}
	s.edge("a", "b")
	when(s.edge("b", "a"), "$visits == 1", 0)
	got, _ := s.run(t, nil)
	if want := "a a a b a b | tool_loop>a tool_loop>a edge>b edge>a edge>b end>(end) | success"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.Join(s.seen["a"], " "); got != "[] [1] [1 2] []" {
		t.Errorf("conversations %s", got)
	}
}

// TestStepHooks checks when hooks are called, what they see and what they can change.
func TestStepHooks(t *testing.T) {
	s := newStepWalk("a", "b", "c")
	var calls []string
	n := s.node("a")
	n.Before = func(_ context.Context, st *core.HookState) error {
		k, _ := st.Get("k")
		calls = append(calls, fmt.Sprint("before ", k))
		st.Set("k", int64(len(calls)))
		return nil
	}
	n.After = func(_ context.Context, r *core.VisitResult) error {
		calls = append(calls, fmt.Sprintf("after %d %v", r.Visit, r.Failure != nil))
		r.Failure, r.Next = nil, "b"
		return nil
	}
	n.OnError = &core.OnError{Policy: str("retry"), Attempts: &source.Int{Value: 2}, Base: &source.Located[time.Duration]{Value: time.Millisecond}}
	s.errs["a"] = []error{errors.New("no")}
	s.node("b").Before = func(context.Context, *core.HookState) error { panic("b") }
	s.node("b").After = func(_ context.Context, r *core.VisitResult) error { r.End = true; return nil }
	s.edge("b", "c")
	got, r := s.run(t, map[string]any{"k": "start"})
	if want := "a b | next_node>b jump>(end) | success"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.Join(calls, ", "); got != "before start, after 1 true" {
		t.Errorf("calls %s", got)
	}
	if got, _ := value.AppendJSON(nil, r.State); string(got) != `{"context":{"k":1}}` {
		t.Errorf("state %s", got)
	}
}

// TestStepHookOfReplacedNode checks that the After hook of a node is called, and that the node is critical,
// if the visit replaces the node: both belong to the visit, and the new node is only visited later.
func TestStepHookOfReplacedNode(t *testing.T) {
	for _, critical := range []bool{false, true} {
		s := newStepWalk("a", "b")
		s.reg = core.NewRegistry()
		if err := s.reg.AddTool("note", s.handler("a")); err != nil {
			t.Fatal(err)
		}
		s.opts.AddedKinds = []string{"note"}
		s.results["a"] = []core.Result{{Routing: &core.Routing{Mutations: []core.Mutation{{Action: core.MutationRemoveNode, Node: "a"},
			{Action: core.MutationAddNode, Config: value.ObjectOf("name", "a", "default_next", "b")}}}}}
		n, calls := s.node("a"), 0
		n.Critical = critical
		n.After = func(_ context.Context, r *core.VisitResult) error {
			calls++
			r.Failure = &core.Failure{Class: core.ClassError, Message: "the hook says no"}
			return nil
		}
		got, r := s.run(t, nil)
		want := "a b | default_next>b end>(end) | success"
		if critical {
			want = "a |  | failed error"
		}
		if got != want || calls != 1 {
			t.Errorf("critical %t: %d calls, got %s (%v), want %s", critical, calls, got, r.Err, want)
		}
	}
}

// TestStepConditionsThatFail checks that a condition that panics or hangs does not hold, and that the
// others count.
func TestStepConditionsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepWalk("a", "b", "c", "d")
		leave := make(chan bool)
		s.edge("a", "b").Cond = &core.Cond{Func: func(*core.VisitResult) bool { panic("no") }}
		s.edge("a", "c").Cond = &core.Cond{Func: func(*core.VisitResult) bool { return <-leave }}
		s.edge("a", "d").Cond = &core.Cond{Func: func(*core.VisitResult) bool { return true }}
		got, _ := s.run(t, nil)
		if want := "a d | edge>d end>(end) | success"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		close(leave)
	})
}
