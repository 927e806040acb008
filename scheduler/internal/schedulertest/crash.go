package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/torture"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Crash is a way in which a process ends too early.
type Crash string

// The ways in which processes crash.
const (
	// CrashKill keeps what was handed to the store, and the beginning of what was being written.
	CrashKill Crash = "killed"
	// CrashPower keeps what was flushed, and the beginning of the rest.
	CrashPower Crash = "power lost"
	// CrashStall stops the writes of a process until its lease has expired and another process has the run.
	// Then they continue, and the process must find that the run is no longer its own.
	CrashStall Crash = "stalled"
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
	// Ways lists the kinds of crashes. Each crash is of one of them.
	Ways []Crash
	// File keeps the run in a folder in place of memory. A crash can then leave a part of a record.
	File bool
	// Posted answers questions from outside of the processes, each twice and at a random time, in
	// place of an interviewer. A run whose questions are the only thing left is paused until then.
	Posted bool
	Mode   core.DurabilityMode
	// Tally counts what happened, if it is not nil.
	Tally map[string]int
}

// draw returns a random number below n for the use that parts name.
func (c *Crashes) draw(n int, parts ...any) int {
	return int(digest(c.Seed, "crash", fmt.Sprint(parts...)) % uint64(n))
}

// CrashRun runs a graph with the engine in virtual time, in processes that crash. The journal shows
// what happened. faults lists the executions that were repeated although they had ended, the
// executions that began without a record that survives a crash, and all other violations. want is as
// for EngineRun. The run has the events of the journal.
func CrashRun(t *testing.T, g *Graph, want *Run, s Setting, c Crashes) (run *Run, faults []string) {
	t.Helper()
	run = &Run{Recorder: &Recorder{}}
	compile := func(p *process) *plan.Plan {
		w, reg := g.Workflow(p.rec)
		for i, n := range w.Nodes {
			effects := digest(c.Seed, n.ID.Value, "effects")%3 == 0 && g.Nodes[i].Sub == nil
			n.Effects = &effects
		}
		compiled, ds := plan.Compile(w, reg, plan.Options{})
		if compiled == nil {
			t.Fatalf("graph does not compile: %v\n%s", ds, g)
		}
		if !c.Posted {
			p.interviewer = p.rec.continues(g)
		}
		p.inputs = g.Values()
		return compiled
	}
	report, faults := crashRun(t, run, s, c, compile)
	if report != nil {
		run.ended(report, want)
	} else {
		run.neverEnded("the run never ended", want)
	}
	return run, faults
}

// crashRun executes a run in processes that crash. compile prepares each of them. The report is nil if
// the run never ended.
func crashRun(t *testing.T, run *Run, s Setting, c Crashes, compile func(*process) *plan.Plan) (report *core.Report, faults []string) {
	t.Helper()
	x := &crashedRun{t: t, s: s, c: c, run: run, compile: compile}
	defer func() {
		if fault := recover(); fault != nil { // synctest has found a deadlock
			report, faults = nil, append(x.faults, fmt.Sprint("deadlock: ", fault))
		}
	}()
	if err := compressOnce(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		x.disk = newDisk(t, c)
		defer x.disk.close()
		report = x.untilEnd()
		x.checkAnswers()
	})
	return report, x.faults
}

// crashedRun is a run in processes that crash.
type crashedRun struct {
	t       *testing.T
	s       Setting
	c       Crashes
	run     *Run
	compile func(*process) *plan.Plan
	disk    *disk
	people  people
	known   *torture.Witness // the journal as the last process has left it
	seq     int64            // of the last event that a listener has seen
	late    *process         // has stalled, and another process has taken over the run
	hosts   int              // on which there were processes

	mu     sync.Mutex // guards faults and c.Tally
	faults []string
}

func (x *crashedRun) fault(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.faults = append(x.faults, fmt.Sprintf(format, args...))
}

func (x *crashedRun) count(what string, n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.c.Tally != nil {
		x.c.Tally[what] += n
	}
}

// maxProcesses ends a run that does not end.
const maxProcesses = 200

// untilEnd runs processes until one ends the run.
func (x *crashedRun) untilEnd() *core.Report {
	x.known = &torture.Witness{}
	crashes, first := 0, true
	for n := 1; n < maxProcesses; n++ {
		p := newProcess(x, n)
		switch {
		case crashes == 0 && x.c.First > 0:
			p.store.left = x.c.First
		case crashes < x.c.Times:
			p.store.left = 1 + x.c.draw(x.c.Most, "left", n)
		}
		go p.execute(first)
		p.await()
		after, err := torture.Read(context.Background(), p.plan, x.disk.reader(), "test")
		if first = errors.Is(err, store.ErrNotFound); first { // not even the head was stored
			p.checkNothing()
			p.abandon()
			crashes = x.c.Times // the run begins again
			x.run.Recorder = &Recorder{}
			continue
		} else if err != nil {
			x.fault("journal after process %d: %v", n, err)
			p.abandon()
			return nil
		}
		p.check(x.known, after)
		x.known = after
		switch {
		case p.store.crashed() == "" && p.report != nil && p.report.Status == core.RunPaused:
			x.count("paused", 1)
			if paused, ok := errors.AsType[*core.PausedError](p.err); ok { // a crash may have kept the first ones who were asked from hearing it
				for i := range paused.Questions {
					x.asked(&paused.Questions[i])
				}
			}
			time.Sleep(answerTime)
		case p.store.crashed() == "":
			p.abandon()
			x.run.Events = after.Events
			return p.report // nil if the process could not resume the run
		default:
			crashes++
			x.count(string(p.store.crashed()), 1)
			time.Sleep(time.Duration(x.c.draw(300, "down", n)) * time.Microsecond)
		}
		p.abandon()
	}
	x.fault("the run has not ended in %d processes", maxProcesses)
	return nil
}

// await returns when the process has ended, or when its writes have stalled for so long that its lease
// has expired.
func (p *process) await() {
	select {
	case <-p.ended:
	case <-p.store.stalled:
		time.Sleep(20 * time.Second)
		synctest.Wait()
	}
}

// abandon makes the last process that stalled find out that it is late, if it has not yet, and keeps
// this one if it has stalled itself.
func (p *process) abandon() {
	if late := p.late; late != nil {
		late.store.wake()
		<-late.ended
		late.checkLate()
		p.late = nil
	}
	if p.store.crashed() == CrashStall {
		p.seen, p.given = len(p.rec.seen), len(p.events)
		p.late = p
	} else {
		p.disk.forget(p.store.Store)
	}
}
