package timeline

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Pause is a time in which an execution holds no slot: between two attempts, or after its handler has ended
// until a person has answered.
type Pause struct {
	Wait    Wait          // RetryDelay or Answer
	Attempt int           // the one before it
	From    time.Duration // the end of the attempt
	Due     time.Duration // the end of the delay before the next attempt
	To      time.Duration // the start of the next attempt, or the end of the execution; 0 if it has not come
	from    int           // place of these in the order of all events
	to      int
}

// attemptEnd is the end of an attempt, which releases its slot.
type attemptEnd struct {
	*Execution
	attempt int // from 0, or question
	seq     int
}

// question is the attempt of a question whose answer lets an execution begin.
const question = -1

// repeat is a pause of an execution between two attempts.
type repeat struct {
	*Execution
	pause int // index in Pauses
}

// pause notes that an attempt has ended, or that an execution that has not begun asks a person.
func (t *Run) pause(e *core.Event, why Wait) {
	at := placeOf(e)
	p := Pause{Wait: why, From: e.Time.Sub(t.start), from: t.seq}
	p.Due = p.From + e.Delay
	x := t.open[at]
	switch {
	case x == nil && why == Answer:
		t.asked[at] = &Execution{place: at, asked: &p}
	case x == nil || x.paused():
	default:
		p.Attempt = x.Attempt
		t.ends = append(t.ends, attemptEnd{x, len(x.Pauses), p.from})
		x.Pauses = append(x.Pauses, p)
	}
}

// answered notes that a person has answered.
func (t *Run) answered(e *core.Event) {
	if x := t.asked[placeOf(e)]; x != nil {
		x.asked.Due = e.Time.Sub(t.start)
		t.ends = append(t.ends, attemptEnd{x, question, t.seq})
	}
}

// let notes that an execution begins that a person may have let begin. If so, it has waited for a slot
// from then on.
func (t *Run) let(x *Execution) {
	p := x.asked
	if p == nil {
		return
	}
	delete(t.asked, x.place)
	p.To, p.to, x.Waited = x.Started, x.started, 0
	if x.Started > p.Due+noWait {
		x.Waited = x.Started - p.Due
	}
}

// paused reports whether the execution is in a pause.
func (x *Execution) paused() bool {
	i := len(x.Pauses) - 1
	return i >= 0 && x.Pauses[i].to == 0
}

// proceed ends the pause of an execution, if it is in one.
func (t *Run) proceed(x *Execution, e *core.Event) {
	if !x.paused() {
		return
	}
	i := len(x.Pauses) - 1
	x.Pauses[i].To, x.Pauses[i].to = e.Time.Sub(t.start), t.seq
	if t.outer[plan.PartPath(x.Path)] {
		t.repeated = append(t.repeated, repeat{x, i})
	}
}

// began returns when an attempt began and the place of its start in the order of events.
func (x *Execution) began(attempt int) (at time.Duration, seq int) {
	switch attempt {
	case question:
		return x.asked.From, x.asked.from
	case 0:
		return x.Started, x.started
	}
	return x.Pauses[attempt-1].To, x.Pauses[attempt-1].to
}

// attempts calls f for the times in which attempts ran or waited for a person. end is the end of an execution that is open.
func (x *Execution) attempts(end time.Duration, f func(from, to time.Duration)) {
	if x.Status != StatusOpen {
		end = x.Ended
	}
	from := x.Started
	for _, r := range x.Pauses {
		if r.Wait != RetryDelay {
			continue
		}
		f(from, r.From)
		if from = r.To; r.to == 0 || r.to == x.ended {
			return
		}
	}
	f(from, end)
}

// retries calls f for the times between the attempts of an execution. end is the end of the time if it has not ended.
func (x *Execution) retries(end time.Duration, f func(from, to time.Duration)) {
	for _, r := range x.Pauses {
		to := r.To
		if r.to == 0 {
			to = end
		}
		if r.Wait == RetryDelay {
			f(r.From, to)
		}
	}
}

// RetryWait returns the time between the attempts of an execution, up to the start of its last attempt.
func (x *Execution) RetryWait() (sum time.Duration) {
	x.retries(0, func(from, to time.Duration) { sum += max(to-from, 0) })
	return sum
}

// RetryWaits returns for each path of a node the time in which executions of the node were between two
// attempts and no execution of it ran. Nodes without such a time are left out. end is the end of
// executions that are open.
func (t *Run) RetryWaits(end time.Duration) map[string]time.Duration {
	type change struct {
		at            time.Duration
		running, wait int
	}
	changes := map[string][]change{}
	for _, x := range t.all {
		if len(x.Pauses) > 0 {
			changes[x.Path] = nil
		}
	}
	for _, x := range t.Executions() {
		list, ok := changes[x.Path]
		if !ok {
			continue
		}
		x.attempts(end, func(from, to time.Duration) { list = append(list, change{from, 1, 0}, change{to, -1, 0}) })
		x.retries(end, func(from, to time.Duration) { list = append(list, change{from, 0, 1}, change{to, 0, -1}) })
		changes[x.Path] = list
	}
	waits := map[string]time.Duration{}
	for path, list := range changes {
		slices.SortFunc(list, func(a, b change) int { return int(a.at - b.at) })
		var now change
		for _, c := range list {
			if now.wait > 0 && now.running == 0 && c.at > now.at {
				waits[path] += c.at - now.at
			}
			now = change{c.at, now.running + c.running, now.wait + c.wait}
		}
	}
	return waits
}
