package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine/internal/quorum"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// join is the run-time state of a plan.Join, a join that needs only some of its predecessors.
// Each predecessor is a branch of the join, and is evaluated once all its edges can be. Without a
// race, branches are evaluated in canonical order, so that the result does not depend on timing.
type join struct {
	Evaluated     int32   `json:"evaluated,omitempty"` // number of evaluated branches
	Live          int32   `json:"live,omitempty"`      // number of evaluated branches with a live edge
	Next          int32   `json:"next,omitempty"`      // without a race: the first branch that is not evaluated
	Decided       bool    `json:"decided,omitempty"`
	NotAllSkipped bool    `json:"not_all_skipped,omitempty"` // an edge was false or blocked or live, rather than skipped with its source
	Blocked       int32   `json:"blocked,omitempty"`         // 1 + the first edge in declared order whose source failed, or 0 if there is none
	Taken         []int32 `json:"taken,omitempty"`           // live edges of the branches that count, in declared order
}

// evaluated replaces the number of closed gates of a branch that was evaluated.
const evaluated = -1

// openJoinGate opens one gate of a branch.
func (f *frame) openJoinGate(a int32) {
	if f.JoinGates[a]--; f.JoinGates[a] == 0 {
		f.queue = append(f.queue, gate{joinGate, f.p.JoinBranches[a].Join})
	}
}

// tally returns the counts of a join for its quorum.
func (x *join) tally(pj *plan.Join) quorum.Tally {
	return quorum.Tally{Branches: pj.Count(), Need: pj.Need, Ended: int(x.Evaluated), Succeeded: int(x.Live)}
}

// evaluateJoin evaluates the branches whose gates are open, and decides the join when enough
// branches are live or none is left.
func (f *frame) evaluateJoin(j int32) {
	pj, x := &f.p.Joins[j], &f.Joins[j]
	if f.Stopped || x.Decided || f.v[pj.Vertex].Phase != undecided {
		return
	}
	for a := pj.From + x.Next; a < pj.To && x.tally(pj).AtEnd() == quorum.Pending; a++ {
		switch {
		case f.JoinGates[a] == 0:
			f.evaluateBranch(x, a)
		case !pj.Race:
			return
		}
		if !pj.Race {
			x.Next++
		}
	}
	result := x.tally(pj).AtEnd()
	if result == quorum.Pending {
		return
	}
	x.Decided = true
	if result == quorum.Won {
		f.emitJoined(j)
		f.cancelLosers(pj.Losers, pj.Vertex)
	}
	f.openGate(pj.Vertex)
}

// evaluateBranch evaluates the edges of a branch.
func (f *frame) evaluateBranch(x *join, a int32) {
	f.JoinGates[a] = evaluated
	x.Evaluated++
	took := len(x.Taken)
	for _, e := range f.p.JoinBranches[a].Edges {
		switch f.edgeState(e) {
		case edgeLive:
			x.Taken = append(x.Taken, e)
		case edgeBlocked:
			if x.Blocked == 0 || e < x.Blocked-1 {
				x.Blocked = e + 1
			}
		case edgeNeutral:
			continue
		}
		x.NotAllSkipped = true
	}
	if len(x.Taken) > took {
		x.Live++
		slices.Sort(x.Taken)
	}
}

// decideJoin runs or skips the vertex of a decided join.
func (f *frame) decideJoin(v int32) {
	j := f.p.Vertices[v].Join
	x := &f.Joins[j]
	switch {
	case x.tally(&f.p.Joins[j]).AtEnd() == quorum.Won:
		for _, e := range x.Taken {
			if f.p.Edges[e].Handles {
				f.handle(e)
			}
		}
		f.letRun(v)
	case x.Blocked > 0:
		f.skip(v, skipFailure, x.Blocked-1)
	case !x.NotAllSkipped && x.Evaluated > 0:
		f.skip(v, skipAll, -1)
	default:
		f.skip(v, skipJoin, -1)
	}
}

// isTaken reports whether the target of an edge receives what its source sent.
func (f *frame) isTaken(e int32) bool {
	a := f.p.Edges[e].JoinBranch
	return a == 0 || slices.Contains(f.Joins[f.p.JoinBranches[a-1].Join].Taken, e)
}

// joinText describes how many predecessors succeeded and how many the join needs. It is "" for a
// vertex that needs all of its predecessors.
func (f *frame) joinText(v int32) string {
	j := f.p.Vertices[v].Join
	if j < 0 {
		return ""
	}
	pj := &f.p.Joins[j]
	return fmt.Sprintf("%d of %d predecessors succeeded, it takes %d", f.Joins[j].Live, pj.Count(), pj.Need)
}

// taken returns the IDs of the nodes that the join has taken, in canonical order.
func (f *frame) taken(j int32) []string {
	names := []string{}
	pj := &f.p.Joins[j]
	for a := pj.From; a < pj.To; a++ {
		for _, e := range f.p.JoinBranches[a].Edges {
			if name := f.p.Nodes[f.p.Edges[e].FromNode].ID; slices.Contains(f.Joins[j].Taken, e) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// emitJoined emits the event with the predecessors that a join has taken.
func (f *frame) emitJoined(j int32) {
	if !f.m.opts.Events {
		return
	}
	pj := &f.p.Joins[j]
	e := f.vertexEvent(core.JoinDecided, pj.Vertex)
	e.Nodes = f.taken(j)
	e.Reason = fmt.Sprintf("takes %d of %d predecessors", pj.Need, pj.Count())
	switch {
	case len(e.Nodes) == 0:
	case pj.Race:
		e.Reason += ", the fastest: " + strings.Join(e.Nodes, ", ")
	default:
		e.Reason += ", the first that succeeded: " + strings.Join(e.Nodes, ", ")
	}
	f.m.emit(e)
}

// raceText explains why a vertex was cancelled by a race; to is the vertex of the join.
func (f *frame) raceText(to int32) string {
	j := f.p.Vertices[to].Join
	won := f.taken(j)
	if len(won) == 0 {
		return fmt.Sprintf("lost the race: %s takes no predecessor", f.p.Vertices[to].ID)
	}
	return fmt.Sprintf("lost the race: %s went on with %s", f.p.Vertices[to].ID, strings.Join(won, ", "))
}
