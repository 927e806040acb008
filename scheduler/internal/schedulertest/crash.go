package schedulertest

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
	"github.com/wavefold/wavefold/internal/torture"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// Crashes says how the processes of a run crash. Each process but the last one crashes.
type Crashes struct {
	// Seed selects the moments: each process stores a random number of records.
	Seed uint64
	// Most limits the number of records of a process that crashes.
	Most int
	// First is the number of records of the first process, 0 for a random one.
	First int
	// Times limits the number of crashes.
	Times int
	// Power also loses the records that were not flushed.
	Power bool
	Mode  core.DurabilityMode
	// Tally counts the crashes and the executions that were kept and repeated, if it is not nil.
	Tally map[string]int
}

// CrashRun runs a graph with the engine in virtual time, in processes that crash. The journal is the
// witness of what happened: faults lists the executions that were repeated although they had ended,
// and those that began although no process would know after a crash.
// want is as for EngineRun. The run has the events of the journal.
func CrashRun(t *testing.T, g *Graph, want *Run, s Setting, c Crashes) (run *Run, faults []string) {
	t.Helper()
	run = &Run{Recorder: &Recorder{}}
	defer func() {
		if fault := recover(); fault != nil { // synctest has found a deadlock
			run.neverEnded(fault, want)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		x := &crashedRun{t: t, g: g, s: s, c: c, run: run, store: memory.New(nil), rng: rand.New(rand.NewPCG(c.Seed, 0x6372617368))}
		report := x.untilEnd()
		faults = x.faults
		run.ended(report, want)
	})
	return run, faults
}

// crashedRun is a run in processes that crash.
type crashedRun struct {
	t      *testing.T
	g      *Graph
	s      Setting
	c      Crashes
	run    *Run
	store  *memory.Store
	rng    *rand.Rand
	seq    int64 // of the last event that a listener has seen
	faults []string
}

func (x *crashedRun) fault(format string, args ...any) {
	x.faults = append(x.faults, fmt.Sprintf(format, args...))
}

// untilEnd runs processes until one ends the run.
func (x *crashedRun) untilEnd() *core.Report {
	known := &torture.Witness{}
	for crashes := 0; ; crashes++ {
		left := -1
		switch {
		case crashes == 0 && x.c.First > 0:
			left = x.c.First
		case crashes < x.c.Times:
			left = 1 + x.rng.IntN(x.c.Most)
		}
		p := newProcess(x, left)
		report, err := p.execute(crashes == 0)
		switch _, failed := errors.AsType[*core.StoreError](err); {
		case p.store.dead && !failed:
			x.fault("process %d has crashed, and its error is %v", crashes+1, err)
		case report == nil && !p.store.dead:
			x.t.Fatalf("process %d: %v", crashes+1, err)
		}
		x.run.Plan = p.plan
		before := known
		if known, err = torture.Read(context.Background(), p.plan, x.store, "test"); errors.Is(err, store.ErrNotFound) {
			known = &torture.Witness{} // not even the head was stored
			p.checkNothing()
			crashes = max(crashes, x.c.Times-1) // the run begins again
			x.run.Recorder = &Recorder{}
			continue
		} else if err != nil {
			x.t.Fatalf("process %d: %v", crashes+1, err)
		}
		p.check(crashes+1, before, known)
		if !p.store.dead {
			x.run.Events = known.Events
			return report
		}
		time.Sleep(time.Duration(x.rng.IntN(300)) * time.Microsecond)
	}
}

// process is one process of a run.
type process struct {
	*crashedRun
	plan   *plan.Plan
	rec    *Recorder
	store  *crashingStore
	events []core.Event // that a listener saw before the crash
}

func newProcess(x *crashedRun, left int) *process {
	p := &process{crashedRun: x, rec: &Recorder{Timing: x.s.Timing}, store: &crashingStore{Store: x.store, left: left, power: x.c.Power}}
	w, reg := x.g.Workflow(p.rec)
	for i, n := range w.Nodes {
		effects := digest(x.c.Seed, n.ID.Value, "effects")%3 == 0 && x.g.Nodes[i].Sub == nil
		n.Effects = &effects
	}
	var ds any
	if p.plan, ds = plan.Compile(w, reg, plan.Options{}); p.plan == nil {
		x.t.Fatalf("graph does not compile: %v\n%s", ds, x.g)
	}
	return p
}

