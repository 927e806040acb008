// Package inbox is how answers of people, and cancellations, reach a stored run from other
// processes: they are messages in its store. The run need not be running.
package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/store"
)

// Answer is an answer to a question of a run.
type Answer struct {
	Run     string `json:"run,omitempty"`
	Node    string `json:"node"` // the path of the gate, with the item in brackets if it has one
	Visit   int    `json:"visit,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Generation is that of the question; see core.PendingQuestion.
	Generation int `json:"generation,omitempty"`
	// Choice is the key or the label of a choice, "" for an answer in text only.
	Choice string    `json:"choice,omitempty"`
	Label  string    `json:"label,omitempty"` // of the choice; Post sets it
	Text   string    `json:"text,omitempty"`
	Note   string    `json:"note,omitempty"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
}

// Question returns what identifies the question that it answers; see Name.
func (a *Answer) Question() *core.Question {
	return &core.Question{Node: a.Node, Visit: a.Visit, Attempt: a.Attempt}
}

// Cancel asks a run to end, as an interrupt does.
type Cancel struct {
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
}

// message is the content of a store.Message.
type message struct {
	Answer *Answer `json:"answer,omitempty"`
	Cancel *Cancel `json:"cancel,omitempty"`
}

// cancelName is the beginning of the names of messages that cancel a run. A run can be cancelled
// again after it was resumed, so the rest of the name is the time.
const cancelName = "cancel-"

// Name identifies a question in a run: the path of its node, the visit and the attempt. A question
// that is asked again has the same name.
func Name(q *core.Question) string {
	return q.Node + "#" + strconv.Itoa(q.Visit) + "." + strconv.Itoa(q.Attempt)
}

// messageName returns the name of the message that answers a question. The first message that is
// posted under this name is the answer.
func messageName(name string, generation int) string {
	if generation > 1 {
		name += "~" + strconv.Itoa(generation)
	}
	return name
}

// Decode returns the content of a message: an answer or a cancellation; both are nil if it is
// neither.
func Decode(m store.Message) (*Answer, *Cancel) {
	var c message
	if json.Unmarshal(m.Data, &c) != nil {
		return nil, nil
	}
	return c.Answer, c.Cancel
}

// State is what the journal of a run says about its questions.
type State struct {
	Run      string
	Workflow string
	Open     []core.PendingQuestion // asked and not answered, in the order in which they were asked
	Queued   []core.PendingQuestion // approvals of a flow that are asked later, in order; Asked is since when they wait
	Late     []core.PendingQuestion // without an answer when their time was over
	// Dropped are the questions that were withdrawn for another reason and have not been asked again.
	Dropped  []Dropped
	Answered []Answer // in the order in which the run received them
	Ended    bool     // the run has ended and is not waiting
	Status   string   // of a run that has ended
}

// Dropped is a question that was withdrawn. Rerun reports whether it was because its node, or one before it,
// runs again; otherwise the attempt that had asked has ended without an answer.
type Dropped struct {
	core.PendingQuestion
	Rerun bool
}

// Questions reads the questions of a run from its journal. Answers that were posted and that the run
// has not received yet count as answered.
func Questions(ctx context.Context, s store.Store, run string) (*State, error) {
	st := &State{Run: run}
	for rec, err := range s.Read(ctx, run, 1) {
		if err != nil {
			return nil, err
		}
		switch rec.Type {
		case store.Head:
			var h struct{ Workflow string }
			if err := json.Unmarshal(rec.Data, &h); err != nil {
				return nil, err
			}
			st.Workflow = h.Workflow
		case store.Mark:
			if err := st.mark(rec.Data); err != nil {
				return nil, err
			}
		case store.End:
			var end struct{ Status string }
			if err := json.Unmarshal(rec.Data, &end); err != nil {
				return nil, err
			}
			st.Ended, st.Status = true, end.Status
		}
	}
	list, err := s.Inbox(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if a, _ := Decode(m); a != nil && st.take(Name(a.Question()), a.Generation) != nil {
			st.Answered = append(st.Answered, *a)
		}
	}
	return st, nil
}

