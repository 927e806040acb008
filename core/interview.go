package core

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Interviewer asks whoever decides at a human gate: a person at a terminal or in a chat,
// or a program that stands in for one. Ask blocks until there is an answer, and must return
// soon after ctx is done. Several gates may ask at the same time.
//
// The gate itself compares what was typed with the choices, and asks again when that says
// nothing; Question.Match does the same for an Interviewer that wants to know at once. An
// error that is ErrUnanswered means that nobody will answer: the gate fails for good; one
// that is ErrLate, or the end of ctx after Question.Timeout, that time is up. Any other one
// fails the attempt, and the retry policy of the gate applies.
type Interviewer interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// InterviewerFunc makes a function an Interviewer.
type InterviewerFunc func(ctx context.Context, q Question) (Answer, error)

// Ask calls f.
func (f InterviewerFunc) Ask(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }

// ErrUnanswered is the error of an Interviewer when there will be no answer: nobody is
// there, the question was dismissed, or the input has ended.
var ErrUnanswered = errors.New("nobody answered")

// ErrLate is the error of an Interviewer that knows by itself that there was no answer in
// time. The gate takes its default choice then, or is asked again under its retry policy.
var ErrLate = errors.New("no answer arrived in time")

// Question is what a human gate asks.
type Question struct {
	// Run is the run's id, Node the path of the gate, Visit which visit of it this is and
	// Attempt which asking of that visit, both from 1: what no answer arrived in time may be
	// asked again.
	Run     string `json:"run,omitempty"`
	Node    string `json:"node,omitempty"`
	Visit   int    `json:"visit,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Text is the question itself.
	Text string `json:"text"`
	// Show is what the person is shown with it, such as the plan that is to be approved.
	Show []Shown `json:"show,omitempty"`
	// Choices are the ways on, in declared order.
	Choices []Choice `json:"choices,omitempty"`
	// Freeform tells that a text that picks no choice is an answer, too.
	Freeform bool `json:"freeform,omitempty"`
	// Timeout is how long there is for an answer, 0 for ever. ctx ends then. Default is the
	// target of the choice that is taken in that case, "" for none.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	Default string        `json:"default,omitempty"`
	// Again says why the question is asked once more, "" for the first time.
	Again string `json:"again,omitempty"`
}

// Shown is a value or file that is shown with a question.
type Shown struct {
	Name string `json:"name"` // as the document names it
	Text string `json:"text"` // its beginning, if it is long
	// Left is how many bytes of it Text leaves out.
	Left int `json:"left_out,omitempty"`
	// Missing says why there is nothing to show, "" if there is.
	Missing string `json:"missing,omitempty"`
}

// Choice is one way on.
type Choice struct {
	Key    string `json:"key"`    // the accelerator of the label
	Label  string `json:"label"`  // as written; the target where the edge has none
	Target string `json:"target"` // the node it leads to
}

// Answer is what an Interviewer got: a text, or one of the choices.
type Answer struct {
	// Text is what was typed.
	Text string `json:"text,omitempty"`
	// Choice is one of Question.Choices, picked without the help of Text. The zero Choice
	// leaves it to Text.
	Choice Choice `json:"choice,omitzero"`
}

// Match returns the choices that an answer may mean: one if it is clear, none if it says
// nothing, several if they share what was typed. A text is compared with the keys, then
// with the labels as written, then with their normal form, without the blanks around it and
// in any case.
func (q *Question) Match(a Answer) []Choice {
	if a.Choice != (Choice{}) {
		return q.choices(func(c Choice) bool { return c == a.Choice })
	}
	text := strings.TrimSpace(a.Text)
	if text == "" {
		return nil
	}
	for _, form := range []func(Choice) string{
		func(c Choice) string { return c.Key },
		func(c Choice) string { return strings.TrimSpace(c.Label) },
		func(c Choice) string { return NormalLabel(c.Label) },
	} {
		if found := q.choices(func(c Choice) bool { return strings.EqualFold(form(c), text) }); found != nil {
			return found
		}
	}
	return nil
}

func (q *Question) choices(ok func(Choice) bool) []Choice {
	var found []Choice
	for _, c := range q.Choices {
		if ok(c) {
			found = append(found, c)
		}
	}
	return found
}
