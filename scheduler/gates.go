package scheduler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/store"
)

// gate is a question of a stored run. The answer may come from the interviewer, from another
// process, or in a later process after the run was paused. Its fields are guarded by run.mu, except
// answer after answered is closed.
type gate struct {
	question core.PendingQuestion
	answered chan struct{} // closed when there is an answer
	answer   inbox.Answer
	// unattended is set while an attempt waits for the answer that no interviewer of this process
	// can give.
	unattended bool
	// withdrawn is set when the attempt that has asked ends without an answer.
	withdrawn bool
	// stale is set if the question belongs to an execution of an earlier part of the journal that is not kept:
	// if the node asks again, it is another question.
	stale bool
	// outdated is set if the question was asked in an earlier part of the journal, where the workflow may
	// have been another one. If the question has changed, it is asked again, and an answer to the old one
	// does not count.
	outdated bool
}

func (g *gate) hasAnswer() bool {
	select {
	case <-g.answered:
		return true
	default:
		return false
	}
}

// askStored asks a question of a stored run. It returns when there is an answer, wherever it comes
// from, or when ctx ends.
func (r *run) askStored(ctx context.Context, q core.Question) (core.Answer, error) {
	g, err := r.openGate(&q)
	if err != nil {
		return core.Answer{}, err
	}
	late, stopTimer := g.deadline()
	defer stopTimer()
	select {
	case <-late: // before the run may be paused again
		return r.late(ctx, g)
	default:
	}
	attended, stop := r.attend(ctx, q)
	defer stop()
	for {
		select {
		case <-g.answered:
			return g.toCore(), nil
		case <-late:
			return r.late(ctx, g)
		case <-ctx.Done():
			if r.leaveGate(g) {
				return core.Answer{}, errPaused
			}
			if g.isLate(time.Now()) {
				return core.Answer{}, core.ErrLate
			}
			return core.Answer{}, ctx.Err()
		case a := <-attended:
			switch {
			case errors.Is(a.err, core.ErrUnanswered):
				r.waitUnattended(g)
			case a.err != nil:
				return core.Answer{}, a.err
			default:
				return r.answerHere(ctx, g, a.answer)
			}
		}
	}
}

// deadline returns a channel that is ready once the time of the question is over. It never is if the
// question waits without a limit.
func (g *gate) deadline() (late <-chan struct{}, stop func()) {
	d := g.question.Deadline
	if d.IsZero() {
		return nil, func() {}
	}
	c := make(chan struct{})
	left := time.Until(d)
	if left <= 0 {
		close(c)
		return c, func() {}
	}
	t := time.AfterFunc(left, func() { close(c) })
	return c, func() { t.Stop() }
}

