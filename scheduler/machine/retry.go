package machine

import (
	"cmp"
	"time"

	"github.com/wavefold/wavefold/scheduler/machine/internal/backoff"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// delay returns the delay before the next attempt: the delay of the retry policy, but at least
// retryAfter.
func (f *frame) delay(n *plan.Node, id ID, retryAfter time.Duration) time.Duration {
	spread := n.Retry.Jitter && f.m.opts.Seed != 0
	return backoff.Wait(n.Retry.Delay(int(id.Attempt)), n.Retry.Max, retryAfter, spread, f.m.draw(n, id))
}

// draw returns a random number in [0,1) that is derived from the seed of the run and an execution
// of node n.
func (m *Machine) draw(n *plan.Node, id ID) float64 {
	return backoff.Draw(m.opts.Seed, uint32(id.Frame)^uint32(id.Frame>>32), nameHash(n.ID), uint32(id.From), uint32(id.Attempt))
}

// nameHash returns the FNV-1a hash of the ID of a node. What is derived from it does not depend on
// the order in which a document declares its nodes.
func nameHash(id string) uint32 {
	h := uint32(2166136261)
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return h
}

// compare orders IDs within a frame.
func (id ID) compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Node, o.Node), cmp.Compare(id.From, o.From), cmp.Compare(id.Attempt, o.Attempt))
}
