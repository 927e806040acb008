package hostile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// storm generates random documents with many kinds of faults at once: nodes that fail,
// panic, end their goroutine, ignore their context or exceed their timeout, in fan-outs,
// pipelines, loops and nested workflows, with retries, joins and policies.
type storm struct {
	*rand.Rand
	b     strings.Builder
	units strings.Builder
	edges strings.Builder
	ids   []string
}

var handlerNames = []string{"ok", "ok", "ok", "ok", "write", "write", "fail", "panic", "exit", "slow", "deaf", "bad", "flaky", "sleepy"}

func (s *storm) node(id, more string) {
	handler := handlerNames[s.IntN(len(handlerNames))]
	fmt.Fprintf(&s.b, "    - {id: %s, kind: tool, impl: %s, reads: [%s], writes: [list, last, once, sum]%s", id, handler, []string{"list", "sum", ""}[s.IntN(3)], more)
	switch s.IntN(6) {
	case 0:
		fmt.Fprintf(&s.b, ", on_error: {policy: retry, attempts: %d, base_ms: %d, jitter: true, then: skip}", 1+s.IntN(4), s.IntN(3))
	case 1:
		s.b.WriteString(", on_error: {policy: skip}")
	case 2:
		if s.IntN(8) == 0 {
			s.b.WriteString(", on_error: {policy: fail_run}")
		}
	}
	if handler == "slow" || handler == "deaf" || s.IntN(5) == 0 {
		fmt.Fprintf(&s.b, ", timeout: %dms", 1+s.IntN(4))
	}
	s.b.WriteString("}\n")
}

func (s *storm) document(n int, nested bool) string {
	s.b.WriteString("name: x\nruntime: {concurrency: 4}\nstate: {schema: {items: {type: array, default: [1, 2, 3, 4, 5, 6, 7]}, list: {type: array, merge: array_append}, last: {}, once: {merge: set_once}, sum: {type: integer, merge: sum}}}\ngraph:\n  nodes:\n")
	for i := range n {
		id := fmt.Sprintf("n%d", i)
		switch k := s.IntN(12); {
		case k < 2:
			s.node(id, fmt.Sprintf(", for_each: {source: $.items, concurrency: %d, max_failures: %d}", 1+s.IntN(5), s.IntN(9)))
		case k == 2:
			fmt.Fprintf(&s.units, "    - {id: p%d, items: $.items, stages: [%s, %sb], concurrency: %d}\n", i, id, id, 1+s.IntN(4))
			s.node(id, "")
			s.node(id+"b", "")
		case k == 3 && nested:
			fmt.Fprintf(&s.b, "    - {id: %s, kind: workflow, file: inner.yaml, args: {items: $.items}, outputs: {list: list}, writes: [list], on_error: {policy: skip}%s}\n", id, []string{"", ", for_each: {source: $.items, concurrency: 3}"}[s.IntN(2)])
		case k == 4:
			fmt.Fprintf(&s.b, "    - {id: %s, kind: wait, duration: %dms}\n", id, s.IntN(3)+1)
		default:
			s.node(id, []string{"", "", ", join: all_done"}[s.IntN(3)])
		}
		for range s.IntN(3) {
			if len(s.ids) == 0 {
				break
			}
			from := s.ids[s.IntN(len(s.ids))]
			fmt.Fprintf(&s.edges, "    - {from: %s, to: %s%s}\n", from, id, []string{"", "", ", on: done", ", on: fail", ", on: fail, handles: true", ", when: 'length($.list) < 9'"}[s.IntN(6)])
		}
		s.ids = append(s.ids, id)
	}
	s.b.WriteString("  edges:\n    []\n")
	doc := s.b.String()
	if s.edges.Len() > 0 {
		doc = strings.TrimSuffix(doc, "    []\n") + s.edges.String()
	}
	if s.units.Len() > 0 {
		doc += "  pipelines:\n" + s.units.String()
	}
	return doc
}

