package machine

import (
	"encoding/json"
	"fmt"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// snapshotVersion is the version of the snapshot format. Restore returns a VersionError for
// snapshots of other versions.
const snapshotVersion = 7

// machineJSON is the content of a snapshot. Whatever can be derived is left out: folded
// values, ready sets, held slots. A snapshot is as large as the state and the progress of what
// is in flight, not as the history. A Machine is not encoded itself, because its fields are not
// exported and most of this is collected or computed only for a snapshot.
type machineJSON struct {
	Version   int                 `json:"version"`
	Plan      string              `json:"plan"`  // fingerprint of the plan
	Order     string              `json:"order"` // plan.Plan.Order
	Options   Options             `json:"options"`
	Now       int64               `json:"now"`
	Seq       int64               `json:"seq"`
	Dropped   int                 `json:"dropped,omitempty"`
	Cancelled bool                `json:"cancelled,omitempty"`
	Finished  bool                `json:"finished,omitempty"`
	Frames    []*frameJSON        `json:"frames"` // frames that have not ended, parents first
	Emit      Emissions           `json:"emit,omitempty"`
	Claims    map[string]claimant `json:"claims,omitempty"`
}

// frameJSON is a frame in a snapshot: the exported fields of the frame, and the parts that a
// frame keeps in another form.
type frameJSON struct {
	frame
	Vertices []vertex          `json:"vertices"`
	Ledger   []column          `json:"ledger"` // by field
	Pending  []*pendingPlace   `json:"pending,omitempty"`
	FanOuts  map[int32]*fanOut `json:"fan_outs,omitempty"` // by vertex
	Units    map[int32]*unit   `json:"units,omitempty"`    // by vertex
	Planner  memory            `json:"planner,omitzero"`
}

// Snapshot returns the machine as JSON, for Restore. It includes the commands that were issued
// and not answered; a restored machine issues them again under the same IDs. The machine itself
// does not change.
func (m *Machine) Snapshot() ([]byte, error) {
	fingerprint, order := m.identity()
	j := machineJSON{Version: snapshotVersion, Plan: fingerprint, Order: order, Options: m.opts, Now: m.now, Seq: m.seq, Dropped: m.dropped,
		Cancelled: m.cancelled, Finished: m.finished, Claims: m.claims}
	for i := range m.out {
		if m.out[i].Op == OpEmit {
			j.Emit = append(j.Emit, m.out[i].Events...)
		}
	}
	for _, f := range m.frames {
		j.Frames = append(j.Frames, f.save())
	}
	return json.Marshal(j)
}

func (f *frame) save() *frameJSON {
	j := &frameJSON{frame: *f, Vertices: f.v, Ledger: f.columns(), Pending: f.placements(), FanOuts: map[int32]*fanOut{}, Units: map[int32]*unit{},
		Planner: memory{of: f.mode.memory()}}
	for v, t := range f.tasks {
		switch t := t.(type) {
		case *fanOut:
			j.FanOuts[int32(v)] = t
		case *unit:
			j.Units[int32(v)] = t
		}
	}
	return j
}

// columns returns the columns of the ledger.
func (f *frame) columns() []column {
	list := make([]column, len(f.p.Schema.Fields))
	for i := range list {
		list[i].Column = f.ledger.Column(i)
	}
	return list
}

// memory is what a snapshot contains of a planner or router. Its type depends on the plan, so it is
// decoded by restore, once there is a planner or router to decode it into.
type memory struct {
	of    any             // a pointer, nil if there is nothing to remember
	saved json.RawMessage // set when a snapshot is decoded
}

func (m memory) MarshalJSON() ([]byte, error) { return json.Marshal(m.of) }

func (m *memory) UnmarshalJSON(data []byte) error { return m.saved.UnmarshalJSON(data) }

// restore decodes the memory into what a new planner or router remembers.
func (m *memory) restore(of any) error {
	switch {
	case (of == nil) != (m.saved == nil):
		return ErrOtherWorkflow
	case of == nil:
		return nil
	}
	m.of = of
	return json.Unmarshal(m.saved, of)
}

// column is a column of the state that can be part of a snapshot.
type column struct {
	*state.Column               // nil if the field needs no column
	saved         *value.Object // set when a snapshot is decoded, until loadColumns loads it
}

func (c column) MarshalJSON() ([]byte, error) {
	if c.Column == nil {
		return []byte("null"), nil
	}
	dump, err := c.Dump()
	if err != nil {
		return nil, err
	}
	return value.AppendJSON(nil, dump)
}

func (c *column) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &c.saved) }

// loadColumns loads the columns of a snapshot into new columns.
func loadColumns(list, saved []column) error {
	if len(list) != len(saved) {
		return fmt.Errorf("it has %d fields, want %d", len(saved), len(list))
	}
	for i, c := range list {
		if c.Column == nil {
			continue
		}
		if err := c.Load(saved[i].saved); err != nil {
			return err
		}
	}
	return nil
}

// values are values of the state, or Missing. Snapshots contain them in canonical form.
type values []any

func (vs values) MarshalJSON() ([]byte, error) {
	if vs == nil {
		return []byte("null"), nil
	}
	list := make([]any, len(vs))
	for i, v := range vs {
		v, err := value.Canonical(v)
		if err != nil {
			return nil, err
		}
		list[i] = mark(v)
	}
	return value.AppendJSON(nil, list)
}

func (vs *values) UnmarshalJSON(data []byte) error {
	v, err := value.ParseJSON(data)
	list, _ := v.([]any)
	for i := range list {
		list[i] = unmark(list[i])
	}
	*vs = list
	return err
}

// writes are the writes of an attempt. Snapshots contain the index of each field, followed by the
// value in canonical form.
type writes []plan.Write

func (ws writes) MarshalJSON() ([]byte, error) {
	list := make(values, 0, 2*len(ws))
	for _, w := range ws {
		list = append(list, int64(w.Field), w.Value)
	}
	return list.MarshalJSON()
}

func (ws *writes) UnmarshalJSON(data []byte) error {
	var list values
	if err := list.UnmarshalJSON(data); err != nil {
		return err
	}
	for i := 0; i+1 < len(list); i += 2 {
		field, ok := list[i].(int64)
		if !ok {
			return fmt.Errorf("a write to %v, want the index of a field", list[i])
		}
		*ws = append(*ws, plan.Write{Field: int32(field), Value: list[i+1]})
	}
	return nil
}

// savedOutcome is an Outcome in a snapshot. It can be decoded without the plan: its writes have the
// indexes of fields, and restoreWrites restores the Go types of their values.
type savedOutcome struct {
	plainOutcome
	Writes writes     `json:"writes,omitempty"`
	Output outputJSON `json:"output,omitempty"`
}

// MarshalJSON returns the form of an outcome in snapshots.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(o.save())
}

func (o *Outcome) save() savedOutcome {
	return savedOutcome{plainOutcome(*o), o.Writes, o.outputJSON()}
}

// UnmarshalJSON decodes the form of MarshalJSON. It does not restore the Go types of written
// values.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	var j savedOutcome
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*o = j.outcome()
	return nil
}

func (j *savedOutcome) outcome() Outcome {
	o := Outcome(j.plainOutcome)
	o.Writes = j.Writes
	if len(j.Output) > 0 {
		o.Output, o.HasOutput = j.Output[0].v, true
	}
	return o
}
