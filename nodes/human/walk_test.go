package human_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
)

// walk runs a document with a gate that has the given settings, and with one edge on each line of
// edges. Other nodes wait for 0 seconds.
func walk(t *testing.T, settings, edges string, who core.Interviewer) (*core.Report, error) {
	t.Helper()
	text := "digraph Walk {\nnode [shape=insulator, duration=0s]\nstart [shape=Mdiamond]\nexit [shape=Msquare]\ngate [shape=hexagon" + settings + "]\nstart -> gate\n" + edges + "}"
	e := wavefold.NewEngine(std.Kinds()...)
	w, _ := e.Parse("walk.dot", []byte(text))
	p, ds := e.Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	return scheduler.Run(t.Context(), p, nil, scheduler.Options{Interviewer: who, Concurrency: 1})
}

func TestWalks(t *testing.T) {
	const review = `gate -> ship [label="[A] Approve"]
		gate -> edit [label="[R] Revise"]
		ship -> exit
		edit -> gate
		`
	const gone = "gate -> gone [label=\"[G] Gone\", condition=\"context.human.gate.selected=G\"]\ngone -> exit\n"
	for _, tt := range []struct {
		name     string
		settings string
		edges    string
		who      core.Interviewer
		want     string // the path, and the class of the failure
	}{
		{"approved", "", review, human.Queue("a"), "start gate ship exit"},
		{"revised once", "", review, human.Queue("r", "approve"), "start gate edit gate ship exit"},
		{"the first choice", "", review, human.AutoApprove(), "start gate ship exit"},
		{"another type name", `, type="wait.human"`, review, human.Queue("a"), "start gate ship exit"},
		// The weight of an edge does not matter to a gate.
		{"a heavy edge", "", "gate -> heavy [weight=9]\nheavy -> exit\n" + review, human.Queue("a"), "start gate ship exit"},
		{"a condition beats the answer", "", "gate -> first [condition=\"outcome=success\"]\nfirst -> exit\n" + review, human.Queue("r"), "start gate first exit"},
		{"the label in a condition", "", "gate -> next [condition=\"preferred_label=Approve\"]\nnext -> exit\n" + review, human.Queue("a"), "start gate ship exit"},
		{"the raw label in a condition", "", "gate -> next [condition=\"preferred_label=\\\"[A] Approve\\\"\"]\nnext -> exit\n" + review, human.Queue("a"), "start gate next exit"},
		{"what was selected in a condition", "", "gate -> next [condition=\"context.human.gate.selected=A\"]\nnext -> exit\n" + review, human.Queue("a"), "start gate next exit"},
		{"no labels", "", "gate -> b\ngate -> a\na -> exit\nb -> exit\n", human.Queue("b"), "start gate b exit"},
		{"the same label", "", "gate -> b [label=\"[X] Go\"]\ngate -> a [label=\"[Y] Go\"]\na -> exit\nb -> exit\n", human.Queue("y"), "start gate a exit"},
		{"freeform", "", "gate -> chat [freeform=true]\nchat -> gate\n" + review, human.Queue("why?", "a"), "start gate chat gate ship exit"},

		// A choice whose edge is not live is not replaced by another one.
		{"a choice that counts", "", gone + review, human.Queue("g"), "start gate gone exit"},
		{"a choice that does not count", "", strings.ReplaceAll(gone, "=G", "=H") + review, human.Queue("g"), "start gate; no_route"},
		{"a default that does not count", ", timeout=1h, max_visits=2, human.default_choice=gone", strings.ReplaceAll(gone, "=G", "=H") + review, waits, "start gate; no_route"},

		{"unanswered", "", review, human.Queue(), "start gate; no_route"},
		{"nobody", "", review, nil, "start gate; no_route"},
		{"unanswered, with a default", ", timeout=1h, human.default_choice=ship", review, human.Queue(), "start gate; no_route"},
		{"no answer after all", "", review, human.Queue("maybe"), "start gate; no_route"},
		{"unanswered, with a condition", "", "gate -> alarm [condition=\"outcome=fail\"]\nalarm -> exit\n" + review, human.Queue(), "start gate alarm exit"},
		{"unanswered, with a target", ", retry_target=alarm", "alarm -> exit\n" + review, human.Queue(), "start gate alarm exit"},
		{"unanswered, tried again in vain", ", max_retries=5", review, once(t), "start gate; no_route"},

		{"late", ", timeout=1h", review, waits, "start gate; no_route"},
		{"late, with a default", ", timeout=1h, human.default_choice=ship", review, waits, "start gate ship exit"},
		{"late, with a default that is not a choice", ", timeout=1h, human.default_choice=exit", review, waits, "start gate; no_route"},
		{"late twice", ", timeout=1h, max_retries=2", review, third(), "start gate ship exit"},
		// No setting turns a missing answer into an approval.
		{"late, and partly well", ", timeout=1h, allow_partial=true", review, waits, "start gate; no_route"},
		{"unanswered, and well in any case", ", auto_status=true", review, human.Queue(), "start gate; no_route"},
		{"unanswered, and well in any case, with a condition", ", auto_status=true", "gate -> next [condition=\"outcome=success\"]\nnext -> exit\n" + review, human.Queue(), "start gate next exit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := walk(t, tt.settings, tt.edges, tt.who)
				got := strings.Join(r.Path, " ")
				if f, ok := errors.AsType[*core.Failure](err); ok {
					got += "; " + f.Class
				}
				if got != tt.want {
					t.Errorf("got %s (%v), want %s", got, err, tt.want)
				}
			})
		})
	}
}