// handlers returns the handlers with their kinds of faults. alive counts the handlers
// that are running.
func handlers(alive *atomic.Int64, release <-chan struct{}) tools {
	counted := func(h handle) handle {
		return func(ctx context.Context, in core.Input) (core.Result, error) {
			alive.Add(1)
			defer alive.Add(-1)
			return h(ctx, in)
		}
	}
	write := returns(core.Result{Delta: map[string]any{"list": []any{1}, "last": 1, "sum": 1}, EdgeOutput: 1})
	wait := func(ctx context.Context, d time.Duration) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return tools{
		"ok": counted(nop), "write": counted(write), "fail": counted(fails(errors.New("fail"))),
		"panic": counted(func(context.Context, core.Input) (core.Result, error) { panic("panic") }),
		"exit":  counted(func(context.Context, core.Input) (core.Result, error) { runtime.Goexit(); return core.Result{}, nil }),
		"slow": counted(func(ctx context.Context, _ core.Input) (core.Result, error) {
			return core.Result{}, wait(ctx, 20*time.Millisecond)
		}),
		"deaf": counted(func(context.Context, core.Input) (core.Result, error) {
			select {
			case <-release:
			case <-time.After(5 * time.Millisecond):
			}
			return core.Write("last", 2), nil
		}),
		"bad": counted(returns(core.Result{Delta: map[string]any{"list": 1, "nowhere": 2}})),
		"flaky": counted(func(_ context.Context, in core.Input) (core.Result, error) {
			if in.Attempt() < 3 {
				return core.Result{}, errors.New("flaky")
			}
			return core.Write("once", 1), nil
		}),
		"sleepy": counted(func(ctx context.Context, _ core.Input) (core.Result, error) {
			_ = wait(ctx, time.Millisecond)
			runtime.Gosched()
			return core.Write("list", []any{ctx.Err() == nil}), nil
		}),
	}
}

// In all cases a run ends soon after its context, has a complete event log and leaves
// nothing behind.
func TestStorm(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	seed := rand.Uint64()
	for i := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		dir := t.TempDir()
		inner := (&storm{Rand: r}).document(3, false)
		write(t, dir+"/inner.yaml", strings.Replace(inner, "state:", "inputs: {items: {type: array}}\nstate:", 1))
		doc := (&storm{Rand: r}).document(3+r.IntN(25), true)
		var alive atomic.Int64
		release := make(chan struct{})
		p, ds := compileIn(t, dir, handlers(&alive, release), doc, false)
		if p == nil {
			t.Fatalf("seed %d round %d: %v\n%s", seed, i, lines(ds), doc)
		}
		runOnce(t, p, r, &alive, fmt.Sprintf("seed %d round %d", seed, i))
		close(release)
		if t.Failed() {
			t.Fatal(doc)
		}
	}
}

// runOnce executes one run under a random limit, and cancels it in every third case.
func runOnce(t *testing.T, p *plan.Plan, r *rand.Rand, alive *atomic.Int64, name string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if r.IntN(3) == 0 {
		time.AfterFunc(time.Duration(r.IntN(20_000))*time.Microsecond, cancel)
	}
	o := scheduler.Options{Concurrency: []int{0, 1, 2, 8, 64}[r.IntN(5)], MaxInFlight: []int{0, 0, 1, 3}[r.IntN(4)], Barrier: r.IntN(5) == 0, Grace: 2 * time.Second}
	var story []core.Event
	if r.IntN(2) == 0 {
		o.Listener = func(e core.Event) { story = append(story, e) }
	}
	before := count(t)
	done := make(chan struct{})
	var rep *core.Report
	var err error
	go func() {
		defer close(done)
		rep, err = scheduler.Run(ctx, p, nil, o)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s %+v hangs\n%s", name, o, buf[:runtime.Stack(buf, true)])
	}
	if n := alive.Load(); n != 0 {
		t.Errorf("%s: %d handlers run after the end: %v", name, n, err)
	}
	if (err != nil) != (rep.Status != core.RunSuccess && rep.Status != core.RunPartial) {
		t.Errorf("%s: %s with error %v", name, rep.Status, err)
	}
	before.same(t)
	checkEvents(t, p, name, rep, story)
}

// checkEvents checks that the events obey the rules and end with the status of the report.
func checkEvents(t *testing.T, p *plan.Plan, name string, rep *core.Report, story []core.Event) {
	r, err := verify.Events(p, story)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, v := range r.Violations {
		t.Errorf("%s: %v", name, v)
	}
	if len(story) > 0 && r.Status != string(rep.Status) {
		t.Errorf("%s: the log ends with the status %s, the report with %s", name, r.Status, rep.Status)
	}
}
