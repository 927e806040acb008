package nodestest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// patience limits the time in which a handler must return after its context has ended. It
// matters only to failing tests.
const patience = 20 * time.Second

func (s suite) cancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.call(t, ctx, s.input(&Log{}))
	if !s.c.Ignores && !errors.Is(err, context.Canceled) {
		t.Errorf("called with a cancelled context: got error %v, want one that is context.Canceled", err)
	}
}

func (s suite) cancelledDuring(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &Log{On: func(line string) {
		if line == "ready" {
			cancel()
		}
	}}
	_, err := s.call(t, ctx, s.input(log))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while at work: got error %v, want one that is context.Canceled", err)
	}
}

// call calls the handler and fails the test if it does not return within patience.
func (s suite) call(t *testing.T, ctx context.Context, in core.Input) (core.Result, error) {
	t.Helper()
	type answer struct {
		r   core.Result
		err error
	}
	got := make(chan answer, 1)
	go func() {
		r, err := s.h.Handle(ctx, in)
		got <- answer{r, err}
	}()
	select {
	case a := <-got:
		return a.r, a.err
	case <-time.After(patience):
		t.Fatalf("the handler did not return within %s", patience)
		return core.Result{}, nil
	}
}

func (s suite) result(t *testing.T) {
	r, err := s.h.Handle(t.Context(), s.input(&Log{}))
	if err != nil {
		t.Fatalf("the handler failed: %v", err)
	}
	if got := Text(r); s.c.Want != "" && got != s.c.Want {
		t.Errorf("got %s, want %s", got, s.c.Want)
	}
	writes := source.Strings(Node(t, s.c.Node).Writes)
	for field := range r.Writes() {
		if !slices.Contains(writes, field) {
			t.Errorf("the result writes %q, which is not among the writes %q", field, writes)
		}
	}
}

// missingInput calls the handler with an empty input. The handler may fail and must not panic.
func (s suite) missingInput(t *testing.T) {
	_, _ = s.call(t, t.Context(), core.NewInput("", "", 1, core.Shared{}))
}

func (s suite) concurrent(t *testing.T) {
	in := s.input(&Log{})
	texts := make([]string, 8)
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() {
			r, err := s.h.Handle(t.Context(), in)
			if err != nil {
				t.Errorf("call %d of %d at a time: %v", i, len(texts), err)
			}
			texts[i] = Text(r)
		})
	}
	wg.Wait()
	if slices.Sort(texts); !s.c.Varies && texts[0] != texts[len(texts)-1] {
		t.Errorf("calls at a time gave different results:\n%s\n%s", texts[0], texts[len(texts)-1])
	}
}

// ownership checks that the caller owns a result: changing it affects neither the next result nor
// the input.
func (s suite) ownership(t *testing.T) {
	in := s.input(&Log{})
	first, err := s.h.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := Text(first)
	if got := inputText(in); got != s.before {
		t.Errorf("the handler changed its input:\nbefore %s\nafter  %s", s.before, got)
	}
	mutateResult(first)
	if got := inputText(in); got != s.before {
		t.Errorf("the result shares values with the input:\nbefore %s\nafter  %s", s.before, got)
	}
	second, err := s.h.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := Text(second); !s.c.Varies && got != want {
		t.Errorf("the result shares values with the next one:\nfirst  %s\nsecond %s", want, got)
	}
}

// inputText returns the content of an input as JSON.
func inputText(in core.Input) string {
	s := in.Shared()
	return value.JSON([]any{s.Args, s.View.Object(), s.Extra.Object(), s.Edges, s.Item, s.Inputs})
}
