package wavefold_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store/memory"
)

func TestStartedRun(t *testing.T) {
	n := wavefold.NewField[int]("n")
	begun, proceed := make(chan struct{}), make(chan struct{})
	g := wavefold.New("started",
		wavefold.Func("first", nil, wavefold.Fields(n), func(context.Context, core.Input) (core.Result, error) { return core.Write("n", 1), nil }),
		wavefold.Func("second", nil, nil, func(context.Context, core.Input) (core.Result, error) {
			close(begun)
			<-proceed
			return core.Result{}, nil
		}, wavefold.After("first")),
	)
	r, err := g.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	var types []core.EventType
	r.Listen(func(e core.Event) { types = append(types, e.Type) })
	stop := r.Listen(func(core.Event) { panic("a listener that panics harms nobody") })
	defer stop()
	if v, _ := r.State().Get("n"); v != 1 {
		t.Errorf("the state so far has n = %v", v)
	}
	close(proceed)
	res, err := r.Wait()
	if err != nil || n.Get(res) != 1 {
		t.Errorf("n = %d, error %v", n.Get(res), err)
	}
	if len(types) == 0 || types[len(types)-1] != core.RunFinished {
		t.Errorf("the listener was told %v", types)
	}
}

func TestCancelledRunNamesTheReason(t *testing.T) {
	g := wavefold.New("endless", wavefold.Func("wait", nil, nil, func(ctx context.Context, _ core.Input) (core.Result, error) {
		<-ctx.Done()
		return core.Result{}, ctx.Err()
	}))
	r, err := g.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Cancel("the customer has changed her mind")
	res, err := r.Wait()
	if res.Status != core.RunCancelled || err == nil || err.Error() != "the run was cancelled: the customer has changed her mind" {
		t.Errorf("status %s, error %v", res.Status, err)
	}
}

func TestResumeInGo(t *testing.T) {
	n := wavefold.NewField[int]("n")
	calls := map[string]int{}
	down := true
	graph := func() *wavefold.Graph {
		return wavefold.New("resumed",
			wavefold.Func("first", nil, wavefold.Fields(n), func(context.Context, core.Input) (core.Result, error) {
				calls["first"]++
				return core.Write("n", 1), nil
			}),
			wavefold.Func("second", nil, wavefold.Fields(n), func(ctx context.Context, in core.Input) (core.Result, error) {
				calls["second"]++
				if down {
					return core.Result{}, errors.New("the service is down")
				}
				return core.Write("n", 2), nil
			}, wavefold.After("first")),
		)
	}
	s := memory.New(nil)
	_, err := graph().Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r"), wavefold.WithDurability(wavefold.Full))
	if err == nil {
		t.Fatal("the service is up")
	}
	if _, err := graph().Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r")); err == nil {
		t.Error("a run with the id of another one was started")
	}
	down = false
	r, err := graph().Resume(t.Context(), "r", wavefold.WithStore(s))
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Wait()
	if err != nil || n.Get(res) != 2 {
		t.Errorf("n = %d, error %v", n.Get(res), err)
	}
	if calls["first"] != 1 || calls["second"] != 2 {
		t.Errorf("the functions were called %v times", calls)
	}
}

func TestPauseInGo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		option wavefold.Option
		before int // calls of the function before the answer
	}{{"before", wavefold.PauseBefore(), 0}, {"after", wavefold.PauseAfter(), 1}} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			g := wavefold.New("paused", wavefold.Func("send", nil, nil, func(context.Context, core.Input) (core.Result, error) {
				calls++
				return core.Result{}, nil
			}, tt.option))
			s := memory.New(nil)
			_, err := g.Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r"))
			paused, ok := errors.AsType[*core.PausedError](err)
			if !ok || len(paused.Questions) != 1 || calls != tt.before {
				t.Fatalf("error %v after %d calls", err, calls)
			}
			q := paused.Questions[0]
			if _, err := inbox.Post(t.Context(), s, "r", wavefold.Answer{Node: q.Node, Visit: q.Visit, Attempt: q.Attempt, Choice: "continue"}); err != nil {
				t.Fatal(err)
			}
			r, err := g.Resume(t.Context(), "r", wavefold.WithStore(s))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Wait(); err != nil || calls != 1 {
				t.Errorf("%d calls, error %v", calls, err)
			}
		})
	}
}

// TestConcurrencyKeyInGo starts a run while another one has its key, and one whose key is another.
func TestConcurrencyKeyInGo(t *testing.T) {
	day := wavefold.NewField[string]("day")
	begun, proceed := make(chan struct{}, 2), make(chan struct{})
	g := wavefold.New("load", wavefold.ConcurrencyKey("load-{{$input.day}}", core.OverlapFail),
		wavefold.Func("load", wavefold.Fields(day), nil, func(context.Context, core.Input) (core.Result, error) {
			begun <- struct{}{}
			<-proceed
			return core.Result{}, nil
		}))
	s := memory.New(nil)
	start := func(value string) (*wavefold.Running, error) {
		return g.Start(t.Context(), day.Is(value), wavefold.WithStore(s))
	}
	monday, err := start("monday")
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	_, err = start("monday")
	if overlap, ok := errors.AsType[*core.OverlapError](err); !ok || overlap.Key != "load-monday" || overlap.Run != monday.ID() {
		t.Errorf("the error is %v", err)
	}
	tuesday, err := start("tuesday")
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	close(proceed)
	for _, r := range []*wavefold.Running{monday, tuesday} {
		if _, err := r.Wait(); err != nil {
			t.Error(err)
		}
	}
	again, err := start("monday")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Wait(); err != nil {
		t.Error(err)
	}
}
