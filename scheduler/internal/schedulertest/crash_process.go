package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/torture"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// process is one process of a run.
type process struct {
	*crashedRun
	n           int // its number, from 1
	plan        *plan.Plan
	inputs      map[string]any
	interviewer core.Interviewer
	router      core.Router
	rec         *Recorder
	store       *crashingStore
	events      []core.Event // that a listener saw before the crash
	// The process sets these when it ends.
	report *core.Report
	err    error
	ended  chan struct{}
	// What it had done when another process was about to take over the run.
	seen, given int
}

func newProcess(x *crashedRun, n int) *process {
	p := &process{crashedRun: x, n: n, rec: &Recorder{Timing: x.s.Timing}, ended: make(chan struct{})}
	p.store = newCrashingStore(p)
	p.plan = x.compile(p)
	return p
}

// execute begins the run, or resumes it.
func (p *process) execute(first bool) {
	defer close(p.ended)
	o := scheduler.Options{Run: "test", Concurrency: p.s.Concurrency, MaxInFlight: p.s.InFlight, Barrier: p.s.Barrier,
		Interviewer: p.interviewer, Router: p.router, Recording: &scheduler.Recording{Store: p.store, Durability: p.c.Mode}}
	if !p.s.Silent {
		o.Listener = func(e core.Event) {
			if way := p.store.crashed(); way == "" || way == CrashStall {
				p.events = append(p.events, e)
			}
		}
	}
	if first {
		p.report, p.err = scheduler.Run(context.Background(), p.plan, p.inputs, o)
		return
	}
	st, err := scheduler.OpenStored(context.Background(), p.store, "test")
	switch {
	case err != nil:
		p.err = err
	case st.End != nil: // it was the last write of a process that had stalled
		p.report, p.err = scheduler.Ended(context.Background(), st, p.plan, o)
	default:
		p.report, p.err = scheduler.Resume(context.Background(), st, p.plan, o)
	}
}

func (p *process) checkNothing() {
	for e := range p.rec.seen {
		p.fault("%s ran, and there is no journal", e)
	}
}

// checkEnd checks how a process has ended that has not stalled.
func (p *process) checkEnd() {
	_, failed := errors.AsType[*core.StoreError](p.err)
	switch crashed := p.store.crashed() != ""; {
	case crashed && !failed:
		p.fault("error of process %d, which has crashed: %v", p.n, p.err)
	case !crashed && (p.report == nil || failed):
		p.fault("error of process %d, which has not crashed: %v", p.n, p.err)
	}
}

// check compares what a process did with the journals before and after it.
func (p *process) check(before, after *torture.Witness) {
	if p.store.crashed() != CrashStall {
		p.checkEnd()
	}
	p.run.Plan = p.plan
	all := p.run.Recorder
	if all.seen == nil {
		all.seen, all.unitOf = map[Execution]string{}, p.rec.unitOf
	}
	all.twice = append(all.twice, p.rec.twice...) // in one process
	p.count("kept", len(before.Ended))
	p.count("cancelled", len(before.Cancelled))
	for e, seen := range p.rec.seen {
		if before.Ended[torture.Execution(e)] {
			p.fault("again in process %d: %s, whose answer was recorded", p.n, e)
		}
		if before.Cancelled[torture.Execution(e)] {
			p.fault("again in process %d: %s, whose cancellation was recorded", p.n, e)
		}
		if !after.Issued[torture.Execution(e)] {
			if p.c.Mode == core.DurabilityFull || p.effects(e.Node) {
				p.fault("unrecorded in process %d: %s ran, and the journal does not know it", p.n, e)
			}
			continue // the run may take another course
		}
		if first, again := all.seen[e]; again && first != seen && before.Issued[torture.Execution(e)] {
			p.fault("input of %s, which runs again in process %d: %s, it was %s", e, p.n, seen, first)
		} else if again {
			p.count("repeated", 1)
		}
		all.seen[e] = seen
	}
	for e := range before.Ended { // only a loss of power takes back what a process has found in the store
		if !after.Ended[e] && p.store.crashed() != CrashPower {
			p.fault("lost in process %d: the answer of %s", p.n, Execution(e))
		}
	}
	if p.c.Mode == core.DurabilityFull {
		p.checkEvents(after)
	}
}

func (p *process) effects(node string) bool {
	i := slices.IndexFunc(p.plan.Nodes, func(n plan.Node) bool { return n.ID == node })
	return i >= 0 && p.plan.Nodes[i].Effects
}

// checkEvents checks that a crash takes back no event that a listener has seen, and no number.
func (p *process) checkEvents(after *torture.Witness) {
	recorded := map[string]int{}
	for i := range after.Events {
		recorded[lineOf(&after.Events[i])]++
	}
	for i := range p.events {
		e := &p.events[i]
		if e.Seq != 0 && e.Seq <= p.seq && e.Type != core.LogLine && e.Type != core.Progress {
			p.fault("number of an event in process %d: %d follows %d: %s", p.n, e.Seq, p.seq, lineOf(e))
		}
		p.seq = max(p.seq, e.Seq)
		switch e.Type {
		case core.LogLine, core.Progress, core.RunResumed, core.RunHeld, core.NodeRepeated, core.NodeAsked, core.NodeAnswered:
			continue
		}
		line := lineOf(e)
		if recorded[line]--; recorded[line] < 0 {
			p.fault("event in process %d that the journal does not have: %s", p.n, line)
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

// checkLate checks a process that has stalled and found out that another one has taken over the run.
func (p *process) checkLate() {
	if !errors.As(p.err, new(*store.FencedError)) && !errors.As(p.err, new(*store.HeldError)) && !errors.Is(p.err, errUnreachable) {
		p.fault("error of process %d, which has lost its run: %v", p.n, p.err)
	}
	if len(p.rec.seen) > p.seen {
		p.fault("executions that process %d began after it had lost the run: %d", p.n, len(p.rec.seen)-p.seen)
	}
	if p.c.Mode == core.DurabilityFull && len(p.events) > p.given {
		p.fault("events that process %d published after it had lost the run: %s", p.n, fmt.Sprint(p.events[p.given:]))
	}
}
