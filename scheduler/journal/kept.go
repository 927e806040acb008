package journal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Kept is an event of a journal that a run with another machine is to repeat: one that is continued
// after it was cancelled or has failed, or with a changed workflow.
type Kept struct {
	Ref
	// Data is the event in the journal.
	Data []byte
	// Path is the path of the node that it answers, such as "outer[3]/save", or of a nested run as a
	// whole. It is "" for an event about the run itself.
	Path string
	// Event is the event for the plan that it was recorded with. Of a range, only the items from
	// Event.ID.From to Event.ID.To are kept, which may be fewer than in Data.
	Event *machine.Event

	// pause reports whether it answers the question of a pause before or after the node.
	pause   bool
	retried map[int32]bool // the items, or the execution, that got another attempt; nil if none did
}

// Failure returns how an item of the event failed, nil if it did not. An event without items is one as a
// whole.
func (x *Kept) Failure(item int32) *core.Failure {
	e := x.Event
	if at := int(item - e.ID.From); at >= 0 && at < len(e.Items) {
		return e.Items[at].Failure
	}
	return e.Outcome.Failure
}

// Keep makes the replay collect the events of the following batches, whose Seq must be set.
func (r *Replay) Keep() { r.keep = true }

// Kept returns the events that were collected, in recorded order, without the events that the
// machine has dropped.
func (r *Replay) Kept() []Kept { return r.kept }

// cancelledOutcome reports whether an outcome is the end of an attempt that was cancelled.
func cancelledOutcome(o *machine.Outcome) bool {
	return o.Failure != nil && o.Failure.Class == core.ClassCanceled
}

// Uncancelled returns what is kept of a run that was cancelled: all but the cancellation, and the
// answers of the attempts that it has cancelled.
func Uncancelled(kept []Kept) []Kept {
	at := slices.IndexFunc(kept, func(x Kept) bool { return x.Event.Kind == machine.Cancel })
	if at < 0 {
		return kept
	}
	list := slices.Clone(kept[:at])
	for _, x := range kept[at+1:] {
		if x.Event.Kind == machine.Cancel {
			continue
		}
		list = append(list, x.undecided().without(cancelledOutcome)...)
	}
	return list
}

// undecided returns the event as one whose failures may be followed by another attempt. In a run that
// was cancelled none was, and of an event that was not replayed it is not known.
func (x Kept) undecided() Kept {
	x.retried = map[int32]bool{}
	note := func(item int32, o *machine.Outcome) {
		if o.Failure != nil || o.Status == core.Retry {
			x.retried[item] = true
		}
	}
	note(x.Event.ID.From, &x.Event.Outcome)
	for i := range x.Event.Items {
		note(x.Event.ID.From+int32(i), &x.Event.Items[i])
	}
	return x
}

// Decided returns the events of a run that has ended, some of which were collected without being replayed: a
// failure that no other attempt follows is the end of its execution.
func Decided(kept []Kept) []Kept {
	list, later := slices.Clone(kept), map[execution]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		x := &list[i]
		id := x.Event.ID
		retried := map[int32]bool{}
		for item := id.From; item == id.From || item < id.To; item++ {
			key := execution{id.Frame, id.Node, item}
			if x.retried[item] && later[key] {
				retried[item] = true
			}
			later[key] = later[key] || x.Event.Kind == machine.Finished && id.Attempt > 0
		}
		x.retried = retried
	}
	return list
}

// without returns the parts of an event without the items, or nothing of an event with the outcome,
// that drop selects.
func (x Kept) without(drop func(*machine.Outcome) bool) []Kept {
	e := x.Event
	if e.Kind != machine.Finished && e.Kind != machine.Placed {
		return []Kept{x}
	}
	if e.Items == nil {
		if drop(&e.Outcome) {
			return nil
		}
		return []Kept{x}
	}
	var list []Kept
	for from := 0; from < len(e.Items); {
		to := from
		for to < len(e.Items) && !drop(&e.Items[to]) {
			to++
		}
		if to > from {
			list = append(list, x.items(e.ID.From+int32(from), e.ID.From+int32(to)))
		}
		from = to + 1
	}
	return list
}

// items returns a part of the items of an event.
func (x Kept) items(from, to int32) Kept {
	id := x.Event.ID
	id.From, id.To = from, to
	x.Event, _ = part(x.Event, id) // which is within the event
	return x
}

