package schedulertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Recorder records the input of each execution of a run, and how many executions
// overlapped. It is safe for concurrent use; one Recorder belongs to one run.
type Recorder struct {
	// Timing is the seed for the durations of executions; with 0 they take no time.
	Timing uint64
	// Repeats allows executions to be repeated, as after a crash; a repetition must have
	// the same input.
	Repeats bool

	mu     sync.Mutex
	seen   map[Execution]string
	twice  []Execution
	unitOf map[string]string // pipeline or loop of a node
	active map[string]int    // executions in flight by node or unit
	asking map[string]int    // executions that ask a person, by node or unit
	total  int
	peaks  map[string]int // maximum of active
	// peakUnits is the maximum number of nodes and units in flight, peakTotal the maximum
	// number of executions.
	peakUnits, peakTotal int
}

// Execution identifies one call of a handler. Node is its path, through the nested runs
// that contain it; Item is -1 outside of fan-outs and pipelines, Visit is 0 outside of
// walks.
type Execution struct {
	Node                        string
	Item, Round, Visit, Attempt int
}

// String formats the execution as node[item]#round/attempt; in a walk the visit replaces
// the round.
func (e Execution) String() string {
	return fmt.Sprintf("%s[%d]#%d/%d", e.Node, e.Item, e.Round+e.Visit, e.Attempt)
}

// begin prepares the recorder for a run of the graph.
func (r *Recorder) begin(g *Graph) {
	r.seen, r.unitOf = map[Execution]string{}, map[string]string{}
	r.active, r.asking, r.peaks = map[string]int{}, map[string]int{}, map[string]int{}
	for _, list := range [][]*Unit{g.Pipelines, g.Loops} {
		for _, u := range list {
			for _, n := range u.Members {
				r.unitOf[n] = u.ID
			}
		}
	}
}

// owner returns the holder of the node's slot: its unit or the node itself, in the
// outermost graph.
func (r *Recorder) owner(path string) string {
	node, _, _ := strings.Cut(path, "/")
	node, _, _ = strings.Cut(node, "[")
	if u, ok := r.unitOf[node]; ok {
		return u
	}
	return node
}

// enter records the start of an execution. One that asks a person counts only towards the limit of
// its fan-out or unit.
func (r *Recorder) enter(in core.Input, seen string, asks bool) {
	e := Execution{Node: in.Node(), Item: in.Index(), Round: in.Round(), Visit: in.Visit(), Attempt: in.Attempt()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.seen[e]; ok && (!r.Repeats || before != seen) {
		r.twice = append(r.twice, e)
	}
	r.seen[e] = seen
	owner := r.owner(in.Node())
	if asks {
		r.asking[owner]++
	} else {
		r.active[owner]++
		r.total++
	}
	r.peaks[owner] = max(r.peaks[owner], r.active[owner]+r.asking[owner])
	r.peakUnits, r.peakTotal = max(r.peakUnits, len(r.active)), max(r.peakTotal, r.total)
}

func (r *Recorder) leave(in core.Input, asks bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner := r.owner(in.Node())
	if asks {
		r.asking[owner]--
		return
	}
	if r.active[owner]--; r.active[owner] == 0 {
		delete(r.active, owner)
	}
	r.total--
}

// sleep sleeps for the duration of the execution.
func (r *Recorder) sleep(ctx context.Context, in core.Input) error {
	if r.Timing == 0 {
		return nil
	}
	d := wait(r.Timing, in)
	if d == 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// continues returns the interviewer that lets executions continue after their pauses. In a walk,
// whose joins depend on time, it takes no time.
func (r *Recorder) continues(g *Graph) core.Interviewer {
	return core.InterviewerFunc(func(ctx context.Context, q core.Question) (core.Answer, error) {
		if g.Walk != nil || r.Timing == 0 {
			return core.Answer{Choice: q.Choices[0]}, ctx.Err()
		}
		select {
		case <-time.After(time.Duration(digest(r.Timing, "pause", q.Node) % 200_000)):
			return core.Answer{Choice: q.Choices[0]}, nil
		case <-ctx.Done():
			return core.Answer{}, ctx.Err()
		}
	})
}

// overlaps reports excessive concurrency: more nodes and units than concurrency, more
// executions than inFlight (0: no limit), or more parts of a fan-out or unit than it
// allows.
func (r *Recorder) overlaps(g *Graph, concurrency, inFlight int) []string {
	var faults []string
	over := func(what string, peak, limit int) {
		if limit > 0 && peak > limit {
			faults = append(faults, fmt.Sprintf("%s: %d in flight, limit %d", what, peak, limit))
		}
	}
	over("nodes and units", r.peakUnits, concurrency)
	over("executions", r.peakTotal, inFlight)
	// Nested runs have limits of their own, so their parts are not counted.
	nested := map[string]bool{}
	for _, n := range g.Nodes {
		if n.Sub != nil {
			nested[r.owner(n.ID)] = true
		}
	}
	part := func(id string, limit int) {
		if !nested[id] {
			over(id, r.peaks[id], max(1, limit))
		}
	}
	for _, n := range g.Nodes {
		if r.unitOf[n.ID] == "" {
			part(n.ID, n.Concurrency)
		}
	}
	for _, p := range g.Pipelines {
		part(p.ID, p.Concurrency)
	}
	for _, l := range g.Loops {
		part(l.ID, 1)
	}
	return faults
}
