package verify_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

func TestRealLogIsClean(t *testing.T) {
	p := compiled(t, everything)
	for _, o := range []scheduler.Options{{}, {Concurrency: 1}, {Concurrency: 64, MaxInFlight: 64}, {Concurrency: 8, Barrier: true}} {
		r := checked(t, p, logged(t, p, o))
		if len(r.Violations) > 0 {
			t.Errorf("%+v: %+v", o, r.Violations)
		}
		if r.Nodes != 16 || r.Status != "partial_success" || len(r.Rules) != 11 {
			t.Errorf("%d nodes, status %s, %d rules", r.Nodes, r.Status, len(r.Rules))
		}
	}
}

type falsifiedLog struct {
	name    string
	rule    verify.Rule
	node    string // empty for any node
	want    string
	falsify func(t *testing.T, l log) log
	keep    bool   // keep the event numbers
	of      string // the graph; everything if empty
}

// falsified are ways to falsify the log of a run, each with the violation it must cause.
var falsified = []falsifiedLog{
	{name: "an event is gone", rule: verify.Sequence, want: "the event has number 9, want number 8: an event is missing", keep: true,
		falsify: func(_ *testing.T, l log) log { return l.drop(7) }},
	{name: "an event comes twice", rule: verify.Sequence, want: "number 3 comes after number 3", keep: true,
		falsify: func(_ *testing.T, l log) log { return l.duplicate(2) }},
	{name: "no begin", rule: verify.Sequence, want: "the log begins with node.ready, want run.started",
		falsify: func(_ *testing.T, l log) log { return l.drop(0) }},
	{name: "no end", rule: verify.Sequence, want: "want run.finished",
		falsify: func(_ *testing.T, l log) log { return l.drop(len(l) - 1) }},
	{name: "another run", rule: verify.Sequence, want: `the event belongs to run "r2"`,
		falsify: func(_ *testing.T, l log) log { l[5].Run = "r2"; return l }},
	{name: "a node after the end", rule: verify.Sequence, node: "look", want: "node.started after the end of the run",
		falsify: func(t *testing.T, l log) log { return append(l, l[l.at(t, core.NodeStarted, "look", 1)]) }},
	{name: "two begins", rule: verify.Sequence, want: "the run begins again",
		falsify: func(_ *testing.T, l log) log { return l.duplicate(0) }},
	{name: "a node has no end", rule: verify.Lifecycle, node: "look", want: "began and has no end",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.NodeFinished, "look", 1)) }},
	{name: "a node ends twice", rule: verify.Lifecycle, node: "look", want: "ends after its end",
		falsify: func(t *testing.T, l log) log { return l.duplicate(l.at(t, core.NodeFinished, "look", 1)) }},
	{name: "a node ends before it begins", rule: verify.Lifecycle, node: "look", want: "ends before it begins",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeFinished, "look", 1), l.at(t, core.NodeStarted, "look", 1))
		}},
	{name: "a node is never ready", rule: verify.Lifecycle, node: "look", want: "begins before it is ready",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.NodeReady, "look", 1)) }},
	{name: "a node is gone", rule: verify.Lifecycle, node: "rescue", want: "has no end",
		falsify: func(_ *testing.T, l log) log {
			return slices.DeleteFunc(l, func(e core.Event) bool { return e.Node == "rescue" })
		}},
	{name: "an item ends twice", rule: verify.Lifecycle, node: "score", want: "ends twice",
		falsify: func(t *testing.T, l log) log { return l.duplicate(l.at(t, core.ItemFinished, "score[2]", 1)) }},
	{name: "a unit ends twice", rule: verify.Lifecycle, node: "ingest", want: "unit.finished of ingest after its end",
		falsify: func(t *testing.T, l log) log { return l.duplicate(l.at(t, core.UnitFinished, "ingest", 1)) }},
	{name: "skipped twice", rule: verify.Lifecycle, node: "other", want: "is skipped after it was skipped",
		falsify: func(t *testing.T, l log) log { return l.duplicate(l.at(t, core.NodeSkipped, "other", 1)) }},
	{name: "before its predecessor", rule: verify.Order, node: "look", want: "is ready before its predecessor load is resolved",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeReady, "look", 1), l.at(t, core.NodeFinished, "load", 1))
		}},
	{name: "before a writer of what it reads", rule: verify.Order, node: "look", want: "begins before side is resolved, which may write total",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeFinished, "side", 1), l.at(t, core.NodeStarted, "look", 1))
		}},
	{name: "a condition before its source", rule: verify.Order, node: "other", want: "its condition is evaluated before load is resolved",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.EdgeJudged, "load->other", 1), l.at(t, core.NodeFinished, "load", 1))
		}},
	{name: "a row before what it reads is written", rule: verify.Order, node: "store", want: "begins in row 1 before row 0 has passed parse",
		falsify: func(t *testing.T, l log) log {
			// Row 0 waits at its first stage for another attempt while row 1 continues.
			e := l[l.at(t, core.ItemStarted, "parse[1]", 1)]
			i := l.at(t, core.ItemFinished, "parse[0]", 1)
			finished := l[i]
			finished.Item = e.Item
			return slices.Insert(l, i, e, finished, withNode(e, "store"))
		}},
	{name: "over the limit", rule: verify.Limits, want: "3 nodes are in flight in the run, the limit is 2",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeStarted, "extra", 1), l.at(t, core.NodeStarted, "side", 1))
		}},
	{name: "another limit", rule: verify.Limits, want: "2 nodes are in flight in the run, the limit is 1",
		falsify: func(_ *testing.T, l log) log {
			l[0].Limits = &core.Limits{Concurrency: 1}
			return l
		}},
	{name: "max_in_flight", rule: verify.Limits, want: "2 executions are in flight, max_in_flight is 1",
		falsify: func(_ *testing.T, l log) log {
			l[0].Limits = &core.Limits{Concurrency: 2, MaxInFlight: 1}
			return l
		}},
	{name: "the limit of a fan-out", rule: verify.Limits, node: "score", want: "3 executions are in flight in score, the limit is 2",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.ItemStarted, "score[2]", 1), l.at(t, core.ItemStarted, "score[1]", 1)+1)
		}},
	{name: "the limit of a pipeline", rule: verify.Limits, node: "parse", want: "3 rows are in progress in ingest, the limit is 2",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.ItemStarted, "parse[2]", 1), l.at(t, core.ItemStarted, "parse[1]", 1)+1)
		}},
	{name: "an attempt is left out", rule: verify.Retries, node: "bad", want: "begins attempt 3 after attempt 1",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeStarted, "bad", 2)].Attempt = 3; return l }},
	{name: "too many attempts", rule: verify.Retries, node: "bad", want: "is to be tried again after attempt 2 of 2",
		falsify: func(t *testing.T, l log) log {
			again := l[l.at(t, core.NodeRetrying, "bad", 1)]
			again.Attempt = 2
			return slices.Insert(l, l.at(t, core.NodeFailed, "bad", 1), again)
		}},
	{name: "too few attempts", rule: verify.Retries, node: "score", want: "failed for good after attempt 1 of 3",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeRetrying, "score[1]", 1)
			l[i].Type, l[i].Status = core.ItemFailed, "fail"
			return l
		}},
	{name: "the delay is too short", rule: verify.Retries, node: "bad", want: "the next attempt is 10ms away, the policy demands 1s",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.NodeRetrying, "bad", 1)].Delay = 10 * time.Millisecond
			return l
		}},
	{name: "the delay is too long", rule: verify.Retries, node: "bad", want: "the next attempt is 1m0s away, the policy says at most 1s",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeRetrying, "bad", 1)].Delay = time.Minute; return l }},
	{name: "the delay is not kept", rule: verify.Retries, node: "score", want: "continues 50ms after the attempt that failed, 100ms was required",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeRetrying, "score[1]", 1)
			l[l.at(t, core.ItemStarted, "score[1]", 2)].Time = l[i].Time.Add(50 * time.Millisecond)
			return l
		}},
	{name: "a permanent failure is tried again", rule: verify.Retries, node: "bad", want: "after a failure that is permanent",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.NodeRetrying, "bad", 1)].Error = &core.Failure{Class: core.ClassError, Permanent: true}
			return l
		}},
	{name: "a failure that auto_status lifts", rule: verify.Statuses, node: "look", want: "failed, and its auto_status makes it a success",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeFinished, "look", 1)
			l[i].Type, l[i].Status, l[i].Error = core.NodeFailed, "fail", &core.Failure{Class: core.ClassError, Message: "boom"}
			return l
		}},
	{name: "an item is gone", rule: verify.Parts, node: "score", want: "ends, and 1 item never began, the first is item 2",
		falsify: func(_ *testing.T, l log) log {
			return slices.DeleteFunc(l, func(e core.Event) bool { return e.Node == "score" && e.Item == core.Nth(2) })
		}},
	{name: "an item too many", rule: verify.Parts, node: "score", want: "item.started of an item that is none of the 3",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.ItemStarted, "score[2]", 1)].Item = core.Nth(3)
			return l
		}},
	{name: "an item again", rule: verify.Parts, node: "score", want: "begins again after its end",
		falsify: func(t *testing.T, l log) log {
			e := l[l.at(t, core.ItemStarted, "score[0]", 1)]
			return slices.Insert(l, l.at(t, core.ItemFinished, "score[0]", 1)+1, e)
		}},
	{name: "stages out of order", rule: verify.Parts, node: "store", want: "row 0 begins with store, and not with parse",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.ItemStarted, "parse[0]", 1)].Node = "store"; return l }},
	{name: "a row is gone", rule: verify.Parts, node: "ingest", want: "ends, and of its 3 rows 1 never began",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.UnitFinished, "ingest", 1)].Total = core.Nth(2)
			return slices.DeleteFunc(l, func(e core.Event) bool { return (e.Node == "parse" || e.Node == "store") && e.Item == core.Nth(2) })
		}},
	{name: "a stage is gone", rule: verify.Parts, node: "ingest", want: "ends, and row 1 stops before store",
		falsify: func(_ *testing.T, l log) log {
			return slices.DeleteFunc(l, func(e core.Event) bool { return e.Node == "store" && e.Item == core.Nth(1) })
		}},
	{name: "rows are miscounted", rule: verify.Parts, node: "ingest", want: "ends and counts 4 rows, and 3 are over",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.UnitFinished, "ingest", 1)].Total = core.Nth(4)
			return l
		}},
	{name: "rounds out of order", rule: verify.Parts, node: "draft", want: "round 2 begins, and round 1 has not begun",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.ItemStarted, "draft#1", 1)].Round = core.Nth(2)
			return l
		}},
	{name: "a round too few", rule: verify.Parts, node: "refine", want: "ends after 2 rounds by max_iters, which is 3",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.UnitFinished, "refine", 1)].Total = core.Nth(2)
			return slices.DeleteFunc(l, func(e core.Event) bool { return e.Round == core.Nth(2) })
		}},
	{name: "a round too many", rule: verify.Parts, node: "draft", want: "round 3 begins, there are 3",
		falsify: func(t *testing.T, l log) log {
			e := l[l.at(t, core.ItemStarted, "draft#2", 1)]
			e.Round = core.Nth(3)
			return slices.Insert(l, l.at(t, core.UnitFinished, "refine", 1), e)
		}},
	{name: "skipped against its condition", rule: verify.Skips, node: "other", want: "and should run: the edge load -> other is live",
		falsify: func(t *testing.T, l log) log {
			yes := true
			l[l.at(t, core.EdgeJudged, "load->other", 1)].Result = &yes
			return l
		}},
	{name: "runs against its condition", rule: verify.Skips, node: "left", want: "runs, and should be skipped because the edge from load is false: else",
		falsify: func(t *testing.T, l log) log {
			no := false
			l[l.at(t, core.EdgeJudged, "load->left", 1)].Result = &no
			return l
		}},
	{name: "else beside a live edge", rule: verify.Skips, node: "left", want: "the else edge load -> left is true",
		falsify: func(t *testing.T, l log) log {
			yes := true
			l[l.at(t, core.EdgeJudged, "load->other", 1)].Result = &yes
			return l
		}},
	{name: "judged against what it read", rule: verify.Skips, node: "other", want: `the condition length($.rows) > 5 is false in the log, and true on what it read: {"length($.rows)":6}`,
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.EdgeJudged, "load->other", 1)].Values = value.ObjectOf("length($.rows)", int64(6))
			return l
		}},
	{name: "never judged", rule: verify.Skips, node: "other", want: "the condition on load -> other was never evaluated: length($.rows) > 5",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.EdgeJudged, "load->other", 1)) }},
	{name: "judged too late", rule: verify.Skips, node: "other", want: "is evaluated after it was decided that other is skipped",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.EdgeJudged, "load->other", 1), l.at(t, core.NodeSkipped, "other", 1))
		}},
	{name: "no such edge", rule: verify.Skips, node: "other", want: "the workflow has no edge load -> other with the condition $.rows",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.EdgeJudged, "load->other", 1)].When = "$.rows"; return l }},
	{name: "the wrong reason", rule: verify.Skips, node: "never", want: "is skipped because side failed, over other, should be because every predecessor was skipped, from other on",
		falsify: func(t *testing.T, l log) log {
			e := &l[l.at(t, core.NodeSkipped, "never", 1)]
			e.From, e.Cause = "other", "side"
			return l
		}},
	{name: "the neighbour instead of the root", rule: verify.Skips, node: "after", want: "is skipped because after failed, over bad, should be because bad failed, over bad",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeSkipped, "after", 1)].Cause = "after"; return l }},
	{name: "not handled", rule: verify.Skips, node: "rescue", want: "no event says that this handles the failure",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.NodeHandled, "bad->rescue", 1)) }},
	{name: "handled by nothing", rule: verify.Skips, node: "bad", want: "is handled by bad -> after, which is not a live edge",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeHandled, "bad->rescue", 1)].To = "after"; return l }},
	{name: "not declared", rule: verify.Writes, node: "side", want: `writes once, which it does not declare`,
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.StateWritten, "side", 1)].Field = "once"; return l }},
	{name: "no such field", rule: verify.Writes, node: "side", want: `writes totl, which it does not declare (did you mean "total"?)`,
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.StateWritten, "side", 1)].Field = "totl"; return l }},
	{name: "set twice", rule: verify.Writes, node: "right", want: "writes once, which is set once and has its value from left",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.StateWritten, "left", 1)].Null = false; return l }},
	{name: "a write out of turn", rule: verify.Writes, node: "right", want: "writes once before left is resolved, whose write comes first in canonical order",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.StateWritten, "right", 1), l.at(t, core.StateWritten, "left", 1)+1)
		}},
	{name: "written twice", rule: verify.Writes, node: "side", want: "writes total twice in one execution",
		falsify: func(t *testing.T, l log) log { return l.duplicate(l.at(t, core.StateWritten, "side", 1)) }},
	{name: "items merged out of order", rule: verify.Writes, node: "score", want: "writes out in item 0 after item 2",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.StateWritten, "score[0]", 1), l.at(t, core.NodeFinished, "score", 1)-1)
		}},
	{name: "a write by what failed", rule: verify.Writes, node: "right", want: "wrote once and did not end well",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeFinished, "right", 1)
			l[i].Type, l[i].Status = core.NodeFailed, "fail"
			return l
		}},
	{name: "a write after the end", rule: verify.Writes, node: "side", want: "writes total after its end",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.StateWritten, "side", 1), l.at(t, core.NodeFinished, "side", 1))
		}},
	{name: "a write of an earlier row", rule: verify.Writes, node: "parse", want: "writes total in row 0, which has not just ended well",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.StateWritten, "parse[0]", 1), l.at(t, core.ItemFinished, "parse[2]", 1))
		}},
	{name: "a write in the middle of a round", rule: verify.Writes, node: "draft", want: "writes hits before its round is over",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.StateWritten, "draft#1", 1), l.at(t, core.ItemStarted, "check#1", 1))
		}},
	{name: "the state has another field", rule: verify.State, want: `the state has a field rwos, which is not declared (did you mean "rows"?)`,
		falsify: func(_ *testing.T, l log) log { return l.state("rwos", int64(1)) }},
	{name: "nobody wrote it", rule: verify.State, want: `field mode is "slow" at the end, but no node wrote it and it was "fast" at the start`,
		falsify: func(_ *testing.T, l log) log { return l.state("mode", "slow") }},
	{name: "miscounted", rule: verify.State, want: "field hits is 15 at the end, want 16: 10 at the start and 6 writes",
		falsify: func(_ *testing.T, l log) log { return l.state("hits", int64(15)) }},
	{name: "a condition read something else", of: seen, rule: verify.State, node: "b", want: "the condition on a -> b read x as 7, but no node before it wrote that: it was 1 at the start",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.EdgeJudged, "a->b", 1)].Values = value.ObjectOf("$.x", int64(7), "length($.list)", int64(2))
			return l
		}},
	{name: "two conditions read different things", of: seen, rule: verify.State, node: "b", want: "the condition on a -> b read list as of length 2, and that on a -> c, after the same writers, as of length 3",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.EdgeJudged, "a->c", 1)].Values = value.ObjectOf("length($.list)", int64(3))
			return l
		}},
	{name: "the state changed by itself", of: seen, rule: verify.State, want: "field list is [1] at the end, and the condition on a -> b read it as of length 2 after its last writer (line ",
		falsify: func(_ *testing.T, l log) log { return l.state("list", []any{int64(1)}) }},
	{name: "the start is lost", rule: verify.State, want: `field out does not begin with what it was at the start: ["first"]`,
		falsify: func(_ *testing.T, l log) log { return l.state("out", []any{"x", "x", "x"}) }},
	{name: "of another type", rule: verify.State, want: "field total: want integer, got string",
		falsify: func(_ *testing.T, l log) log { return l.state("total", "8") }},
	{name: "a value is lost", rule: verify.State, want: "field total was written and has no value at the end",
		falsify: func(t *testing.T, l log) log {
			l = succeeded(t, l)
			l.state("total", nil)[len(l)-1].State.Delete("total")
			return l
		}},
	{name: "not all was well", rule: verify.Statuses, want: "the run ends with the status success, want partial_success",
		falsify: func(_ *testing.T, l log) log { l[len(l)-1].Status = "success"; return l }},
	{name: "the run failed", rule: verify.Statuses, want: "the run ends with the status partial_success, want failed: look failed",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeFinished, "look", 1)
			l[i].Type, l[i].Status = core.NodeFailed, "fail"
			return l
		}},
	{name: "another node failed", rule: verify.Statuses, want: "the reason of the run's end does not begin with node look, which failed first in canonical order: node side: boom",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeFinished, "look", 1)
			l[i].Type, l[i].Status = core.NodeFailed, "fail"
			l[len(l)-1].Status, l[len(l)-1].Reason = "failed", "node side: boom"
			return l
		}},
	{name: "a status that does not fit", rule: verify.Statuses, node: "side", want: `node.finished with the status "fail"`,
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeFinished, "side", 1)].Status = "fail"; return l }},
	{name: "a fan-out that fails for nothing", rule: verify.Statuses, node: "score", want: "fails, and no item failed",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeFinished, "score", 1)
			l[i].Type, l[i].Status = core.NodeFailed, "fail"
			return l
		}},
	{name: "a partial success of nothing", rule: verify.Statuses, node: "score", want: "ends with the status partial_success, and of its items none is a partial success",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.NodeFinished, "score", 1)].Status = "partial_success"
			return l
		}},
	{name: "a unit that fails for nothing", rule: verify.Statuses, node: "ingest", want: "fails, and no execution failed",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.UnitFinished, "ingest", 1)].Status = "fail"; return l }},
	{name: "a unit that does not fail", rule: verify.Statuses, node: "ingest", want: "ends with the status success, and 1 execution failed",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.ItemFinished, "store[2]", 1)
			l[i].Type, l[i].Status = core.ItemFailed, "fail"
			return l
		}},
	{name: "tolerated without a word", rule: verify.Statuses, node: "extra", want: "no event says so",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.NodeHandled, "extra", 1)) }},
	{name: "tolerated without a policy", rule: verify.Statuses, node: "bad", want: "its policy does not say so",
		falsify: func(t *testing.T, l log) log {
			e := &l[l.at(t, core.NodeHandled, "bad->rescue", 1)]
			e.From, e.To = "", ""
			return l
		}},
	{name: "out of canonical order", of: plain, rule: verify.Order, node: "p", want: "begins after q, and comes before it in canonical order; the limit is 1",
		falsify: func(t *testing.T, l log) log {
			return append(append(l[:1:1], l[l.at(t, core.NodeReady, "p", 1)], l[l.at(t, core.NodeReady, "q", 1)], l[l.at(t, core.NodeStarted, "q", 1)],
				l[l.at(t, core.NodeFinished, "q", 1)], l[l.at(t, core.NodeStarted, "p", 1)], l[l.at(t, core.NodeFinished, "p", 1)]), l[len(l)-1])
		}},
	{name: "a barrier", of: rest, rule: verify.Order, node: "refers", want: "before cut of a lower level is resolved, and the schedule is barrier",
		falsify: func(t *testing.T, l log) log {
			l[0].Limits = &core.Limits{Concurrency: 4, Barrier: true}
			return l.move(l.at(t, core.NodeFailed, "cut", 1), len(l)-2)
		}},
	{name: "a unit without edges", of: rest, rule: verify.Order, node: "rounds", want: "before cut of a lower level is resolved, and a unit without edges comes after everything else",
		falsify: func(t *testing.T, l log) log { return l.move(l.at(t, core.NodeFailed, "cut", 1), len(l)-2) }},
	{name: "inputs that do not fit", of: rest, rule: verify.State, want: "the inputs do not fit",
		falsify: func(_ *testing.T, l log) log { l[0].Inputs = value.ObjectOf("day", int64(1)); return l }},
	{name: "an item behind the cut", of: rest, rule: verify.Parts, node: "cut", want: "begins after too many items before it have failed (max_failures: 0)",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.ItemFailed, "cut[1]", 1)
			e := l[l.at(t, core.ItemStarted, "cut[1]", 1)]
			e.Item = core.Nth(2)
			return slices.Insert(l, i+1, e)
		}},
	{name: "a write behind the cut", of: rest, rule: verify.Writes, node: "cut", want: "writes out in item 2, which does not count: too many before it failed",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.StateWritten, "cut[0]", 1)].Item = core.Nth(2); return l }},
	{name: "items side by side", of: rest, rule: verify.Parts, node: "cut", want: "begins after item 1, and one item runs after the other",
		falsify: func(t *testing.T, l log) log {
			i, j := l.at(t, core.ItemStarted, "cut[0]", 1), l.at(t, core.ItemStarted, "cut[1]", 1)
			l[i].Item, l[j].Item = l[j].Item, l[i].Item
			return l
		}},
	{name: "jitter has bounds", of: rest, rule: verify.Retries, node: "shaky", want: "the next attempt is 499ms away, the policy demands 500ms",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.NodeRetrying, "shaky", 1)].Delay = 499 * time.Millisecond
			return l
		}},
	{name: "a wait that was asked for", of: rest, rule: verify.Retries, node: "shaky", want: "away, the policy demands 10s",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.NodeRetrying, "shaky", 1)].Error = &core.Failure{Class: core.ClassError, RetryAfter: 10 * time.Second}
			return l
		}},
	{name: "inside of nothing", of: rest, rule: verify.Lifecycle, node: "sub[0]/a", want: "node.finished inside of sub[0], which is not in progress",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeFinished, "sub[0]/a", 1), len(l)-2)
		}},
	{name: "a nested node is gone", of: rest, rule: verify.Lifecycle, node: "sub[1]/b", want: "has no end",
		falsify: func(_ *testing.T, l log) log {
			return slices.DeleteFunc(l, func(e core.Event) bool { return e.Node == "sub[1]/b" && e.Type != core.EdgeJudged })
		}},
	{name: "a nested condition", of: rest, rule: verify.Skips, node: "sub[1]/b", want: "runs, and should be skipped because the edge from a is false: $.x == 1",
		falsify: func(_ *testing.T, l log) log {
			no := false
			for i := range l {
				if l[i].Type == core.EdgeJudged && l[i].Node == "sub[1]/b" {
					l[i].Result = &no
				}
			}
			return l
		}},
	{name: "a nested failure is hidden", of: rest, rule: verify.Statuses, node: "sub[0]", want: "ended well, and its nested run failed",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeFinished, "sub[0]/b", 1)
			l[i].Type, l[i].Status = core.NodeFailed, "fail"
			return l
		}},
	{name: "too many nested runs", of: rest, rule: verify.Limits, node: "sub", want: "3 nested runs are in progress in sub, the limit is 2",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.ItemStarted, "sub[2]", 1), l.at(t, core.ItemStarted, "sub[1]", 1)+1)
		}},
	{name: "a referred node", of: rest, rule: verify.Order, node: "refers", want: "its condition is evaluated before its predecessor shaky is resolved",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.EdgeJudged, "shaky->refers", 1), l.at(t, core.NodeFinished, "shaky", 1))
		}},
	{name: "exhausted", of: rest, rule: verify.Statuses, node: "rounds", want: "ends with the status success after its last round, and on_exhausted is fail",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.UnitFinished, "rounds", 1)].Status = "success"; return l }},
	{name: "an end without a reason", of: rest, rule: verify.Parts, node: "rounds", want: `ends for a reason that ends no loop: "rows"`,
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.UnitFinished, "rounds", 1)].Reason = "rows"; return l }},
	{name: "members write in their order", of: rest, rule: verify.Writes, node: "one", want: "writes n after a later member of the round",
		falsify: func(t *testing.T, l log) log {
			i, j := l.at(t, core.StateWritten, "one#0", 1), l.at(t, core.StateWritten, "two#0", 1)
			l[i], l[j] = l[j], l[i]
			return l
		}},
	{name: "a way is not told", of: walked, rule: verify.Order, node: "look", want: "begins, but no event shows the path from a",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.EdgeChosen, "a->look", 1)) }},
	{name: "a node out of turn", of: walked, rule: verify.Order, node: "a", want: "begins, and the walk is on its way to vote",
		falsify: func(t *testing.T, l log) log {
			e := l[l.at(t, core.NodeStarted, "a", 2)]
			e.Visit = 3
			return slices.Insert(l, l.at(t, core.NodeStarted, "vote", 1), e)
		}},
	{name: "a way that there is not", of: walked, rule: verify.Routes, node: "look", want: "the workflow has no edge look -> m with the condition outcome=success",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.EdgeChosen, "look->vote", 1)].To = "m"; return l }},
	{name: "a way to nowhere", of: walked, rule: verify.Routes, node: "look", want: `the way leads to "vot", which is not a node (did you mean "vote"?)`,
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.EdgeChosen, "look->vote", 1)].To = "vot"; return l }},
	{name: "a condition of a way is false", of: walked, rule: verify.Routes, node: "look", want: "the condition outcome=success is false on what it read",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.EdgeChosen, "look->vote", 1)].Values = value.ObjectOf("outcome", "fail")
			return l
		}},
	{name: "a condition saw another outcome", of: walked, rule: verify.Routes, node: "look", want: "saw the outcome success, and the last stage ended partial_success",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.NodeFinished, "a", 1)].Status = "partial_success"
			return l
		}},
	{name: "not the best edge", of: walked, rule: verify.Routes, node: "m", want: "goes to a by the step unconditional, want exit",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.EdgeChosen, "m->exit", 1)].To = "a"; return l }},
	{name: "a step that there is not", of: walked, rule: verify.Routes, node: "m", want: `continues by an unknown step "hop"`,
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.EdgeChosen, "m->exit", 1)].Step = "hop"; return l }},
	{name: "a jump elsewhere", of: walked, rule: verify.Routes, node: "vote", want: "jumps to a after it ended success: its branches do not meet there",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.EdgeChosen, "vote->m", 1)].To = "a"; return l }},
	{name: "a goal gate is forgotten", of: walked, rule: verify.Routes, node: "exit", want: "the walk ends although the goal gate m ended fail",
		falsify: func(t *testing.T, l log) log {
			i, j := l.at(t, core.EdgeChosen, "exit->m", 1), l.at(t, core.NodeStarted, "exit", 1)
			return slices.Delete(l, i, j)
		}},
	{name: "a goal gate sends elsewhere", of: walked, rule: verify.Routes, node: "exit", want: "sends the walk back to a, its target is m",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.EdgeChosen, "exit->m", 1)].To = "a"; return l }},
	{name: "a join too early", of: walked, rule: verify.Routes, node: "vote", want: "decided after 0 of 2 branches, which do not determine",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.JoinDecided, "vote", 1), l.at(t, core.NodeFinished, "x", 1))
		}},
	{name: "a join too late", of: walked, rule: verify.Routes, node: "y", want: "the join of vote was certain before that and is not decided",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeStarted, "y", 1), l.at(t, core.NodeFinished, "x", 1))
		}},
	{name: "a join takes a loser", of: walked, rule: verify.Routes, node: "vote", want: "the join took [x y], and [x] succeeded",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.JoinDecided, "vote", 1)].Nodes = []string{"x", "y"}
			return l
		}},
	{name: "a branch begins too often", of: twice, rule: verify.Parts, node: "x", want: "begins again as a branch of vote",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeStarted, "x", 2)
			l = slices.Insert(l, i+1, l[i])
			l[i+1].Visit = 3
			return l
		}},
	{name: "nothing is told of a branch that never began", of: narrow, rule: verify.Parts, node: "vote", want: "ends, and its branch c has neither begun nor was it skipped",
		falsify: func(t *testing.T, l log) log { return l.drop(l.at(t, core.NodeSkipped, "c", 1)) }},
	{name: "a branch that began is skipped", of: narrow, rule: verify.Parts, node: "b", want: "is skipped, and it has begun or was skipped before",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeSkipped, "c", 1)
			l = l.duplicate(i)
			l[i].Node = "b"
			return l
		}},
	{name: "a branch is skipped too early", of: narrow, rule: verify.Routes, node: "c", want: "is skipped before the join of vote is decided",
		falsify: func(t *testing.T, l log) log {
			return l.move(l.at(t, core.NodeSkipped, "c", 1), l.at(t, core.NodeStarted, "b", 1))
		}},
	{name: "a node that is not a branch is skipped", of: narrow, rule: verify.Routes, node: "m", want: "is not a branch of vote",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeSkipped, "c", 1)
			l = l.duplicate(i)
			l[i].Node = "m"
			return l
		}},
	{name: "a stage is skipped", of: narrow, rule: verify.Lifecycle, node: "c", want: `is skipped as a branch of "", which is not in progress`,
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeSkipped, "c", 1)].Unit = ""; return l }},
	{name: "a join takes one of two", of: twice, rule: verify.Routes, node: "vote", want: "the join took [x], and [x x] succeeded",
		falsify: func(t *testing.T, l log) log {
			l[l.at(t, core.JoinDecided, "vote", 1)].Nodes = []string{"x"}
			return l
		}},
	{name: "a loser does well", of: walked, rule: verify.Routes, node: "y", want: "ends success, and was given up when the join of vote was decided",
		falsify: func(t *testing.T, l log) log {
			e := &l[l.at(t, core.NodeFailed, "y", 1)]
			e.Type, e.Status, e.Error = core.NodeFinished, "success", nil
			return l
		}},
	{name: "a visit is miscounted", of: walked, rule: verify.Lifecycle, node: "a", want: "begins visit 3, want visit 1",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.NodeStarted, "a", 1)].Visit = 3; return l }},
	{name: "a visit too many", of: walked, rule: verify.Limits, node: "a", want: "is visited 3 times, max_visits is 2",
		falsify: func(t *testing.T, l log) log {
			i, j := l.at(t, core.NodeStarted, "a", 2), l.at(t, core.EdgeChosen, "look->vote", 1)
			again := slices.Clone(l[i:j])
			for k := range again {
				again[k].Visit = 3
			}
			back := l[l.at(t, core.EdgeChosen, "look->a", 1)]
			return slices.Insert(l, j, append([]core.Event{back}, again...)...)
		}},
	{name: "a branch writes by itself", of: walked, rule: verify.Writes, node: "x", want: "writes context, and it is a branch",
		falsify: func(t *testing.T, l log) log {
			e := l[l.at(t, core.NodeStarted, "x", 1)]
			e.Type, e.Field = core.StateWritten, "context"
			return slices.Insert(l, l.at(t, core.NodeFinished, "x", 1), e)
		}},
	{name: "a walk ends on its way", of: walked, rule: verify.Routes, node: "exit", want: "the walk was on its way there when it ended",
		falsify: func(t *testing.T, l log) log {
			i := l.at(t, core.NodeStarted, "exit", 1)
			l[len(l)-1].Status = "failed"
			return slices.Delete(l, i, len(l)-1)
		}},
	{name: "a condition that there is not", rule: verify.Parts, node: "refine", want: "ends by its condition, and has none",
		falsify: func(t *testing.T, l log) log { l[l.at(t, core.UnitFinished, "refine", 1)].Reason = "until"; return l }},
}

