package history

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Side is one of two runs that are compared.
type Side struct {
	Store store.Store
	Run   string
	// Compile is as for projection.Events.
	Compile func(*journal.Head) (*plan.Plan, error)
}

// Diff is the difference between two runs, A and B. Secrets are masked.
type Diff struct {
	// First is the first place in canonical order where the runs differ: the first execution with
	// another status, route or written value. It is nil if there is none.
	First *Parting `json:"first"`
	// Workflow are the nodes, pipelines and loops that differ, by path.
	Workflow []PartDiff  `json:"workflow"`
	Inputs   []ValueDiff `json:"inputs"`
	// Nodes are the nodes, pipelines and loops whose statuses differ, and their items, rows, rounds and
	// visits.
	Nodes []TextDiff `json:"nodes"`
	// Routes are the visits of walks after which the walks continued at other nodes.
	Routes []TextDiff  `json:"routes"`
	State  []ValueDiff `json:"state"`
	// Times are the nodes, pipelines and loops that took a second more and twice as long as in the
	// other run, the largest difference first. They do not make runs different.
	Times []TimeDiff `json:"times"`
}

// Equal reports whether the runs do not differ, apart from times.
func (d *Diff) Equal() bool {
	return d.First == nil && len(d.Workflow)+len(d.Inputs)+len(d.Nodes)+len(d.Routes)+len(d.State) == 0
}

// Parting is the first execution in which two runs differ.
type Parting struct {
	Name string `json:"name"`
	// A and B are the executions of the runs, nil if the run has no such execution.
	A *Execution `json:"a"`
	B *Execution `json:"b"`
	// Values are the values that it has written differently.
	Values []ValueDiff `json:"values"`
}

// PartDiff is a part of a workflow that differs.
type PartDiff struct {
	Path   string `json:"path"`
	Change string `json:"change"` // as plan.Change.String
	// Members names what differs in a part that computes something else.
	Members []string `json:"members,omitempty"`
}

// ValueDiff is a value that differs. A or B is nil if the run has no such value.
type ValueDiff struct {
	Path string `json:"path"`
	A    *any   `json:"a,omitempty"`
	B    *any   `json:"b,omitempty"`
}

// TextDiff is a status or route that differs, "" if the run has none.
type TextDiff struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// TimeDiff is a duration that differs.
type TimeDiff struct {
	Name string        `json:"name"`
	A    time.Duration `json:"a_ns"`
	B    time.Duration `json:"b_ns"`
}

// side is what is compared of a run.
type side struct {
	head  *journal.Head
	plan  *plan.Plan
	mask  secret.Masker
	list  []*Execution
	index map[string]*Execution
	state *value.Object
}

// Compare compares two runs. Runs of different workflows are compared by the names of their nodes.
func Compare(ctx context.Context, a, b Side) (*Diff, error) {
	x, err := a.read(ctx)
	if err != nil {
		return nil, err
	}
	y, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	parts, err := partDiffs(x, y)
	if err != nil {
		return nil, err
	}
	d := &Diff{Workflow: parts, Inputs: []ValueDiff{}, Nodes: []TextDiff{}, Routes: []TextDiff{}, State: []ValueDiff{}, Times: []TimeDiff{}}
	d.First = x.parting(y)
	v := &values{a: x.mask, b: y.mask, list: d.Inputs}
	v.members("", x.head.Inputs, y.head.Inputs)
	d.Inputs = v.list
	v.list = d.State
	v.members("", x.state, y.state)
	d.State = v.list
	d.executions(x, y)
	return d, nil
}

// read reads the newest part of the journal of a run.
func (s Side) read(ctx context.Context) (*side, error) {
	from, records, err := journal.Newest(ctx, s.Store, s.Run)
	if err != nil {
		return nil, err
	}
	var x *executions
	parts := &journal.Parts{Compile: s.Compile, From: from, Get: func(sum string) ([]byte, error) { return s.Store.Get(ctx, sum) }}
	parts.Options = func(o *machine.Options) {
		o.Events, o.Wrote = true, func(w *machine.Write) {
			if x == nil { // the field is set before all writers
				x = newExecutions(w.Graph.Plan())
			}
			x.wrote(w)
		}
	}
	for rec := range records {
		if err := parts.Add(rec); err != nil {
			return nil, err
		}
		if rec.Seq == from {
			if err := hasAnswers(parts.Head); err != nil {
				return nil, err
			}
			if x == nil {
				x = newExecutions(parts.Codec.Plan)
			}
			parts.Replay.Listener = x.emitted
		}
	}
	out := &side{head: parts.Head, plan: parts.Codec.Plan, mask: secret.MaskerOf(parts.Codec.Plan.Secrets), list: x.sorted(), index: x.index, state: &value.Object{}}
	for name, v := range parts.Replay.Machine().State().All() {
		out.state.Set(name, canonical(v))
	}
	return out, nil
}

