package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// visits is what the modes have in common in which nodes are visited. Their state has no levels: a visit
// reads what was written before it began.
type visits struct {
	f *frame

	Nodes    []nodeVisits    `json:"nodes"`
	Fields   []column        `json:"fields"`             // the current state
	Start    values          `json:"start"`              // starting values
	Unmerged map[int32]int32 `json:"unmerged,omitempty"` // by field whose merge failed: the node that wrote it
	Path     []int32         `json:"path"`               // nodes in the order of their visits

	Failure *core.Failure `json:"failure,omitempty"` // why the graph failed
	FailAt  int32         `json:"fail_at"`           // the node where it failed, -1 if it did not
	Ended   bool          `json:"ended,omitempty"`
}

// nodeVisits is the result of the visits of a node.
type nodeVisits struct {
	Visits   int           `json:"visits,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Status   core.Status   `json:"status,omitempty"` // of the latest visit since the walk began or restarted
	Last     core.Status   `json:"last,omitempty"`   // of the latest visit
	Failure  *core.Failure `json:"failure,omitempty"`
	Why      string        `json:"why,omitempty"` // the setting that changed the status
	Started  int64         `json:"started,omitempty"`
	Ended    int64         `json:"ended,omitempty"`
}

func newVisits(f *frame) visits {
	return visits{f: f, Nodes: make([]nodeVisits, len(f.p.Nodes)), FailAt: -1}
}

func (t *visits) id(node int32) string { return t.f.p.Nodes[node].ID }

// begin takes the starting values of the fields. w is the task of the graph.
func (t *visits) begin(w task) {
	f := t.f
	for i := range f.p.Schema.Fields {
		t.Start = append(t.Start, f.ledger.Final(i))
		t.Fields = append(t.Fields, column{Column: t.column(i, t.Start[i])})
	}
	f.v[0].Phase, f.v[0].Started, f.v[0].Attempts = running, f.m.now, 1
	f.setTask(0, w)
}

// restoreFields connects the fields that were read from a snapshot.
func (t *visits) restoreFields(w task) error {
	f := t.f
	if len(t.Nodes) != len(f.p.Nodes) || len(t.Start) != len(f.p.Schema.Fields) {
		return ErrOtherWorkflow
	}
	f.setTask(0, w)
	saved := t.Fields
	t.Fields = make([]column, len(t.Start))
	for i := range t.Start {
		start, err := f.p.Schema.Fields[i].Restore(t.Start[i])
		if err != nil {
			return err
		}
		t.Start[i] = start
		t.Fields[i].Column = t.column(i, start)
	}
	return loadColumns(t.Fields, saved)
}

// column returns a new column of a field with a value. Only its last value is read.
func (t *visits) column(field int, v any) *state.Column {
	c := state.NewColumn(&t.f.p.Schema.Fields[field], v, t.f.m.opts.Guard)
	c.SetReads(func(int) bool { return false })
	return c
}

// rejection returns the failure if the state rejects one of the writes. Branches of a parallel
// node may write the same field, so each write is tried on top of the writes before it.
func (t *visits) rejection(writes []plan.Write) *core.Failure {
	var before map[int32]*state.Column
	for i, w := range writes {
		field := &t.f.p.Schema.Fields[w.Field]
		if !field.MayReject {
			continue
		}
		c := t.Fields[w.Field].Column
		if b, ok := before[w.Field]; ok {
			c = b
		}
		if err := c.Try(w.Value); err != nil {
			return &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err}
		}
		if !slices.ContainsFunc(writes[i+1:], func(o plan.Write) bool { return o.Field == w.Field }) {
			continue
		}
		if c == t.Fields[w.Field].Column {
			c = state.NewColumn(field, c.Last(), t.f.m.opts.Guard)
			if before == nil {
				before = map[int32]*state.Column{}
			}
			before[w.Field] = c
		}
		c.Resolve(c.Cursor(), w.Value, nil)
	}
	return nil
}

// merge merges a write of a node into the state. node is -1 for a write of the graph itself.
func (t *visits) merge(node int32, w plan.Write) {
	c := t.Fields[w.Field]
	c.Resolve(c.Cursor(), w.Value, nil)
	c.Forget(c.Cursor(), false)
	if c.Failed() && node >= 0 {
		t.noteUnmerged(w.Field, node)
	}
}

// noteUnmerged stores the first node whose write could not be merged into a field.
func (t *visits) noteUnmerged(field, node int32) {
	if _, ok := t.Unmerged[field]; ok {
		return
	}
	if t.Unmerged == nil {
		t.Unmerged = map[int32]int32{}
	}
	t.Unmerged[field] = node
}

// assign makes the assignments that come before the first visit of a node. n is the number of the visit.
func (t *visits) assign(node, n int32) {
	if t.f != t.f.m.root {
		return
	}
	for _, a := range t.f.m.assigned {
		if a.node != node {
			continue
		}
		field := &t.f.p.Schema.Fields[a.field]
		now, err := a.apply(field, t.Fields[a.field].Last())
		if err != nil {
			now = a.after
			t.noteUnmerged(a.field, node)
		} else {
			delete(t.Unmerged, a.field)
		}
		t.Fields[a.field].Column = t.column(int(a.field), now)
		t.f.assigned(a, n)
	}
}

func (t *visits) final(field int) any { return t.Fields[field].Last() }

func (t *visits) unmergedWriter(field int32, _ int) string { return t.id(t.Unmerged[field]) }

// units returns nothing: a graph whose nodes are visited has no pipelines and loops.
func (t *visits) units() []core.UnitReport { return nil }

// failedNode returns the node where the graph failed.
func (t *visits) failedNode(v int32) string {
	if t.FailAt >= 0 {
		return t.id(t.FailAt)
	}
	return t.f.p.Vertices[v].ID
}

// has reports whether a node of a snapshot is there.
func (t *visits) has(node int32) bool { return node >= 0 && int(node) < len(t.Nodes) }
