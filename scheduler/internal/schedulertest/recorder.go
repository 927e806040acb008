package schedulertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Recorder keeps what each execution of a run was given and how many of them
// overlapped. It is safe for concurrent use; one Recorder belongs to one run.
type Recorder struct {
	// Timing seeds how long executions take; 0 lets them take no time.
	Timing uint64
	// Repeats allows an execution to be asked for again, as after a crash; it
	// must then see the same.
	Repeats bool

	mu     sync.Mutex
	seen   map[Execution]string
	twice  []Execution
	unitOf map[string]string // pipeline or loop of a node
	active map[string]int    // executions in flight by node or unit
	total  int
	peaks  map[string]int // greatest value of active
	// peakUnits is the greatest number of nodes and units in flight, peakTotal
	// that of executions.
	peakUnits, peakTotal int
}

// Execution names one call of a handler. Node is its path, through the nested
// runs it is in; Item is -1 outside of fan-outs and pipelines, Visit 0 outside of walks.
type Execution struct {
	Node                        string
	Item, Round, Visit, Attempt int
}

// String prints the execution as node[item]#round/attempt; in a walk the visit stands for
// the round.
func (e Execution) String() string {
	return fmt.Sprintf("%s[%d]#%d/%d", e.Node, e.Item, e.Round+e.Visit, e.Attempt)
}

// begin prepares the recorder for a run of the graph.
func (r *Recorder) begin(g *Graph) {
	r.seen, r.unitOf = map[Execution]string{}, map[string]string{}
	r.active, r.peaks = map[string]int{}, map[string]int{}
	for _, list := range [][]*Unit{g.Pipelines, g.Loops} {
		for _, u := range list {
			for _, n := range u.Members {
				r.unitOf[n] = u.ID
			}
		}
	}
}

// owner is what holds a slot for the node: its unit or itself, in the outermost
// graph.
func (r *Recorder) owner(path string) string {
	node, _, _ := strings.Cut(path, "/")
	node, _, _ = strings.Cut(node, "[")
	if u, ok := r.unitOf[node]; ok {
		return u
	}
	return node
}

func (r *Recorder) enter(in core.Input, seen string) {
	e := Execution{Node: in.Node(), Item: in.Index(), Round: in.Round(), Visit: in.Visit(), Attempt: in.Attempt()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.seen[e]; ok && (!r.Repeats || before != seen) {
		r.twice = append(r.twice, e)
	}
	r.seen[e] = seen
	owner := r.owner(in.Node())
	r.active[owner]++
	r.total++
	r.peaks[owner] = max(r.peaks[owner], r.active[owner])
	r.peakUnits, r.peakTotal = max(r.peakUnits, len(r.active)), max(r.peakTotal, r.total)
}

func (r *Recorder) leave(in core.Input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner := r.owner(in.Node())
	if r.active[owner]--; r.active[owner] == 0 {
		delete(r.active, owner)
	}
	r.total--
}

// sleep takes the time that the execution takes.
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

// overlaps reports what ran together and must not have: more nodes and units
// than concurrency, more executions than inFlight (0: no limit), more parts of
// a fan-out or unit than it allows.
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
