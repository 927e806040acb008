package machine

import (
	"math"

	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Row represents an element of a stream by its number, counted from 0, in a machine that was
// rebuilt without reading the stream. Machine.Unread lists the elements that the run still needs.
type Row int64

// DependsOnRows reports whether what a run does depends on the rows that a read returns, and not
// only what its handlers do: nested runs are given values of the row. id is the ID of the read.
func DependsOnRows(p *plan.Plan, id ID) bool {
	n := &p.Nodes[id.Node]
	u := p.Vertices[n.Vertex].Unit
	if u == nil {
		return n.Frame != nil
	}
	for _, m := range u.Members {
		if p.Nodes[m].Frame != nil {
			return true
		}
	}
	return false
}

// Unread describes a reader of a stream that has not ended, and the elements of the stream that it
// still needs and that are known only as Row.
type Unread struct {
	// ID is the ID of the next read: its Frame and Node identify the reader.
	ID   ID
	Path string // of the frame
	// Plan and Node belong to the commands that read the stream. Call is the input of such a
	// command.
	Plan *plan.Plan
	Node *plan.Node
	Call *Call
	// From is the number of the first of the elements, or -1 if there are none.
	From int64
	// Continues reports whether the end of the stream has not been reached.
	Continues bool
}

// Unread returns the readers of streams that have not ended and that will read on or need elements
// that are known only as Row.
func (m *Machine) Unread() []Unread {
	var list []Unread
	for _, f := range m.frames {
		for v, t := range f.tasks {
			if r, ok := t.(reader); ok && f.v[v].Phase != resolved {
				u := Unread{ID: r.pullID(), Path: f.Path, Plan: f.p, Node: r.puller(), From: -1, Continues: r.continues()}
				if row, ok := r.firstRow().(Row); ok {
					u.From = int64(row)
				}
				if u.Node != nil && (u.From >= 0 || u.Continues) {
					u.Call = f.call(u.Node, nil).own()
					list = append(list, u)
				}
			}
		}
	}
	return list
}

// FirstUnread returns the number of the first element of a stream that the run still needs, if it is
// known only as Row. id is the ID of a read. ok is false if there is none.
func (m *Machine) FirstUnread(id ID) (n int64, ok bool) {
	if f := m.frame(id.Frame); f != nil {
		if r, is := f.task(f.p.Nodes[id.Node].Vertex).(reader); is {
			row, ok := r.firstRow().(Row)
			return int64(row), ok
		}
	}
	return 0, false
}

// Fill replaces elements of a stream that are known only as Row by the elements themselves. rows
// begin with element number from. id is the ID of a read of the stream. FillRows does the same for commands that were
// issued before.
func (m *Machine) Fill(id ID, from int64, rows []any) {
	f := m.frame(id.Frame)
	if f == nil {
		return
	}
	if r, ok := f.task(f.p.Nodes[id.Node].Vertex).(reader); ok {
		r.eachRow(func(x *any) { fillRow(x, from, rows) })
	}
}

// fillRow replaces x if it is one of the rows, which begin with number from.
func fillRow(x *any, from int64, rows []any) {
	if n, ok := (*x).(Row); ok && int64(n) >= from && int64(n) < from+int64(len(rows)) {
		*x = rows[int64(n)-from]
	}
}

// reader is a task that reads a stream.
type reader interface {
	pullID() ID
	// puller returns the node of the commands that read the stream, nil if there is no stream.
	puller() *plan.Node
	// continues reports whether the stream may still be read.
	continues() bool
	// firstRow returns the first element of the stream in memory, nil if there is none.
	firstRow() any
	// eachRow calls f with each element of the stream in memory. Rows of a pipeline with batches are
	// lists of elements.
	eachRow(f func(*any))
}

func (t *unit) puller() *plan.Node { return t.u.Puller }

func (t *unit) continues() bool { return !t.Pull.Ended && !t.f.Stopped }

func (t *unit) eachRow(f func(*any)) {
	if t.u.Puller == nil {
		return
	}
	row := func(x *any) {
		if list, ok := (*x).([]any); ok && t.u.Batch > 0 {
			for i := range list {
				f(&list[i])
			}
			return
		}
		f(x)
	}
	for _, p := range t.Live {
		row(&p.Item.v)
	}
	for i := range t.Pull.Ahead {
		row(&t.Pull.Ahead[i])
	}
}

func (t *unit) firstRow() any {
	var first any
	if len(t.Live) > 0 { // ascending, and before all that no pass has taken
		first = t.Live[0].Item.v
	} else if len(t.Pull.Ahead) > 0 {
		first = t.Pull.Ahead[0]
	}
	if list, ok := first.([]any); ok && t.u.Batch > 0 && len(list) > 0 {
		return list[0]
	}
	return first
}

func (t *fanOut) firstRow() any {
	if len(t.Pull.Ahead) > 0 {
		return t.Pull.Ahead[0]
	}
	return nil
}

func (t *fanOut) puller() *plan.Node { return t.n.Puller }

func (t *fanOut) continues() bool { return !t.Pull.Ended && !t.f.Stopped && t.cutoff() == math.MaxInt }

func (t *fanOut) eachRow(f func(*any)) {
	for i := range t.Pull.Ahead {
		f(&t.Pull.Ahead[i])
	}
}

// FillRows gives a command that was issued while rows were known only as Row the rows that the
// machine has now. It does nothing for other commands.
func (m *Machine) FillRows(c *Command) {
	if c.Op != OpRun || c.Call == nil || c.Node == nil || c.Node.Pull {
		return
	}
	f := m.frame(c.ID.Frame)
	if f == nil {
		return
	}
	switch t := f.task(f.p.Nodes[c.ID.Node].Vertex).(type) {
	case *fanOut:
		if t.n.Puller != nil && int(c.ID.From) >= t.Base && int(c.ID.To) <= t.knownItems() {
			c.Call = c.Call.own()
			c.Call.Items = t.callFor(chunk.Span{From: c.ID.From, To: c.ID.To}).Items
		}
	case *unit:
		if p, ok := t.find(c.ID).(*pass); ok && t.u.Puller != nil {
			c.Call = c.Call.own()
			c.Call.Item = p.item()
		}
	}
}
