package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// stretch is the time during which an item ran, since the start of the run.
type stretch struct{ from, to time.Duration }

// clockwork runs items that take given times and records when each of them ran.
type clockwork struct {
	mu     sync.Mutex
	begin  time.Time
	ran    []stretch
	active int
	peak   int
}

func (c *clockwork) item(i int64, work func()) {
	c.mu.Lock()
	c.ran[i].from = time.Since(c.begin)
	c.active++
	c.peak = max(c.peak, c.active)
	c.mu.Unlock()
	work()
	c.mu.Lock()
	c.ran[i].to = time.Since(c.begin)
	c.active--
	c.mu.Unlock()
}

// runItems runs one fan-out in virtual time.
func runItems(t *testing.T, n, limit int, o scheduler.Options, work func(i int64)) *clockwork {
	t.Helper()
	c := &clockwork{ran: make([]stretch, n)}
	p := compile(t, each(func(_ context.Context, i int64) error { c.item(i, func() { work(i) }); return nil }, forEach("list", limit)))
	synctest.Test(t, func(t *testing.T) {
		c.begin = time.Now()
		r, err := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(n)}, o)
		if err != nil || written(r) != n {
			t.Errorf("%d of %d items wrote, error %v", written(r), n, err)
		}
	})
	return c
}

// TestSlowItemsAmongQuickOnes: slow items shared ranges with quick ones, and the items after them
// in a range waited although nothing else was left to do: 64 items of 10 s took 20 s at a limit of
// 64.
func TestSlowItemsAmongQuickOnes(t *testing.T) {
	c := runItems(t, 2064, 64, scheduler.Options{}, func(i int64) {
		if 1000 <= i && i < 1064 {
			time.Sleep(10 * time.Second)
		}
	})
	end := slices.MaxFunc(c.ran, func(a, b stretch) int { return int(a.to - b.to) }).to
	if end != 10*time.Second || c.peak != 64 {
		t.Errorf("took %s with %d at once, want 10s with 64", end, c.peak)
	}
}

// TestItemsThatWaitForEachOther: two items that waited for each other were in the same range, and
// the run never ended.
func TestItemsThatWaitForEachOther(t *testing.T) {
	for _, limit := range []int{2, 8, 64} {
		for _, first := range []int{0, 1, 700} {
			var all *sync.WaitGroup // of the bubble of virtual time
			var once sync.Once
			runItems(t, first+limit+1000, limit, scheduler.Options{}, func(i int64) {
				if first <= int(i) && int(i) < first+limit {
					once.Do(func() { all = &sync.WaitGroup{}; all.Add(limit) })
					all.Done()
					all.Wait()
				}
			})
		}
	}
}

// TestLongItemBehindALongOne: an item waited for an earlier one in its range although the items of
// other ranges were done.
func TestLongItemBehindALongOne(t *testing.T) {
	c := runItems(t, 5000, 4, scheduler.Options{}, func(i int64) {
		switch {
		case i == 1000 || i == 1001:
			time.Sleep(10 * time.Second)
		case i > 2000 && i%100 == 0:
			time.Sleep(500 * time.Millisecond)
		}
	})
	if d := c.ran[1001].from - c.ran[1000].from; d > time.Second {
		t.Errorf("item 1001 began %s after item 1000", d)
	}
}

// TestPropertyFanOutKeepsItsLimitBusy: at every moment as many items run as the limit allows, as
// long as items are left, however long they take. Items that are too slow to share a range begin
// exactly when a simple list schedule begins them.
func TestPropertyFanOutKeepsItsLimitBusy(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, limit := 1+rng.IntN(1500), []int{1, 2, 3, 8, 64}[rng.IntN(5)]
		quick, shortest := rng.IntN(101), time.Duration(0) // percentage of items that take no time
		if seed%3 == 0 {
			quick, shortest = 0, time.Millisecond
		}
		takes := make([]time.Duration, n)
		for i := range takes {
			if rng.IntN(100) >= quick {
				takes[i] = shortest + time.Duration(rng.IntN(20))*time.Millisecond
			}
		}
		o := scheduler.Options{}
		if seed%2 == 0 {
			o.MaxInFlight = 1 + rng.IntN(limit)
		}
		c := runItems(t, n, limit, o, func(i int64) { time.Sleep(takes[i]) })
		if o.MaxInFlight > 0 {
			limit = o.MaxInFlight
		}
		name := fmt.Sprintf("seed %d, %d items, limit %d, %d %% quick", seed, n, limit, quick)
		if c.peak > limit {
			t.Errorf("%s: %d in a handler at once", name, c.peak)
		}
		if at, in, want := idleAt(c.ran, limit); in != want {
			t.Errorf("%s: %d in flight at %s, want %d", name, in, at, want)
		}
		if want := listSchedule(takes, limit); shortest > 0 && !slices.Equal(c.ran, want) {
			t.Errorf("%s: items ran at %v, want %v", name, c.ran, want)
		}
	}
}

