package scheduler

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// visit finds the first visit of one of several nodes in a stored walk.
type visit struct {
	b     *rebuilding
	nodes []string
	// before is the number of kept answers before the visit, -1 if it has not been found.
	before int
}

// find looks for the visit while the journal is read. If the plan with which the run was started
// is known, the walk is replayed, and the node begins. If it is not known, the answers are
// collected: an answer of the node says that it was visited.
func (x *visit) find() {
	for i := range x.nodes {
		x.nodes[i], _, _ = strings.Cut(x.nodes[i], "/")
	}
	if !x.b.foreign {
		x.b.entered = func(node string) {
			if x.before < 0 && slices.Contains(x.nodes, node) {
				x.before = len(x.b.replay.Kept())
			}
		}
		return
	}
	x.b.counts = func(path string) bool {
		if x.found() < 0 && x.is(path) {
			x.before = len(x.b.replay.Kept())
		}
		return x.before < 0
	}
}

// is reports whether a node, or the one with a nested workflow around it, is wanted.
func (x *visit) is(path string) bool {
	root, _, _ := strings.Cut(plan.PartPath(path), "/")
	return slices.Contains(x.nodes, root)
}

// found returns the number of answers before the visit, or -1 if there was none.
func (x *visit) found() int {
	if x.before >= 0 || !x.b.foreign {
		return x.before
	}
	kept := x.b.kept
	if kept == nil { // it is being read
		kept = x.b.replay.Kept()
	}
	for i := range kept {
		if x.is(kept[i].Path) {
			x.before = i
			return i
		}
	}
	for _, o := range x.b.inFlight {
		if o.Node != nil && x.is(o.Call.Name(o.Node)) {
			x.before = len(kept)
		}
	}
	return x.before
}
