package cli

import (
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/pace"
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

// progressState is the pace of a node and the time of the last line about it.
type progressState struct {
	pace.Pace
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
	return lineWith(e, paceText(&t.Pace, e.Time))
}

// paceText describes progress: the amount done, the total, the rate and the remaining time.
func paceText(p *pace.Pace, now time.Time) string {
	parts := []string{pace.Count(p.Done)}
	if p.Of > 0 {
		parts[0] += " of " + pace.Count(p.Of)
	}
	if part, ok := p.Fraction(); ok {
		parts = append(parts, strings.TrimSpace(pace.Percent(part)))
	}
	if rate, ok := p.Rate(now); ok {
		parts = append(parts, pace.Rate(rate))
	}
	if left, ok := p.Remaining(now); ok {
		parts = append(parts, pace.Remaining(left))
	}
	return strings.Join(parts, "  ")
}