// idleAt finds a moment at which fewer items were in flight than possible, and returns how many
// were and how many could have been.
func idleAt(ran []stretch, limit int) (at time.Duration, in, want int) {
	var starts, ends []time.Duration
	for _, s := range ran {
		starts, ends = append(starts, s.from), append(ends, s.to)
	}
	slices.Sort(starts)
	slices.Sort(ends)
	for _, now := range slices.Compact(slices.Clone(ends)) {
		begun, _ := slices.BinarySearch(starts, now+1) // immediately after now
		over, _ := slices.BinarySearch(ends, now+1)
		if want := min(limit, len(ran)-over); begun-over != want {
			return now, begun - over, want
		}
	}
	return 0, 0, 0
}

// listSchedule gives each item, in order, to the server that is free first.
func listSchedule(takes []time.Duration, servers int) []stretch {
	free := make([]time.Duration, servers)
	out := make([]stretch, len(takes))
	for i, d := range takes {
		next := slices.Index(free, slices.Min(free))
		out[i] = stretch{free[next], free[next] + d}
		free[next] += d
	}
	return out
}

// TestFanOutsShareTheirLimits: a range that is split takes no more slots than the limits of the
// outer graph and of the run allow.
func TestFanOutsShareTheirLimits(t *testing.T) {
	for _, o := range []scheduler.Options{{Concurrency: 1}, {Concurrency: 2}, {Concurrency: 2, MaxInFlight: 5}} {
		synctest.Test(t, func(t *testing.T) {
			c := &clockwork{ran: make([]stretch, 3000), begin: time.Now()}
			var mu sync.Mutex
			nodes, mostNodes := map[string]int{}, 0
			work := func(_ context.Context, in core.Input) (core.Result, error) {
				mu.Lock()
				nodes[in.Node()]++
				mostNodes = max(mostNodes, len(nodes))
				mu.Unlock()
				c.item(int64(in.Index()), func() {
					if in.Index()%10 == 7 {
						time.Sleep(time.Second)
					}
				})
				mu.Lock()
				if nodes[in.Node()]--; nodes[in.Node()] == 0 {
					delete(nodes, in.Node())
				}
				mu.Unlock()
				return core.Result{}, nil
			}
			w := fields(graph(map[string]core.HandlerFunc{"a": work, "b": work, "c": work}, []string{"a", "b", "c"}), "list")
			for _, n := range w.Nodes {
				forEach("list", 4)(n)
			}
			_, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": numbers(3000)}, o)
			want := 4 * o.Concurrency
			if o.MaxInFlight > 0 {
				want = o.MaxInFlight
			}
			if err != nil || c.peak != want || mostNodes != o.Concurrency {
				t.Errorf("%+v: %d items and %d nodes at once, want %d items: %v", o, c.peak, mostNodes, want, err)
			}
		})
	}
}

// voidItems runs ten items at once. Item 3 fails after a second, which ends the fan-out; the items
// before it take five seconds. It returns when the last item after it returned.
func voidItems(t *testing.T, behind func(ctx context.Context), change ...func(*core.Node)) (r *core.Report, returned time.Duration, err error) {
	change = append(change, forEach("list", 10), func(n *core.Node) { n.ForEach.MaxFailures = &source.Int{} })
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		begin := time.Now()
		w := each(func(ctx context.Context, i int64) error {
			switch {
			case i < 3:
				time.Sleep(5 * time.Second)
				return ctx.Err()
			case i == 3:
				time.Sleep(time.Second)
				return errors.New("boom")
			}
			behind(ctx)
			mu.Lock()
			defer mu.Unlock()
			returned = time.Since(begin)
			return ctx.Err()
		}, change...)
		r, err = scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": numbers(10)}, scheduler.Options{})
		time.Sleep(2 * time.Hour) // handlers that were left behind return
	})
	return r, returned, err
}

