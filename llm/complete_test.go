package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
)

// watch returns a context whose meter records the calls and rejects them with refuse.
func watch(t *testing.T, refuse error) (context.Context, *[]core.ModelCall) {
	var calls []core.ModelCall
	return core.WithMeter(t.Context(), &core.Meter{
		Ask:      func(core.ModelCall) error { return refuse },
		Answered: func(c core.ModelCall) { calls = append(calls, c) },
	}), &calls
}

func TestCompleteIsMetered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, calls := watch(t, nil)
		m := llmtest.Script(t, llmtest.Answer{Text: "hi", Input: 7, Output: 2, Delay: time.Second})
		r, err := llm.Complete(ctx, m, &llm.Request{Purpose: llm.PurposeRun, Turn: 3, Model: "small"})
		if err != nil || r.Text != "hi" {
			t.Fatalf("got %+v, %v", r, err)
		}
		want := core.ModelCall{Purpose: "run", Model: "small", Turn: 3, Usage: core.Usage{Calls: 1, Input: 7, Output: 2}, Duration: time.Second, Finish: "stop"}
		if len(*calls) != 1 || (*calls)[0] != want {
			t.Errorf("got %+v, want %+v", *calls, want)
		}
	})
}

func TestCompleteOutOfBudget(t *testing.T) {
	over := core.FailRun(core.Categorized(errors.New("the budget is used up"), core.BudgetExhausted))
	ctx, calls := watch(t, over)
	m := llmtest.Script(t)
	if _, err := llm.Complete(ctx, m, &llm.Request{}); err != over {
		t.Errorf("got %v", err)
	}
	if m.Count("", "") != 0 || len(*calls) != 0 {
		t.Error("the model was called")
	}
}

func TestCompleteFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		model llm.Func
		text  string
		check func(*core.Failure) bool
	}{
		{"a panic", func(context.Context, *llm.Request) (*llm.Response, error) { panic("oops") }, "panicked: oops",
			func(f *core.Failure) bool {
				return f.Class == core.ClassPanic && strings.Contains(f.Stack, "complete_test.go")
			}},
		{"nothing", func(context.Context, *llm.Request) (*llm.Response, error) { return nil, nil }, "neither an answer",
			func(f *core.Failure) bool { return f.InCategory() == core.Deterministic }},
		{"busy", func(context.Context, *llm.Request) (*llm.Response, error) {
			return nil, fmt.Errorf("asking: %w", &llm.StatusError{Status: 429, RetryAfter: 3 * time.Second, Message: "slow down"})
		}, "429 Too Many Requests: slow down",
			func(f *core.Failure) bool {
				return f.InCategory() == core.TransientInfra && f.RetryAfter == 3*time.Second
			}},
		{"no money", func(context.Context, *llm.Request) (*llm.Response, error) {
			return nil, core.Categorized(&llm.StatusError{Status: 429, RetryAfter: time.Second}, core.BudgetExhausted)
		}, "429", func(f *core.Failure) bool { return f.InCategory() == core.BudgetExhausted && f.RetryAfter == 0 }},
		{"no key", func(context.Context, *llm.Request) (*llm.Response, error) { return nil, &llm.StatusError{Status: 401} }, "401 Unauthorized",
			func(f *core.Failure) bool { return f.InCategory() == core.Deterministic }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, calls := watch(t, nil)
			r, err := llm.Complete(ctx, tt.model, &llm.Request{})
			if r != nil || err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, %v", r, err)
			}
			if f := core.FailureOf(err); !tt.check(f) {
				t.Errorf("got the failure %+v", f)
			}
			if len(*calls) != 1 || (*calls)[0].Err != err || (*calls)[0].Usage.Calls != 0 {
				t.Errorf("told of %+v", *calls)
			}
		})
	}
}

func TestCompleteWithoutMeter(t *testing.T) {
	m := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) { return &llm.Response{Text: "x"}, nil })
	r, err := llm.Complete(core.WithMeter(t.Context(), &core.Meter{}), m, &llm.Request{Model: "small"})
	if err != nil || r.Usage.Calls != 1 || r.Model != "small" {
		t.Errorf("got %+v, %v", r, err)
	}
	if got := llm.Lacks(m, &llm.Request{Hosted: []string{llm.WebSearch}}); got != "" {
		t.Errorf("a model that does not say what it lacks lacks %q", got)
	}
}
