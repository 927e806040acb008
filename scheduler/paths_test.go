package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// manyWays is a path that matches nested in so many ways that following all of them would never
// end, and finds nothing.
var manyWays = "$.list" + strings.Repeat("..a", 12) + "..b"

func nested(depth int) any {
	v := any(int64(1))
	for range depth {
		v = value.ObjectOf("a", []any{v})
	}
	return []any{v}
}

func withArg(text string) func(*core.Node) {
	return func(n *core.Node) {
		n.Args = source.Tree(value.ObjectOf("x", text), source.Position{})
	}
}

func never(context.Context, core.Input) (core.Result, error) { panic("never called") }

// TestPathsEndWithTheAttempt: the evaluation of a path in args did not notice that the attempt had
// timed out or the run had ended.
func TestPathsEndWithTheAttempt(t *testing.T) {
	t.Parallel()
	for _, change := range [][]func(*core.Node){
		{withArg(manyWays), timeout(time.Millisecond)},
		{withArg(manyWays), timeout(time.Millisecond), func(n *core.Node) { n.ForEach = &core.ForEach{Source: source.Text{Value: "$.list"}} }},
	} {
		w := fields(one(never, change...), "list")
		r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": nested(100)}, scheduler.Options{})
		n, _ := r.Node("n")
		if err == nil || n.Failure == nil || !strings.Contains(err.Error(), "timed out after 1ms: args: "+manyWays) {
			t.Errorf("%v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := fields(graph(map[string]core.HandlerFunc{"n": never, "stop": func(context.Context, core.Input) (core.Result, error) {
		cancel()
		return core.Result{}, nil
	}}, []string{"n", "stop"}), "list")
	withArg(manyWays)(w.Nodes[0])
	r, _ := scheduler.Run(ctx, compile(t, w), map[string]any{"list": nested(100)}, scheduler.Options{Concurrency: 2})
	if n, _ := r.Node("n"); r.Status != core.RunCancelled || n.Failure == nil || n.Failure.Class != core.ClassCanceled {
		t.Errorf("%s, %+v", r.Status, n.Failure)
	}
}

// TestTooManyMatches: a path that selects more than fits into memory is a failure of the node that
// names the path.
func TestTooManyMatches(t *testing.T) {
	t.Parallel()
	path := "$.list[" + strings.Repeat("0,", 200) + "0][*]"
	for what, change := range map[string]func(*core.Node){
		"for_each.source": func(n *core.Node) { n.ForEach = &core.ForEach{Source: source.Text{Value: path}} },
		"args":            withArg(path),
	} {
		w := fields(one(never, change, retry(2, "")), "list")
		r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": []any{make([]any, 50_000)}}, scheduler.Options{})
		if err == nil || err.Error() != "node n: "+what+": "+path+" gives more than 10000000 values" {
			t.Errorf("%s: %v", what, err)
		}
		if n, _ := r.Node("n"); n.Failure == nil || n.Failure.Class != core.ClassInput || !n.Failure.Permanent || n.Attempts > 1 {
			t.Errorf("%s: another attempt would not help: %+v", what, n)
		}
	}
}
