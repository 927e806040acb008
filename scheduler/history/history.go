// Package history looks back on a stored run: at the state after each of its executions, at the
// executions that wrote a value, and at the first place where two runs differ. All of it is derived
// from the journals of the runs.
//
//	run, err := history.Read(ctx, store, id, "", compile)
//	before, err := run.After("price[7]")
//	blame, err := before.Blame("totals.eu")
package history

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
	"github.com/wavefold/wavefold/store"
)

// Run is what a stored run, or a nested run of it, has written. A run in progress has what is stored
// so far. Secrets are masked in all values that its methods return.
type Run struct {
	// Plan is the plan of the graph, and Path the path of the nested run, "" for the run itself.
	Plan *plan.Plan
	Path string

	mask    secret.Masker
	start   time.Time
	graph   machine.Graph
	found   bool // the graph has begun
	writes  []write
	fields  [][]int32 // by field: the writes in the order in which they are merged
	answers map[executionKey]*answers
	// elements are the writes of items that their node collects into one list.
	elements map[collectKey][]int32
	head     uint64 // the record with the newest head

	from  *reading
	inner map[string]*Run // the nested runs that Inner has read, by path
}

// write is a write to a field.
type write struct {
	id       machine.ID
	field    int32
	visit    int32
	value    any // in canonical form
	elements []int32
	seq      uint64 // the record that was replayed when it was merged
	at       int64
	// set reports whether a replay has set the field to this value. level is the level before which
	// it did so, and steps lead to the part of the value that it changed.
	set   bool
	level int32
	steps []step
}

type executionKey struct {
	frame int64
	node  int32
}

type collectKey struct {
	node, field int32
}

// answers are the answers of a node, by item, row, round or visit.
type answers struct {
	list []answer
	of   []int32 // by number: the index in list plus one, or 0 if there is none
}

// answer is the answer of an attempt, or of one for each item of a range.
type answer struct {
	seq     uint64
	from    int32
	attempt int32
	at      int64
	ends    []int64
}