// partDiffs compares the workflows of two runs.
func partDiffs(x, y *side) ([]PartDiff, error) {
	list := []PartDiff{}
	if x.head.Plan == y.head.Plan {
		return list, nil
	}
	then, err := x.head.Recorded()
	if err != nil {
		return nil, err
	}
	for _, c := range y.plan.Since(then).Parts {
		if c.Change != plan.Same {
			list = append(list, PartDiff{c.Path, c.Change.String(), c.Members})
		}
	}
	return list, nil
}

// parting returns the first execution in which two runs differ.
func (x *side) parting(y *side) *Parting {
	seen := map[*Execution]bool{} // executions of y
	for i, j := 0, 0; i < len(x.list) || j < len(y.list); i++ {
		for j < len(y.list) && seen[y.list[j]] {
			j++
		}
		if i < len(x.list) && y.index[x.list[i].Name] == nil {
			return x.differing(y, x.list[i], nil)
		}
		if j < len(y.list) && x.index[y.list[j].Name] == nil {
			return x.differing(y, nil, y.list[j])
		}
		if i < len(x.list) {
			b := y.index[x.list[i].Name]
			if p := x.differing(y, x.list[i], b); p != nil {
				return p
			}
			seen[b] = true
		}
	}
	return nil
}

// differing compares two executions, one of which may be nil. It returns nil if they do not differ.
func (x *side) differing(y *side, a, b *Execution) *Parting {
	v := &values{a: x.mask, b: y.mask, list: []ValueDiff{}}
	v.members("", a.written(), b.written())
	if a != nil && b != nil && a.Status == b.Status && a.Route == b.Route && len(v.list) == 0 {
		return nil
	}
	return &Parting{Name: cmp.Or(a, b).Name, A: a.masked(x.mask), B: b.masked(y.mask), Values: v.list}
}

// executions compares statuses, routes and times.
func (d *Diff) executions(x, y *side) {
	add := func(a, b *Execution) {
		e := cmp.Or(a, b)
		a, b = cmp.Or(a, &Execution{}), cmp.Or(b, &Execution{})
		if a.Status != b.Status {
			d.Nodes = append(d.Nodes, TextDiff{e.Name, a.Status, b.Status})
		}
		if a.Route != b.Route {
			d.Routes = append(d.Routes, TextDiff{e.Name, a.Route, b.Route})
		}
		short, long := min(a.took, b.took), max(a.took, b.took)
		if a.whole && b.whole && long-short >= time.Second && long >= 2*short {
			d.Times = append(d.Times, TimeDiff{e.Name, a.took, b.took})
		}
	}
	for _, a := range x.list {
		add(a, y.index[a.Name])
	}
	for _, b := range y.list {
		if x.index[b.Name] == nil {
			add(nil, b)
		}
	}
	slices.SortStableFunc(d.Times, func(s, t TimeDiff) int { return cmp.Compare((t.A - t.B).Abs(), (s.A - s.B).Abs()) })
}

// values compares values.
type values struct {
	a, b secret.Masker
	list []ValueDiff
}

// members compares the members of two objects, in the order of the first one.
func (v *values) members(path string, a, b *value.Object) {
	name := func(key string) string {
		if path == "" {
			return key
		}
		return path + step{Key: key, Index: -1}.String()
	}
	for key, x := range a.All() {
		if y, ok := b.Get(key); ok {
			v.compare(name(key), x, y)
		} else {
			v.add(name(key), x, value.Missing)
		}
	}
	for key, y := range b.All() {
		if _, ok := a.Get(key); !ok {
			v.add(name(key), value.Missing, y)
		}
	}
}

// compare compares two values.
func (v *values) compare(path string, a, b any) {
	switch x := a.(type) {
	case *value.Object:
		if y, ok := b.(*value.Object); ok {
			v.members(path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			v.elements(path, x, y)
			return
		}
	}
	if !value.Equal(a, b) {
		v.add(path, a, b)
	}
}

// elements compares the elements of two lists.
func (v *values) elements(path string, a, b []any) {
	for i := range max(len(a), len(b)) {
		name := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= len(a):
			v.add(name, value.Missing, b[i])
		case i >= len(b):
			v.add(name, a[i], value.Missing)
		default:
			v.compare(name, a[i], b[i])
		}
	}
}

func (v *values) add(path string, a, b any) {
	x := ValueDiff{Path: path}
	if !value.IsMissing(a) {
		a = v.a.Value(a)
		x.A = &a
	}
	if !value.IsMissing(b) {
		b = v.b.Value(b)
		x.B = &b
	}
	v.list = append(v.list, x)
}
