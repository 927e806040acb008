package machine

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// newCall returns a call with a separate context.
func newCall(c CallContext) *Call {
	room := &struct {
		Call
		context CallContext
	}{context: c}
	room.CallContext = &room.context
	return &room.Call
}

// own returns a copy of a call whose context may be changed.
func (c *Call) own() *Call {
	if c == nil {
		return newCall(CallContext{})
	}
	copied := newCall(*c.CallContext)
	copied.Values, copied.plain = c.Values, false
	return copied
}

// View returns the values of the declared reads if the handler gets nothing else but the inputs
// of the run. ok is false if it gets more. A nil view has no values.
func (c *Call) View() (v *core.View, ok bool) {
	switch {
	case c == nil:
		return nil, true
	case !c.plain:
		return nil, false
	case len(c.Values) == 0:
		return nil, true
	}
	return &c.view, true
}

// call captures the input of an execution of n, nil if it gets none. in is the row or round, nil
// outside of units.
func (f *frame) call(n *plan.Node, in *pass) *Call {
	edges := f.edgeInputs(n, in)
	if n.FieldsOnly && in == nil && edges == nil {
		return f.fieldsCall(n)
	}
	c := newCall(CallContext{Path: f.Path, Inputs: f.Inputs, Edges: edges})
	if len(n.Reads) > 0 {
		c.Values = make([]any, len(n.Reads))
	}
	for i, r := range n.Reads {
		c.Values[i] = f.read(n, r, in)
	}
	for _, ref := range n.NodeRefs() {
		c.Nodes = append(c.Nodes, NodeValue{f.nodeStatus(ref), f.output(ref)})
	}
	if in != nil {
		if in.t.u.IsLoop {
			c.Loop, c.Round = in.t.u.ID, core.Nth(in.N)
		} else {
			c.Item, c.Row = in.item(), core.Nth(in.N)
		}
	}
	return c
}

// fieldsCall is call for a node that gets only the values of its declared reads.
func (f *frame) fieldsCall(n *plan.Node) *Call {
	if len(n.Reads) == 0 {
		return f.empty
	}
	c := f.m.newFieldsCall(n)
	c.CallContext = f.sharedContext()
	for i, r := range n.Reads {
		c.Values[i] = f.atLevelOf(n, r)
	}
	return c
}

// newFieldsCall returns a call without a context and with room for the values of the reads of n.
func (m *Machine) newFieldsCall(n *plan.Node) *Call {
	reused := n.Value != nil
	if last := len(m.calls) - 1; reused && last >= 0 {
		c := m.calls[last]
		m.calls = m.calls[:last]
		c.Values = slices.Grow(c.Values, len(n.Reads))[:len(n.Reads)]
		c.view = core.NewView(n.View, c.Values)
		return c
	}
	room := &struct { // most nodes read few fields
		Call
		values [4]any
	}{}
	c := &room.Call
	if c.Values = room.values[:0:len(room.values)]; len(n.Reads) > len(room.values) {
		c.Values = make([]any, 0, len(n.Reads))
	}
	c.Values = c.Values[:len(n.Reads)]
	c.view, c.reused = core.NewView(n.View, c.Values), reused
	return c
}

// Reuse gives a call back to the machine. A driver may call it for a node with a plan.Node.Value
// when HandleValue has returned, and must not use the call any more. The machine then need not
// allocate another one.
func (m *Machine) Reuse(c *Call) {
	if c == nil || !c.reused {
		return
	}
	clear(c.Values)
	c.Values = c.Values[:0]
	m.calls = append(m.calls, c)
}

// read returns the value of a field as the execution sees it.
func (f *frame) read(n *plan.Node, r plan.Read, in *pass) any {
	if in != nil {
		if i := in.t.u.FieldIndex(r.Field); i >= 0 {
			return in.t.View[i].At(in.t.before(&in.t.u.Fields[i], in))
		}
	}
	return f.atLevelOf(n, r)
}

// unreadable returns the failure of an execution that would read a field which lost its value
// because a merge failed. t is the unit of the execution, or nil if there is none.
func (f *frame) unreadable(n *plan.Node, c *Call, t *unit) *core.Failure {
	if c == nil {
		return nil
	}
	for i, v := range c.Values {
		s, ok := v.(*state.FailedMerge)
		if !ok {
			continue
		}
		field, who := n.Reads[i].Field, "an earlier row or round"
		if t == nil || t.u.FieldIndex(field) < 0 {
			who = f.writer(field, s.Slot)
		}
		return &core.Failure{Class: core.ClassMerge, Permanent: true, Cause: s.Err,
			Message: fmt.Sprintf("cannot read field %q: the write of %s: %v", f.p.Schema.Fields[field].Name, who, s.Err)}
	}
	return nil
}

func isFailedMerge(v any) bool {
	_, ok := v.(*state.FailedMerge)
	return ok
}

// writer returns the ID of the node or unit that a slot of the ledger belongs to.
func (f *frame) writer(field int32, slot int) string {
	if slot < 0 {
		return "the replay"
	}
	return f.p.Vertices[f.p.WriterVertex[field][slot]].ID
}

