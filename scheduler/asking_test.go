package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// role is a kind whose nodes have a role in a walk.
type role struct {
	name    string
	role    core.Role
	handler core.HandlerFunc
}

func (k role) Name() string { return k.name }
func (role) Keys() []string { return nil }
func (k role) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	c := core.Compiled{Role: k.role}
	if k.handler != nil {
		c.Handler = k.handler
	}
	return c, nil
}

// besides builds a walk of two concurrent branches: a gate that asks, and a node that works.
func besides(t *testing.T, gate, work core.HandlerFunc, change ...func(fork, gate *core.Node)) *plan.Plan {
	t.Helper()
	w := &core.Workflow{Mode: core.ModeWalk, Name: source.Text{Value: "walk"}}
	for _, n := range []string{"start", "fork", "gate", "work", "meet", "exit"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: n}, Kind: source.Text{Value: n}})
	}
	for _, f := range change {
		f(w.Nodes[1], w.Nodes[2])
	}
	for _, e := range []string{"start fork", "fork gate", "fork work", "gate meet", "work meet", "meet exit"} {
		from, to, _ := strings.Cut(e, " ")
		w.Edges = append(w.Edges, &core.Edge{From: source.Text{Value: from}, To: source.Text{Value: to}})
	}
	p, ds := plan.Compile(w, core.NewRegistry(role{"start", core.RoleStart, nil}, role{"fork", core.RoleParallel, nil}, role{"gate", core.RoleHuman, gate},
		role{"work", core.RoleStage, work}, role{"meet", core.RoleStage, noop}, role{"exit", core.RoleExit, nil}), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// A gate that waits holds no slot: at a limit of one, the other node works while the gate waits.
// The gate does not need a slot to ask either: it asks while the other node has the only slot.
func TestAskingHoldsNoSlot(t *testing.T) {
	for name, o := range map[string]scheduler.Options{"concurrency": {Concurrency: 1}, "max in flight": {Concurrency: 9, MaxInFlight: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, worked := make(chan bool), make(chan bool)
				gate := func(ctx context.Context, _ core.Input) (core.Result, error) {
					close(asked)
					<-worked
					return core.Result{}, nil
				}
				work := func(ctx context.Context, _ core.Input) (core.Result, error) {
					<-asked
					close(worked)
					return core.Result{}, nil
				}
				r, err := scheduler.Run(t.Context(), besides(t, gate, work), nil, o)
				if err != nil || r.Status != core.RunSuccess {
					t.Errorf("%s, %v", r.Status, err)
				}
			})
		})
	}
}

func TestAskingEnds(t *testing.T) {
	waits := func(ctx context.Context, _ core.Input) (core.Result, error) {
		<-ctx.Done()
		return core.Result{}, ctx.Err()
	}
	for _, tt := range []struct {
		name  string
		gate  core.HandlerFunc
		class string // class of the gate's failure
		err   string // error of the run
	}{
		{"cancelled", waits, core.ClassCanceled, "the run was cancelled: context canceled"},
		{"ignores the end", func(context.Context, core.Input) (core.Result, error) {
			time.Sleep(time.Hour)
			return core.Result{}, nil
		}, core.ClassCanceled, "still running, because the handler ignored the end of its context: gate"},
		{"panics", func(context.Context, core.Input) (core.Result, error) { panic("boom") }, core.ClassPanic, ""},
		{"exits", func(context.Context, core.Input) (core.Result, error) { runtime.Goexit(); return core.Result{}, nil }, core.ClassPanic, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Minute, cancel)
				r, err := scheduler.Run(ctx, besides(t, tt.gate, noop), nil, scheduler.Options{Concurrency: 1})
				if n, _ := r.Node("gate"); n.Failure == nil || n.Failure.Class != tt.class {
					t.Errorf("gate: %+v", n.Failure)
				}
				if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				if stray, ok := errors.AsType[*core.StrayError](err); ok != (tt.name == "ignores the end") || ok && !slices.Equal(stray.Nodes, []string{"gate"}) {
					t.Errorf("left behind: %v", stray)
				}
				time.Sleep(2 * time.Hour) // the handler that was left behind ends
			})
		})
	}
}

// asks is a gate that returns the answer of the interviewer.
func asks(ctx context.Context, in core.Input) (core.Result, error) {
	ask := in.Shared().Ask
	if ask == nil {
		return core.Result{}, core.Permanent(core.ErrUnanswered)
	}
	a, err := ask(ctx, core.Question{Text: "Go?", Freeform: true, Timeout: time.Second, Default: "b", Again: "what?", Choices: []core.Choice{{Key: "a", Label: "A", Target: "x"}}})
	return core.Result{Note: a.Text}, err
}

