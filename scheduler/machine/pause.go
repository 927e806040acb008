package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// pausesFirst reports whether an execution waits for a person before its first attempt.
func pausesFirst[W work](w W) bool {
	if w.def().Pause != plan.PauseBefore {
		return false
	}
	a := w.load()
	return a.Number == 0 && !a.Continued
}

// finish ends an execution with the outcome of its last attempt, after the pause if it has one.
func finish[W work](w W, o *Outcome, at int64) {
	if w.def().Pause == plan.PauseAfter && !w.frame().Stopped && !w.givenUp() {
		held := *o
		held.Writes = slices.Clone(o.Writes)
		pause(w, &held)
		return
	}
	w.ended(o, at)
}

// pause makes an execution wait for a person. held is the outcome of its last attempt, nil before
// the first one.
func pause[W work](w W, held *Outcome) {
	a := w.load()
	a.Phase, a.Held = pausing, held
	w.store(a)
	askToContinue(w)
}

// askToContinue issues the command for the question of a pause. It takes no slot.
func askToContinue[W work](w W) {
	f, id := w.frame(), w.id()
	call, _ := w.capture()
	call = call.own()
	call.Values, call.Edges, call.Nodes, call.Items, call.Briefing, call.Conversation = nil, nil, nil, Items{}, nil, nil // which the question does not need
	if w.def().Source != nil {
		call.Row = core.Nth(int(id.From))
	}
	f.issue(w.def().Pauser(), id, call)
}

// pauseEnded continues an execution when the question of its pause was answered. Without an answer
// the execution fails.
func pauseEnded[W work](w W, e *Event) {
	f, a := w.frame(), w.load()
	f.inFlight--
	o := a.Held
	first, cut := o == nil, f.Stopped || w.givenUp()
	a.Phase, a.Held, a.Continued = running, nil, true
	if first {
		a.Phase = waiting
	}
	w.store(a)
	if fail := e.Outcome.Failure; fail != nil && !cut {
		o = &Outcome{Failure: fail}
	}
	switch {
	case first && cut:
		w.withdraw()
	case first && o == nil:
		w.retryDue()
	case first:
		countAttempt(w)
		w.ended(o, e.Ended)
	default:
		w.ended(o, e.Ended)
	}
	w.afterAnswer()
}

// alone reports whether each item is issued alone: people are asked about single items, and an item
// with effects must not be repeated because another one was cut short.
func (t *fanOut) alone() bool {
	return t.f.m.opts.SingleItems || t.n.Asks || t.n.Effects || t.n.Pause != plan.NoPause
}

// full reports whether the concurrency of the node allows no further item. Items that wait for a
// person count, although they hold no slot: a node with many items would ask as many questions.
func (t *fanOut) full() bool {
	if t.n.Asks {
		return len(t.Ranges.Open())+t.paused >= t.n.Concurrency
	}
	return t.group.active+t.paused >= t.group.limit
}

func (w item) id() ID {
	id, a := w.t.id(w.i), w.load()
	id.Attempt = a.number()
	return id
}

// outcomeOf returns the outcome of an item of an answered range, with all of its writes.
func (e *Event) outcomeOf(i int, n *plan.Node) *Outcome {
	o := e.Outcome
	if e.Items != nil {
		o = e.Items[i]
	}
	for k, w := range e.Writes {
		if w != nil && w.Wrote(i) {
			o.Writes = append(slices.Clip(o.Writes), plan.Write{Field: n.WriteFields[k], Value: w.At(i)})
		}
	}
	return &o
}

// pausesNext reports whether the next item to start waits for a person first.
func (t *fanOut) pausesNext() bool {
	return len(t.Due) == 0 && t.n.Pause == plan.PauseBefore || len(t.Due) > 0 && pausesFirst(item{t, t.Due[0]})
}

// pauseAnswered handles the answer to the question of the pause of an item. The question of an item
// that no longer counts was cancelled, and the item waits as if it had not begun.
func (t *fanOut) pauseAnswered(e *Event) bool {
	i := int(e.ID.From)
	if e.Kind != Finished || e.ID.To != e.ID.From+1 || i < t.Base || i >= t.knownItems() || t.Phases[i-t.Base] != pausing {
		return false
	}
	if i >= t.cutoff() && t.attempt(i) == 0 {
		t.f.inFlight--
		item{t, i}.store(attempt{})
		t.requeue(i)
		t.check()
		return true
	}
	pauseEnded(item{t, i}, e)
	return true
}
