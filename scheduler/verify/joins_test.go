package verify_test

import (
	"context"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// joined is a graph with joins. Its node hang does not end on its own.
const joined = `
name: joined
state: {schema: {n: {type: integer, merge: sum}}}
runtime: {concurrency: 8}
graph:
  nodes:
    - {id: bad, kind: tool, impl: x, on_error: {policy: skip}}
    - {id: p, kind: tool, impl: x}
    - {id: q, kind: tool, impl: x}
    - {id: first, kind: tool, impl: x, join: any}
    - {id: two, kind: tool, impl: x, join: {k_of_n: 2}}
    - {id: few, kind: tool, impl: x, join: {k_of_n: 3}}
    - {id: short, kind: tool, impl: x, join: {k_of_n: 2}}
    - {id: hang, kind: tool, impl: x}
    - {id: late, kind: tool, impl: x}
    - {id: fast, kind: tool, impl: x}
    - {id: end, kind: tool, impl: x, join: any, race: true}
    - {id: saved, kind: tool, impl: x, join: any}
  edges:
    - {from: p, to: first}
    - {from: q, to: first}
    - {from: bad, to: two}
    - {from: q, to: two}
    - {from: p, to: two, when: $.n == 7}
    - {from: p, to: two, on: done}
    - {from: bad, to: few}
    - {from: p, to: few}
    - {from: q, to: few}
    - {from: p, to: short}
    - {from: q, to: short, on: fail, handles: true}
    - {from: hang, to: late}
    - {from: late, to: end}
    - {from: fast, to: end}
    - {from: bad, to: saved, on: fail, handles: true}
    - {from: q, to: saved}
`

// hangs returns when its context ends.
func hangs(ctx context.Context, _ core.Input) (core.Result, error) {
	<-ctx.Done()
	return core.Result{}, ctx.Err()
}

// falsifiedJoins are ways to falsify the log of a run with joins.
var falsifiedJoins = []falsifiedLog{
	{name: "nobody tells what a join takes", rule: verify.Skips, node: "two", want: "no event says which predecessors the join takes, and 2 of 3 succeeded",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.JoinDecided, "two", 1)) }},
	{name: "a join takes another one", rule: verify.Skips, node: "first", want: "the join took q, should be p",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.JoinDecided, "first", 1)].Nodes = []string{"q"}
			return l
		}},
	{name: "a join takes too many", rule: verify.Skips, node: "first", want: "the join took p, q, should be p",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.JoinDecided, "first", 1)].Nodes = []string{"p", "q"}
			return l
		}},
	{name: "a join takes nobody", rule: verify.Skips, node: "two", want: "the join took nobody, should be p, q",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.JoinDecided, "two", 1)].Nodes = nil; return l }},
	{name: "a join is decided early", rule: verify.Order, node: "first", want: "the join is decided before its predecessor p is resolved",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.JoinDecided, "first", 1), l.at(t, core.NodeFinished, "p", 1))
		}},
	{name: "a join is decided twice", rule: verify.Skips, node: "first", want: "the join is decided twice",
		falsify: func(t *testing.T, l log) log { return l.duplicate(l.at(t, core.JoinDecided, "first", 1)) }},
	{name: "a join that is short runs", rule: verify.Skips, node: "short", want: "the join is decided, and 1 of 2 predecessors succeeded, it takes 2",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeSkipped, "short", 1)
			l[i].Type, l[i].Nodes = core.JoinDecided, []string{"p", "q"}
			return l
		}},
	{name: "a join waits for nobody", rule: verify.Skips, node: "p", want: "join.decided, and it waits for all of its predecessors",
		falsify: func(t *testing.T, l log) log {
			e := l[l.at(t, core.JoinDecided, "first", 1)]
			e.Node, e.Level = "p", core.Nth(0)
			return slices.Insert(l, l.at(t, core.NodeReady, "p", 1), e)
		}},
	{name: "a short join is skipped early", rule: verify.Order, node: "short", want: "is skipped before its predecessor q is resolved",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeSkipped, "short", 1), l.at(t, core.NodeFinished, "q", 1))
		}},
	{name: "a short join hides a failure", rule: verify.Skips, node: "few", want: "should be because bad failed",
		falsify: func(t *testing.T, l log) log {
			e := &l[l.at(t, core.NodeSkipped, "few", 1)]
			e.From, e.Cause = "", ""
			return l
		}},
	{name: "a join's condition is judged after it", rule: verify.Skips, node: "two", want: "its condition is evaluated after the join is decided",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.JoinDecided, "two", 1), l.at(t, core.EdgeJudged, "p->two", 1))
		}},
	{name: "a race takes who did not succeed", rule: verify.Order, node: "end", want: "the join is decided before its predecessor late is resolved",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.JoinDecided, "end", 1)].Nodes = []string{"late"}
			return l
		}},
	{name: "who lost goes on", rule: verify.Skips, node: "hang", want: "ends with the status success after it lost a race",
		falsify: func(t *testing.T, l log) log {
			e := &l[l.at(t, core.NodeSkipped, "hang", 1)]
			e.Type, e.Status, e.Reason, e.Cause = core.NodeFinished, "success", "", ""
			return l
		}},
	{name: "who lost begins", rule: verify.Skips, node: "late", want: "continues after it lost a race",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeSkipped, "late", 1)].Type = core.NodeReady; return l }},
	{name: "lost to somebody else", rule: verify.Skips, node: "late", want: "lost a race because of first",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeSkipped, "late", 1)].Cause = "first"; return l }},
	{name: "who lost has no end", rule: verify.Lifecycle, node: "hang", want: "began and has no end",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.NodeSkipped, "hang", 1)) }},
	{name: "a taken failure is handled in silence", rule: verify.Skips, node: "saved", want: "runs over the edge bad -> saved (on: fail), but no event says",
		falsify: func(t *testing.T, l log) log {
			return slices.DeleteFunc(l, func(e core.Event) bool { return e.Type == core.NodeHandled && e.To == "saved" })
		}},
}
