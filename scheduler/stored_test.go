package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// crashing is a store that no longer stores anything after a number of records: everything that
// happens later in the process is lost, as in a crash.
type crashing struct {
	store.Store
	mu   sync.Mutex
	left int
	dead bool
}

var errCrash = errors.New("the process has crashed")

func (s *crashing) Append(ctx context.Context, run string, token uint32, list []store.Record, flush bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(s.left, len(list))
	s.left -= n
	if n > 0 {
		if err := s.Store.Append(ctx, run, token, list[:n], flush); err != nil {
			return err
		}
	}
	if n < len(list) {
		s.dead = true
		return errCrash
	}
	if len(list) == 0 && flush {
		return s.Store.Append(ctx, run, token, nil, true)
	}
	return nil
}

// executions counts the executions of nodes by idempotency key.
type executions struct {
	mu   sync.Mutex
	list []string
}

func (x *executions) add(key string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = append(x.list, key)
}

func (x *executions) count(key string) int {
	n := 0
	for _, k := range x.list {
		if k == key {
			n++
		}
	}
	return n
}

func chainOf(x *executions, names ...string) *core.Workflow {
	handlers := map[string]core.HandlerFunc{}
	for i, n := range names {
		handlers[n] = func(_ context.Context, in core.Input) (core.Result, error) {
			x.add(in.IdempotencyKey())
			return core.Write("sum", int64(i+1)), nil
		}
	}
	w := fields(graph(handlers, names), "sum")
	for _, n := range w.Nodes {
		n.Writes = append(n.Writes, text("sum"))
	}
	return w
}

func resume(t *testing.T, s store.Store, run string, p *plan.Plan) (*core.Report, error) {
	t.Helper()
	st, err := scheduler.OpenStored(t.Context(), s, run)
	if err != nil {
		t.Fatal(err)
	}
	return scheduler.Resume(t.Context(), st, p, scheduler.Options{})
}

func TestResumeKeepsWhatHasEnded(t *testing.T) {
	for _, mode := range []core.DurabilityMode{core.DurabilityFull, core.DurabilityBatch} {
		for left := 1; left < 9; left++ {
			x := &executions{}
			p := compile(t, chainOf(x, "a", "b", "c"))
			s := memory.New(nil)
			_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: &crashing{Store: s, left: left}, Durability: mode}})
			if failed, ok := errors.AsType[*core.StoreError](err); left < 6 && (!ok || !errors.Is(failed, errCrash)) {
				t.Fatalf("%s, %d records: error %v", mode, left, err)
			}
			if left >= 6 {
				continue
			}
			before := slices.Clone(x.list)
			report, err := resume(t, s, "r", p)
			if err != nil {
				t.Fatalf("%s, %d records: %v", mode, left, err)
			}
			if got, _ := report.State.Get("sum"); got != int64(3) || report.Status != core.RunSuccess {
				t.Errorf("%s, %d records: status %s, state %s", mode, left, report.Status, value.JSON(report.State))
			}
			if mode == core.DurabilityFull {
				for _, n := range []string{"r/a", "r/b", "r/c"} {
					if x.count(n) > 2 || x.count(n) == 0 {
						t.Errorf("%d records: %s ran %d times (before: %v)", left, n, x.count(n), before)
					}
				}
				if len(x.list) > 4 {
					t.Errorf("%d records: %v", left, x.list)
				}
			}
		}
	}
}

// TestAttemptsKnowTheStore: only nodes that are given nothing but fields had core.Shared.Durability.
// Sinks and the items of a fan-out wrote no checkpoints and did not ask whether they still own the run.
func TestAttemptsKnowTheStore(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*core.Node)
	}{
		{"fields", func(*core.Node) {}},
		{"timeout", timeout(time.Minute)},
		{"item", forEach("list", 1)},
	} {
		for _, mode := range []core.DurabilityMode{core.DurabilityFull, core.DurabilityBatch, core.DurabilityOff} {
			var got []bool
			p := compile(t, fields(one(func(_ context.Context, in core.Input) (core.Result, error) {
				got = append(got, in.Shared().Durability != nil)
				return core.Result{}, nil
			}, tt.change), "list"))
			_, err := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(1)},
				scheduler.Options{Recording: &scheduler.Recording{Store: memory.New(nil), Durability: mode}})
			if want := []bool{mode != core.DurabilityOff}; err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: the attempts know the store: %v, want %v (error %v)", tt.name, mode, got, want, err)
			}
		}
	}
}