// readable returns a value as conditions see it: Missing for a field that lost its value because
// a merge failed.
func readable(v any) any {
	if _, ok := v.(*state.FailedMerge); ok {
		return value.Missing
	}
	return v
}

// edgeInputs collects what the direct predecessors of n sent, nil if none of them sent anything.
func (f *frame) edgeInputs(n *plan.Node, in *pass) *value.Object {
	var o *value.Object
	if f.Outputs != nil {
		for _, e := range f.p.InEdges(n.Vertex) {
			edge := &f.p.Edges[e]
			if v := f.Outputs[edge.FromNode]; edge.ToNode == n.Index && f.v[edge.From].Status.Succeeded() && !value.IsMissing(v) && f.isTaken(e) {
				if o == nil {
					o = &value.Object{}
				}
				o.Set(f.p.Nodes[edge.FromNode].ID, v)
			}
		}
	}
	if in != nil && !value.IsMissing(in.Prev.v) && in.Place > 0 {
		if o == nil {
			o = &value.Object{}
		}
		o.Set(f.p.Nodes[in.t.u.Members[in.Place-1]].ID, in.Prev.v)
	}
	return o
}

// nodeStatus returns the status of a node for $nodes.
func (f *frame) nodeStatus(node int32) core.Status {
	n := &f.p.Nodes[node]
	if f.v[n.Vertex].Phase != resolved {
		return core.StatusNone
	}
	if n.Member < 0 {
		return f.v[n.Vertex].Status
	}
	return f.memberStatus(n)
}

// levelEnv is the environment of expressions that see the state below a level.
type levelEnv struct {
	f     *frame
	level int32
}

func (e levelEnv) Field(slot int) any {
	return readable(e.f.ledger.Column(slot).AtLevel(int(e.f.p.Threshold(int32(slot), e.level)), e.level))
}
func (e levelEnv) Node(id int) (status, output any) {
	return e.f.nodeStatus(int32(id)).Value(), e.f.output(int32(id))
}
func (e levelEnv) Input(name string) any { return inputNamed(e.f.Inputs, name) }
func (levelEnv) Item() any               { return value.Missing }
func (levelEnv) Index() any              { return value.Missing }
func (levelEnv) Extra(expressions.Root) any {
	return value.Missing
}

func inputNamed(inputs *value.Object, name string) any {
	if v, ok := inputs.Get(name); ok {
		return v
	}
	return value.Missing
}

// unitEnv is the environment of the condition of a loop, which sees what the rounds have written.
type unitEnv struct {
	t *unit
	levelEnv
}

func (e unitEnv) Field(slot int) any {
	if i := e.t.u.FieldIndex(int32(slot)); i >= 0 {
		return readable(e.t.View[i].Last())
	}
	return e.levelEnv.Field(slot)
}

// Captured is the environment of the args of a node. It contains what was captured for an
// attempt.
type Captured struct {
	For   *plan.Node
	Call  *Call
	Place int // index within Call.Items of the item of a fan-out, or -1 if there is none
}

// Field returns the captured value of a field.
func (e Captured) Field(slot int) any {
	if e.Call == nil {
		return value.Missing
	}
	at := slices.IndexFunc(e.For.Reads, func(r plan.Read) bool { return r.Field == int32(slot) })
	if at < 0 {
		return value.Missing
	}
	return e.Call.Values[at]
}

// Node returns the status and output of $nodes.ID.
func (e Captured) Node(id int) (status, output any) {
	at := slices.Index(e.For.NodeRefs(), int32(id))
	if e.Call == nil || at < 0 {
		return value.Missing, value.Missing
	}
	return e.Call.Nodes[at].Status.Value(), e.Call.Nodes[at].Output
}

// Input returns $input.NAME.
func (e Captured) Input(name string) any {
	if e.Call == nil {
		return value.Missing
	}
	return inputNamed(e.Call.Inputs, name)
}

// Item returns the item of a fan-out or the row of a pipeline.
func (e Captured) Item() any {
	if e.Call == nil {
		return value.Missing
	}
	if e.Place >= 0 {
		return e.Call.Items.At(e.Place)
	}
	if e.Call.Row > 0 {
		return e.Call.Item
	}
	return value.Missing
}

// Index returns the index of the item or row.
func (e Captured) Index() any {
	if e.Place >= 0 {
		return int64(e.Place)
	}
	if e.Call != nil {
		if i, ok := e.Call.Row.Get(); ok {
			return int64(i)
		}
	}
	return value.Missing
}

// Extra returns $iter and $loop.
func (e Captured) Extra(root expressions.Root) any {
	if e.Call == nil || e.Call.Round == 0 {
		return value.Missing
	}
	switch root {
	case expressions.RootIter:
		i, _ := e.Call.Round.Get()
		return int64(i)
	case expressions.RootLoop:
		return e.Call.Loop
	}
	return value.Missing
}