// Read reads what a stored run has written. path is the path of a nested run such as "outer[3]", "" for
// the run itself. compile is as for projection.Events.
func Read(ctx context.Context, s store.Store, run, path string, compile func(*journal.Head) (*plan.Plan, error)) (*Run, error) {
	j := &reading{store: s, run: run, compile: compile}
	parts, err := j.read(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	r := j.runs[path]
	if path == "" && parts.Replay != nil {
		r.begin(parts.Replay.Machine().Root())
	}
	if !r.found {
		return nil, r.unknownGraph(parts)
	}
	r.sort()
	return r, nil
}

// reading is a stored run while it is replayed.
type reading struct {
	store   store.Store
	run     string
	compile func(*journal.Head) (*plan.Plan, error)
	runs    map[string]*Run // that are collected, by path
	nested  map[string]bool // the paths of executions that ran another workflow
	now     uint64          // the record that is replayed
}

// read replays the run once, and collects the writes of the graphs with these paths.
func (j *reading) read(ctx context.Context, paths []string) (*journal.Parts, error) {
	j.runs, j.nested = map[string]*Run{}, map[string]bool{}
	for _, path := range paths {
		j.runs[path] = newRun(path, j)
	}
	parts := &journal.Parts{Compile: j.compile, Get: func(sum string) ([]byte, error) { return j.store.Get(ctx, sum) },
		Options: func(o *machine.Options) { o.Events, o.Wrote = true, j.wrote }}
	head, records, err := journal.Newest(ctx, j.store, j.run)
	if err != nil {
		return nil, err
	}
	parts.From = head
	for rec := range records {
		if err := j.add(parts, rec); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// add replays a record.
func (j *reading) add(parts *journal.Parts, rec store.Record) error {
	j.now = rec.Seq
	if err := parts.Add(rec); err != nil {
		return err
	}
	if rec.Seq == parts.From {
		if err := hasAnswers(parts.Head); err != nil {
			return err
		}
		for _, r := range j.runs {
			r.mask, r.start, r.head = secret.MaskerOf(parts.Codec.Plan.Secrets), parts.Head.Started, parts.From
		}
		parts.Replay.Answered = j.answered
	}
	return nil
}

func (j *reading) wrote(w *machine.Write) {
	if r := j.runs[w.Graph.Path()]; r != nil {
		r.wrote(w)
	}
}

// answered notes the answer of an attempt.
func (j *reading) answered(ref journal.Ref, path string, e *machine.Event) {
	if e.Kind != machine.Finished || e.ID.Attempt <= 0 {
		return
	}
	frame, _ := plan.CutPath(path)
	if frame != "" {
		j.nested[frame] = true
	}
	if r := j.runs[frame]; r != nil {
		r.answered(ref, e)
	}
}

func newRun(path string, from *reading) *Run {
	return &Run{Path: path, from: from, answers: map[executionKey]*answers{}, elements: map[collectKey][]int32{}}
}

// hasAnswers returns an error for a journal without the answers of the run.
func hasAnswers(h *journal.Head) error {
	if h.Options.Durability == string(core.DurabilityOff) {
		return unknown("the journal of run %s has no results of nodes: it was started with durability: off", h.Run)
	}
	return nil
}

// begin records the graph that the caller requests. Another attempt of a nested run begins again.
func (r *Run) begin(g machine.Graph) {
	if r.found && r.graph.ID() != g.ID() {
		r.writes = nil
		clear(r.elements)
	}
	if r.graph, r.Plan, r.found = g, g.Plan(), true; r.writes == nil {
		r.writes = make([]write, 0, len(r.Plan.Nodes)) // most nodes write once
	}
}

// wrote collects a write.
func (r *Run) wrote(w *machine.Write) {
	r.begin(w.Graph)
	x := write{id: w.ID, field: w.Field, visit: int32(w.Visit), value: canonical(w.Value), seq: r.from.now, at: w.At}
	if a := w.Assigned; a != nil {
		x.set, x.level, x.seq = true, w.Level, r.head
		_, x.steps, _ = machine.FieldOf(r.Plan, a.Path) // the machine has accepted it
	}
	if w.ID.Node >= 0 {
		key := collectKey{w.ID.Node, w.Field}
		if w.Element {
			r.elements[key] = append(r.elements[key], int32(len(r.writes)))
			x.field = -1
		} else if w.ID.To == 0 {
			x.elements = r.elements[key]
		}
	}
	r.writes = append(r.writes, x)
}

// canonical returns the JSON form of the value of a field, value.Missing if it has lost its value because
// a write could not be merged.
func canonical(v any) any {
	switch v.(type) {
	case nil, bool, int64, float64, string, []any, *value.Object:
		return v
	}
	if _, failed := v.(*state.FailedMerge); failed || value.IsMissing(v) {
		return value.Missing
	}
	if c, err := value.Canonical(v); err == nil {
		return c
	}
	return v
}

// answered notes the answer of an attempt.
func (r *Run) answered(ref journal.Ref, e *machine.Event) {
	key := executionKey{e.ID.Frame, e.ID.Node}
	a := r.answers[key]
	if a == nil {
		a = &answers{}
		r.answers[key] = a
	}
	a.list = append(a.list, answer{seq: ref.Seq, from: e.ID.From, attempt: e.ID.Attempt, at: e.Ended, ends: e.Ends})
	to := max(e.ID.To, e.ID.From+1)
	for int(to) > len(a.of) {
		a.of = append(a.of, 0)
	}
	for i := e.ID.From; i < to; i++ {
		a.of[i] = int32(len(a.list))
	}
}

// answerOf returns the last answer of an execution, or nil if it has none: it runs another workflow,
// or has not ended.
func (r *Run) answerOf(id machine.ID) *answer {
	a := r.answers[executionKey{id.Frame, id.Node}]
	if a == nil || int(id.From) >= len(a.of) || a.of[id.From] == 0 {
		return nil
	}
	return &a.list[a.of[id.From]-1]
}

// sort orders the writes of each field that are merged.
func (r *Run) sort() {
	r.fields = make([][]int32, len(r.Plan.Schema.Fields))
	for i := range r.writes {
		if f := r.writes[i].field; f >= 0 {
			r.fields[f] = append(r.fields[f], int32(i))
		}
	}
	if r.Plan.Mode.Visits {
		return
	}
	merged := make([]bool, len(r.Plan.Vertices))
	for f, list := range r.fields {
		vertices := r.graph.Merged(f)
		for _, v := range vertices {
			merged[v] = true
		}
		list = slices.DeleteFunc(list, func(i int32) bool { return !r.writes[i].set && !merged[r.vertexOf(&r.writes[i])] })
		slices.SortStableFunc(list, func(a, b int32) int { return r.placeOf(&r.writes[a]).compare(r.placeOf(&r.writes[b])) })
		r.fields[f] = list
		for _, v := range vertices {
			merged[v] = false
		}
	}
}

func (r *Run) vertexOf(w *write) int32 { return r.Plan.Nodes[w.id.Node].Vertex }

// place is the canonical place of an execution in its graph: its vertex, the number of its item, row
// or round, and its place in the row or round. In a walk, number is the number of the visit in the
// walk.
type place struct{ vertex, number, member int32 }

// last is after all numbers and members.
const last = math.MaxInt32

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.vertex, o.vertex), cmp.Compare(p.number, o.number), cmp.Compare(p.member, o.member))
}

