package scheduler

import (
	"slices"

	"github.com/wavefold/wavefold/internal/items"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// rangeResults holds the outcomes of the items of a range. A worker uses it again for its next range
// of the same node, because the machine copies what it keeps.
type rangeResults struct {
	node   *plan.Node
	size   int
	items  []machine.Outcome   // outcomes with more than writes; nil until there is one
	writes []*state.ItemWrites // of the other items, parallel to plan.Node.WriteFields
	buffer []plan.Write        // the writes of the current item
	// values calls the handler and stores the values in writes. It is nil if the handler is called
	// with an Input for each item.
	values items.Range
	call   *machine.Call // with the list of items of values
	first  int           // index of the first item of the list
}

// results returns empty results for the range of the command.
func (x *executor) results() *rangeResults {
	n, size := x.c.Node, int(x.c.ID.To-x.c.ID.From)
	if r := x.w.results; r != nil && r.node == n && r.size >= size && (r.values == nil || r.call == x.c.Call) {
		clear(r.items)
		for _, w := range r.writes {
			if w != nil {
				w.Clear()
			}
		}
		return r
	}
	r := &rangeResults{node: n, size: size, writes: make([]*state.ItemWrites, len(n.WriteFields)), buffer: make([]plan.Write, 0, len(n.WriteFields))}
	if n.Items() != nil && x.run.trace.tracer == nil && x.run.opts.Mock == nil { // a tracer is given the Input
		var list any
		r.call = x.c.Call
		list, r.first = r.call.Items.List()
		r.values = n.Items().Range(list, size)
		if n.Value != nil {
			r.writes[0] = state.TypedItemWrites(&x.p.Schema.Fields[n.WriteFields[0]], r.values.Values())
		}
	}
	x.w.results = r
	return r
}

// keep stores the outcome of an item. The caller holds mu if another goroutine may answer for the
// worker.
func (r *rangeResults) keep(x *executor, e *machine.Event, i int32, o *machine.Outcome) {
	n, at := x.c.Node, int(i-x.c.ID.From)
	if !o.OnlyWrites() {
		if e.Items == nil {
			if r.items == nil {
				r.items = make([]machine.Outcome, r.size)
			}
			e.Items = r.items[:x.c.ID.To-x.c.ID.From]
		}
		e.Items[at] = *o
		e.Items[at].Writes = slices.Clone(o.Writes)
		return
	}
	for _, w := range o.Writes {
		k := slices.Index(n.WriteFields, w.Field)
		if r.writes[k] == nil {
			r.writes[k] = state.NewItemWrites(&x.p.Schema.Fields[w.Field], r.size)
		}
		r.writes[k].Set(at, w.Value)
	}
}

// makesRoom reports whether keep has to allocate a list, which a goroutine that answers for the
// worker may read.
func (r *rangeResults) makesRoom(n *plan.Node, e *machine.Event, o *machine.Outcome) bool {
	if !o.OnlyWrites() {
		return e.Items == nil
	}
	return slices.ContainsFunc(o.Writes, func(w plan.Write) bool { return r.writes[slices.Index(n.WriteFields, w.Field)] == nil })
}
