package machine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// Assignment gives a field of the run a value at a place, whatever was written there before. Later
// writes are merged with it.
type Assignment struct {
	// Path is the name of a field, or a path inside its value such as "rates.USD".
	Path string
	// Value is the value, in canonical form.
	Value any
	// Before is the id of a node, pipeline or loop of the graph of the run. In a dag, the field has the
	// value from the level of the node on. In a walk, it gets the value when the first visit of the node
	// begins.
	Before string
}

type assignmentJSON struct {
	Path   string          `json:"path"`
	Value  json.RawMessage `json:"value"`
	Before string          `json:"before"`
}

// MarshalJSON returns the assignment as JSON.
func (a *Assignment) MarshalJSON() ([]byte, error) {
	text, err := value.AppendJSON(nil, a.Value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(assignmentJSON{a.Path, text, a.Before})
}

// UnmarshalJSON reads what MarshalJSON has returned.
func (a *Assignment) UnmarshalJSON(data []byte) error {
	var j assignmentJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	v, err := value.ParseJSON(j.Value)
	*a = Assignment{j.Path, v, j.Before}
	return err
}

// AssignmentError is the error for an assignment that a run of the plan cannot make.
type AssignmentError struct {
	Path string
	Err  error
}

// Error returns the message.
func (e *AssignmentError) Error() string { return fmt.Sprintf("cannot set %s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *AssignmentError) Unwrap() error { return e.Err }

// assignment is an assignment to a field of a plan.
type assignment struct {
	*Assignment
	field  int32
	steps  []value.Step // inside the field
	value  any          // in the form that the field stores, if there are no steps
	level  int32
	vertex int32
	node   int32 // in a walk
	was    any   // the value at the end of the path before it, or value.Missing if there was none
	after  any   // the value of the field after it
	made   bool
	noted  bool // it was reported
}

// FieldOf returns the field of a path such as "rates.USD", and the steps inside it.
func FieldOf(p *plan.Plan, path string) (field int32, steps []value.Step, err error) {
	if f, ok := p.Schema.Index(path); ok {
		return int32(f), nil, nil
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	f, ok := p.Schema.Index(path[:end])
	if !ok {
		hint := source.DidYouMean(path[:end], p.Schema.FieldNames())
		if hint != "" {
			hint = ", " + hint
		}
		return 0, nil, fmt.Errorf("the state has no field %q%s", path[:end], hint)
	}
	if steps, ok = value.ParsePath(path[end:]); !ok {
		return 0, nil, fmt.Errorf("%q is not a path: a field, then .member, [\"member\"] or [index]", path)
	}
	return int32(f), steps, nil
}

// newAssignments resolves assignments for a plan. The error is an *AssignmentError.
func newAssignments(p *plan.Plan, list []Assignment) ([]*assignment, error) {
	var resolved []*assignment
	for i := range list {
		a, err := newAssignment(p, &list[i])
		if err != nil {
			return nil, &AssignmentError{list[i].Path, err}
		}
		resolved = append(resolved, a)
	}
	return resolved, nil
}

func newAssignment(p *plan.Plan, of *Assignment) (a *assignment, err error) {
	a = &assignment{Assignment: of}
	if a.field, a.steps, err = FieldOf(p, of.Path); err != nil {
		return nil, err
	}
	f := &p.Schema.Fields[a.field]
	switch n, isNode := p.Node(of.Before); {
	case f.IsStream():
		return nil, fmt.Errorf("the field is a stream, whose rows are not in the state")
	case f.IsContext() && len(a.steps) == 0:
		return nil, fmt.Errorf("the context has keys of the engine: set one of its keys, such as %s.KEY or %[1]s[\"KEY\"]", f.Name)
	case isNode && p.Mode.Visits:
		a.node = n.Index
	case isNode:
		a.vertex = n.Vertex
	default:
		if a.vertex = int32(slices.IndexFunc(p.Vertices, func(v plan.Vertex) bool { return v.Unit != nil && v.ID == of.Before })); a.vertex < 0 {
			return nil, fmt.Errorf("it was set before node %s, which the workflow does not have", of.Before)
		}
	}
	a.level = p.Vertices[a.vertex].Level
	if len(a.steps) > 0 {
		return a, nil
	}
	a.value, err = f.Start(of.Value)
	return a, err
}

// Reads returns the vertices that can see the effect of assignments, and reports for each of them whether
// any can. In a walk it returns no vertices.
func (a Assignment) Reads(p *plan.Plan) (vertices []int32, any bool, err error) {
	x, err := newAssignment(p, &a)
	if err != nil {
		return nil, false, &AssignmentError{a.Path, err}
	}
	if p.Mode.Visits {
		return nil, p.MayRead(x.field), nil
	}
	vertices = p.ReadersFrom(x.field, x.level)
	return vertices, len(vertices) > 0, nil
}

// apply returns the value of the field after the assignment.
func (a *assignment) apply(f *state.Field, old any) (any, error) {
	v, err := a.value, error(nil)
	if len(a.steps) > 0 {
		v, err = a.inside(f, old)
	}
	a.after, a.made, a.was = v, true, value.Missing
	if before, failed := value.Canonical(old); failed == nil && !isFailedMerge(old) && !value.IsMissing(old) {
		a.was = before
		for _, s := range a.steps {
			if in, ok := s.Inside(a.was); ok {
				a.was = in
			} else {
				a.was = value.Missing
			}
		}
	}
	if err != nil {
		err = &AssignmentError{a.Path, err}
		a.after = &state.FailedMerge{Slot: -1, Err: err}
	}
	return v, err
}

// inside returns the old value with another value at the end of the path.
func (a *assignment) inside(f *state.Field, old any) (any, error) {
	if isFailedMerge(old) {
		old = value.Missing
	}
	if value.IsMissing(old) || old == nil {
		return nil, fmt.Errorf("field %s has no value there", f.Name)
	}
	before, err := value.Canonical(old)
	if err != nil {
		return nil, err
	}
	v, err := value.With(before, a.steps, a.Value)
	if err != nil {
		return nil, err
	}
	return f.Start(v)
}

// Assigned is an assignment of a run.
type Assigned struct {
	Assignment
	// Made reports whether the run has reached the place of the assignment. Was is the value before
	// it, or value.Missing if there was none.
	Made bool
	Was  any
}

// Assigned returns the assignments of the run.
func (m *Machine) Assigned() []Assigned {
	list := make([]Assigned, len(m.assigned))
	for i, a := range m.assigned {
		list[i] = Assigned{*a.Assignment, a.made, a.was}
	}
	return list
}

// AssignmentError returns the *AssignmentError of the first assignment that was made and has failed, or nil
// if there is none.
func (m *Machine) AssignmentError() error {
	for _, a := range m.assigned {
		if failed, ok := a.after.(*state.FailedMerge); ok {
			return failed.Err
		}
	}
	return nil
}

// declareAssignments makes the columns of the run change at the places of assignments.
func (f *frame) declareAssignments() {
	if f.p.Mode.Visits {
		return
	}
	for _, a := range f.m.assigned {
		f.ledger.Column(int(a.field)).Change(&state.Change{At: int(f.p.Threshold(a.field, a.level)), Level: a.level,
			Apply: func(old any) (any, error) { return a.apply(&f.p.Schema.Fields[a.field], old) }})
	}
}

// beginAssignments makes the assignments that come before all writers of their fields.
func (f *frame) beginAssignments() {
	if f.p.Mode.Visits {
		return
	}
	for _, a := range f.m.assigned {
		f.ledger.Column(int(a.field)).Begin()
	}
	for _, a := range f.m.assigned {
		f.noteAssigned(a.field, -1, 0)
	}
}

// noteAssigned reports the assignments to a field that were made while the cursor of its column moved.
func (f *frame) noteAssigned(field int32, before, after int) {
	for _, a := range f.m.assigned {
		at := int(f.p.Threshold(field, a.level))
		if a.field == field && at > before && at <= after && !a.noted {
			a.noted = true
			f.assigned(a, 0)
		}
	}
}

// assigned reports an assignment: its event, and its write.
func (f *frame) assigned(a *assignment, visit int32) {
	if f.m.opts.Wrote != nil {
		w := &Write{Graph: Graph{f}, ID: ID{Frame: f.ID, Node: -1, From: visit}, At: f.m.instant, Write: plan.Write{Field: a.field, Value: a.after},
			Assigned: a.Assignment, Level: a.level}
		f.m.opts.Wrote(w)
	}
	if !f.m.opts.Events {
		return
	}
	e := core.Event{Type: core.StateWritten, Field: f.p.Schema.Fields[a.field].Name, Null: a.after == nil, Reason: core.ReasonSetByReplay,
		Values: value.ObjectOf(a.Path, a.Value)}
	if !f.p.Mode.Visits {
		e.Level = core.Nth(int(a.level))
	}
	f.m.emit(e)
}
