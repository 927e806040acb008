package projection_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/projection"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// lines collects events in the form that they have in a log.
type lines struct {
	t    *testing.T
	list []string
}

func (l *lines) add(e core.Event) {
	if e.Type == core.LogLine || e.Type == core.Progress {
		return
	}
	text, err := e.AppendJSON(nil)
	if err != nil {
		l.t.Error(err)
	}
	l.list = append(l.list, string(text))
}

// projected returns the events of a stored run.
func projected(t *testing.T, s store.Store, p *plan.Plan) []string {
	t.Helper()
	got := &lines{t: t}
	err := projection.Events(t.Context(), s, "r", func(*journal.Head) (*plan.Plan, error) { return p, nil }, func(e *core.Event) error { got.add(*e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return got.list
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: event %d of %d:\ngot  %s\nwant %s", what, i+1, len(want), g, w)
		}
	}
}

var errCrash = errors.New("the process has crashed")

// crashing stores only a number of records. The last call of Append may be stored in part; whole is the
// number of records of the calls before.
type crashing struct {
	store.Store
	mu    sync.Mutex
	left  int
	whole uint64
}

// beginning is a store in which the journals have only their first records.
type beginning struct {
	store.Store
	records uint64
}

func (s beginning) Read(ctx context.Context, run string, from uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for rec, err := range s.Store.Read(ctx, run, from) {
			if rec.Seq > s.records || !yield(rec, err) {
				return
			}
		}
	}
}

func (s *crashing) Append(ctx context.Context, run string, token uint32, list []store.Record, flush bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(s.left, len(list))
	s.left -= n
	if err := s.Store.Append(ctx, run, token, list[:n], flush); err != nil {
		return err
	}
	if n < len(list) {
		return errCrash
	}
	s.whole += uint64(n)
	return nil
}

// cases are graphs of all shapes.
func cases(n uint64) map[string]func() *schedulertest.Graph {
	out := map[string]func() *schedulertest.Graph{}
	for seed := range n {
		out[fmt.Sprintf("dag %d", seed+1)] = func() *schedulertest.Graph {
			return schedulertest.Generate(seed+1, schedulertest.Shape{FailRun: seed%5 == 4, Race: seed%5 == 3, Long: seed%5 == 2})
		}
		out[fmt.Sprintf("walk %d", seed+1)] = func() *schedulertest.Graph { return schedulertest.GenerateWalk(seed + 1) }
	}
	return out
}

// The events of a stored run are those that its listener was given, byte by byte: in one process, and
// before and after a crash.
func TestEventsAreWhatTheListenerSaw(t *testing.T) {
	n := uint64(60)
	if testing.Short() {
		n = 15
	}
	for name, g := range cases(n) {
		g := g()
		rec := &schedulertest.Recorder{Timing: 1, Repeats: true}
		p := schedulertest.MustCompile(t, g, rec)
		for _, mode := range []core.DurabilityMode{core.DurabilityFull, core.DurabilityBatch} {
			synctest.Test(t, func(t *testing.T) {
				what := fmt.Sprintf("%s, %s", name, mode)
				options := func(s store.Store, to *lines) scheduler.Options {
					return scheduler.Options{Run: "r", Concurrency: 4, Listener: to.add, Interviewer: first{}, Recording: &scheduler.Recording{Store: s, Durability: mode}}
				}
				s, seen := memory.New(nil), &lines{t: t}
				if _, err := scheduler.Run(t.Context(), p, g.Values(), options(s, seen)); errors.As(err, new(*core.StoreError)) {
					t.Fatal(what, err)
				}
				compare(t, what, projected(t, s, p), seen.list)
				records := 0
				for _, err := range s.Read(t.Context(), "r", 1) {
					if err != nil {
						t.Fatal(err)
					}
					records++
				}
				crash(t, what, p, g, options, 1+rand.New(rand.NewPCG(uint64(records), 1)).IntN(records-1))
			})
		}
	}
}

// crash runs a graph up to a record and resumes it.
func crash(t *testing.T, what string, p *plan.Plan, g *schedulertest.Graph, options func(store.Store, *lines) scheduler.Options, records int) {
	t.Helper()
	what = fmt.Sprintf("%s, a crash after record %d", what, records)
	s, before, after := memory.New(nil), &lines{t: t}, &lines{t: t}
	dying := &crashing{Store: s, left: records}
	_, err := scheduler.Run(t.Context(), p, g.Values(), options(dying, before))
	if !errors.Is(err, errCrash) {
		t.Fatalf("%s: error %v", what, err)
	}
	stored := projected(t, s, p)
	seen := projected(t, beginning{s, dying.whole}, p) // the others were stored, and the listener may have been given them or not
	compare(t, what+", before it", seen, before.list[:min(len(seen), len(before.list))])
	st, err := scheduler.OpenStored(t.Context(), s, "r")
	if err != nil {
		t.Fatal(what, err)
	}
	if report, err := scheduler.Resume(t.Context(), st, p, options(s, after)); report == nil {
		t.Fatal(what, err)
	}
	compare(t, what+", after it", projected(t, s, p), append(stored, after.list...))
}

// first answers every question with its first choice.
type first struct{}

func (first) Ask(_ context.Context, q core.Question) (core.Answer, error) {
	if len(q.Choices) == 0 {
		return core.Answer{Text: "yes"}, nil
	}
	return core.Answer{Choice: q.Choices[0]}, nil
}

// What only looks like a journal is an error, and so is an error of the caller.
func TestEventsFails(t *testing.T) {
	s := memory.New(nil)
	none := func(*journal.Head) (*plan.Plan, error) { return nil, errCrash }
	if err := projection.Events(t.Context(), s, "r", none, nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no run: %v", err)
	}
	lease, err := s.Acquire(t.Context(), "r", store.NewHolder(), 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	var head bytes.Buffer
	head.WriteString(`{"run":"r","format":` + fmt.Sprint(journal.Format+1) + `}`)
	if err := s.Append(t.Context(), "r", lease.Token, []store.Record{{Seq: 1, Type: store.Head, Data: head.Bytes()}}, true); err != nil {
		t.Fatal(err)
	}
	if err := projection.Events(t.Context(), s, "r", none, nil); err == nil || !strings.Contains(err.Error(), "journal format") {
		t.Errorf("a later format: %v", err)
	}
}