// blobless is a store that stores no blobs.
type blobless struct{ store.Store }

var errDisk = errors.New("no space left on device")

func (blobless) Put(context.Context, []byte) (string, error) { return "", errDisk }

func TestBlobsThatCannotBeStoredEndTheRun(t *testing.T) {
	large := strings.Repeat("x", 100_000)
	w := fields(graph(map[string]core.HandlerFunc{
		"large": func(context.Context, core.Input) (core.Result, error) { return core.Write("text", large), nil },
		"after": noop,
	}, []string{"large", "after"}, [2]string{"large", "after"}), "text")
	w.Nodes[0].Writes = append(w.Nodes[0].Writes, text("text"))
	w.Nodes[0].OnError = &core.OnError{Policy: text("skip")}
	r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Recording: &scheduler.Recording{Store: blobless{memory.New(nil)}}})
	if _, ok := errors.AsType[*core.StoreError](err); !ok || !errors.Is(err, errDisk) || r.Status != core.RunFailed {
		t.Errorf("status %s, error %v", r.Status, err)
	}
	if n, _ := r.Node("after"); n.Status == core.Success {
		t.Error("a node ran although the run could not be stored")
	}
}

// TestNoEventsAfterTheStoreFailed: a listener saw the end of a run whose journal had no end, with numbers
// that the resumed run used again.
func TestNoEventsAfterTheStoreFailed(t *testing.T) {
	for left := 1; left < 5; left++ { // only the record of the end comes later
		p := compile(t, chainOf(&executions{}, "a", "b", "c"))
		s := memory.New(nil)
		var seen []core.Event
		_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Listener: func(e core.Event) { seen = append(seen, e) },
			Recording: &scheduler.Recording{Store: &crashing{Store: s, left: left}, Durability: core.DurabilityFull}})
		if _, ok := errors.AsType[*core.StoreError](err); !ok {
			t.Fatalf("%d records: error %v", left, err)
		}
		for i, e := range seen {
			if e.Seq != int64(i+1) || e.Type == core.NodeFailed || e.Type == core.RunFinished {
				t.Errorf("%d records: event %d is %d, %s %s", left, i, e.Seq, e.Type, e.Node)
			}
		}
	}
}

// flushing counts flushes, and fails after some calls of Append if calls is not 0.
type flushing struct {
	store.Store
	calls   int32
	flushes atomic.Int32
}

func (s *flushing) Append(ctx context.Context, run string, token uint32, list []store.Record, flush bool) error {
	if s.calls--; s.calls == 0 {
		return errDisk
	}
	err := s.Store.Append(ctx, run, token, list, flush)
	if flush {
		s.flushes.Add(1)
	}
	return err
}

// TestResumeFlushesFirst: an attempt with effects ran again before the journal that it was resumed from, or the
// head of the new part of the journal, was flushed, so that a loss of power could take back what it depends
// on. If that flush fails, nothing runs.
func TestResumeFlushesFirst(t *testing.T) {
	for _, tt := range []struct {
		crashed bool // else the first process records that the run has failed
		calls   int32
	}{{true, 0}, {true, 1}, {false, 0}, {false, 1}} {
		s := memory.New(nil)
		again := &flushing{Store: s, calls: tt.calls}
		ctx, cancel := context.WithCancel(t.Context())
		ran, failure, recorded := 0, errDisk, store.Store(s)
		if tt.crashed {
			recorded = &crashing{Store: s, left: 2}
		}
		p := compile(t, one(func(ctx context.Context, _ core.Input) (core.Result, error) {
			if ran++; ran == 1 && tt.crashed {
				cancel()
				<-ctx.Done()
			} else if ran > 1 && again.flushes.Load() == 0 {
				t.Error("an attempt with effects has begun before a flush")
			}
			return core.Result{}, failure
		}, func(n *core.Node) { effects := true; n.Effects = &effects }))
		if _, err := scheduler.Run(ctx, p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: recorded}}); err == nil || errors.Is(err, errCrash) != tt.crashed {
			t.Fatal(err)
		}
		failure = nil
		_, err := resume(t, again, "r", p)
		if failed := tt.calls > 0; errors.Is(err, errDisk) != failed || (ran == 1) != failed {
			t.Errorf("%+v: it ran %d times, error %v", tt, ran, err)
		}
	}
}
