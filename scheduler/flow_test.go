package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store/memory"
)

// flowOf compiles a flow. A node is an agent that does nothing, unless it is start, or an approval whose
// id begins with a question mark.
func flowOf(t testing.TB, most int, edges ...[3]string) *plan.Plan {
	t.Helper()
	text := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Name: text("flow"), Mode: core.ModeFlow, Flow: &core.Flow{MaxArrivals: &source.Int{Value: most}}}
	seen := map[string]bool{}
	add := func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		n := &core.Node{ID: text(id), Kind: text("agent"), Flow: &core.FlowNode{Output: ""}}
		switch {
		case id == "start":
			n.Flow.Role = core.FlowStart
		case id[:1] == "?":
			n.Flow.Role = core.FlowApproval
		default:
			n.Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
		}
		w.Nodes = append(w.Nodes, n)
	}
	for _, e := range edges {
		add(e[0])
		add(e[1])
		w.Edges = append(w.Edges, &core.Edge{From: text(e[0]), To: text(e[1]), Label: text(e[2])})
	}
	p, ds := plan.Compile(w, core.NewRegistry(std.Kinds()...), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// BenchmarkFlow measures a flow that cycles between two agents that do nothing. BenchmarkWalk is the same
// for a walk.
func BenchmarkFlow(b *testing.B) {
	const hops = 1000
	p := flowOf(b, hops+1, [3]string{"start", "a", ""}, [3]string{"a", "b", ""}, [3]string{"b", "a", ""})
	b.ReportAllocs()
	for b.Loop() { // the last arrival fails it
		if r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1}); err == nil || len(r.Path) != hops+1 {
			b.Fatal(err, len(r.Path))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*hops), "ns/hop")
}

// TestManyPausedFlows pauses 1,000 flows in a store, answers each and resumes it.
func TestManyPausedFlows(t *testing.T) {
	p, s := flowOf(t, 100, [3]string{"start", "a", ""}, [3]string{"a", "?ask", ""}, [3]string{"?ask", "b", "approve"}), memory.New(nil)
	const runs = 1000
	for i := range runs {
		o := scheduler.Options{Run: fmt.Sprint("r", i), Recording: &scheduler.Recording{Store: s}}
		_, err := scheduler.Run(t.Context(), p, nil, o)
		if paused, ok := errors.AsType[*core.PausedError](err); !ok || len(paused.Questions) != 1 {
			t.Fatalf("run %d: %v", i, err)
		}
	}
	for i := range runs {
		id := fmt.Sprint("r", i)
		if _, err := inbox.Post(t.Context(), s, id, inbox.Answer{Node: "?ask", Choice: "approve"}); err != nil {
			t.Fatal(err)
		}
		st, err := scheduler.OpenStored(t.Context(), s, id)
		if err != nil {
			t.Fatal(err)
		}
		r, err := scheduler.Resume(t.Context(), st, p, scheduler.Options{Recording: &scheduler.Recording{Store: s}})
		if err != nil || r.Status != core.RunSuccess || len(r.Path) != 4 {
			t.Fatalf("run %d: %v, %v", i, r, err)
		}
	}
}