func (l log) state(field string, v any) log {
	end := &l[len(l)-1]
	end.State = end.State.Copy(1)
	end.State.Set(field, v)
	return l
}

// succeeded turns the run into one that cannot fail because of a failed merge.
func succeeded(_ *testing.T, l log) log {
	l[len(l)-1].Status = string(core.RunPartial)
	return l
}

func withNode(e core.Event, node string) core.Event {
	e.Node = node
	return e
}

func TestMutatedLogs(t *testing.T) {
	covered := map[verify.Rule]bool{}
	plans, logs := map[string]*plan.Plan{}, map[string]log{}
	for _, text := range []string{everything, rest, plain, seen, walked, twice, narrow, joined} {
		plans[text] = compiled(t, text)
		logs[text] = logged(t, plans[text], scheduler.Options{})
		if r := checked(t, plans[text], logs[text]); len(r.Violations) > 0 {
			t.Fatal(words(r))
		}
	}
	for i := range falsifiedJoins {
		falsifiedJoins[i].of = joined
	}
	for _, tt := range slices.Concat(falsified, falsifiedJoins) {
		covered[tt.rule] = true
		text := cmp.Or(tt.of, everything)
		p, whole := plans[text], logs[text]
		t.Run(string(tt.rule)+"/"+tt.name, func(t *testing.T) { tt.check(t, p, whole) })
	}
	for _, about := range verify.Rules() {
		if !covered[about.Rule] {
			t.Errorf("no log is mutated for %s", about.Rule)
		}
	}
}

