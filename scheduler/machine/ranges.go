package machine

import (
	"slices"

	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/state"
)

// askToYield requests the items of a range that have not started.
func (t *fanOut) askToYield(s chunk.Span) {
	t.f.m.command(Command{Op: OpYield, ID: t.rangeID(s), Plan: t.f.p, Node: t.n})
}

func (t *fanOut) rangeID(s chunk.Span) ID {
	return ID{Frame: t.f.ID, Node: t.n.Index, From: s.From, To: s.To, Attempt: t.attempt(int(s.From))}
}

// startRange issues the next items as a range: several while items are quick, and never so that
// an item waits for another one while a slot is free.
func (t *fanOut) startRange() {
	s := t.takeDue(t.Ranges.Next(t.unstarted(), t.group.limit))
	for i := s.From; i < s.To; i++ {
		t.countAttempt(int(i))
	}
	if s.To == s.From+1 && t.f.m.opts.Events { // the start of other items is emitted with their end
		t.f.emitItemStarted(t.n, t.id(int(s.From)))
	}
	t.Ranges.Add(s)
	t.issue(s)
}

// issue issues the command for a range.
func (t *fanOut) issue(s chunk.Span) {
	call := t.callFor(s)
	if s.To == s.From+1 {
		call = call.after(t.Details[int(s.From)].LastError)
	}
	t.f.runOrAsk(t.n, t.rangeID(s), call, &t.group)
}

// unstarted returns the number of items that wait to be started.
func (t *fanOut) unstarted() int { return len(t.Due) + t.firstVoid() - t.Next }

// takeDue removes and returns the next items to start: first items that are to be retried or were
// handed back, then new ones. The items of a range have the same attempt number. An item that has
// to be told the error of its last attempt is issued alone, because a call has one Previous.
// The caller has checked hasUnstarted. No range passes the cutoff, because the item before the
// cutoff has failed and is not due, and items that were never started come after all due ones.
func (t *fanOut) takeDue(limit int) chunk.Span {
	if len(t.Due) == 0 {
		from := t.Next
		t.Next += limit
		return chunk.Span{From: int32(from), To: int32(t.Next)}
	}
	from, n := t.Due[0], 1
	for t.Details[from].LastError == "" && n < min(limit, len(t.Due)) && t.Due[n] == from+n &&
		t.attempt(from+n) == t.attempt(from) && t.Details[from+n].LastError == "" {
		n++
	}
	t.Due = t.Due[n:]
	return chunk.Span{From: int32(from), To: int32(from + n)}
}

// yielded takes back the items that a range in flight has yielded.
func (t *fanOut) yielded(at, to int) {
	t.requeueRange(to, int(t.Ranges.Yield(at, int32(to))))
	t.f.refresh(t.v)
}

// requeueRange makes items that were issued and not started wait again.
func (t *fanOut) requeueRange(from, to int) {
	if from >= to {
		return
	}
	at, _ := slices.BinarySearch(t.Due, from)
	t.Due = slices.Insert(t.Due, at, make([]int, to-from)...)
	for i := from; i < to; i++ {
		w := i - t.Base
		t.Phases[w] = waiting
		t.Attempts[w]--
		t.Due[at+i-from] = i
	}
}

// fits reports whether an answer has an outcome for each of the n items of its range.
func (e *Event) fits(n int) bool {
	return (e.Items == nil || len(e.Items) == n) &&
		!slices.ContainsFunc(e.Writes, func(w *state.ItemWrites) bool { return w != nil && w.Len() < n })
}

// plainItems returns the number of items of an answered range, from one on, that have nothing but
// writes in e.Writes.
func (e *Event) plainItems(from, to int) int {
	if e.Items == nil {
		if !e.Outcome.Empty() {
			return 0
		}
		return to - from
	}
	n := 0
	for from+n < to && e.Items[from+n].Empty() {
		n++
	}
	return n
}