// once returns an interviewer that never answers and fails the test if it is asked twice.
func once(t *testing.T) core.Interviewer {
	asked := 0
	return human.Func(func(_ context.Context, q core.Question) (core.Answer, error) {
		if asked++; asked > 1 {
			t.Errorf("asked %d times", asked)
		}
		return core.Answer{}, core.ErrUnanswered
	})
}

// third returns an interviewer that answers only the third question.
func third() core.Interviewer {
	return human.Func(func(ctx context.Context, q core.Question) (core.Answer, error) {
		if q.Attempt < 3 {
			<-ctx.Done()
			return core.Answer{}, ctx.Err()
		}
		return core.Answer{Text: "a"}, nil
	})
}

// TestWalkContext tests the context that a gate sets, and the questions.
func TestWalkContext(t *testing.T) {
	var asked []string
	answers := human.Queue("r", "A")
	who := human.Func(func(ctx context.Context, q core.Question) (core.Answer, error) {
		asked = append(asked, fmt.Sprintf("%s %s %d.%d", q.Node, q.Text, q.Visit, q.Attempt))
		return answers.Ask(ctx, q)
	})
	r, err := walk(t, `, label="Ship it?"`, "gate -> ship [label=\"[A] Approve\"]\ngate -> edit [label=\"[R] Revise\"]\nedit -> gate\nship -> exit\n", who)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(asked, ", "); got != "gate Ship it? 1.1, gate Ship it? 2.1" {
		t.Errorf("asked %s", got)
	}
	v, _ := r.State.Get(core.ContextField)
	o, _ := v.(*value.Object)
	got := map[string]any{}
	for _, key := range []string{human.ContextSelected, human.ContextLabel, human.ContextText, core.ContextPreferredLabel} {
		got[key], _ = o.Get(key)
	}
	if want := "map[human.gate.label:[A] Approve human.gate.selected:A human.gate.text:A preferred_label:[A] Approve]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestWalkWaits tests that a waiting gate, also in a nested workflow, does not count as a stalled
// run, and that a node that makes no progress does.
func TestWalkWaits(t *testing.T) {
	slow := func(ctx context.Context) error {
		select {
		case <-time.After(5 * time.Hour):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for inner, want := range map[string]string{
		`digraph Inner { start [shape=Mdiamond] exit [shape=Msquare] gate [shape=hexagon] start -> gate -> exit }`: "success after 5h0m0s",
		"name: inner\ngraph: {nodes: [{id: pause, kind: wait, duration: 5h}]}\n":                                   "success after 5h0m0s",
		"name: inner\ngraph: {nodes: [{id: work, kind: tool, impl: slow, writes: []}]}\n":                          "fail after 30m0s",
	} {
		synctest.Test(t, func(t *testing.T) {
			dir, file := t.TempDir(), "inner.dot"
			if strings.HasPrefix(inner, "name") {
				file = "inner.yaml"
			}
			outer := fmt.Sprintf(`digraph Outer { start [shape=Mdiamond] exit [shape=Msquare] sub [shape=house, stack.child_workflow=%q] start -> sub -> exit }`, file)
			for name, text := range map[string]string{"outer.dot": outer, file: inner} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e := wavefold.NewEngine()
			if err := e.AddTool("slow", func(ctx context.Context) error { return slow(ctx) }); err != nil {
				t.Fatal(err)
			}
			g, err := e.Load(filepath.Join(dir, "outer.dot"))
			if err != nil {
				t.Fatal(err)
			}
			r, _ := g.Run(t.Context(), wavefold.WithInterviewer(human.Func(func(ctx context.Context, q core.Question) (core.Answer, error) {
				return core.Answer{Choice: q.Choices[0]}, slow(ctx)
			})))
			if n, _ := r.Node("sub"); fmt.Sprintf("%s after %s", n.Status, n.Duration) != want {
				t.Errorf("%s: got %s after %s, want %s: %v", inner, n.Status, n.Duration, want, r.Err)
			}
		})
	}
}
