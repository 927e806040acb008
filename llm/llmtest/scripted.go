// Package llmtest supports tests of code that calls language models. It provides a model
// that answers from a script, and a server that implements the API of OpenAI and can inject
// faults.
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
	_ "github.com/wavefold/wavefold/llm/jsonschema" // nodes check the answers
)

// Answer is an entry of a script. The fields of the first group select the requests that it
// answers; a zero field matches every request. A request that arrives at a Server carries
// no purpose, node, visit or turn: only Contains and Times apply to it.
type Answer struct {
	Purpose  string // llm.PurposeRun, llm.PurposeRoute, llm.PurposeJudge …
	Node     string
	Visit    int
	Turn     int
	Contains string // a substring of one of the messages
	Times    int    // maximum number of requests it answers, 0 for no maximum

	// Text is the answer. The answer to a choice of edges is the id of the node that the
	// edge leads to, "none", or the JSON that the prompt requires.
	Text    string
	Calls   []llm.ToolCall
	Refusal string
	// Finish is the reason to stop. The default is llm.FinishTools with Calls, else
	// llm.FinishStop.
	Finish string
	// Input and Output are token counts. The default is the number of words in the messages
	// and in the text.
	Input, Output int64
	// Err makes the call fail. Delay passes before the answer or the error.
	Err   error
	Delay time.Duration
	// Func, if not nil, replaces all of these.
	Func func(ctx context.Context, r *llm.Request) (*llm.Response, error)
}

// Scripted is a model that answers from a script and records its requests. It is safe for
// concurrent use.
type Scripted struct {
	t testing.TB

	mu       sync.Mutex
	answers  []Answer
	used     []int
	requests []llm.Request
}

var _ llm.Capable = (*Scripted)(nil)

// Script returns a model that responds to each request with the first answer that matches
// it and is not used up. A request without a matching answer fails the call and the test; t
// may be nil.
func Script(t testing.TB, answers ...Answer) *Scripted {
	return &Scripted{t: t, answers: answers, used: make([]int, len(answers))}
}

// Run returns an answer to the calls that do the work of a node.
func Run(node, text string) Answer {
	return Answer{Purpose: llm.PurposeRun, Node: node, Text: text}
}

// Route returns an answer to the calls that choose the edge after a node: the id of the
// next node.
func Route(node, to string) Answer {
	return Answer{Purpose: llm.PurposeRoute, Node: node, Text: to}
}

// Judge returns an answer to the calls that judge the result of a node.
func Judge(node, text string) Answer {
	return Answer{Purpose: llm.PurposeJudge, Node: node, Text: text}
}

// At restricts the answer to one visit.
func (a Answer) At(visit int) Answer {
	a.Visit = visit
	return a
}

// Once restricts the answer to one request.
func (a Answer) Once() Answer {
	a.Times = 1
	return a
}

// Complete returns the answer that matches the request.
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

// unanswered is the error of a request without a matching answer.
type unanswered string

func (u unanswered) Error() string { return string(u) }

func nameOf(r *llm.Request) string {
	if r.Purpose == "" && r.Node == "" {
		return "a request that tells neither purpose nor node nor visit, as none does that comes to a server (pick the answer by Contains)"
	}
	return fmt.Sprintf("purpose %q of node %q, visit %d, turn %d", r.Purpose, r.Node, r.Visit, r.Turn)
}

// Lacks returns "": a script supports every request.
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

// Requests returns the requests so far, in order of the calls.
func (s *Scripted) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns the number of requests with a purpose and for a node; "" matches any.
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
