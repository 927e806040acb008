package machine

import (
	"cmp"
	"time"

	"github.com/wavefold/wavefold/scheduler/machine/internal/backoff"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// delay is the wait after an attempt by the retry policy of its node, and at
// least what the failure asked for.
func (f *frame) delay(n *plan.Node, id ID, retryAfter time.Duration) time.Duration {
	spread := n.Retry.Jitter && f.m.opts.Seed != 0
	return backoff.Wait(n.Retry.Delay(int(id.Attempt)), n.Retry.Max, retryAfter, spread, f.m.draw(id))
}

// draw makes a number in [0,1) of the run's seed and what it is for.
func (m *Machine) draw(id ID) float64 {
	return backoff.Draw(m.opts.Seed, uint32(id.Frame)^uint32(id.Frame>>32), uint32(id.Node), uint32(id.From), uint32(id.Attempt))
}

// compare orders ids within a frame.
func (id ID) compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Node, o.Node), cmp.Compare(id.From, o.From), cmp.Compare(id.Attempt, o.Attempt))
}
