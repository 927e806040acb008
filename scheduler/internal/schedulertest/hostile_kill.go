package schedulertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/store"
)

// next takes the commands of the machine.
func (r *hostileRun) next() error {
	for again := true; again; {
		commands := r.m.Next()
		if r.journal != nil {
			if err := r.journal.next(r.m, commands); err != nil {
				return err
			}
		}
		again = false
		if r.journal != nil && r.journal.memo != nil {
			n, err := len(commands), error(nil)
			if commands, err = r.answerKept(commands); err != nil {
				return err
			}
			again = len(commands) < n || len(r.journal.batch.Events) > 0
		}
		if err := r.take(commands); err != nil {
			return err
		}
	}
	return nil
}

// tell passes an event to the machine. c is the command that it answers, nil for Cancel.
func (r *hostileRun) tell(c *machine.Command, e *machine.Event) error {
	if r.journal != nil {
		if err := r.journal.add(c, e); err != nil {
			return err
		}
	}
	dropped := r.m.Dropped()
	r.m.Apply(e)
	if r.journal != nil && r.m.Dropped() == dropped {
		r.journal.open = r.journal.open.answered(e)
	}
	return nil
}

// answerSome answers a command, or several.
func (r *hostileRun) answerSome() error {
	n := 1
	if r.h.Several {
		n += r.rng.IntN(3)
	}
	for i := range n {
		if i > 0 && len(r.open) == 0 {
			break
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	if r.h.Replay && r.chance(12) {
		return r.replay()
	}
	return nil
}

// hear keeps events.
func (r *hostileRun) hear(emitted machine.Emissions) {
	emitted.Events(&r.event, func(e *core.Event) {
		e.Time = time.Time{} // timers end at once, so verify cannot check delays
		r.events = append(r.events, *e)
	})
}

// replay kills the run: the machine is replaced by the replay of the journal, or by one that repeats
// the answers in it. Time passes until the run continues.
func (r *hostileRun) replay() error {
	j := r.journal
	j.batch.Reset() // what was applied since the last batch is lost
	again, err := j.replay(len(j.records), nil)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if r.h.Memo {
		if again, err = r.newPart(r.drop(again.Kept())); err != nil {
			return fmt.Errorf("memo: %w", err)
		}
	}
	return r.resume(again)
}

// mayGoOn reports whether the run is continued although it has ended.
func (r *hostileRun) mayGoOn() bool {
	switch r.report.Status {
	case core.RunCancelled:
		return r.h.Uncancel
	case core.RunFailed:
		return r.h.Retry && r.journal.Again == 0
	}
	return false
}

// goOn continues a run that was cancelled or has failed.
func (r *hostileRun) goOn() error {
	before, err := r.journal.replay(len(r.journal.records), nil)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	kept := before.Kept()
	if r.report.Status == core.RunCancelled {
		kept = journal.Uncancelled(kept)
	} else {
		kept, _ = journal.Unfailed(r.p, kept, r.report, false)
	}
	r.journal.Dropped += len(before.Kept()) - len(kept)
	again, err := r.newPart(kept)
	if err != nil {
		return fmt.Errorf("memo: %w", err)
	}
	r.journal.Again++
	return r.resume(again)
}

// drop drops the answers of a node, and of the nodes that can see its effect. In a walk it drops
// none, because races could be decided otherwise then.
func (r *hostileRun) drop(kept []journal.Kept) []journal.Kept {
	j, p := r.journal, r.journal.codec.Plan
	if j.parts++; p.Walk != nil || j.parts > maxDrops || r.rng.IntN(3) == 0 {
		return kept
	}
	left := journal.Without(kept, journal.Affected(p, []string{p.Nodes[r.rng.IntN(len(p.Nodes))].ID}))
	j.Dropped += len(kept) - len(left)
	return left
}

// resume records that the run is continued, and continues with a replay.
func (r *hostileRun) resume(again *journal.Replay) error {
	j := r.journal
	mark := journal.Mark{Kind: store.MarkResumed, At: again.Machine().Now(), Down: time.Duration(r.rng.IntN(3)), Kept: j.memo != nil}
	data, err := j.codec.AppendMark(nil, &mark)
	if err != nil {
		return err
	}
	j.records, j.live = append(j.records, record{mark: true, data: data}), nil
	again.Mark(&mark)
	if _, err := j.fill(again); err != nil {
		return err
	}
	return r.adopt(again)
}

// maxDrops limits how often answers of a run are dropped, so that it ends.
const maxDrops = 4

// newPart begins a new part of the journal, with a memo of kept answers.
func (r *hostileRun) newPart(kept []journal.Kept) (*journal.Replay, error) {
	j := r.journal
	j.Kept += len(kept)
	memo, err := journal.NewMemo(&j.codec, j.inputs, j.options, kept)
	if err != nil {
		return nil, err
	}
	j.memo, j.records, j.batch.N = memo, nil, uint64(len(memo.Batches()))
	for _, b := range memo.Batches() {
		if err := j.write(b); err != nil {
			return nil, err
		}
	}
	r.events = nil // only the events of the new part count
	exact, err := j.replay(len(j.records), func(e machine.Emissions) { r.hear(e) })
	if err != nil {
		return nil, fmt.Errorf("the new part: %w", err)
	}
	if err := sameMachine(memo.Machine(), exact.Machine()); err != nil {
		return nil, fmt.Errorf("the new part: %w", err)
	}
	return memo.Replay(), nil
}

// adopt continues with the machine and the open commands of a replay.
func (r *hostileRun) adopt(again *journal.Replay) error {
	r.report = again.Report()
	r.m, r.now = again.Machine(), max(r.now, again.Machine().Now())
	r.open, r.deadlines, r.due, r.ended, r.givenUp = nil, nil, nil, map[int64]ending{}, nil
	r.late = nil // the process that would have repeated them is gone
	r.journal.open = nil
	open := again.Open()
	for i := range open {
		o := &open[i]
		r.journal.open = append(r.journal.open, o)
		switch {
		case o.Op == machine.OpDeadline && o.ID.Node < 0:
			r.deadlines = append(r.deadlines, o.Command)
			if r.journal.memo != nil && expiring(o.Delay, int(o.ID.Attempt)) {
				r.due = append(r.due, o.Command)
			}
		case !o.Cancelled:
			r.open = append(r.open, o.Command)
		}
	}
	for i := range open {
		if o := &open[i]; o.Cancelled { // it counts as returned
			if err := r.tell(&o.Command, cancelledAnswer(&o.Command, r.now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// cancelledAnswer answers a command that was cancelled.
func cancelledAnswer(c *machine.Command, now int64) *machine.Event {
	e := &machine.Event{Kind: machine.Finished, ID: c.ID, Started: now, Ended: now}
	fail := machine.Outcome{Failure: &core.Failure{Class: core.ClassCanceled, Message: "cancelled", Permanent: true}}
	if c.Node.Source == nil || c.Node.Pull {
		e.Outcome = fail
	} else {
		e.Items = slices.Repeat([]machine.Outcome{fail}, int(c.ID.To-c.ID.From))
	}
	return e
}

// answerKept answers new commands that a memo has kept answers for, and returns the others.
func (r *hostileRun) answerKept(commands []machine.Command) ([]machine.Command, error) {
	memo := r.journal.memo
	var rest []machine.Command
	for i := range commands {
		c := &commands[i]
		var x journal.Encoded
		e, err := memo.Answer(c, &x)
		if err != nil {
			return nil, err
		}
		if e == nil || e.Kind == machine.Yielded {
			rest = append(rest, *c)
			if e != nil {
				rest[len(rest)-1].ID.To = e.ID.To
			}
		}
		if e != nil {
			r.journal.Later++
			r.journal.batch.Add(&x)
			dropped := r.m.Dropped()
			if r.m.Apply(e); r.m.Dropped() == dropped {
				r.journal.open = r.journal.open.answered(e)
			}
		}
	}
	return rest, nil
}

// Killed returns a driver that answers several commands at once and is killed from time to time. The
// journal is checked after each batch. points may be nil.
func Killed(seed uint64, points KillPoints) Hostile {
	return Hostile{Seed: seed, Several: true, Double: seed%3 == 0, Split: true, Yield: true, Replay: true, Journal: &Journal{Check: true, Points: points}}
}