// TestQueuedWhileRunning lists the approvals that are asked later while an agent still runs: another process
// sees them in the store.
func TestQueuedWhileRunning(t *testing.T) {
	p, s := flowOf(t, 100, [3]string{"start", "?one", ""}, [3]string{"start", "?two", ""}, [3]string{"start", "?three", ""}, [3]string{"start", "slow", ""},
		[3]string{"slow", "?four", ""}), memory.New(nil)
	node, _ := p.Node("slow")
	node.Handler = core.HandlerFunc(func(ctx context.Context, _ core.Input) (core.Result, error) {
		for { // the marks are written by a goroutine
			st, err := inbox.Questions(ctx, s, "r")
			if err != nil {
				return core.Result{}, err
			}
			if len(st.Open) == 1 && len(st.Queued) == 2 {
				if st.Open[0].Node != "?one" || st.Queued[0].Node != "?two" || st.Queued[1].Node != "?three" {
					return core.Result{}, fmt.Errorf("asked %v, queued %v", st.Open, st.Queued)
				}
				if _, err := inbox.Post(ctx, s, "r", inbox.Answer{Node: "?two", Choice: "approve"}); !errors.Is(err, inbox.ErrNoQuestion) {
					return core.Result{}, fmt.Errorf("the answer to a queued approval: %v", err)
				}
				return core.Result{}, nil
			}
			time.Sleep(time.Millisecond)
		}
	})
	_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}})
	for _, want := range [][]string{{"?one", "?two", "?three", "?four"}, {"?two", "?three", "?four"}, {"?three", "?four"}, {"?four"}} {
		paused, ok := errors.AsType[*core.PausedError](err)
		if !ok {
			t.Fatalf("before %v: %v", want, err)
		}
		st, err2 := inbox.Questions(t.Context(), s, "r")
		if err2 != nil {
			t.Fatal(err2)
		}
		got := []string{st.Open[0].Node}
		for i, q := range st.Queued {
			if got = append(got, q.Node); q.Asked.IsZero() || paused.Queued[i].Node != q.Node {
				t.Errorf("queued %+v, and the error has %v", q, paused.Queued)
			}
		}
		if !slices.Equal(got, want) || len(st.Open) != 1 {
			t.Fatalf("asked %v, want %v", got, want)
		}
		if _, err := inbox.Post(t.Context(), s, "r", inbox.Answer{Node: got[0], Choice: "approve"}); err != nil {
			t.Fatal(err)
		}
		_, err = resume(t, s, "r", p)
		if len(want) == 1 && err != nil {
			t.Error(err)
		}
	}
}

// A flow that has failed is not resumed: its other results are dropped. A new run can replay it.
func TestFailedFlowStays(t *testing.T) {
	p, s := flowOf(t, 100, [3]string{"start", "a", ""}, [3]string{"start", "?ask", ""}), memory.New(nil)
	calls := 0
	node, _ := p.Node("a")
	node.Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		calls++
		return core.Result{}, errors.New("no")
	})
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}})
	if err == nil || r.Status != core.RunFailed {
		t.Fatalf("%s, %v", r.Status, err)
	}
	if _, err := resume(t, s, "r", p); !errors.Is(err, scheduler.ErrEnded) || calls != 1 {
		t.Errorf("resumed: %v, %d calls", err, calls)
	}
	if _, err := inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "?ask", Choice: "approve"}); err == nil {
		t.Error("an approval of a failed flow takes an answer")
	}
}

// TestRepeatedToken resumes a cancelled flow: what runs again is named by its node and its visit. It was named
// as an item with the number of the token.
func TestRepeatedToken(t *testing.T) {
	p, s := flowOf(t, 100, [3]string{"start", "a", ""}, [3]string{"a", "b", ""}), memory.New(nil)
	ctx, cancel := context.WithCancel(t.Context())
	node, _ := p.Node("b")
	node.Handler = core.HandlerFunc(func(inner context.Context, _ core.Input) (core.Result, error) {
		cancel()
		<-inner.Done()
		return core.Result{}, inner.Err()
	})
	if r, _ := scheduler.Run(ctx, p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}}); r.Status != core.RunCancelled {
		t.Fatal(r.Status)
	}
	node.Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	st, err := scheduler.OpenStored(t.Context(), s, "r")
	if err != nil {
		t.Fatal(err)
	}
	var again []core.Event
	r, err := scheduler.Resume(t.Context(), st, p, scheduler.Options{Recording: &scheduler.Recording{Store: s}, Listener: func(e core.Event) {
		if e.Type == core.NodeRepeated {
			again = append(again, e)
		}
	}})
	if err != nil || r.Status != core.RunSuccess || len(again) != 1 || again[0].Node != "b" || again[0].Visit != 1 || again[0].Item != 0 || again[0].Unit != "" {
		t.Errorf("%v, %v, repeated %+v", r.Status, err, again)
	}
}
