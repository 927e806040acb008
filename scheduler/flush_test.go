package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// drops is the kind counting with a stream each of whose rows takes a given time.
type drops struct {
	after  []time.Duration
	how    string // how its handler ends: "", panic, exit, hang
	closed *atomic.Int64
}

func (k drops) opens() opens {
	return opens{"counting", func() core.Stream { return &dropsStream{drops: k} }}
}

type dropsStream struct {
	drops
	next int
}

func (s *dropsStream) Next(ctx context.Context) ([]any, error) {
	if s.next == len(s.after) {
		switch s.how {
		case "panic":
			panic("out of paper")
		case "exit":
			runtime.Goexit()
		case "hang":
			time.Sleep(time.Hour)
		}
		return nil, io.EOF
	}
	select {
	case <-time.After(s.after[s.next]):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.next++
	return []any{value.NewRow(numberKeys, []any{int64(s.next - 1)})}, nil
}

func (s *dropsStream) Summary() *value.Object { return value.ObjectOf(core.RowCount, int64(s.next)) }
func (s *dropsStream) Close() error           { s.closed.Add(1); return nil }

const batches = "1, batch: 3, flush: 2s"

func seconds(n ...int) (out []time.Duration) {
	for _, s := range n {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

// A batch continues when it is full, when its first element has waited for the interval, and at the
// end of the stream. Without an interval it waits.
func TestFlush(t *testing.T) {
	for _, c := range []struct {
		how   string
		after []time.Duration
		seen  string
		took  time.Duration
	}{
		{batches, seconds(0, 0, 0, 0), "[[0,1,2],[3]]", 0},
		{batches, seconds(1, 1, 0, 1), "[[0,1,2],[3]]", 3 * time.Second},
		{batches, seconds(0, 1, 5, 0, 0), "[[0,1],[2,3,4]]", 6 * time.Second},
		{batches, seconds(5, 5, 5), "[[0],[1],[2]]", 15 * time.Second},
		{"1, batch: 3", seconds(0, 1, 5, 0, 0), "[[0,1,2],[3,4]]", 6 * time.Second},
		{"4, batch: 3, flush: 1ms", seconds(0, 1, 5, 0, 0), "[[0],[1],[2,3,4]]", 6 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := drops{after: c.after, closed: &atomic.Int64{}}
			p := rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", c.how, 1), k.opens(), itemKind{fail: -1})
			begun := time.Now()
			r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.how, err)
			}
			want := fmt.Sprintf(`{"limit":10,"all":{"source":"all","rows":%d},"seen":%s,`, len(c.after), c.seen)
			if got := value.JSON(r.State); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s\nwant %s", c.how, got, want)
			}
			if took := time.Since(begun).Truncate(time.Second); took != c.took {
				t.Errorf("%s: took %v, want %v", c.how, took, c.took)
			}
			if k.closed.Load() != 1 {
				t.Errorf("%s: %d streams were closed", c.how, k.closed.Load())
			}
		})
	}
}

// A batch that continued early counts as many elements as it has, so another process that continues
// the run begins after them.
func TestFlushSurvivesAHostileDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := drops{after: seconds(0, 5, 0, 5, 0, 0, 0), closed: &atomic.Int64{}}
		p := rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", batches, 1), k.opens(), itemKind{fail: -1})
		for seed := range uint64(20) {
			h := schedulertest.Hostile{Seed: seed, JSON: true, Reload: true, Double: true}
			if seed%2 > 0 {
				h = schedulertest.Killed(seed, nil)
			}
			r, _, err := h.Run(p, nil, machine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := value.JSON(r.State); !strings.Contains(got, `"rows":7},"seen":[[0],[1,2],[3,4,5],[6]],"sum":21}`) {
				t.Fatalf("seed %d: %s", seed, got)
			}
		}
	})
}

