package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store/file"
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

// TestWhatRunsAgain resumes a run that has ended as a partial success.
func TestWhatRunsAgain(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options []wavefold.RunOption
		want    string // the functions that are called again
		err     error
	}{
		{"nothing", nil, "", scheduler.ErrEnded},
		{"from a node", []wavefold.RunOption{wavefold.RerunFrom("first")}, "first second tolerated ", nil},
		{"from two nodes", []wavefold.RunOption{wavefold.RerunFrom("second"), wavefold.RerunFrom("tolerated")}, "second tolerated ", nil},
		{"what has failed", []wavefold.RunOption{wavefold.RerunFailed()}, "tolerated ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := wavefold.NewField[int]("n")
			calls := ""
			g := wavefold.New("again",
				wavefold.Func("first", nil, wavefold.Fields(n), func(context.Context, core.Input) (core.Result, error) {
					calls += "first "
					return core.Write("n", 1), nil
				}),
				wavefold.Func("second", wavefold.Fields(n), nil, func(context.Context, core.Input) (core.Result, error) {
					calls += "second "
					return core.Result{}, nil
				}),
				wavefold.Func("tolerated", nil, nil, func(context.Context, core.Input) (core.Result, error) {
					calls += "tolerated "
					return core.Result{}, errors.New("the service is down")
				}, wavefold.OnError(wavefold.Skip), wavefold.After("second")),
			)
			s := memory.New(nil)
			if _, err := g.Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r")); err != nil {
				t.Fatal(err)
			}
			calls = ""
			r, err := g.Resume(t.Context(), "r", append(tt.options, wavefold.WithStore(s))...)
			if err == nil {
				_, err = r.Wait()
			}
			if !errors.Is(err, tt.err) || calls != tt.want {
				t.Errorf("called again: %q, want %q; error %v", calls, tt.want, err)
			}
		})
	}
}

// TestResumeOfAChangedDocument: each node of the document prints its name and the word of the document.
func TestResumeOfAChangedDocument(t *testing.T) {
	const document = `
name: changed
state: {schema: {first: {type: string}, second: {type: string}}}
graph:
  nodes:
    - {id: one, kind: command, run: [echo, WORD], writes: [first]}
    - {id: two, kind: command, run: [sh, -c, "test -f ok && echo WORD"], writes: [second]}
  edges: [{from: one, to: two}]
`
	for _, tt := range []struct {
		name    string
		options []wavefold.RunOption
		want    string // the state
		changed bool   // the error is a scheduler.ChangedError
	}{
		{"no option", nil, "", true},
		{"keep", []wavefold.RunOption{wavefold.Keep("one")}, "old new", false},
		{"rerun", []wavefold.RunOption{wavefold.RerunFrom("one")}, "new new", false},
		{"as recorded", []wavefold.RunOption{wavefold.AsRecorded()}, "old old", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := file.Open(filepath.Join(dir, ".wavefold"), file.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			write("w.yaml", strings.ReplaceAll(document, "WORD", "old"))
			e := wavefold.NewEngine()
			g, err := e.Load(filepath.Join(dir, "w.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r")); err == nil {
				t.Fatal("node two has succeeded")
			}
			write("ok", "")
			write("w.yaml", strings.ReplaceAll(document, "WORD", "new"))
			r, err := e.Resume(t.Context(), "r", append(tt.options, wavefold.WithStore(s))...)
			if _, changed := errors.AsType[*scheduler.ChangedError](err); changed || tt.changed {
				if changed != tt.changed {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Wait()
			if err != nil {
				t.Fatal(err)
			}
			first, _ := res.State.Get("first")
			second, _ := res.State.Get("second")
			if got := fmt.Sprint(first, " ", second); got != tt.want {
				t.Errorf("the state is %q, want %q", got, tt.want)
			}
		})
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

// Parts with Cached and CacheKey take results of earlier runs on the same store, each item on its own. Typed
// functions do not see the index, so it does not count.
func TestCached(t *testing.T) {
	calls := map[string]int{}
	var mu sync.Mutex
	count := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		calls[what]++
	}
	words, lengths, total := wavefold.NewField[[]string]("words"), wavefold.NewField[[]int]("lengths", wavefold.Append), wavefold.NewField[int]("total")
	g := wavefold.New("cached",
		wavefold.Each("measure", words, lengths, func(_ context.Context, w string) (int, error) {
			count("measure " + w)
			return len(w), nil
		}, wavefold.Cached(time.Hour), wavefold.Limit(4)),
		wavefold.Map("add", lengths, total, func(_ context.Context, list []int) (int, error) {
			count("add")
			sum := 0
			for _, n := range list {
				sum += n
			}
			return sum, nil
		}, wavefold.CacheKey("length($.lengths)"), wavefold.Version("1")))
	s := memory.New(nil)
	run := func(want string, options ...wavefold.RunOption) {
		t.Helper()
		r, err := g.Run(t.Context(), append(options, wavefold.WithStore(s))...)
		if got := fmt.Sprint(lengths.Get(r), total.Get(r), calls); err != nil || got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
	run("[3 5] 8 map[add:1 measure green:1 measure red:1]", words.Is([]string{"red", "green"}))
	run("[5 4] 8 map[add:1 measure blue:1 measure green:1 measure red:1]", words.Is([]string{"green", "blue"}))
	run("[5] 5 map[add:2 measure blue:1 measure green:2 measure red:1]", words.Is([]string{"green"}), wavefold.WithoutCache())
	run("[4] 4 map[add:3 measure blue:2 measure green:2 measure red:1]", words.Is([]string{"blue"}), wavefold.WithRefresh("measure"))
}