func (p *process) execute(first bool) (*core.Report, error) {
	o := scheduler.Options{Run: "test", Concurrency: p.s.Concurrency, MaxInFlight: p.s.InFlight, Barrier: p.s.Barrier, Interviewer: p.rec.continues(p.g),
		Recording: &scheduler.Recording{Store: p.store, Durability: p.c.Mode}}
	if !p.s.Silent {
		o.Listener = func(e core.Event) {
			if !p.store.crashed() {
				p.events = append(p.events, e)
			}
		}
	}
	if _, err := torture.Read(context.Background(), p.plan, p.crashedRun.store, "test"); first || errors.Is(err, store.ErrNotFound) {
		return scheduler.Run(context.Background(), p.plan, p.g.Values(), o)
	}
	st, err := scheduler.OpenStored(context.Background(), p.store, "test")
	if err != nil {
		return nil, err
	}
	return scheduler.Resume(context.Background(), st, p.plan, o)
}

func (p *process) checkNothing() {
	for e := range p.rec.seen {
		p.fault("%s ran, and there is no journal", e)
	}
}

// check compares what a process did with the journals before and after it.
func (p *process) check(n int, before, after *torture.Witness) {
	all := p.run.Recorder
	if all.seen == nil {
		all.begin(p.g.limits())
	}
	all.twice = append(all.twice, p.rec.twice...) // in one process
	if p.c.Tally != nil {
		p.c.Tally["kept"] += len(before.Ended)
		if p.store.dead {
			p.c.Tally["crashes"]++
		}
	}
	for e, seen := range p.rec.seen {
		if first, again := all.seen[e]; again && first != seen && before.Issued[torture.Execution(e)] {
			p.fault("process %d: %s runs again with the input %s, it was %s", n, e, seen, first)
		} else if again && p.c.Tally != nil {
			p.c.Tally["repeated"]++
		}
		all.seen[e] = seen
		if before.Ended[torture.Execution(e)] {
			p.fault("process %d: %s runs again although its answer was recorded", n, e)
		}
		if !after.Issued[torture.Execution(e)] && (p.c.Mode == core.DurabilityFull || p.effects(e.Node)) {
			p.fault("process %d: %s ran, and the journal does not know it", n, e)
		}
	}
	if p.c.Mode == core.DurabilityFull {
		p.checkEvents(n, after)
	}
}

func (p *process) effects(node string) bool {
	i := slices.IndexFunc(p.plan.Nodes, func(n plan.Node) bool { return n.ID == node })
	return i >= 0 && p.plan.Nodes[i].Effects
}

// checkEvents checks that a crash takes back no event that a listener has seen, and no number.
func (p *process) checkEvents(n int, after *torture.Witness) {
	recorded := map[string]int{}
	for i := range after.Events {
		recorded[lineOf(&after.Events[i])]++
	}
	for i := range p.events {
		e := &p.events[i]
		if e.Seq != 0 && e.Seq <= p.seq && e.Type != core.LogLine && e.Type != core.Progress {
			p.fault("process %d: event %d follows event %d: %s", n, e.Seq, p.seq, lineOf(e))
		}
		p.seq = max(p.seq, e.Seq)
		switch e.Type {
		case core.LogLine, core.Progress, core.RunResumed, core.NodeRepeated, core.NodeAsked, core.NodeAnswered:
			continue
		}
		line := lineOf(e)
		if recorded[line]--; recorded[line] < 0 {
			p.fault("process %d: a listener has seen an event that the journal does not have: %s", n, line)
		}
	}
}

// lineOf returns an event without its number and time.
func lineOf(e *core.Event) string {
	c := *e
	c.Seq, c.Time = 0, time.Time{}
	line, err := c.AppendJSON(nil)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

// errCrash is the error of a store whose process has crashed.
var errCrash = errors.New("the process has crashed")

// crashingStore is a store that stores nothing any more after a number of records: whatever the
// process does then is lost, as in a crash.
type crashingStore struct {
	store.Store
	power bool // what is not flushed is lost

	mu        sync.Mutex
	left      int // less than 0 for no crash
	unflushed []store.Record
	dead      bool
}

func (s *crashingStore) crashed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// Append implements store.Store.
func (s *crashingStore) Append(ctx context.Context, run string, token uint32, list []store.Record, flush bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return errCrash
	}
	if s.left >= 0 {
		n := min(s.left, len(list))
		s.left -= n
		if s.dead = n < len(list); s.dead {
			list, flush = list[:n], false
		}
	}
	s.unflushed = append(s.unflushed, list...)
	if s.power && !flush {
		list = nil
	} else {
		list, s.unflushed = s.unflushed, nil
	}
	if len(list) > 0 {
		if err := s.Store.Append(ctx, run, token, list, flush); err != nil {
			return err
		}
	}
	if s.dead {
		return errCrash
	}
	return nil
}

// Post implements store.Store.
func (s *crashingStore) Post(ctx context.Context, run string, m store.Message) error {
	if s.crashed() {
		return errCrash
	}
	return s.Store.Post(ctx, run, m)
}