// check checks that the falsified log of a run has the violation.
func (tt *falsifiedLog) check(t *testing.T, p *plan.Plan, whole log) {
	t.Helper()
	l := tt.falsify(t, slices.Clone(whole))
	if !tt.keep {
		l = l.numbered()
	}
	r := checked(t, p, l)
	hit := slices.ContainsFunc(r.Of(tt.rule), func(v verify.Violation) bool {
		return strings.Contains(v.Message, tt.want) && (tt.node == "" || v.Node == tt.node) && v.Line > 0
	})
	if !hit {
		t.Errorf("no violation of %s by %q: %s, but\n%s", tt.rule, tt.node, tt.want, words(r))
	}
}

func words(r *verify.Report) string {
	var b strings.Builder
	for _, v := range r.Violations {
		b.WriteString(v.String() + "\n")
	}
	return b.String()
}

// TestOneBreachIsOneViolation checks that the consequences of a violation are not
// reported as well.
func TestOneBreachIsOneViolation(t *testing.T) {
	p := compiled(t, everything)
	whole := logged(t, p, scheduler.Options{})
	for _, name := range []string{"the delay is too short", "an attempt is left out", "set twice", "miscounted", "the wrong reason",
		"rows are miscounted", "not all was well", "a row is gone", "a node has no end"} {
		i := slices.IndexFunc(falsified, func(s falsifiedLog) bool { return s.name == name })
		l := falsified[i].falsify(t, slices.Clone(whole))
		if !falsified[i].keep {
			l = l.numbered()
		}
		if r := checked(t, p, l); len(r.Violations) != 1 {
			t.Errorf("%s:\n%s", name, words(r))
		}
	}
}

