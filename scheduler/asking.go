package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// ask returns the function by which the node of a command asks a person; nil if no person can
// answer.
func (x *executor) ask() core.InterviewerFunc {
	r, c := x.run, x.c
	var to core.InterviewerFunc
	switch {
	case r.rec.resumable():
		to = r.askStored
	case r.opts.Interviewer == nil:
		return nil
	default:
		to = r.opts.Interviewer.Ask
	}
	if r.events == nil && r.rec == nil {
		return to
	}
	a := &asker{run: r, to: to, began: time.Now(), event: core.Event{V: core.EventVersion, Run: r.opts.Run,
		Node: c.Call.Name(c.Node), Kind: c.Node.Kind, Phase: c.Node.Phase, Visit: c.Call.Visit, Attempt: c.ID.AttemptNumber()}}
	switch u := c.Plan.Vertices[c.Node.Vertex].Unit; {
	case c.ID.To == 0 || c.Plan.Mode.Visits:
	case u == nil:
		a.event.Item = core.Nth(int(c.ID.From))
	case u.IsLoop:
		a.event.Unit, a.event.Round = c.Call.Unit(u), core.Nth(int(c.ID.From))
	default:
		a.event.Unit, a.event.Item = c.Call.Unit(u), core.Nth(int(c.ID.From))
	}
	return a.ask
}

// asker is an interviewer whose questions and answers become events of the run, between the events
// for the beginning and the end of the attempt.
type asker struct {
	run   *run
	to    core.InterviewerFunc
	began time.Time
	event core.Event // the fields that all events of the attempt have in common
}

// ask asks a question and emits the events for it. A question that was asked before the run was
// resumed has its event already.
func (a *asker) ask(ctx context.Context, q core.Question) (core.Answer, error) {
	if q.Again != "" || !a.run.hasAsked(&q) {
		asked := a.event
		asked.Type, asked.Reason, asked.Values = core.NodeAsked, q.Text, details(&q)
		a.run.emit(&asked)
	}
	answer, err := a.to(ctx, q)
	answered := a.event
	answered.Type = core.NodeAnswered
	switch {
	case errors.Is(err, errPaused):
		return answer, err
	case errors.Is(err, core.ErrLate), q.Timeout > 0 && errors.Is(err, context.DeadlineExceeded) && time.Since(a.began) >= q.Timeout: // it is the question's own deadline
		answered.Reason = core.ErrLate.Error()
	case errors.Is(err, context.Canceled):
		answered.Reason = "no answer: the attempt was cancelled"
	case err != nil:
		answered.Reason = value.CutText(err.Error())
	default:
		answered.Values = value.NewObject(2)
		if found := q.Match(answer); len(found) == 1 {
			answered.Label, answered.To = found[0].Label, found[0].Target
			answered.Values.Set("key", found[0].Key)
		}
		for _, v := range []struct{ name, text string }{{"text", answer.Text}, {"note", answer.Note}, {"by", answer.By}} {
			if v.text != "" {
				answered.Values.Set(v.name, v.text)
			}
		}
	}
	a.run.emit(&answered)
	return answer, err
}

// emit publishes an event of the driver about a question or a call. A stored run records it, because
// replaying the journal does not make it again.
func (r *run) emit(e *core.Event) {
	if r.rec != nil {
		r.rec.emit(e)
	} else if r.events != nil {
		e.Time = r.time()
		r.events.add(*e)
	}
}

// shown returns the values that a person sees with a question.
func shown(list []core.Shown) []any {
	out := make([]any, len(list))
	for i, s := range list {
		o := value.ObjectOf("name", s.Name)
		if s.Missing != "" {
			o.Set("missing", s.Missing)
		} else {
			o.Set("text", s.Text)
		}
		if s.Left > 0 {
			o.Set("left_out", int64(s.Left))
		}
		out[i] = o
	}
	return out
}

// details returns the values of the event for a question.
func details(q *core.Question) *value.Object {
	choices := make([]any, len(q.Choices))
	for i, c := range q.Choices {
		choices[i] = value.ObjectOf("key", c.Key, "label", c.Label)
		if c.Target != "" {
			choices[i].(*value.Object).Set("target", c.Target)
		}
	}
	o := value.ObjectOf("choices", choices)
	if len(q.Show) > 0 {
		o.Set("show", shown(q.Show))
	}
	if q.Freeform {
		o.Set("freeform", true)
	}
	if q.Timeout > 0 {
		o.Set("timeout_ns", int64(q.Timeout))
	}
	if q.Default != "" {
		o.Set("default", q.Default)
	}
	if q.Again != "" {
		o.Set("again", q.Again)
	}
	return o
}
