package machine

import (
	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Row stands for an element of a stream, by its number from 0, in a machine that was rebuilt
// without reading the stream. Machine.Unread lists the elements that the run still needs.
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

// Unread describes the elements of a stream that a run still needs and that are known only as Row.
type Unread struct {
	// ID is the ID of the next read: its Frame and Node identify the reader.
	ID   ID
	Path string // of the frame
	// Plan and Node are those of the commands that read the stream. Call is the input of such a
	// command; its Taken is From.
	Plan *plan.Plan
	Node *plan.Node
	Call *Call
	// From and To are the numbers of the first of the elements and of the element after the last.
	From, To int64
}

// Unread returns the elements of streams that the run still needs and that are known only as Row,
// by frame and in canonical order.
func (m *Machine) Unread() []Unread {
	var list []Unread
	for _, f := range m.frames {
		for v, t := range f.tasks {
			if r, ok := t.(reader); ok && f.v[v].Phase != resolved {
				u := Unread{Path: f.Path, Plan: f.p, From: -1}
				r.eachRow(func(x *any) {
					if n, ok := (*x).(Row); ok {
						if u.From < 0 {
							u.From = int64(n)
						}
						u.From, u.To = min(u.From, int64(n)), max(u.To, int64(n)+1)
					}
				})
				if u.From < 0 {
					continue
				}
				u.ID, u.Node = r.pullID(), r.puller()
				u.Call = f.call(u.Node, nil).own()
				u.Call.Taken = int(u.From)
				list = append(list, u)
			}
		}
	}
	return list
}

// Fill replaces elements of a stream that are known only as Row, from number u.From on, by the
// elements themselves. FillRows does the same for commands that were
// issued before.
func (m *Machine) Fill(u Unread, rows []any) {
	f := m.frame(u.ID.Frame)
	if f == nil {
		return
	}
	if r, ok := f.task(f.p.Nodes[u.ID.Node].Vertex).(reader); ok {
		r.eachRow(func(x *any) { fillRow(x, u.From, rows) })
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
	puller() *plan.Node
	// eachRow calls f with each element of the stream in memory. Rows of a pipeline with batches are
	// lists of elements.
	eachRow(f func(*any))
}

func (t *unit) puller() *plan.Node { return t.u.Puller }

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

func (t *fanOut) puller() *plan.Node { return t.n.Puller }

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