// TestVoidItemsAreCancelled: the run waited for items that no longer counted.
func TestVoidItemsAreCancelled(t *testing.T) {
	r, returned, err := voidItems(t, func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
	})
	n, _ := r.Node("n")
	if returned != time.Second || r.Duration != 5*time.Second {
		t.Errorf("the items behind returned after %s and the run after %s, want 1s and 5s", returned, r.Duration)
	}
	if written(r) != 3 || n.Failed != 1 || n.Attempts != 4 || err == nil || err.Error() != "node n: item 3: boom" {
		t.Errorf("%d items wrote, %d failed, %d attempts, error %v", written(r), n.Failed, n.Attempts, err)
	}
}

// TestVoidItemsThatIgnoreIt: such items are left behind after the grace period.
func TestVoidItemsThatIgnoreIt(t *testing.T) {
	r, returned, err := voidItems(t, func(context.Context) { time.Sleep(time.Hour) })
	if _, ok := errors.AsType[*core.StrayError](err); !ok || r.Duration != time.Second+scheduler.DefaultGrace {
		t.Errorf("ended after %s with %v", r.Duration, err)
	}
	if n, _ := r.Node("n"); written(r) != 3 || n.Failed != 1 || returned != time.Hour {
		t.Errorf("%d items wrote, %d failed, the strays returned after %s", written(r), n.Failed, returned)
	}
}

// TestVoidItemsInARange: the items before the failure that ends a fan-out are completed, and the
// items after it never begin, whatever ranges they are in.
func TestVoidItemsInARange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := make([]bool, 3000)
		w := each(func(ctx context.Context, i int64) error {
			began[i] = true
			switch {
			case i >= 1003 && i%5 == 0: // items in flight
				<-ctx.Done()
				return ctx.Err()
			case i == 1001: // its range contains other items
				time.Sleep(time.Second)
			case i == 1002:
				time.Sleep(2 * time.Second)
				return errors.New("boom")
			}
			return nil
		}, forEach("list", 3), func(n *core.Node) { n.ForEach.MaxFailures = &source.Int{} })
		r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": numbers(3000)}, scheduler.Options{})
		n, _ := r.Node("n")
		if written(r) != 1002 || n.Failed != 1 || r.Duration > 3*time.Second {
			t.Errorf("%d items wrote, %d failed, took %s: %v", written(r), n.Failed, r.Duration, err)
		}
		if i := slices.Index(began, false); i < 1003 {
			t.Errorf("item %d never began", i)
		}
	})
}

// TestVoidNestedRunsAreCancelled: the same if each item is a nested run.
func TestVoidNestedRunsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &core.Workflow{Name: text("inner"), Document: true, Inputs: []core.InputDecl{{Name: text("i"), Required: true, Default: value.Missing}},
			Nodes: []*core.Node{{ID: text("leaf"), Reads: []source.Text{text("i")}, HasWrites: true, Handler: core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
				i, _ := in.Get("i")
				if i == int64(1) {
					time.Sleep(time.Second)
					return core.Result{}, errors.New("boom")
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(1+4*i.(int64)) * time.Second):
				}
				return core.Result{}, ctx.Err()
			})}}}
		w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{{ID: text("n"), Kind: text("inner"), Args: args("i", "$item"), HasWrites: true,
			ForEach: &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 4}, MaxFailures: &source.Int{}}}}}, "list")
		r, err := scheduler.Run(t.Context(), compileNested(t, w, frameKind{"inner", inner}), map[string]any{"list": numbers(10)}, scheduler.Options{})
		if n, _ := r.Node("n"); r.Duration != time.Second || n.Failed != 1 || n.Attempts != 2 {
			t.Errorf("took %s, %d failed, %d attempts: %v", r.Duration, n.Failed, n.Attempts, err)
		}
	})
}
