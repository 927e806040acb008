package timeline

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// Wait says what a link of the critical path is that is not an attempt.
type Wait string

// Waits.
const (
	NoWait      Wait = ""            // an attempt
	RetryDelay  Wait = "retry"       // the delay before the next attempt of the execution
	Answer      Wait = "answer"      // a person had to answer
	Interrupted Wait = "interrupted" // the run was not in progress
	OtherWait   Wait = "other"       // the events do not say what the next link waited for; for example, a router decided
)

// StatusRetry is the status of an attempt after which its execution has paused.
const StatusRetry = "retry"

// Link is a part of the critical path: an attempt, attempts for one node that followed each other, or a
// wait.
type Link struct {
	*Execution // of the last attempt, or of the delay; nil for Interrupted and OtherWait
	Wait       Wait
	Count      int    // the number of attempts
	Attempt    int    // the last one, or the one before a delay
	Status     string // of the last attempt
	Started    time.Duration
	Ended      time.Duration
	Waited     time.Duration // the times for which the attempts waited for slots
}

// CriticalPath returns the chain of attempts and waits that decided when the run ended, from the start
// of the run to the end of its last execution. Each begins when the one before it ends: an attempt
// begins because of the end of the attempt before it, whose result it needed or which released the slot
// that it waited for. Executions that contain others are left out, except for the delays between their attempts.
func (t *Run) CriticalPath() []Link {
	p := path{run: t, ends: t.ends}
	if len(t.outer) > 0 {
		p.ends = slices.DeleteFunc(slices.Clone(t.ends), func(e attemptEnd) bool {
			return e.attempt != question && !e.inPause() && t.outer[plan.PartPath(e.Path)]
		})
	}
	for n := len(p.ends); n > 0; {
		n = p.add(p.ends[n-1], n-1)
	}
	slices.Reverse(p.links)
	return p.links
}

// path is a critical path that is collected from its end.
type path struct {
	run   *Run
	ends  []attemptEnd // in order, without those of executions that contain others
	links []Link       // the last one first
}

// add adds the attempt that ended with a number of p.ends and the waits before it. It returns how many of
// the ends are left, the last of which is that of the attempt before it, 0 if there is none.
func (p *path) add(end attemptEnd, n int) int {
	if q := end.asked; end.attempt == question {
		p.links = append(p.links, Link{Execution: end.Execution, Wait: Answer, Started: q.From, Ended: q.Due})
		return p.before(n, q.from)
	}
	at, seq := end.began(end.attempt)
	if !end.inPause() {
		p.attempt(end, at)
	}
	if end.attempt == 0 {
		return p.first(end.Execution, n)
	}
	r := &end.Pauses[end.attempt-1]
	if r.Wait == RetryDelay && at > r.Due+noWait && !end.inPause() {
		if last := p.until(n, seq); p.ends[last-1].at() > r.Due { // it has waited for a slot after the delay
			p.links[len(p.links)-1].Waited += at - r.Due
			return p.before(n, seq)
		}
	}
	p.delay(end.Execution, r)
	return p.before(n, r.from+1)
}

// first returns how many ends are left before the first attempt of an execution.
func (p *path) first(x *Execution, n int) int {
	before := x.started
	if q := x.asked; q != nil {
		if last := p.until(n, before); x.Waited > 0 && last > 0 && p.ends[last-1].at() > q.Due {
			return p.before(n, before)
		}
		p.delay(x, q)
		before = q.from
	} else if x.Item == 0 && x.ready > 0 && x.Waited == 0 {
		before = x.ready
	}
	last := p.until(n, before)
	list := p.run.repeated
	list = list[:sort.Search(len(list), func(i int) bool { return list[i].Pauses[list[i].pause].to >= before })]
	for _, o := range slices.Backward(list) { // what is in an execution that was repeated begins with its next attempt
		r := &o.Pauses[o.pause]
		if last > 0 && r.to < p.ends[last-1].seq {
			break
		}
		if strings.HasPrefix(x.Path, o.Name()+"/") {
			p.delay(o.Execution, r)
			before = r.from
			break
		}
	}
	return p.before(n, before)
}

// before returns how many of the first n ends are left before an event at the start of the links so far. It
// adds what was between the last of them, or the start of the run, and that event, if that took time.
func (p *path) before(n, event int) int {
	to := p.links[len(p.links)-1].Started
	last := p.until(n, event)
	for last > 0 && p.ends[last-1].at() > to { // an end that comes too early among the events
		last--
	}
	var from time.Duration
	seq := 0
	if last > 0 {
		from, seq = p.ends[last-1].at(), p.ends[last-1].seq
	}
	if to-from <= noWait {
		return last
	}
	// The end of an execution may come after what it started at the same time, among the events.
	for i := last; i < n && p.ends[i].at() <= to; i++ {
		if p.ends[i].since() < event {
			return i + 1
		}
	}
	l := Link{Wait: OtherWait, Started: from, Ended: to}
	if i, _ := slices.BinarySearch(p.run.breaks, seq); i < len(p.run.breaks) && p.run.breaks[i] < event {
		l.Wait = Interrupted
	}
	p.links = append(p.links, l)
	return last
}

// until returns how many of the first n ends were before an event.
func (p *path) until(n, seq int) int {
	return sort.Search(n, func(i int) bool { return p.ends[i].seq >= seq })
}

// attempt adds an attempt.
func (p *path) attempt(end attemptEnd, at time.Duration) {
	l := Link{Execution: end.Execution, Count: 1, Attempt: end.Execution.Attempt, Status: end.Execution.Status, Started: at, Ended: end.at()}
	if end.attempt < len(end.Pauses) {
		l.Attempt, l.Status = end.Pauses[end.attempt].Attempt, StatusRetry
	}
	if end.attempt == 0 {
		l.Waited = end.Execution.Waited
	}
	if last := len(p.links) - 1; last >= 0 && p.links[last].Count > 0 && p.links[last].Path == l.Path {
		next := &p.links[last]
		next.Count++
		next.Started = l.Started
		next.Waited += l.Waited
		return
	}
	p.links = append(p.links, l)
}

// delay adds the time between two attempts.
func (p *path) delay(x *Execution, r *Pause) {
	p.links = append(p.links, Link{Execution: x, Wait: r.Wait, Attempt: r.Attempt, Started: r.From, Ended: r.To})
}

// at returns when the attempt ended.
func (e attemptEnd) at() time.Duration {
	if e.attempt == question {
		return e.asked.Due
	}
	if e.attempt < len(e.Pauses) {
		return e.Pauses[e.attempt].From
	}
	return e.Ended
}

// inPause reports whether the execution has ended in a pause, without another attempt.
func (e attemptEnd) inPause() bool {
	return e.attempt > 0 && e.Pauses[e.attempt-1].to == e.ended
}

// since returns the event with which the attempt began, or the pause in which the execution ended.
func (e attemptEnd) since() int {
	if e.inPause() {
		return e.Pauses[e.attempt-1].from
	}
	_, seq := e.began(e.attempt)
	return seq
}
