package history

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// State is the state of a run after the first of its writes to each field.
type State struct {
	r    *Run
	upTo []int // by field: the number of writes
}

// UnknownError means that a run has no such node, execution, field or value.
type UnknownError struct {
	Message string
}

// Error returns the message.
func (e *UnknownError) Error() string { return e.Message }

func unknown(format string, args ...any) error { return &UnknownError{fmt.Sprintf(format, args...)} }

// hint returns the nearest name with a comma before it, or "" if there is none.
func hint(name string, names []string) string {
	if near := source.DidYouMean(name, names); near != "" {
		return ", " + near
	}
	return ""
}

// State returns the state after all writes.
func (r *Run) State() *State {
	s := &State{r, make([]int, len(r.fields))}
	for f := range r.fields {
		s.upTo[f] = len(r.fields[f])
	}
	return s
}

// After returns the state after the writes of an execution, in the order in which writes are merged.
// That order does not depend on when nodes ran: it is the state that the run would have had if its
// nodes had run one after the other. name is the id of a node, pipeline or loop, or a node with the
// number of an item, row, round or visit: "many[7]". Without a number it is the last one.
func (r *Run) After(name string) (*State, error) {
	p, err := r.find(name)
	if err != nil {
		return nil, err
	}
	s := &State{r, make([]int, len(r.fields))}
	for f, list := range r.fields {
		s.upTo[f], _ = slices.BinarySearchFunc(list, p, func(i int32, p place) int {
			return cmp.Or(r.placeOf(&r.writes[i]).compare(p), -1) // the first one after p
		})
	}
	return s, nil
}

func numbered(path string, n int) string { return path + "[" + strconv.Itoa(n) + "]" }

// cutNumber splits "many[7]". n is -1 without a number.
func cutNumber(name string) (id string, n int) {
	if at := strings.LastIndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") {
		if n, err := strconv.Atoi(name[at+1 : len(name)-1]); err == nil && n >= 0 {
			return name[:at], n
		}
	}
	return name, -1
}

// find returns the place of an execution that has ended.
func (r *Run) find(name string) (place, error) {
	id, number := cutNumber(name)
	n, ok := r.Plan.Node(id)
	if !ok {
		return r.findUnit(id, number)
	}
	if r.Plan.Mode.Visits {
		return r.findVisit(n, number)
	}
	v := &r.Plan.Vertices[n.Vertex]
	if !r.graph.Ended(n.Vertex) {
		if v.ID != id {
			id = fmt.Sprintf("%s of %s", id, v.ID)
		}
		return place{}, unknown("node %s has not ended: its writes are not in the state yet", id)
	}
	p := place{n.Vertex, 0, n.Member}
	switch {
	case v.Shape == plan.Plain && number < 0:
		return p, nil
	case v.Shape == plan.Plain:
		return place{}, unknown("node %s runs once, without a number: %s", id, id)
	case number >= 0 && !r.ran(n, number):
		return place{}, unknown("%s did not run", name)
	case number >= 0:
		p.number = int32(number)
	case v.Unit == nil:
		p.number, p.member = last, last
	default:
		p.number = r.lastPass(n)
	}
	return p, nil
}

// findUnit is find for a pipeline or loop.
func (r *Run) findUnit(id string, number int) (place, error) {
	var ids []string
	for v := range r.Plan.Vertices {
		x := &r.Plan.Vertices[v]
		ids = append(ids, x.ID)
		switch {
		case x.Unit == nil:
			continue
		case x.ID == id && number >= 0:
			return place{}, unknown("%s has several nodes; name one of them with the number", id)
		case x.ID == id && !r.graph.Ended(int32(v)):
			return place{}, unknown("%s has not ended: its writes are not in the state yet", id)
		case x.ID == id:
			return place{int32(v), last, last}, nil
		}
	}
	for i := range r.Plan.Nodes {
		ids = append(ids, r.Plan.Nodes[i].ID)
	}
	in := ""
	if r.Path != "" {
		in = " of " + r.Path
	}
	return place{}, unknown("the workflow%s has no node %q%s", in, id, hint(id, ids))
}

// findVisit is find for a node of a walk.
func (r *Run) findVisit(n *plan.Node, number int) (place, error) {
	for i := len(r.writes) - 1; i >= 0; i-- {
		if w := &r.writes[i]; w.id.Node == n.Index && (number < 0 || int(w.visit) == number) {
			return r.placeOf(w), nil
		}
	}
	if number < 0 {
		return place{}, unknown("no visit of node %s has ended with a write", n.ID)
	}
	return place{}, unknown("visit %d of node %s has not ended with a write; visits count from 1", number, n.ID)
}

