package schedulertest

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// skips decides each unit again, from the bottom up, and compares.
func (t *trace) skips() {
	sorted := slices.Clone(t.units)
	slices.SortStableFunc(sorted, func(a, b *unit) int { return a.level - b.level })
	for _, u := range sorted {
		if _, ok := t.resolved[u]; !ok {
			continue
		}
		own := u.status == core.Fail
		skip, cause := t.decide(u)
		for _, n := range u.members {
			t.skipped(u, t.records[n.ID.Value], n.ID.Value, skip, cause, own)
		}
		if skip != "" {
			u.status, u.skip, u.cause = core.Skipped, skip, cause
			continue
		}
		t.close(u)
	}
}

// skipped compares one node. Inside a unit that ran, a node may be skipped
// because nodes before it failed every time, or because the unit could not
// start.
func (t *trace) skipped(u *unit, r *member, id string, skip Skip, cause string, ownFault bool) {
	if skip == "" && u.rank > 0 && r.Status == core.Skipped {
		failed := slices.ContainsFunc(u.members, func(n *core.Node) bool { return t.records[n.ID.Value].Status == core.Fail })
		if r.Skip != SkipFailure || !failed && !ownFault {
			t.fault("node %s was skipped inside of unit %s without a failure", id, u.id)
		}
		return
	}
	switch {
	case skip == "" && r.Status == core.Skipped:
		t.fault("node %s was skipped and should have run", id)
	case skip != "" && r.Status != core.Skipped:
		t.fault("node %s ran and should have been skipped (%s, from %s)", id, skip, cause)
	case skip != "" && (r.Skip != skip || r.Cause != cause):
		t.fault("node %s was skipped for %s from %s, should be %s from %s", id, r.Skip, r.Cause, skip, cause)
	}
}

// attempts checks that attempts count from 1, that each but the last of an
// execution failed and announced its successor, and that none exceeds the
// policy.
func (t *trace) attempts() {
	last := map[Execution]int{} // the attempt under way or announced, by execution without attempt
	for _, e := range t.events {
		switch e.Type {
		case core.NodeStarted, core.ItemStarted, core.NodeRetrying:
		default:
			continue
		}
		n := t.nodes[e.Node]
		if n == nil || n.ForEach != nil && e.Type == core.NodeStarted {
			continue // a unit or fan-out as a whole
		}
		key := executionOf(&e)
		if e.Type == core.NodeRetrying {
			if e.Attempt != last[key] {
				t.fault("%s %s retries attempt %d after attempt %d", key, e.Type, e.Attempt, last[key])
			}
			continue
		}
		if e.Attempt != last[key]+1 {
			t.fault("%s starts attempt %d after attempt %d", key, e.Attempt, last[key])
		}
		last[key] = e.Attempt
		if e.Attempt > attemptLimit(n) {
			t.fault("%s starts attempt %d of %d", key, e.Attempt, attemptLimit(n))
		}
	}
}

func attemptLimit(n *core.Node) int {
	if p := n.OnError; p != nil && p.Policy.Value == "retry" {
		return p.Attempts.Value
	}
	return 1
}

// overlap counts what was in flight at each moment. Left out are nested runs,
// which hold a slot only while something inside them runs, and nodes that may have
// to wait for their turn to commit: the log does not show when they or their items
// let go of their slot.
func (t *trace) overlap() {
	active := map[*unit]int{}
	total := 0
	for _, e := range t.events {
		u := t.of[e.Node]
		if u == nil || t.frames[u] || t.mayWait(u) {
			continue
		}
		plain := t.nodes[e.Node].ForEach == nil
		switch e.Type {
		case core.NodeStarted, core.ItemStarted:
			if plain || e.Type == core.ItemStarted {
				active[u]++
				total++
			}
		case core.NodeRetrying, core.NodeFinished, core.NodeFailed, core.ItemFinished, core.ItemFailed:
			if (plain || e.Type != core.NodeFinished && e.Type != core.NodeFailed) && active[u] > 0 {
				active[u]--
				total--
			}
			if active[u] == 0 {
				delete(active, u)
			}
		}
		if t.limits.Concurrency > 0 && len(active) > t.limits.Concurrency {
			t.fault("%d nodes and units in flight at event %d, limit %d", len(active), e.Seq, t.limits.Concurrency)
		}
		if t.limits.MaxInFlight > 0 && total > t.limits.MaxInFlight {
			t.fault("%d executions in flight at event %d, limit %d", total, e.Seq, t.limits.MaxInFlight)
		}
	}
}

// startOrder checks that with a limit of 1 work starts in canonical order. That
// holds as long as nothing waits without its slot: for another attempt or, in a
// nested run, for what is inside it.
func (t *trace) startOrder() {
	if t.limits.Concurrency != 1 || len(t.frames) > 0 || slices.ContainsFunc(t.w.Nodes, func(n *core.Node) bool {
		return n.Priority.Value != 0 || attemptLimit(n) > 1
	}) {
		return
	}
	sorted := slices.Clone(t.units)
	slices.SortStableFunc(sorted, func(a, b *unit) int { return a.level - b.level })
	var last *unit
	for _, u := range sorted {
		if _, ok := t.first[u]; !ok {
			continue
		}
		if last != nil && t.first[u] < t.first[last] {
			t.fault("%s started before %s, which comes first in canonical order", u.id, last.id)
		}
		last = u
	}
}

// writes checks that nothing is told that is taken back later: an execution ends
// once, what it writes is told after its end, which is a good one, and of a round
// that failed nothing is written.
func (t *trace) writes() {
	ends := map[Execution]core.EventType{}
	failed := map[Execution]bool{} // rounds, by the id of their loop
	written := map[Execution]bool{}
	for _, e := range t.events {
		n := t.nodes[e.Node]
		if n == nil {
			continue
		}
		key := executionOf(&e)
		switch e.Type {
		case core.ItemFinished, core.ItemFailed:
			if before, ok := ends[key]; ok {
				t.fault("%s ends twice: %s, then %s", key, before, e.Type)
			}
			ends[key] = e.Type
			if e.Type == core.ItemFailed && e.Round > 0 {
				failed[Execution{Node: e.Unit, Round: key.Round}] = true
			}
		case core.StateWritten:
			switch u := t.of[e.Node]; {
			case e.Item == 0 && e.Round == 0 && (n.ForEach != nil || u.rank > 0):
				t.fault("%s writes %s in no item, row or round", e.Node, e.Field)
			case e.Round > 0:
				written[Execution{Node: u.id, Round: key.Round}] = true
				fallthrough
			case e.Item > 0:
				if ends[key] != core.ItemFinished {
					t.fault("%s writes %s and has not ended well", key, e.Field)
				}
			case t.records[e.Node].Status == core.Fail:
				t.fault("%s writes %s and fails", e.Node, e.Field)
			}
		}
	}
	for round := range written {
		if failed[round] {
			t.fault("round %d of %s writes and fails", round.Round, round.Node)
		}
	}
}

// executionOf names the execution that an event is about.
func executionOf(e *core.Event) Execution {
	item, _ := e.Item.Get()
	round, _ := e.Round.Get()
	return Execution{Node: e.Node, Item: item, Round: round}
}

func (t *trace) mayWait(u *unit) bool {
	return u.rank == 0 && slices.ContainsFunc(u.members[0].Writes, func(w core.Text) bool {
		f := t.fields[w.Value]
		return f.Reduce != nil || f.Merge.Value == "set_once"
	})
}
