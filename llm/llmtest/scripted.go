// Package llmtest helps to test what talks to language models: a model that answers from
// a script, and a server that speaks the API of OpenAI and can be made to fail.
package llmtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/llm"
)

// Answer is what a scripted model says to certain requests. The fields of the first group
// say to which: a zero field fits all. A request that comes to a Server tells neither its
// purpose nor node, visit and turn: only Contains and Times fit those.
type Answer struct {
	Purpose  string // llm.PurposeRun, llm.PurposeRoute, llm.PurposeJudge …
	Node     string
	Visit    int
	Turn     int
	Contains string // a part of the text of one of the messages
	Times    int    // how many requests it answers, 0 for any number

	// Text is the answer; a choice of edges is answered with the id of the node that the edge
	// leads to, with "none", or with the JSON that was asked for.
	Text    string
	Calls   []llm.ToolCall
	Refusal string
	// Finish is the reason to stop, by default llm.FinishTools with Calls, else
	// llm.FinishStop.
	Finish string
	// Input and Output are tokens, by default as many as the messages and the text have
	// words.
	Input, Output int64
	// Err makes the call fail, and Delay takes its time before.
	Err   error
	Delay time.Duration
	// Func, if not nil, answers instead of all of these.
	Func func(ctx context.Context, r *llm.Request) (*llm.Response, error)
}

// Scripted is a model that answers from a script and remembers what it was asked. It is
// safe for concurrent use.
type Scripted struct {
	t testing.TB

	mu       sync.Mutex
	answers  []Answer
	used     []int
	requests []llm.Request
}

var _ llm.Capable = (*Scripted)(nil)

// Script returns a model that gives to each request the first of the answers that fits
// and is not used up. A request that none fits is an error of the call and of the test; t
// may be nil.
func Script(t testing.TB, answers ...Answer) *Scripted {
	return &Scripted{t: t, answers: answers, used: make([]int, len(answers))}
}

// Run returns the answer to the calls that do the work of a node.
func Run(node, text string) Answer {
	return Answer{Purpose: llm.PurposeRun, Node: node, Text: text}
}

// Route returns the answer to the calls that choose the way on after a node: the id of the
// node to go to.
func Route(node, to string) Answer {
	return Answer{Purpose: llm.PurposeRoute, Node: node, Text: to}
}

// Judge returns the answer to the calls that judge the result of a node.
func Judge(node, text string) Answer {
	return Answer{Purpose: llm.PurposeJudge, Node: node, Text: text}
}

// At returns the answer for one visit only.
func (a Answer) At(visit int) Answer {
	a.Visit = visit
	return a
}

// Once returns the answer for one request only.
func (a Answer) Once() Answer {
	a.Times = 1
	return a
}

// Complete answers.
func (s *Scripted) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	a, ok := s.next(r)
	if !ok {
		err := unanswered(fmt.Sprintf("the script has no answer for %s:\n%s", nameOf(r), textOf(r)))
		if s.t != nil {
			s.t.Error(err)
		}
		return nil, err
	}
	if a.Func != nil {
		return a.Func(ctx, r)
	}
	if a.Delay > 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(a.Delay):
		}
	}
	if a.Err != nil {
		return nil, a.Err
	}
	return a.response(r), nil
}

// unanswered is the error of a request that no answer fits.
type unanswered string

func (u unanswered) Error() string { return string(u) }

func nameOf(r *llm.Request) string {
	if r.Purpose == "" && r.Node == "" {
		return "a request that tells neither purpose nor node nor visit, as none does that comes to a server (pick the answer by Contains)"
	}
	return fmt.Sprintf("purpose %q of node %q, visit %d, turn %d", r.Purpose, r.Node, r.Visit, r.Turn)
}

// Lacks returns "": a script can say anything.
func (s *Scripted) Lacks(*llm.Request) string { return "" }

func (s *Scripted) next(r *llm.Request) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := *r
	kept.Messages = slices.Clone(r.Messages)
	s.requests = append(s.requests, kept)
	for i, a := range s.answers {
		if (a.Times == 0 || s.used[i] < a.Times) && a.fits(r) {
			s.used[i]++
			return a, true
		}
	}
	return Answer{}, false
}

func (a *Answer) fits(r *llm.Request) bool {
	return (a.Purpose == "" || a.Purpose == r.Purpose) && (a.Node == "" || a.Node == r.Node) &&
		(a.Visit == 0 || a.Visit == r.Visit) && (a.Turn == 0 || a.Turn == r.Turn) &&
		(a.Contains == "" || slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return strings.Contains(m.Text, a.Contains) }))
}

func (a *Answer) response(r *llm.Request) *llm.Response {
	out := &llm.Response{Text: a.Text, Calls: slices.Clone(a.Calls), Refusal: a.Refusal, Finish: a.Finish, Model: r.Model}
	if out.Finish == "" {
		out.Finish = llm.FinishStop
		if len(a.Calls) > 0 {
			out.Finish = llm.FinishTools
		}
	}
	if out.Model == "" {
		out.Model = "scripted"
	}
	out.Usage.Calls = 1
	if out.Usage.Input = a.Input; a.Input == 0 {
		out.Usage.Input = words(textOf(r))
	}
	if out.Usage.Output = a.Output; a.Output == 0 {
		out.Usage.Output = words(a.Text)
	}
	return out
}

// Requests returns what the model was asked so far, in order of the calls.
func (s *Scripted) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns how many requests there were of a purpose and for a node; "" counts all.
func (s *Scripted) Count(purpose, node string) int {
	n := 0
	for _, r := range s.Requests() {
		if (purpose == "" || purpose == r.Purpose) && (node == "" || node == r.Node) {
			n++
		}
	}
	return n
}

func textOf(r *llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
	}
	return b.String()
}

func words(s string) int64 { return int64(len(strings.Fields(s))) }