// ran reports whether an item, row or round of a node has run.
func (r *Run) ran(n *plan.Node, number int) bool {
	if n.Frame != nil {
		path := numbered(n.ID, number)
		if r.Path != "" {
			path = r.Path + "/" + path
		}
		return r.from.nested[path] || slices.ContainsFunc(r.writes, func(w write) bool { return w.id.Node == n.Index && int(w.id.From) == number })
	}
	a := r.answers[executionKey{r.graph.ID(), n.Index}]
	return a != nil && number < len(a.of) && a.of[number] != 0
}

// lastPass returns the number of the last row or round of a member.
func (r *Run) lastPass(n *plan.Node) int32 {
	if a := r.answers[executionKey{r.graph.ID(), n.Index}]; a != nil {
		return int32(len(a.of)) - 1
	}
	return last
}

// unknownGraph returns the error for a nested run that cannot be found.
func (r *Run) unknownGraph(parts *journal.Parts) error {
	if parts.Codec == nil {
		return unknown("the journal is empty")
	}
	p := parts.Codec.Plan
	if _, err := p.At(r.Path); err != nil {
		return unknown("%v", err)
	}
	for step := range strings.SplitSeq(r.Path, "/") {
		id, number := cutNumber(step)
		n, _ := p.Node(id)
		if v := &p.Vertices[n.Vertex]; number < 0 && !p.Mode.Visits && v.Shape != plan.Plain {
			return unknown("%s has a nested run for each item, row or round: name one with its number, such as %s[0]", id, id)
		}
		p = n.Frame.Plan
	}
	return unknown("the nested run %s has not begun, or has written nothing", r.Path)
}

// Values returns the values of all fields in declared order; fields without a value are absent.
func (s *State) Values() *value.Object {
	o := &value.Object{}
	for f := range s.upTo {
		if v := s.value(f); !value.IsMissing(v) {
			o.Set(s.r.fieldAt(f).Name, s.r.mask.Value(v))
		}
	}
	return o
}

// value returns the value of a field in canonical form.
func (s *State) value(field int) any {
	r, n := s.r, s.upTo[field]
	if n == len(r.fields[field]) {
		return canonical(r.graph.Value(field))
	}
	v := r.graph.Start(field)
	if n > 0 {
		v = r.fold(field, n, nil)
	}
	return canonical(v)
}

// fold merges the first n writes of a field. each, if it is not nil, is called with the value after each
// write, and returns false to get no more.
func (r *Run) fold(field, n int, each func(i int, v any) bool) any {
	f, c := r.fieldAt(field), r.column(field, r.graph.Start(field))
	for k, i := range r.fields[field][:n] {
		v := r.writes[i].value
		switch {
		case value.IsMissing(v): // the walk begins again
			c = r.column(field, r.graph.Start(field))
		case r.writes[i].set:
			if typed, err := f.Restore(v); err == nil {
				v = typed
			}
			c = r.column(field, v)
		default:
			if typed, err := f.Restore(v); err == nil {
				v = typed
			}
			c.Resolve(c.Cursor(), v, nil)
			c.Forget(c.Cursor(), false)
		}
		if each != nil && !each(k, c.Last()) {
			each = nil
		}
	}
	return c.Last()
}

// column returns a column of a field with a starting value.
func (r *Run) column(field int, start any) *state.Column {
	f := r.fieldAt(field)
	c := state.NewColumn(f, start, nil)
	if f.MergesInPlace() {
		c.SetReads(func(int) bool { return false })
	}
	return c
}

// Lookup returns a value: the field, or a value inside it: "totals.eu", "rows[3].id".
func (s *State) Lookup(path string) (any, error) {
	field, steps, err := s.parse(path)
	if err != nil {
		return nil, err
	}
	v, err := lookup(s.value(field), steps, path)
	if err != nil {
		return nil, err
	}
	return s.r.mask.Value(v), nil
}

// step is a member or an element of a value.
type step = value.Step

// parse splits a path into a field and the steps inside it.
func (s *State) parse(path string) (field int, steps []step, err error) {
	schema := s.r.Plan.Schema
	if f, ok := schema.Index(path); ok {
		return f, nil, nil
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	field, ok := schema.Index(path[:end])
	if !ok {
		return 0, nil, unknown("the state has no field %q%s", path[:end], hint(path[:end], schema.FieldNames()))
	}
	if steps, ok = value.ParsePath(path[end:]); !ok {
		return 0, nil, unknown("%q is not a path: a field, then .member, [\"member\"] or [index]", path)
	}
	return field, steps, nil
}

// lookup returns a value inside another one. path is for the error.
func lookup(v any, steps []step, path string) (any, error) {
	if value.IsMissing(v) {
		return nil, unknown("%s has no value", path)
	}
	for _, s := range steps {
		in, ok := s.Inside(v)
		if !ok {
			return nil, unknown("%s has no value: %v", path, value.NotInside(s, v))
		}
		v = in
	}
	return v, nil
}
