package llmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/llm"
)

// recorder is a testing.TB that records errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

func TestScript(t *testing.T) {
	boom := errors.New("boom")
	m := Script(t,
		Route("review", "fix").At(1),
		Route("review", "out"),
		Judge("", "pass").Once(),
		Answer{Purpose: llm.PurposeRun, Turn: 1, Calls: []llm.ToolCall{{ID: "1", Name: "look", Arguments: "{}"}}},
		Answer{Contains: "secret word", Text: "found it"},
		Answer{Purpose: llm.PurposeRun, Refusal: "no", Finish: llm.FinishFilter, Input: 5, Output: 3},
		Answer{Err: boom},
	)
	for _, tt := range []struct {
		r            llm.Request
		text, finish string
	}{
		{llm.Request{Purpose: "route", Node: "review", Visit: 1}, "fix", "stop"},
		{llm.Request{Purpose: "route", Node: "review", Visit: 2}, "out", "stop"},
		{llm.Request{Purpose: "judge", Node: "x"}, "pass", "stop"},
		{llm.Request{Purpose: "run", Turn: 1}, "", "tool_calls"},
		{llm.Request{Purpose: "run", Turn: 2, Messages: []llm.Message{{Text: "a"}, {Text: "the secret word is b"}}}, "found it", "stop"},
		{llm.Request{Purpose: "run", Turn: 2}, "", "content_filter"},
	} {
		r, err := m.Complete(t.Context(), &tt.r)
		if err != nil || r.Text != tt.text || r.Finish != tt.finish || r.Usage.Calls != 1 || r.Model != "scripted" {
			t.Errorf("%+v: got %+v, %v", tt.r, r, err)
		}
	}
	if _, err := m.Complete(t.Context(), &llm.Request{Purpose: "judge"}); err != boom {
		t.Errorf("the answer for one request was given again: %v", err)
	}
	if got := []int{m.Count("route", ""), m.Count("route", "review"), m.Count("run", ""), m.Count("", "")}; fmt.Sprint(got) != "[2 2 3 7]" {
		t.Errorf("got %v requests", got)
	}
	if r := m.Requests()[4]; len(r.Messages) != 2 {
		t.Errorf("got %+v", r)
	}
}

// A request that the script does not expect is an error, not an answer.
func TestScriptIsMissingAnAnswer(t *testing.T) {
	rec := &recorder{TB: t}
	_, err := Script(rec, Run("a", "x")).Complete(t.Context(), &llm.Request{Purpose: "run", Node: "b", Visit: 1, Messages: []llm.Message{{Role: llm.User, Text: "hello"}}})
	want := "no answer for purpose \"run\" of node \"b\", visit 1, turn 0:\nuser: hello"
	if err == nil || !strings.Contains(err.Error(), want) || len(rec.errors) != 1 || !strings.Contains(rec.errors[0], want) {
		t.Errorf("got %v and reported %q", err, rec.errors)
	}
	if _, err := Script(nil).Complete(t.Context(), &llm.Request{}); err == nil {
		t.Error("no error without a test")
	}
}

func TestScriptDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Script(t, Answer{Text: "late", Delay: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Complete(ctx, &llm.Request{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		start := time.Now()
		if r, err := m.Complete(t.Context(), &llm.Request{}); err != nil || r.Text != "late" || time.Since(start) != time.Minute {
			t.Errorf("got %+v, %v after %v", r, err, time.Since(start))
		}
	})
}

func TestScriptByFunction(t *testing.T) {
	m := Script(t, Answer{Func: func(_ context.Context, r *llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: "for " + r.Node}, nil
	}})
	if r, err := m.Complete(t.Context(), &llm.Request{Node: "x"}); err != nil || r.Text != "for x" {
		t.Errorf("got %+v, %v", r, err)
	}
}