// An error while nothing waits for the read becomes the pipeline's failure when the row is
// requested. A cancelled run waits for the read, or leaves it behind after the grace period.
func TestFlushEndsItsReading(t *testing.T) {
	for how, want := range map[string]string{
		"panic": `node rows: stream "all" of node count: panic: out of paper`,
		"exit":  `node rows: stream "all" of node count: the stream ended its goroutine with runtime.Goexit`,
	} {
		synctest.Test(t, func(t *testing.T) {
			k := drops{after: seconds(0), how: how, closed: &atomic.Int64{}}
			_, err := scheduler.Run(t.Context(), rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", batches, 1), k.opens(), itemKind{fail: -1}), nil, scheduler.Options{})
			if err == nil || err.Error() != want || k.closed.Load() != 1 {
				t.Errorf("%s: %v, %d closed", how, err, k.closed.Load())
			}
		})
	}
	for how, stray := range map[string]bool{"": false, "hang": true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			k := drops{after: seconds(0, 100), how: how, closed: &atomic.Int64{}}
			if stray {
				k.after = seconds(0)
			}
			doc := strings.Replace(rowsDoc, "CONCURRENCY", batches, 1)
			r, err := scheduler.Run(ctx, rowsPlan(t, doc, k.opens(), itemKind{fail: -1}), nil, scheduler.Options{Grace: time.Second})
			s, ok := errors.AsType[*core.StrayError](err)
			if r.Status != core.RunCancelled || ok != stray {
				t.Errorf("%q: %s, %v", how, r.Status, err)
			}
			if !stray && k.closed.Load() != 1 || stray && len(s.Nodes) != 1 {
				t.Errorf("%q: %d closed, %v", how, k.closed.Load(), err)
			}
			if got := value.JSON(r.State); !strings.Contains(got, `"seen":[[0]]`) {
				t.Errorf("%q: %s", how, got)
			}
			time.Sleep(time.Hour)
		})
	}
}

// Extent makes it a stream that knows how much of it was read.
func (s *dropsStream) Extent() (read, size int64) {
	return 10 * int64(s.next), 10 * int64(len(s.after))
}

// Progress events report how much of the streams was read: of the streams that a node reads, and of
// the stream of a pipeline or fan-out, for which the engine reports it.
func TestProgressTellsHowMuchOfAStreamWasRead(t *testing.T) {
	const reader = `name: r
state: {schema: {all: {type: array}, total: {type: integer}}}
graph:
  nodes: [{id: count, kind: counting, writes: [all]}, {id: read, kind: telling, reads: [all]}]
  edges: [{from: count, to: read}]
`
	const items = `name: r
state: {schema: {all: {type: array}}}
graph:
  nodes: [{id: count, kind: counting, writes: [all]}, {id: read, kind: call, for_each: {source: $.all}}]
  edges: [{from: count, to: read}]
`
	for doc, who := range map[string]string{reader: "read", items: "read", strings.Replace(rowsDoc, "CONCURRENCY", "1", 1): "rows"} {
		synctest.Test(t, func(t *testing.T) {
			k := drops{after: seconds(1, 1, 1, 1), closed: &atomic.Int64{}}
			p := rowsPlan(t, doc, k.opens(), telling{}, itemKind{fail: -1}, callKind{func(context.Context, int64) error { return nil }})
			var got []string
			_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) {
				if e.Type == core.Progress && (e.Node == who || e.Unit == who && e.Node == "") {
					got = append(got, fmt.Sprintf("%d: %d/%d", e.Done, e.Read, e.Size))
				}
			}})
			if want := "1: 10/40, 2: 20/40, 3: 30/40, 4: 40/40"; err != nil || strings.Join(got, ", ") != want {
				t.Errorf("%v: %s, want %s", err, strings.Join(got, ", "), want)
			}
		})
	}
}

// telling is a kind that reads a stream and reports its progress.
type telling struct{}

func (telling) Name() string   { return "telling" }
func (telling) Keys() []string { return nil }
func (telling) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Streams: n.Reads, Handler: core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		s, _, err := in.Stream(ctx, n.Reads[0].Value)
		if err != nil {
			return core.Result{}, err
		}
		defer s.Close()
		for done := int64(1); ; done++ {
			if _, err := s.Next(ctx); err != nil {
				return core.Result{}, nil
			}
			in.Progress(done, 0)
		}
	})}, nil
}
