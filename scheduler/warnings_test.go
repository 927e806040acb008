package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// warnOn returns a handler that writes its item, or 1, and warns if that is odd.
func warnOn(level slog.Level) core.HandlerFunc {
	return func(ctx context.Context, in core.Input) (core.Result, error) {
		item, _ := in.Item()
		n, isNumber := item.(int64)
		if !isNumber {
			n = 1
		}
		if n%2 == 1 {
			in.Logger().With("step", "filter").Log(ctx, level, "no row has it", "column", "amnt")
		}
		return core.Result{Delta: map[string]any{"x": n}}, in.MayCommit()
	}
}

func warned(r *core.Report) string {
	var b strings.Builder
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "%s: %s ×%d; ", w.Node, w.Text, w.Count)
	}
	return fmt.Sprintf("%s%d", b.String(), r.Warned)
}

// A warning was only an event: without a listener it was lost, and no run could be strict about it.
func TestWarningsOfNodes(t *testing.T) {
	const said = `no row has it (step "filter", column "amnt")`
	for _, c := range []struct {
		name           string
		level          slog.Level
		items          int // 0 for a plain node
		strict         bool
		status         core.RunStatus
		warned, failed string
		state          string
	}{
		{"plain", slog.LevelWarn, 0, false, core.RunSuccess, "n: " + said + " ×1; 1", "", `{"x":1}`},
		{"plain, strict", slog.LevelWarn, 0, true, core.RunFailed, "n: " + said + " ×1; 1", "a warning fails a strict run: " + said, `{}`},
		{"an error of the log, strict", slog.LevelError, 0, true, core.RunFailed, "n: " + said + " ×1; 1", "a warning fails a strict run: " + said, `{}`},
		{"a notice, strict", slog.LevelInfo, 0, true, core.RunSuccess, "0", "", `{"x":1}`},
		{"items", slog.LevelWarn, 5, false, core.RunSuccess, "n: " + said + " ×2; 2", "", `{"x":4}`},
		{"items, strict", slog.LevelWarn, 5, true, core.RunFailed, "n: " + said + " ×2; 2", "2 of 5 items failed, first item 1: a warning fails a strict run: " + said, `{"x":4}`},
	} {
		for _, listener := range []func(core.Event){nil, func(core.Event) {}} {
			t.Run(fmt.Sprintf("%s/listener=%t", c.name, listener != nil), func(t *testing.T) {
				w := fields(one(warnOn(c.level), func(n *core.Node) { n.Writes, n.HasWrites = []source.Text{text("x")}, true }), "x")
				inputs := map[string]any{}
				if c.items > 0 {
					forEach("list", 2)(w.Nodes[0])
					fields(w, "list")
					inputs["list"] = numbers(c.items)
				}
				r, err := scheduler.Run(t.Context(), compile(t, w), inputs, scheduler.Options{Concurrency: 2, Strict: c.strict, Listener: listener})
				r.State.Delete("list")
				if got := value.JSON(r.State); r.Status != c.status || warned(r) != c.warned || got != c.state {
					t.Errorf("%s, %v, warnings %s, state %s", r.Status, err, warned(r), got)
				}
				if n, _ := r.Node("n"); c.failed != "" && (n.Failure == nil || n.Failure.Message != c.failed) || c.failed == "" && n.Failure != nil {
					t.Errorf("failure %v, want %q", n.Failure, c.failed)
				}
			})
		}
	}
}

// In a walk the visit that warns fails, and the walk continues as after any failure.
func TestWarningsFailVisits(t *testing.T) {
	for _, strict := range []bool{false, true} {
		w := walkOf(t, "start -> a\na -> exit when=outcome~==~'success'\na -> b when=outcome~==~'fail'\nb -> exit")
		reg := core.NewRegistry(std.Kinds()...)
		if err := reg.AddTool("stage", core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			if in.Node() == "a" {
				in.Logger().Warn("oh")
			}
			return core.Result{}, nil
		})); err != nil {
			t.Fatal(err)
		}
		p, ds := plan.Compile(w, reg, plan.Options{Lint: lint.Check})
		if p == nil {
			t.Fatal(ds)
		}
		r, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Strict: strict})
		want := "start a exit"
		if strict {
			want = "start a b exit"
		}
		if got := strings.Join(r.Path, " "); got != want || warned(r) != "a: oh ×1; 1" {
			t.Errorf("strict %t: %s, %s", strict, got, warned(r))
		}
	}
}

// A run keeps a hundred warnings and counts the others.
func TestManyWarnings(t *testing.T) {
	w := fields(one(func(_ context.Context, in core.Input) (core.Result, error) {
		item, _ := in.Item()
		in.Logger().Warn(fmt.Sprint("warning ", item))
		return core.Result{}, nil
	}, forEach("list", 4)), "list")
	r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": numbers(1000)}, scheduler.Options{Concurrency: 4})
	if err != nil || len(r.Warnings) != 100 || r.Warned != 1000 {
		t.Errorf("%v, %d warnings of %d", err, len(r.Warnings), r.Warned)
	}
}
