package history

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Execution describes how an execution of a node, or a node, pipeline or loop as a whole, has
// ended.
type Execution struct {
	// Name is its name as for Run.After, with the path of its nested run: "many[7]", "outer[3]/save".
	Name string `json:"name"`
	// Status is "" if it has not ended.
	Status string `json:"status,omitempty"`
	// Reason says why it failed or was skipped.
	Reason string `json:"reason,omitempty"`
	// Route is the node where a walk continued.
	Route string `json:"route,omitempty"`

	wrote *value.Object // by field; nil if nothing
	whole bool          // a node, pipeline or loop as a whole, or a visit
	took  time.Duration
	place []int32
}

// written returns what an execution has written, nil if nothing.
func (e *Execution) written() *value.Object {
	if e == nil {
		return nil
	}
	return e.wrote
}

// masked returns the execution without secrets.
func (e *Execution) masked(mask secret.Masker) *Execution {
	if e == nil {
		return nil
	}
	out := *e
	out.Reason = mask.Text(e.Reason)
	return &out
}

// executions collects the executions of a run.
type executions struct {
	list  []*Execution
	index map[string]*Execution
	plans map[string]graphPlan
	event core.Event
	// visits counts the visits of the tokens of walks, by path of the graph.
	visits map[string]int32
}

// graphPlan is the plan of a graph and the place of its executions.
type graphPlan struct {
	plan  *plan.Plan
	place []int32
	units map[string]int32 // the vertices of pipelines and loops; nil if there are none
}

func newExecutions(p *plan.Plan) *executions {
	x := &executions{index: map[string]*Execution{}, plans: map[string]graphPlan{}, visits: map[string]int32{}}
	x.plans[""] = newGraphPlan(p, nil)
	return x
}

func newGraphPlan(p *plan.Plan, place []int32) graphPlan {
	g := graphPlan{plan: p, place: place}
	for v := range p.Vertices {
		if u := p.Vertices[v].Unit; u != nil {
			if g.units == nil {
				g.units = map[string]int32{}
			}
			g.units[u.ID] = int32(v)
		}
	}
	return g
}

// get returns the execution with a name.
func (x *executions) get(name string) *Execution {
	e := x.index[name]
	if e == nil {
		e = &Execution{Name: name}
		x.index[name] = e
		x.list = append(x.list, e)
	}
	return e
}

// wrote notes a write.
func (x *executions) wrote(w *machine.Write) {
	if w.Assigned != nil {
		x.assigned(w)
		return
	}
	if w.Element || w.ID.Node < 0 || value.IsMissing(w.Value) {
		return
	}
	p := w.Graph.Plan()
	name := p.Nodes[w.ID.Node].ID
	if path := w.Graph.Path(); path != "" {
		name = path + "/" + name
	}
	switch {
	case w.Visit > 0:
		name = numbered(name, w.Visit)
	case w.ID.To > 0:
		name = numbered(name, int(w.ID.From))
	}
	e := x.get(name)
	if e.wrote == nil {
		e.wrote = &value.Object{}
	}
	e.wrote.Set(p.Schema.Fields[w.Field].Name, canonical(w.Value))
}

// assigned notes what a replay has set, as an execution that comes before the others of its level, or before
// the visit in a walk.
func (x *executions) assigned(w *machine.Write) {
	p := w.Graph.Plan()
	e := x.get("replay --set " + w.Assigned.Path)
	e.wrote, e.Status = &value.Object{}, core.Success.String()
	in := e.wrote
	_, steps, _ := machine.FieldOf(p, w.Assigned.Path) // the machine has accepted it
	key, v := p.Schema.Fields[w.Field].Name, canonical(w.Value)
	for _, s := range steps { // only the members that are set
		inner, ok := s.Inside(v)
		if !ok || s.Index >= 0 {
			break
		}
		o := &value.Object{}
		in.Set(key, o)
		in, key, v = o, s.Key, inner
	}
	in.Set(key, v)
	e.place = []int32{0, -1, -1}
	if !p.Mode.Visits {
		e.place[0] = p.Levels[w.Level]
	} else {
		e.place[0] = x.visits[""]
	}
}