// late ends a question whose time is over. An answer that was posted in time counts, even if no
// process has received it.
func (r *run) late(ctx context.Context, g *gate) (core.Answer, error) {
	list, err := r.rec.store.Inbox(ctx, r.opts.Run)
	if err != nil {
		return core.Answer{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range list {
		if a, _ := inbox.Decode(m); a != nil && !a.At.After(g.question.Deadline) && inbox.Name(a.Question()) == inbox.Name(&g.question.Question) && a.Generation == g.question.Generation {
			r.receive(a)
		}
	}
	r.leaveGateLocked(g)
	if g.hasAnswer() {
		return g.toCore(), nil
	}
	r.withdraw(g)
	return core.Answer{}, core.ErrLate
}

// isLate reports whether the time of the question is over.
func (g *gate) isLate(now time.Time) bool {
	d := g.question.Deadline
	return !d.IsZero() && !now.Before(d)
}

// withdraw records that the question needs no answer. It is called with mu held. A question that is
// open when the run ends or is cancelled is not withdrawn: it waits until the run is resumed.
func (r *run) withdraw(g *gate) {
	if g.withdrawn || g.hasAnswer() || r.over || r.ctx.Err() != nil {
		return
	}
	if err := r.rec.mark(store.MarkWithdrawn, &g.question); err != nil {
		r.rec.fail(err)
		return
	}
	g.withdrawn = true
}

// attendedAnswer is what the interviewer of this process returned.
type attendedAnswer struct {
	answer core.Answer
	err    error
}

// attend asks the interviewer of this process, if there is one. stop withdraws the question.
func (r *run) attend(ctx context.Context, q core.Question) (answer <-chan attendedAnswer, stop func()) {
	c := make(chan attendedAnswer, 1)
	to := r.opts.Interviewer
	if to == nil {
		c <- attendedAnswer{err: core.ErrUnanswered}
		return c, func() {}
	}
	ctx, stop = context.WithCancel(ctx)
	go func() {
		a := attendedAnswer{err: exited()}
		defer func() { c <- a }()
		_, a.err = guarded(func() (any, error) {
			var err error
			a.answer, err = to.Ask(ctx, q)
			return nil, err
		})
	}()
	return c, stop
}

// openGate returns the gate of a question. The first time that it is asked, the question is
// recorded, and its time begins.
func (r *run) openGate(q *core.Question) (*gate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := inbox.Name(q)
	before := r.gates[name]
	if before != nil && !before.stale && !(before.outdated && before.differs(q)) {
		if before.withdrawn { // the process ended before the end of the attempt was recorded
			before.withdrawn = false
			return before, r.rec.mark(store.MarkAsked, &before.question)
		}
		return before, nil
	}
	g := newGate(core.PendingQuestion{Question: *q, Asked: time.Now()})
	if before != nil {
		g.question.Generation = max(1, before.question.Generation) + 1
	}
	if q.Timeout > 0 {
		g.question.Deadline = g.question.Asked.Add(q.Timeout)
	}
	if err := r.rec.mark(store.MarkAsked, &g.question); err != nil {
		return nil, err
	}
	r.addGate(name, g)
	return g, nil
}

// differs reports whether a question is not the one of the gate.
func (g *gate) differs(q *core.Question) bool {
	return g.question.Text != q.Text || !slices.Equal(g.question.Choices, q.Choices)
}

// hasAsked reports whether a stored run has asked a question before.
func (r *run) hasAsked(q *core.Question) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.gates[inbox.Name(q)]
	return g != nil && !g.stale && !(g.outdated && g.differs(q))
}

func newGate(q core.PendingQuestion) *gate {
	return &gate{question: q, answered: make(chan struct{})}
}

func (r *run) addGate(name string, g *gate) {
	if r.gates == nil {
		r.gates = map[string]*gate{}
	}
	r.gates[name] = g
}

// waitUnattended notes that an attempt waits for an answer from outside the process.
func (r *run) waitUnattended(g *gate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g.hasAnswer() || g.unattended {
		return
	}
	g.unattended = true
	r.unattended++
	r.pauseIfWaiting()
}

// errPaused is the error of a question that is withdrawn because the run is paused. No event reports
// it, and the answer of the attempt is dropped.
var errPaused = errors.New("the run is paused")

// leaveGate is called when an attempt ends without an answer. It reports whether that is
// because the run is paused.
func (r *run) leaveGate(g *gate) (paused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaveGateLocked(g)
	if !r.paused {
		r.withdraw(g)
	}
	return r.paused
}

func (r *run) leaveGateLocked(g *gate) {
	if g.unattended {
		g.unattended = false
		r.unattended--
	}
}

// answerHere handles the answer of the interviewer of this process. It goes through the inbox, so
// that only one of two answers is taken, wherever they come from. An answer that matches no choice
// is returned unchanged: the gate asks again.
func (r *run) answerHere(ctx context.Context, g *gate, a core.Answer) (core.Answer, error) {
	q := &g.question
	found := q.Match(a)
	if len(found) != 1 && !(len(found) == 0 && q.Freeform && a.Text != "") {
		return a, nil
	}
	posted := inbox.Answer{Node: q.Node, Visit: q.Visit, Attempt: q.Attempt, Generation: q.Generation, Text: a.Text, Note: a.Note, By: a.By, At: time.Now()}
	if len(found) == 1 {
		posted.Choice = found[0].Key
	}
	err := inbox.Send(ctx, r.rec.store, r.opts.Run, &posted)
	if taken, ok := errors.AsType[*inbox.AnsweredError](err); ok {
		posted, err = taken.Answer, nil
	}
	r.mu.Lock()
	if err == nil {
		r.receive(&posted)
	} else if ctx.Err() == nil {
		r.rec.fail(err)
	}
	r.mu.Unlock()
	if err != nil {
		return core.Answer{}, err
	}
	<-g.answered
	return g.toCore(), nil
}

// toCore returns the answer as the gate gets it.
func (g *gate) toCore() core.Answer {
	a := core.Answer{Text: g.answer.Text, Note: g.answer.Note, By: g.answer.By}
	for _, c := range g.question.Choices {
		if c.Key == g.answer.Choice && len(g.question.Match(core.Answer{Text: c.Key})) == 1 {
			a.Choice = c
		}
	}
	if a.Choice == (core.Choice{}) && a.Text == "" {
		a.Text = g.answer.Choice
	}
	return a
}

// receive handles an answer from the inbox. Answers to questions that were not asked, that have an answer or
// that were dropped, are ignored. It is called with mu held.
func (r *run) receive(a *inbox.Answer) {
	g := r.gates[inbox.Name(a.Question())]
	if g == nil || g.hasAnswer() || g.stale || a.Generation != g.question.Generation {
		return
	}
	if err := r.rec.mark(store.MarkAnswered, a); err != nil {
		r.rec.fail(err)
		return
	}
	g.answer = *a
	r.leaveGateLocked(g)
	close(g.answered)
}

func (r *run) receiveMessage(m store.Message) {
	switch a, c := inbox.Decode(m); {
	case a != nil:
		r.receive(a)
	case c != nil && c.At.After(r.resumed):
		mark := r.rec.newMark(store.MarkCancelled)
		mark.By = c.By
		if err := r.rec.addMark(mark); err != nil {
			r.rec.fail(err)
		}
		if r.cancelled.IsZero() {
			r.cancelledBy = c.By
		}
		r.cancelRun()
		r.nudge()
	}
}

// pauseIfWaiting ends the process's part of a run that only people can continue. It looks into the
// inbox once more before. It is called with mu held.
func (r *run) pauseIfWaiting() {
	if r.pausing || !r.onlyWaits() {
		return
	}
	r.pausing = true
	r.calls.Add(1)
	go func() {
		defer r.calls.Done()
		list, err := r.rec.store.Inbox(r.ctx, r.opts.Run)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pausing = false
		if err != nil && r.ctx.Err() == nil {
			r.rec.fail(err)
			return
		}
		for _, m := range list {
			r.receiveMessage(m)
		}
		if r.onlyWaits() {
			r.pause()
		}
	}()
}

// onlyWaits reports whether every attempt in flight waits for an answer that no interviewer can give,
// and nothing else will begin.
func (r *run) onlyWaits() bool {
	if r.unattended == 0 || r.over || r.head < len(r.queue) || len(r.rec.held) > 0 || r.rec.failure != nil {
		return false
	}
	busy := 0
	for _, w := range r.workers {
		switch {
		case !w.busy || w.abandoned:
		case w.givenUp: // a question that the machine has withdrawn: its attempt is about to end
			return false
		default:
			busy++
		}
	}
	if busy > r.unattended {
		return false
	}
	for key := range r.timers {
		if key.kind == machine.TimerFired {
			return false
		}
	}
	return true
}

// pause ends the run in this process. The machine is not told: to it, the gates are in flight, and
// they are when the run is resumed.
func (r *run) pause() {
	err := &core.PausedError{Run: r.opts.Run}
	for _, g := range r.gates {
		if g.unattended {
			err.Questions = append(err.Questions, g.question)
		}
	}
	slices.SortFunc(err.Questions, func(a, b core.PendingQuestion) int {
		return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.Node, b.Node))
	})
	err.Queued = r.m.Queued()
	r.report = r.m.Report()
	m := r.rec.newMark(store.MarkPaused)
	m.Data = queuedData(err.Queued)
	m.Counts, m.Questions = journal.CountsOf(r.rec.codec.Plan, r.report, true), len(err.Questions)
	if err := r.rec.addMark(m); err != nil {
		r.rec.fail(err)
		return
	}
	r.rec.emitLocked(&core.Event{V: core.EventVersion, Type: core.RunHeld, Run: r.opts.Run, Reason: err.Error()})
	r.report.Status, r.report.Err = core.RunPaused, err
	r.paused, r.over = true, true
	r.cancel()
	r.wake.Broadcast()
	r.left.Broadcast()
}

// recordQueue records the questions that are asked later, so that other processes can list them while
// the run continues. It is called with mu held.
func (r *run) recordQueue() {
	list := r.m.Queue()
	if len(list) == 0 || r.rec == nil || r.paused {
		return
	}
	m := r.rec.newMark(store.MarkQueued)
	m.Data = queuedData(list)
	if err := r.rec.addMark(m); err != nil {
		r.rec.fail(err)
	}
}

// queuedData returns what a mark says about the questions that are asked later, or nil if there are
// none.
func queuedData(list []core.Question) *value.Object {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil { // questions have strings and numbers only
		panic("scheduler: " + err.Error())
	}
	v, err := value.ParseJSON(text)
	if err != nil {
		panic("scheduler: " + err.Error())
	}
	return value.ObjectOf("queued", v)
}
