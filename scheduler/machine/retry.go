package machine

import (
	"cmp"
	"slices"
	"time"

	"github.com/wavefold/wavefold/scheduler/machine/internal/backoff"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// retry sets the timer for the attempt after the one that ended with o.
func (f *frame) retry(n *plan.Node, id ID, o *Outcome) {
	if fail := o.Failure; fail != nil && fail.RetryAfter > 0 {
		if f.asked == nil {
			f.asked = map[ID]time.Duration{}
		}
		f.asked[id] = fail.RetryAfter
	}
	f.remember(id, o)
	f.emitRetrying(n, id, o, f.delay(n, id))
	f.setTimer(n, id)
}

// remember keeps what an attempt said, for the next one.
func (f *frame) remember(id ID, o *Outcome) {
	text := o.Note
	if o.Failure != nil {
		text = o.Failure.Message
	}
	if text == "" {
		return
	}
	if f.said == nil {
		f.said = map[ID]string{}
	}
	f.said[id] = text
}

// informed is the call of an attempt with what the one before it said. Calls are shared.
func (f *frame) informed(id ID, call *Call) *Call {
	if call == nil || f.said == nil || id.Attempt < 2 {
		return call
	}
	id.Attempt--
	text, ok := f.said[id]
	if !ok {
		return call
	}
	c := *call
	c.Previous = text
	return &c
}

// setTimer issues the command to wait after an attempt that failed.
func (f *frame) setTimer(n *plan.Node, id ID) {
	f.m.command(Command{Op: OpTimer, ID: id, Plan: f.p, Node: n, Delay: f.delay(n, id)})
}

// delay is how long to wait after an attempt that failed: what the policy says, and
// at least what the failure asked for. It is the same whenever it is asked.
func (f *frame) delay(n *plan.Node, id ID) time.Duration {
	spread := n.Retry.Jitter && f.m.opts.Seed != 0
	return backoff.Wait(n.Retry.Delay(int(id.Attempt)), n.Retry.Max, f.asked[id], spread, f.m.draw(id))
}

// draw makes a number in [0,1) of the run's seed and what it is for.
func (m *Machine) draw(id ID) float64 {
	return backoff.Draw(m.opts.Seed, uint32(id.Frame), uint32(id.Node), uint32(id.From), uint32(id.Attempt))
}

// askedJSON is a wait that a failure asked for.
type askedJSON struct {
	ID   ID            `json:"id"`
	Wait time.Duration `json:"wait"`
}

// dumpAsked lists the waits that failures asked for.
func (f *frame) dumpAsked() []askedJSON {
	var list []askedJSON
	for id, wait := range f.asked { // sorted below
		list = append(list, askedJSON{id, wait})
	}
	slices.SortFunc(list, func(a, b askedJSON) int { return a.ID.compare(b.ID) })
	return list
}

// saidJSON is what an attempt said.
type saidJSON struct {
	ID   ID     `json:"id"`
	Text string `json:"text"`
}

// dumpSaid lists what attempts said that others are to know.
func (f *frame) dumpSaid() []saidJSON {
	var list []saidJSON
	for id, text := range f.said { // sorted below
		list = append(list, saidJSON{id, text})
	}
	slices.SortFunc(list, func(a, b saidJSON) int { return a.ID.compare(b.ID) })
	return list
}

// compare orders ids within a frame.
func (id ID) compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Node, o.Node), cmp.Compare(id.From, o.From), cmp.Compare(id.Attempt, o.Attempt))
}
