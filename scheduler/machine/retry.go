package machine

import (
	"cmp"
	"math"
	"slices"
	"time"

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
	d := n.Retry.Delay(int(id.Attempt))
	if n.Retry.Jitter && f.m.opts.Seed != 0 {
		d = spread(d, draw(f.m.opts.Seed, id))
		if n.Retry.Max > 0 {
			d = min(d, n.Retry.Max)
		}
	}
	return max(d, f.asked[id])
}

// spread multiplies a wait by a factor between 0.5 and 1.5. A product that does not
// fit is the longest wait there is.
func spread(d time.Duration, jitter float64) time.Duration {
	x := float64(d) * (0.5 + jitter)
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(x)
}

// draw makes a number in [0,1) of a seed and what it is for, by the mixing function
// of splitmix64.
func draw(seed uint64, id ID) float64 {
	x := seed
	for _, part := range [...]int32{id.Frame, id.Node, id.From, id.Attempt} {
		x += 0x9e3779b97f4a7c15 + uint64(uint32(part))
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return float64(x>>11) / (1 << 53)
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