// mark handles a mark. Sealed secrets in questions stay sealed: nothing here needs their values.
func (st *State) mark(record []byte) error {
	var m struct {
		Kind string          `json:"kind"`
		Wall time.Time       `json:"wall"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(record, &m); err != nil {
		return err
	}
	switch m.Kind {
	case store.MarkAsked:
		var q core.PendingQuestion
		if err := json.Unmarshal(m.Data, &q); err != nil {
			return err
		}
		st.take(Name(&q.Question), q.Generation) // a question that was changed is asked again
		st.undrop(&q)
		st.Queued = slices.DeleteFunc(st.Queued, func(later core.PendingQuestion) bool { return Name(&later.Question) == Name(&q.Question) })
		st.Open = append(st.Open, q)
	case store.MarkWithdrawn:
		var q core.PendingQuestion
		if err := json.Unmarshal(m.Data, &q); err != nil {
			return err
		}
		switch q := st.take(Name(&q.Question), q.Generation); {
		case q == nil:
		case !q.Deadline.IsZero() && !m.Wall.Before(q.Deadline):
			st.Late = append(st.Late, *q)
		default:
			st.Dropped = append(st.Dropped, Dropped{PendingQuestion: *q})
		}
	case store.MarkRerun:
		var q core.PendingQuestion
		if err := json.Unmarshal(m.Data, &q); err != nil {
			return err
		}
		st.rerun(&q)
	case store.MarkAnswered:
		var a Answer
		if err := json.Unmarshal(m.Data, &a); err != nil {
			return err
		}
		st.take(Name(a.Question()), a.Generation)
		st.Answered = append(st.Answered, a)
	case store.MarkPaused: // it lists all of them again
		return st.queue(nil, m.Data, m.Wall)
	case store.MarkQueued:
		return st.queue(st.Queued, m.Data, m.Wall)
	case store.MarkResumed:
		st.Ended, st.Status, st.Queued = false, "", nil
	}
	return nil
}

// rerun records that neither a question nor its answer counts any longer.
func (st *State) rerun(q *core.PendingQuestion) {
	name := Name(&q.Question)
	st.take(name, q.Generation)
	st.undrop(q)
	st.Late = slices.DeleteFunc(st.Late, func(l core.PendingQuestion) bool { return Name(&l.Question) == name })
	st.Answered = slices.DeleteFunc(st.Answered, func(a Answer) bool { return Name(a.Question()) == name && a.Generation <= q.Generation })
	st.Dropped = append(st.Dropped, Dropped{PendingQuestion: *q, Rerun: true})
}

// undrop removes a question from the list of withdrawn questions.
func (st *State) undrop(q *core.PendingQuestion) {
	st.Dropped = slices.DeleteFunc(st.Dropped, func(d Dropped) bool { return Name(&d.Question) == Name(&q.Question) })
}

// queue sets the questions that are asked later to those in list and those in the content of a mark, without
// content none. A question that waited before keeps the time since when it waits.
func (st *State) queue(list []core.PendingQuestion, data []byte, since time.Time) error {
	var d struct{ Queued []core.Question }
	if data != nil {
		if err := json.Unmarshal(data, &d); err != nil {
			return err
		}
	}
	for _, q := range d.Queued {
		p := core.PendingQuestion{Question: q, Asked: since}
		for i := range st.Queued {
			if Name(&st.Queued[i].Question) == Name(&q) {
				p.Asked = st.Queued[i].Asked
			}
		}
		list = append(list, p)
	}
	st.Queued = list
	return nil
}

// take removes and returns an open question; it returns nil if there is none.
func (st *State) take(name string, generation int) *core.PendingQuestion {
	for i, q := range st.Open {
		if Name(&q.Question) == name && q.Generation == generation {
			st.Open = append(st.Open[:i:i], st.Open[i+1:]...)
			return &q
		}
	}
	return nil
}

// AnsweredError is the error of Post if the question has an answer already.
type AnsweredError struct{ Answer Answer }

// Error says who answered, when and what.
func (e *AnsweredError) Error() string {
	by := e.Answer.By
	if by == "" {
		by = "somebody"
	}
	return fmt.Sprintf("answered already by %s at %s: %s", by, e.Answer.At.Format(time.RFC3339), e.Answer.Shown())
}

// Shown returns the choice with its label, or the text in quotes if there is no choice.
func (a *Answer) Shown() string {
	if a.Choice != "" {
		return choiceText(core.Choice{Key: a.Choice, Label: a.Label})
	}
	return strconv.Quote(a.Text)
}

// LateError is the error of Post after the deadline of a question.
type LateError struct{ Since time.Time }

// Error names the deadline.
func (e *LateError) Error() string { return "too late since " + e.Since.Format(time.RFC3339) }

// ErrNoQuestion is what errors.Is finds in the error of Post if the run has no such question, or if
// the question has no such choice.
var ErrNoQuestion = errors.New("no such question")

// noQuestion is an ErrNoQuestion whose message says what there is.
type noQuestion struct{ text string }

func (e *noQuestion) Error() string        { return e.text }
func (e *noQuestion) Is(target error) bool { return target == ErrNoQuestion }

func noQuestionf(format string, args ...any) error {
	return &noQuestion{fmt.Sprintf(format, args...)}
}

// Post answers a question. a.Node names it; a.Visit and a.Attempt are needed only if the node has asked
// several times. Choice must be the key or the label of one of the choices. Post returns the answer
// as it was posted. The error is an AnsweredError, a LateError, or an ErrNoQuestion.
func Post(ctx context.Context, s store.Store, run string, a Answer) (*Answer, error) {
	now := time.Now()
	st, err := Questions(ctx, s, run)
	if err != nil {
		return nil, err
	}
	q, err := st.find(&a)
	if err != nil {
		return nil, err
	}
	choice, err := choose(q, &a)
	if err != nil {
		return nil, err
	}
	if !q.Deadline.IsZero() && now.After(q.Deadline) {
		return nil, &LateError{Since: q.Deadline}
	}
	a.Visit, a.Attempt, a.Generation, a.Choice, a.Label, a.At = q.Visit, q.Attempt, q.Generation, choice.Key, choice.Label, now
	if err := Send(ctx, s, run, &a); err != nil {
		return nil, err
	}
	return &a, nil
}

// Send posts an answer without looking at the question. The error is an AnsweredError if there is
// an answer already.
func Send(ctx context.Context, s store.Store, run string, a *Answer) error {
	a.Run = run
	data, err := json.Marshal(message{Answer: a})
	if err != nil {
		return err
	}
	err = s.Post(ctx, run, store.Message{Name: messageName(Name(a.Question()), a.Generation), Posted: a.At, Data: data})
	if taken, ok := errors.AsType[*store.TakenError](err); ok {
		if first, _ := Decode(taken.First); first != nil {
			return &AnsweredError{Answer: *first}
		}
	}
	return err
}

// PostCancel asks a run to end.
func PostCancel(ctx context.Context, s store.Store, run, by string) error {
	now := time.Now()
	data, err := json.Marshal(message{Cancel: &Cancel{By: by, At: now}})
	if err != nil {
		return err
	}
	return s.Post(ctx, run, store.Message{Name: cancelName + now.UTC().Format("20060102T150405.000000000"), Posted: now, Data: data})
}

// find returns the open question that an answer is for.
func (st *State) find(a *Answer) (*core.PendingQuestion, error) {
	fits := func(node string, visit, attempt int) bool {
		return node == a.Node && (a.Visit == 0 || a.Visit == visit) && (a.Attempt == 0 || a.Attempt == attempt)
	}
	for i := range st.Open {
		if q := &st.Open[i]; fits(q.Node, q.Visit, q.Attempt) {
			return q, nil
		}
	}
	for i := range st.Queued {
		if q := &st.Queued[i]; fits(q.Node, q.Visit, q.Attempt) {
			return nil, st.queuedError(q)
		}
	}
	for i := len(st.Answered) - 1; i >= 0; i-- {
		if b := &st.Answered[i]; fits(b.Node, b.Visit, b.Attempt) {
			return nil, &AnsweredError{Answer: *b}
		}
	}
	for i := len(st.Late) - 1; i >= 0; i-- {
		if q := &st.Late[i]; fits(q.Node, q.Visit, q.Attempt) {
			return nil, &LateError{Since: q.Deadline}
		}
	}
	for i := len(st.Dropped) - 1; i >= 0; i-- {
		if d := &st.Dropped[i]; fits(d.Node, d.Visit, d.Attempt) {
			return nil, noQuestionf("%s; %s", d.reason(), st.waiting())
		}
	}
	if len(st.Open) == 0 {
		return nil, noQuestionf("%s", st.waiting())
	}
	return nil, noQuestionf("node %q does not wait for an answer; %s", a.Node, st.waiting())
}

// waiting lists the nodes that wait for an answer.
func (st *State) waiting() string {
	switch {
	case len(st.Open) == 0 && st.Ended:
		return st.end()
	case len(st.Open) == 0:
		return "run " + st.Run + " waits for no answer"
	}
	names := make([]string, len(st.Open))
	for i, q := range st.Open {
		names[i] = q.Node
	}
	return "waiting: " + strings.Join(names, ", ")
}

// end says how a run has ended.
func (st *State) end() string {
	if st.Status == string(core.RunCancelled) {
		return "run " + st.Run + " was cancelled"
	}
	return "run " + st.Run + " ended with " + st.Status
}

// reason says that a question was withdrawn, and why.
func (d *Dropped) reason() string {
	why := "the attempt that had asked has ended without an answer"
	if d.Rerun {
		why = "the run was resumed, and what had led to the question runs again"
	}
	return fmt.Sprintf("the question of node %q was withdrawn: %s", d.Node, why)
}

// queuedError is the error of an answer to an approval that is not asked yet. It names the one that is.
func (st *State) queuedError(q *core.PendingQuestion) error {
	switch {
	case st.Ended:
		return noQuestionf("node %q waits for no answer: %s before it was asked", q.Node, st.end())
	case len(st.Open) == 0:
		return noQuestionf("node %q is asked when run %s continues: approvals are asked one at a time, and the one before is answered", q.Node, st.Run)
	}
	return noQuestionf("node %q is asked later: approvals are asked one at a time, and %s is asked now", q.Node, st.Open[0].Node)
}

// choose returns the key of the choice that an answer names, "" for an answer in text.
func choose(q *core.PendingQuestion, a *Answer) (core.Choice, error) {
	if a.Choice == "" && q.Freeform && a.Text != "" {
		return core.Choice{}, nil
	}
	found := q.Match(core.Answer{Text: a.Choice})
	if len(found) == 1 {
		return found[0], nil
	}
	keys := make([]string, len(q.Choices))
	for i, c := range q.Choices {
		keys[i] = choiceText(c)
	}
	if len(found) > 1 {
		return core.Choice{}, noQuestionf("the choice %q of node %s is ambiguous; choices: %s", a.Choice, q.Node, strings.Join(keys, ", "))
	}
	if a.Choice == "" {
		return core.Choice{}, noQuestionf("node %s takes no text; choices: %s", q.Node, strings.Join(keys, ", "))
	}
	return core.Choice{}, noQuestionf("node %s has no choice %q; choices: %s", q.Node, a.Choice, strings.Join(keys, ", "))
}

// choiceText returns the key of a choice, and its label if that is another word.
func choiceText(c core.Choice) string {
	if c.Label == "" || strings.EqualFold(c.Label, c.Key) {
		return c.Key
	}
	return c.Key + " (" + c.Label + ")"
}
