package machine

import (
	"slices"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// Write is a write of an execution, for Options.Wrote.
type Write struct {
	// Graph is the graph whose field is written.
	Graph Graph
	// ID is the ID of the execution. Its To is 0 for what a fan-out, a pipeline or a loop writes as
	// a whole, and its Node is -1 for what a walk itself writes.
	ID ID
	// At is the instant of the write, in nanoseconds since the start of the run.
	At int64
	// Write is the field and its value, which is value.Missing if a walk begins again with the starting
	// value.
	plan.Write
	// Visit is the number of the visit among the visits of its node, or 0 outside walks.
	Visit int
	// Element reports whether the value is a list of one element that the node collects. The list
	// of all elements follows as a write of the node.
	Element bool
	// Assigned is the assignment that has changed the value, nil for a write of an execution. Value is the
	// whole value of the field after it, ID.From the number of the visit that follows it in a walk, and
	// Level the level that it precedes in a dag.
	Assigned *Assignment
	Level    int32
}

// Graph is the graph of the run itself or of a nested run, and its state so far.
type Graph struct{ f *frame }

// Root returns the graph of the run itself.
func (m *Machine) Root() Graph { return Graph{m.root} }

// ID returns the ID.Frame of its executions.
func (g Graph) ID() int64 { return g.f.ID }

// Path returns the path of the nested run, "" for the run itself.
func (g Graph) Path() string { return g.f.Path }

// Plan returns the plan of the graph.
func (g Graph) Plan() *plan.Plan { return g.f.p }

// Start returns the value of a field before the first write, or value.Missing if there is none.
func (g Graph) Start(field int) any { return g.f.ledger.Column(field).Start() }

// Value returns the value of a field so far, or value.Missing if there is none.
func (g Graph) Value(field int) any {
	return readable(g.f.mode.final(field))
}

// Merged returns the vertices whose writes are in Value, in the order in which they are merged. In a
// walk all writes of visits are.
func (g Graph) Merged(field int) []int32 {
	if g.f.p.Mode.Visits {
		return nil
	}
	list := slices.Clone(g.f.p.WriterVertex[field][:g.f.ledger.Column(field).Cursor()])
	return slices.DeleteFunc(list, func(v int32) bool { return g.f.v[v].Skip != notSkipped })
}

// Ended reports whether a vertex has ended. In a walk the only vertex ends with the walk.
func (g Graph) Ended(v int32) bool { return g.f.v[v].Phase == resolved }

// wrote reports the writes of an execution of a dag.
func (f *frame) wrote(id ID, writes []plan.Write) {
	if f.m.opts.Wrote == nil {
		return
	}
	collect := int32(-1)
	if id.To > 0 {
		collect = f.p.Nodes[id.Node].Collect
	}
	for _, w := range writes {
		f.m.opts.Wrote(&Write{Graph: Graph{f}, ID: id, At: f.m.instant, Write: w, Element: w.Field == collect})
	}
}

// readWritten reports what the source of a stream has written, except to fields that the executions
// of the node or unit write.
func (f *frame) readWritten(node int32, read *streamReader, own func(field int32) bool) {
	for i, w := range read.Read {
		if !own(w.Field) {
			f.wrote(ID{Frame: f.ID, Node: node}, read.Read[i:i+1])
		}
	}
}

// wroteIn reports a write of a visit, or of the walk itself if v is nil.
func (f *frame) wroteIn(v *visit, w plan.Write) {
	if f.m.opts.Wrote == nil {
		return
	}
	x := &Write{Graph: Graph{f}, ID: ID{Frame: f.ID, Node: -1}, At: f.m.instant, Write: w}
	if v != nil {
		x.ID, x.Visit = v.id(), v.Count
	}
	f.m.opts.Wrote(x)
}
