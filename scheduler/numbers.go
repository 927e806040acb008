package scheduler

import (
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// mostEvents returns an upper bound for the number of events that were emitted because of some answers. The
// listeners of earlier processes received the events of a part of the journal that cannot be replayed.
// Their number is therefore not known, and the next process must not use the same numbers.
func mostEvents(p *plan.Plan, kept []journal.Kept) int64 {
	n, frames := graphEvents(p), map[string]bool{"": true}
	for i := range kept {
		frame, _ := plan.CutPath(kept[i].Path)
		in, err := p.At(frame)
		if err != nil {
			continue
		}
		if !frames[frame] {
			frames[frame] = true
			n += graphEvents(in)
		}
		id := kept[i].Event.ID
		items := int64(max(1, id.To-id.From))
		n += items * int64(8+len(in.Schema.Fields)) // its start, end, repetition and writes
		if in.Mode.Visits {                         // nodes without a handler may follow, each with conditions
			n += graphEvents(in)
		}
	}
	return n
}

// graphEvents limits the events of a graph that are not about single executions.
func graphEvents(p *plan.Plan) int64 { return int64(4 + 8*len(p.Nodes) + 8*len(p.Edges)) }