func (r *Run) placeOf(w *write) place {
	switch {
	case w.set && r.Plan.Mode.Visits:
		return place{0, w.id.From, -1}
	case w.set:
		return place{r.Plan.Levels[w.level], -1, -1}
	case w.id.Node < 0:
		return place{}
	case r.Plan.Mode.Visits:
		return place{0, w.id.From, 0}
	case w.id.To == 0 && r.Plan.Vertices[r.vertexOf(w)].Shape != plan.Plain:
		return place{r.vertexOf(w), last, last}
	}
	return place{r.vertexOf(w), w.id.From, r.Plan.Nodes[w.id.Node].Member}
}

// Author is the execution that wrote a value.
type Author struct {
	// Path is the path of the node, such as "save" or "outer[3]/save". It is "" for the starting value
	// of a field, for a value that a replay has set, and for what a walk itself writes.
	Path    string       `json:"path,omitempty"`
	Item    core.Ordinal `json:"item,omitzero"` // of a fan-out, or row of a pipeline
	Round   core.Ordinal `json:"round,omitzero"`
	Visit   int          `json:"visit,omitempty"`
	Attempt int          `json:"attempt,omitempty"`
	// Seq is the number of the record of the journal with the result.
	Seq uint64 `json:"seq,omitempty"`
	// Start reports whether it is the starting value: a default or an input.
	Start bool `json:"start,omitempty"`
	// Set reports whether a replay has set the value. Seq is then the record with the settings of the run.
	Set bool `json:"set,omitempty"`
}

// author returns the author of a write, by index; -1 is the start.
func (r *Run) author(i int32) Author {
	if i < 0 {
		return Author{Start: true}
	}
	w := &r.writes[i]
	a := Author{Seq: w.seq, Visit: int(w.visit), Set: w.set}
	if w.id.Node < 0 {
		return a
	}
	n := &r.Plan.Nodes[w.id.Node]
	if a.Path = n.ID; r.Path != "" {
		a.Path = r.Path + "/" + n.ID
	}
	if w.id.To > 0 && w.visit == 0 {
		if u := r.Plan.Vertices[n.Vertex].Unit; u != nil && u.IsLoop {
			a.Round = core.Nth(int(w.id.From))
		} else {
			a.Item = core.Nth(int(w.id.From))
		}
	}
	if w.id.To > 0 || r.Plan.Vertices[n.Vertex].Shape == plan.Plain {
		a.Attempt = w.id.AttemptNumber()
		if x := r.answerOf(w.id); x != nil {
			a.Seq, a.Attempt = x.seq, int(x.attempt)
		}
	}
	return a
}

// Name returns the author as the argument of Run.After: "many[7]", or "node" for a node that runs
// once.
func (a Author) Name() string {
	if i, ok := a.Item.Get(); ok {
		return numbered(a.Path, i)
	}
	if i, ok := a.Round.Get(); ok {
		return numbered(a.Path, i)
	}
	if a.Visit > 0 {
		return numbered(a.Path, a.Visit)
	}
	return a.Path
}

// timeOf returns the time of a write.
func (r *Run) timeOf(w *write) time.Time {
	at := w.at
	if x := r.answerOf(w.id); x != nil && (w.id.To > 0 || w.id.Attempt > 0) {
		at = x.at
		if k := int(w.id.From - x.from); k < len(x.ends) {
			at = x.ends[k]
		}
	}
	return r.start.Add(time.Duration(at))
}

// fieldAt returns a field of the state.
func (r *Run) fieldAt(field int) *state.Field { return &r.Plan.Schema.Fields[field] }