// TestMismatch checks that logs of other workflows are rejected.
func TestMismatch(t *testing.T) {
	p := compiled(t, everything)
	whole := logged(t, p, scheduler.Options{})
	for _, tt := range []struct {
		name, want string
		mutate     func(l log)
	}{
		{"another workflow", `line 1: the log belongs to workflow "everythin", not to "everything" (did you mean "everything"?)`, func(l log) { l[0].Reason = "everythin" }},
		{"an unknown node", `line 2: unknown node "lod" (did you mean "load"?): the log belongs to another workflow than everything`, func(l log) { l[1].Node = "lod" }},
		{"an unknown unit", `unknown pipeline or loop "ingst" (did you mean "ingest"?)`, func(l log) { l[1].Node, l[1].Unit = "", "ingst" }},
		{"an unknown type", `line 2: unknown event type "node.redy" (did you mean "node.ready"?); a newer version of the program may have written it`, func(l log) { l[1].Type = "node.redy" }},
		{"a node inside of one without", `line 2: node "load" has no nodes inside of it`, func(l log) { l[1].Node = "load/x" }},
		{"another level", "line 2: node extra is on level 3 in the log and on level 0 in the workflow", func(l log) { l[1].Level = core.Nth(3) }},
		{"another kind", `line 2: node extra is of kind "wait" in the log and of kind "tool" in the workflow`, func(l log) { l[1].Kind = "wait" }},
		{"a second run", "line 2: another run begins, r2: the log of one run is wanted", func(l log) { l[1] = l[0]; l[1].Run = "r2" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := slices.Clone(whole)
			tt.mutate(l)
			_, err := verify.Events(p, l)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestUnchecked checks that the report lists what could not be checked.
func TestUnchecked(t *testing.T) {
	p := compiled(t, everything)
	l := logged(t, p, scheduler.Options{})
	l[0].Limits = nil
	l[l.at(t, core.EdgeJudged, "load->other", 1)].Values = nil
	for i := range l {
		l[i].Time = time.Time{}
	}
	r := checked(t, p, l)
	if len(r.Violations) > 0 {
		t.Error(words(r))
	}
	want := []verify.Unchecked{
		{Rule: verify.Limits, Why: "how many nodes may run at once: the log does not contain the limits of the run"},
		{Rule: verify.Skips, Why: "the condition on load -> other: the values in the log leave open what it says"},
		{Rule: verify.Retries, Why: "how long waits took: events without a time"},
		{Rule: verify.Limits, Why: "the slots of left, right: they may wait for their turn to write or for a person, and the log does not say when their work is done"},
		{Rule: verify.State, Why: "the folded values of rows, out, once, total: the log does not hold what was written"},
	}
	if !slices.Equal(r.Unchecked, want) {
		t.Errorf("got %+v", r.Unchecked)
	}
}

// TestStoppedRuns checks that events missing from a stopped run are not violations, but
// work that begins after the failure that stopped the run is one.
func TestStoppedRuns(t *testing.T) {
	p := compiled(t, strings.Replace(everything, "{policy: retry, attempts: 2, base_ms: 1000, backoff: exponential}", "{policy: fail_run}", 1))
	l := logged(t, p, scheduler.Options{})
	if r := checked(t, p, l); len(r.Violations) > 0 || r.Nodes > 10 {
		t.Errorf("%d nodes\n%s", r.Nodes, words(r))
	}
	i := l.at(t, core.NodeFailed, "bad", 1)
	ready := core.Event{V: 1, Type: core.NodeReady, Run: "r1", Node: "rescue", Kind: "tool", Level: core.Nth(1)}
	l = slices.Insert(l, i+1, ready).numbered()
	if got := words(checked(t, p, l)); !strings.Contains(got, "rescue: statuses: is ready after a failure with the policy fail_run") {
		t.Error(got)
	}
}

// TestStoppedWalks checks that a walk that stalls ends and its visits are cancelled. If
// the run was not stopped, cancelled visits are violations.
func TestStoppedWalks(t *testing.T) {
	p := compiledWith(t, strings.Replace(walked, "start [", "graph [stall_timeout=10s]\n\tstart [", 1), map[string]core.HandlerFunc{"a": slow})
	l := logged(t, p, scheduler.Options{})
	if end := l[len(l)-1]; end.Reason != "node a: no sign of life for 10s" {
		t.Fatal(end.Reason)
	}
	if r := checked(t, p, l); len(r.Violations) > 0 {
		t.Error(words(r))
	}
	l[len(l)-1].Reason = "node a: it is late"
	if got := words(checked(t, p, l)); got != "line 6: a: lifecycle: is cancelled, but nothing has stopped the run\n" {
		t.Error(got)
	}
}

// TestStoppedGroups: items of a group that was in progress when a failure stopped the run may begin after it.
// Items with effects are not in groups.
func TestStoppedGroups(t *testing.T) {
	for effects, want := range map[bool]string{false: "", true: "many[1]: statuses: begins after a failure with the policy fail_run has stopped the run"} {
		p := compiledWith(t, fmt.Sprintf(`
name: stopped
runtime: {concurrency: 2}
state: {schema: {list: {type: array, default: [1, 2, 3]}}}
graph:
  nodes:
    - {id: many, kind: tool, impl: item, writes: [], effects: %v, for_each: {source: $.list}}
    - {id: bad, kind: tool, impl: bad, writes: [], on_error: {policy: fail_run}}
`, effects), map[string]core.HandlerFunc{
			"item": func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil },
			"bad": func(context.Context, core.Input) (core.Result, error) {
				time.Sleep(time.Second) // until the items have ended
				return core.Result{}, errors.New("bad")
			},
		})
		l := logged(t, p, scheduler.Options{})
		failed, second := l.at(t, core.NodeFailed, "bad", 1), l.at(t, core.ItemStarted, "many[1]", 1)
		if second > failed {
			t.Fatalf("item 1 begins at %d, the failure is at %d", second, failed)
		}
		e := l[failed]
		l = slices.Insert(slices.Delete(l, failed, failed+1), second, e).numbered()
		if got := words(checked(t, p, l)); want == "" && strings.Contains(got, "begins after a failure") || !strings.Contains(got, want) {
			t.Errorf("effects %v: %s", effects, got)
		}
	}
}