// Questions and answers are events between the beginning and the end of the gate.
func TestAskingEvents(t *testing.T) {
	const question = `node.asked gate 1.1 Go? {"choices":[{"key":"a","label":"A","target":"x"}],"freeform":true,"timeout_ns":1000000000,"default":"b","again":"what?"}`
	for _, tt := range []struct {
		name string
		who  core.InterviewerFunc
		want string
	}{
		{"a choice", func(_ context.Context, q core.Question) (core.Answer, error) {
			return core.Answer{Choice: q.Choices[0]}, nil
		},
			question + `
node.answered gate 1.1 A x {"key":"a"}
node.finished`},
		{"a key", func(context.Context, core.Question) (core.Answer, error) { return core.Answer{Text: "a"}, nil }, question + `
node.answered gate 1.1 A x {"key":"a","text":"a"}
node.finished`},
		{"a text", func(context.Context, core.Question) (core.Answer, error) { return core.Answer{Text: "why?"}, nil }, question + `
node.answered gate 1.1 {"text":"why?"}
node.finished`},
		{"nothing", func(context.Context, core.Question) (core.Answer, error) { return core.Answer{}, core.ErrUnanswered }, question + `
node.answered gate 1.1 nobody answered
node.failed`},
		{"time is up", func(context.Context, core.Question) (core.Answer, error) {
			time.Sleep(time.Second)
			return core.Answer{}, context.DeadlineExceeded
		}, question + `
node.answered gate 1.1 no answer arrived in time
node.failed`},
		{"the time of something else is up", func(context.Context, core.Question) (core.Answer, error) {
			time.Sleep(time.Second - 1)
			return core.Answer{}, context.DeadlineExceeded
		}, question + `
node.answered gate 1.1 context deadline exceeded
node.failed`},
		{"nobody", nil, "node.failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			o := scheduler.Options{Listener: func(e core.Event) {
				switch {
				case e.Node != "gate" || e.Type == core.NodeReady || e.Type == core.NodeStarted:
				case e.Type != core.NodeAsked && e.Type != core.NodeAnswered:
					got = append(got, string(e.Type))
				default:
					line := fmt.Sprintf("%s %s %d.%d %s %s %s ", e.Type, e.Node, e.Visit, e.Attempt, e.Reason, e.Label, e.To)
					if e.Values != nil {
						line += value.JSON(e.Values)
					}
					got = append(got, strings.Join(strings.Fields(line), " "))
				}
			}}
			if tt.who != nil {
				o.Interviewer = tt.who
			}
			synctest.Test(t, func(t *testing.T) {
				if _, err := scheduler.Run(t.Context(), besides(t, asks, noop), nil, o); err != nil {
					t.Error(err)
				}
			})
			if got := strings.Join(got, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Without a listener the interviewer is asked directly.
func TestAskingUnheard(t *testing.T) {
	asked := 0
	who := core.InterviewerFunc(func(context.Context, core.Question) (core.Answer, error) {
		asked++
		return core.Answer{Text: "a"}, nil
	})
	r, err := scheduler.Run(t.Context(), besides(t, asks, func(_ context.Context, in core.Input) (core.Result, error) {
		if in.Shared().Ask != nil {
			t.Error("a stage is given the interviewer")
		}
		return core.Result{}, nil
	}), nil, scheduler.Options{Interviewer: who})
	if n, _ := r.Node("gate"); err != nil || asked != 1 || n.Note != "a" {
		t.Errorf("asked %d times: %v, %+v", asked, err, n)
	}
}

// The timeout of the node cancels the question.
func TestAskingTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		who := core.InterviewerFunc(func(ctx context.Context, _ core.Question) (core.Answer, error) {
			<-ctx.Done()
			return core.Answer{}, ctx.Err()
		})
		r, err := scheduler.Run(t.Context(), besides(t, asks, noop, func(_, gate *core.Node) { timeout(time.Minute)(gate) }), nil, scheduler.Options{Interviewer: who, Concurrency: 1})
		if n, _ := r.Node("gate"); err != nil || n.Failure == nil || n.Failure.Class != core.ClassTimeout || n.Duration != time.Minute {
			t.Errorf("%v, %+v", err, n)
		}
	})
}

// A gate that is no longer needed is cancelled: its context ends.
func TestAskingInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		gate := func(ctx context.Context, _ core.Input) (core.Result, error) {
			<-ctx.Done()
			ended = true
			return core.Result{}, ctx.Err()
		}
		p := besides(t, gate, noop, func(fork, _ *core.Node) { fork.Join = core.JoinOf(source.Text{Value: core.JoinFirstSuccess}) })
		r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: 1})
		if err != nil || !ended || r.Status != core.RunSuccess {
			t.Errorf("%v, %v", r.Status, err)
		}
	})
}
