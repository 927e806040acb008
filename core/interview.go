package core

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Interviewer asks a person at a terminal or in a chat, or a program, to decide at a human
// gate. Ask blocks until there is an answer, and must return soon after ctx is done.
// Several gates may ask at the same time.
//
// The gate itself compares the answer with the choices, and asks again if it matches none.
// An Interviewer that wants to know at once can call Question.Match. If the error is
// ErrUnanswered, there will be no answer, and the gate fails permanently. If it is ErrLate,
// or ctx has ended after Question.Timeout, the time is up. Any other error fails the
// attempt, and the retry policy of the gate applies.
type Interviewer interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// InterviewerFunc is a function that implements Interviewer.
type InterviewerFunc func(ctx context.Context, q Question) (Answer, error)

// Ask calls f.
func (f InterviewerFunc) Ask(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }

// ErrUnanswered is the error of an Interviewer if there will be no answer: no person is
// there, the question was dismissed, or the input has ended.
var ErrUnanswered = errors.New("nobody answered")

// ErrLate is the error of an Interviewer that itself limits the time for an answer. The
// gate then takes its default choice, or asks again under its retry policy.
var ErrLate = errors.New("no answer arrived in time")

// Question is what a human gate asks.
type Question struct {
	// Run is the run's id. Node is the path of the gate, with the index of the item, row or
	// round in brackets if it has one, such as "review[3]". Visit is the number of the visit
	// of the gate in a walk, from 1, or 0 in a dag. Attempt is the number of the attempt,
	// from 1: a question may be asked again if no answer arrived in time.
	Run     string `json:"run,omitempty"`
	Node    string `json:"node,omitempty"`
	Visit   int    `json:"visit,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Text is the question itself.
	Text string `json:"text"`
	// Show lists the values and files that are shown with the question, such as the plan to
	// approve.
	Show []Shown `json:"show,omitempty"`
	// Choices are what the person can choose, in declared order.
	Choices []Choice `json:"choices,omitempty"`
	// Freeform means that text that matches no choice is an answer, too.
	Freeform bool `json:"freeform,omitempty"`
	// Approval means that an approval of a flow asks. See LooseDecision.
	Approval bool `json:"approval,omitempty"`
	// Timeout limits the time for an answer, 0 if there is no limit; ctx ends then. Default
	// identifies the choice that is taken in that case, by its target or, if it has no
	// target, by its label. It is "" if there is none.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	Default string        `json:"default,omitempty"`
	// Again says why the question is asked again. It is "" the first time.
	Again string `json:"again,omitempty"`
}

// Shown is a value or file that is shown with a question.
type Shown struct {
	Name string `json:"name"` // as the document names it
	Text string `json:"text"` // its beginning, if it is long
	// Left is the number of bytes that Text leaves out.
	Left int `json:"left_out,omitempty"`
	// Missing says why there is nothing to show. It is "" otherwise.
	Missing string `json:"missing,omitempty"`
}

// Choice is one of the alternatives that a person can choose: an edge of a walk, or one of
// the choices of a gate in a dag.
type Choice struct {
	Key    string `json:"key"`              // the accelerator of the label
	Label  string `json:"label"`            // as written; the target if the edge has no label
	Target string `json:"target,omitempty"` // the node it leads to, "" in a dag
}

// Answer is the answer that an Interviewer received: a text, or one of the choices.
type Answer struct {
	// Text is what was typed.
	Text string `json:"text,omitempty"`
	// Choice is one of Question.Choices. If it is the zero Choice, Text is the answer;
	// otherwise Text does not affect which choice is meant.
	Choice Choice `json:"choice,omitzero"`
	// Note is what the person remarked about the decision. By is the name of the person.
	// Both are "" if they are not known.
	Note string `json:"note,omitempty"`
	By   string `json:"by,omitempty"`
}

// IsDefault reports whether a choice is taken if there is no answer within Timeout.
func (q *Question) IsDefault(c Choice) bool {
	if c.Target == "" {
		return q.Default != "" && c.Label == q.Default
	}
	return c.Target == q.Default
}

// Match returns the choices that an answer may mean: one if the answer is clear, none if it
// matches nothing, several if it is ambiguous. The text is compared with the keys, then
// with the labels as written, then with the labels in normal form, ignoring case and
// surrounding blanks.
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