// emitted notes what the machine has emitted.
func (x *executions) emitted(list machine.Emissions) {
	list.Events(&x.event, x.add)
}

// add notes an event.
func (x *executions) add(ev *core.Event) {
	number := -1
	if n, ok := ev.Item.Get(); ok {
		number = n
	} else if n, ok := ev.Round.Get(); ok {
		number = n
	} else if ev.Visit > 0 {
		number = ev.Visit
	}
	path := ev.Node
	switch ev.Type {
	case core.NodeFinished, core.NodeFailed, core.NodeSkipped, core.ItemFinished, core.ItemFailed:
	case core.UnitFinished:
		path = ev.Unit
	case core.EdgeChosen:
		x.get(numbered(ev.Node, ev.Visit)).Route = ev.To
		return
	default:
		return
	}
	name := path
	if number >= 0 {
		name = numbered(path, number)
	}
	e := x.get(name)
	e.Status, e.Reason, e.took, e.whole = ev.Status, "", ev.Duration, number < 0 || ev.Visit > 0
	if ev.Type != core.NodeFinished && ev.Type != core.ItemFinished {
		e.Reason = ev.Reason
	}
	if ev.Error != nil && e.Reason == "" {
		e.Reason = ev.Error.Message
	}
	if ev.Visit > 0 {
		x.visited(e, ev)
	}
}

// visited sets the place of a visit. The visits of branches come, in the order of the nodes, before the
// visit of their parallel node, which ends after them.
func (x *executions) visited(e *Execution, ev *core.Event) {
	frame, id := plan.CutPath(ev.Node)
	g, ok := x.graph(frame)
	if !ok {
		return
	}
	token := x.visits[frame]
	if ev.Unit != "" {
		n, _ := g.plan.Node(id)
		e.place = append(slices.Clip(g.place), token, n.Index, int32(ev.Visit))
		return
	}
	e.place = append(slices.Clip(g.place), token, last, last)
	x.visits[frame]++
}

// graph returns the plan of a graph and the place of its executions.
func (x *executions) graph(path string) (graphPlan, bool) {
	g, ok := x.plans[path]
	if ok {
		return g, true
	}
	outer, name := plan.CutPath(path)
	in, ok := x.graph(outer)
	if !ok {
		return g, false
	}
	id, number := cutNumber(name)
	n, ok := in.plan.Node(id)
	if !ok || n.Frame == nil {
		return g, false
	}
	g = newGraphPlan(n.Frame.Plan, append(slices.Clip(in.place), x.placeOf(in, path, id, number)...))
	x.plans[path] = g
	return g, true
}

// placeOf returns the canonical place of an execution in its graph. A node as a whole comes after its
// executions, and an execution after its nested run.
func (x *executions) placeOf(g graphPlan, name, id string, number int) []int32 {
	if g.plan.Mode.Visits {
		if e := x.index[name]; e != nil && len(e.place) >= 3 {
			return e.place[len(e.place)-3:]
		}
		frame, _ := plan.CutPath(name)
		return []int32{x.visits[frame], last, last}
	}
	n, ok := g.plan.Node(id)
	if !ok {
		return []int32{g.units[id], last, last}
	}
	v := &g.plan.Vertices[n.Vertex]
	switch {
	case number >= 0:
		return []int32{n.Vertex, int32(number), n.Member}
	case v.Unit == nil && v.Shape == plan.Plain:
		return []int32{n.Vertex, 0, n.Member}
	}
	return []int32{n.Vertex, last, n.Member}
}

// sorted returns the executions in canonical order.
func (x *executions) sorted() []*Execution {
	for _, e := range x.list {
		if e.place != nil {
			continue
		}
		frame, name := plan.CutPath(e.Name)
		if g, ok := x.graph(frame); ok {
			id, number := cutNumber(name)
			e.place = append(slices.Clip(g.place), x.placeOf(g, e.Name, id, number)...)
		}
	}
	slices.SortStableFunc(x.list, func(a, b *Execution) int {
		n := min(len(a.place), len(b.place))
		if c := slices.Compare(a.place[:n], b.place[:n]); c != 0 {
			return c
		}
		return len(b.place) - len(a.place) // a nested run before the execution that it belongs to
	})
	return x.list
}