// Without returns the events that do not belong to the given nodes, pipelines and loops or to nested
// runs of these. nodes are paths without the numbers of items, such as "outer/save".
func Without(kept []Kept, nodes map[string]bool) []Kept {
	return slices.DeleteFunc(slices.Clone(kept), func(x Kept) bool { return Covers(nodes, x.Path) })
}

// Covers reports whether the execution at a path, such as "outer[3]/save", belongs to one of the given nodes or
// to a nested run of one. nodes are as for Without.
func Covers(nodes map[string]bool, execution string) bool {
	path := ""
	for step := range strings.SplitSeq(execution, "/") {
		step, _, _ = strings.Cut(step, "[")
		if path != "" {
			path += "/"
		}
		if path += step; nodes[path] {
			return true
		}
	}
	return false
}

// Ended returns the executions that have an answer among kept events, as the path of the node with its item or
// round in brackets if it has one, "#" and the number of the visit, 0 outside of walks and flows.
func Ended(kept []Kept) map[string]bool {
	set := map[string]bool{}
	for i := range kept {
		x := &kept[i]
		id := x.Event.ID
		if x.Event.Kind != machine.Finished || id.Node < 0 {
			continue
		}
		if id.To == 0 {
			set[x.Path+"#0"] = true
		}
		for n := id.From; n < id.To; n++ { // it is a visit, or an item: the path has no other use for the other form
			set[fmt.Sprintf("%s#%d", x.Path, n)], set[fmt.Sprintf("%s[%d]#0", x.Path, n)] = true, true
		}
	}
	return set
}

// Affected returns the given nodes of a plan and all nodes that can see their effect: nodes that
// come after them, read a field that they write, or refer to them. The paths are as for Without. A
// pipeline or loop is affected as a whole. In a nested run only the affected nodes are, and outside
// of it the nodes that can see the effect of the node that runs it. In a walk all nodes are
// affected.
func Affected(p *plan.Plan, nodes []string) map[string]bool {
	set := map[string]bool{}
	for _, path := range nodes {
		affected(set, p, "", path)
	}
	return set
}

func affected(set map[string]bool, p *plan.Plan, prefix, path string) {
	id, inner, nested := strings.Cut(path, "/")
	first := vertexOf(p, id)
	if first < 0 {
		return
	}
	if n, ok := p.Node(id); ok && nested && n.Frame != nil {
		affected(set, n.Frame.Plan, prefix+id+"/", inner)
	}
	seen := make([]bool, len(p.Vertices))
	for stack := []int32{first}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		if v != first || !nested {
			addVertex(set, p, prefix, v)
		}
		stack = append(stack, observers(p, v)...)
	}
}

// vertexOf returns the vertex of a node, pipeline or loop, or -1 if there is none.
func vertexOf(p *plan.Plan, id string) int32 {
	if n, ok := p.Node(id); ok {
		return n.Vertex
	}
	return int32(slices.IndexFunc(p.Vertices, func(v plan.Vertex) bool { return v.Unit != nil && v.ID == id }))
}

// addVertex adds the nodes of a vertex, and the unit that they belong to.
func addVertex(set map[string]bool, p *plan.Plan, prefix string, v int32) {
	switch u := p.Vertices[v].Unit; {
	case p.Mode.Visits:
		for i := range p.Nodes {
			set[prefix+p.Nodes[i].ID] = true
		}
	case u != nil:
		set[prefix+u.ID] = true
		for _, m := range u.Members {
			set[prefix+p.Nodes[m].ID] = true
		}
	default:
		set[prefix+p.Nodes[p.Vertices[v].Node].ID] = true
	}
}

// observers returns the vertices that can see the effect of a vertex directly.
func observers(p *plan.Plan, v int32) []int32 {
	var list []int32
	for _, gate := range p.OutGates(v) {
		for _, w := range p.Behind(gate) {
			if !p.Vertices[w].Last || refersTo(p, p.Vertices[w].Unit, v) { // else it only runs later
				list = append(list, w)
			}
		}
	}
	for _, s := range p.Vertices[v].Writes {
		for _, r := range p.Readers[s.Field] {
			if r.Threshold > s.Slot {
				list = append(list, p.ReadBy(r)...)
			}
		}
	}
	return list
}

// refersTo reports whether a unit refers to the node of a vertex through $nodes.
func refersTo(p *plan.Plan, u *plan.Unit, v int32) bool {
	return slices.ContainsFunc(u.NodeRefs, func(n int32) bool { return p.Nodes[n].Vertex == v })
}
