package cli

import (
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/progress"
)

// progressInterval is the minimum time between two lines about the progress of a node.
const progressInterval = 2 * time.Second

// progressLines formats the progress of nodes as lines.
type progressLines struct {
	of map[progressKey]*progressState
}

type progressKey struct {
	node, unit    string
	item, attempt int
}

// progressState is the progress of a node and the time of the last line about it.
type progressState struct {
	progress.Estimator
	at time.Time
}

// line returns the line for a progress event, "" if it gets none. The first and the last
// event of a node get a line, and in between at most one every two seconds.
func (p *progressLines) line(e *core.Event) string {
	key := progressKey{e.Node, e.Unit, int(e.Item), e.Attempt}
	t := p.of[key]
	if t == nil {
		if p.of == nil {
			p.of = map[progressKey]*progressState{}
		}
		t = &progressState{}
		p.of[key] = t
	}
	t.Step(e.Time, e.Done, e.Of)
	if e.Size > 0 {
		t.Input(e.Time, e.Read, e.Size)
	}
	last := e.Of > 0 && e.Done >= e.Of
	if !t.at.IsZero() && !last && e.Time.Sub(t.at) < progressInterval {
		return ""
	}
	t.at = e.Time
	if last {
		delete(p.of, key)
	}
	return lineWith(e, estimateText(&t.Estimator, e.Time))
}

// estimateText describes progress: the amount done, the total, the rate and the remaining time.
func estimateText(p *progress.Estimator, now time.Time) string {
	parts := []string{progress.Count(p.Done)}
	if p.Of > 0 {
		parts[0] += " of " + progress.Count(p.Of)
	}
	if part, ok := p.Fraction(); ok {
		parts = append(parts, strings.TrimSpace(progress.Percent(part)))
	}
	if rate, ok := p.Rate(now); ok {
		parts = append(parts, progress.Rate(rate))
	}
	if left, ok := p.Remaining(now); ok {
		parts = append(parts, progress.Remaining(left))
	}
	return strings.Join(parts, "  ")
}
