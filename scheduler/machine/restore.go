package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// ErrOtherWorkflow is the error of Restore for a plan that does not have the fingerprint of the
// plan that the snapshot was taken of, or that has its parts in another order.
var ErrOtherWorkflow = errors.New("it was taken of another workflow")

// VersionError reports a snapshot in another version of the format than this package reads.
// Any other error of Restore but ErrOtherWorkflow means that the snapshot is broken.
type VersionError struct {
	Got, Want int
}

// Error names both versions.
func (e *VersionError) Error() string {
	age := "an older"
	if e.Got > e.Want {
		age = "a newer"
	}
	return fmt.Sprintf("snapshot: it has format %d of %s wavefold, and this wavefold reads format %d", e.Got, age, e.Want)
}

// checkVersion looks at the version alone: the rest of another version may have another form.
func checkVersion(snapshot []byte) error {
	var head struct {
		Version int `json:"version"`
	}
	switch err := json.Unmarshal(snapshot, &head); {
	case err != nil:
		return fmt.Errorf("snapshot: %w", err)
	case head.Version < 1:
		return fmt.Errorf("snapshot: it has no version")
	case head.Version != snapshotVersion:
		return &VersionError{Got: head.Version, Want: snapshotVersion}
	}
	return nil
}

// identity returns the fingerprint and the order of the plan, which are computed once.
func (m *Machine) identity() (fingerprint, order string) {
	if m.fingerprint == "" {
		m.fingerprint, m.order = m.plan.Fingerprint(), m.plan.Order()
	}
	return m.fingerprint, m.order
}

// Restore returns the machine a snapshot was taken of. The plan must have the fingerprint of
// the plan that the snapshot was taken of, or the error is ErrOtherWorkflow. What was in flight is issued again by the
// next call of Next, timers with what is left of their delays; answers to the first issue
// still count.
func Restore(p *plan.Plan, snapshot []byte) (*Machine, error) { return RestoreAfter(p, snapshot, 0) }

// RestoreAfter is Restore after a time without a process: down is the time between the
// latest event before the snapshot and the moment at which the run continues, and it is part
// of the time of the events that follow. Waits and the delays of retries elapse during that
// time. The timeouts of nested runs and of parallel nodes and the watch over a walk that
// shows no sign of life do not: they limit work, and none was done.
func RestoreAfter(p *plan.Plan, snapshot []byte, down time.Duration) (*Machine, error) {
	var j machineJSON
	if err := checkVersion(snapshot); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(snapshot, &j); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	m := newMachine(p, j.Options)
	if fingerprint, order := m.identity(); j.Plan != fingerprint || j.Order != order {
		return nil, fmt.Errorf("snapshot: %w", ErrOtherWorkflow)
	}
	m.now, m.seq, m.dropped, m.cancelled, m.announced = j.Now, j.Seq, j.Dropped, j.Cancelled, j.Finished
	m.claims = j.Claims
	for _, fj := range j.Frames {
		if fj == nil {
			return nil, fmt.Errorf("snapshot: a frame is null")
		}
		if err := m.restoreFrame(p, fj); err != nil {
			return nil, fmt.Errorf("snapshot: frame %d: %w", fj.ID, err)
		}
	}
	if len(m.frames) == 0 || m.frames[0].id != 0 {
		return nil, fmt.Errorf("snapshot: the frame of the run is missing")
	}
	m.root = m.frames[0]
	for _, e := range j.Emit {
		m.command(Command{Op: OpEmit, Event: e})
	}
	m.now += int64(down)
	for i := len(m.frames) - 1; i >= 0; i-- { // inner frames first: outer ones ask them
		m.frames[i].extend(int64(down))
		m.frames[i].reissue()
	}
	for i := len(m.frames) - 1; i >= 0; i-- {
		m.frames[i].refreshAll()
	}
	return m, nil
}

func (m *Machine) restoreFrame(root *plan.Plan, j *frameJSON) error {
	p, err := planAt(root, j.Path)
	if err != nil {
		return err
	}
	if len(j.Ledger) != len(p.Schema.Fields) || len(j.Vertices) != len(p.Vertices) {
		return ErrOtherWorkflow
	}
	var parent *frame
	if j.Parent >= 0 {
		if len(m.frames) > 0 && j.Parent == 0 {
			parent = m.frames[0]
		} else if parent = m.nested[j.Parent]; parent == nil {
			return fmt.Errorf("its parent %d is missing", j.Parent)
		}
	}
	f := m.newFrame(j.ID, p, j.Path, parent, make([]any, len(j.Ledger)), j.Inputs)
	f.owner, f.group.limit, f.barrier, f.level, f.levelLeft = j.Owner, j.Limit, j.Barrier, j.Level, j.LevelLeft
	f.stopped, f.failedRun, f.clean, f.notes, f.changes = j.Stopped, j.FailedRun, j.Clean, j.Notes, j.Changes
	f.deadline, f.expired = j.Deadline, j.Expired
	f.usage = j.Usage
	f.trails = j.Trails
	f.restoreJoins(j)
	if err := f.restoreLedger(j); err != nil {
		return err
	}
	f.restoreVertices(j)
	for i := range p.Nodes {
		if v, ok := j.Outputs[int32(i)]; ok {
			f.setOutput(int32(i), v.v)
		}
	}
	if parent != nil {
		parent.children++
	}
	return f.restoreParts(j)
}

// restoreJoins brings back how far conditions and joins are decided.
func (f *frame) restoreJoins(j *frameJSON) {
	copy(f.judges, j.Judges)
	copy(f.verdicts, j.Verdicts)
	copy(f.arms, j.Arms)
	copy(f.joins, j.Joins)
}

// restoreLedger brings back the fields, and which of their readers have been told.
func (f *frame) restoreLedger(j *frameJSON) error {
	for i := range j.Ledger {
		col, readers := f.ledger.Column(i), f.p.Readers[i]
		if err := col.Load(j.Ledger[i]); err != nil {
			return err
		}
		for at := f.readersAt[i]; int(at) < len(readers) && readers[at].Threshold <= int32(col.Cursor()); at++ {
			f.readersAt[i] = at + 1
		}
	}
	return nil
}

func (f *frame) restoreVertices(j *frameJSON) {
	for _, v := range j.Vertices {
		f.v[v.At] = vertex{pending: v.Pending, waits: v.Waits, attempts: v.Attempts, phase: v.Phase,
			status: v.Status, skip: v.Skip, handled: v.Handled, started: v.Started, ended: v.Ended}
		if why := (fate{failure: v.Failure, cause: v.Cause - 1, edge: v.Edge - 1}); why != noFate {
			f.setFate(v.At, why)
		}
		if v.Phase == resolved {
			f.unresolved--
		}
	}
}

// restoreParts brings back held results and tasks, in canonical order.
func (f *frame) restoreParts(j *frameJSON) error {
	f.restorePending(j.Pending)
	for i := range f.v {
		v := int32(i)
		if h, ok := j.Held[v]; ok {
			o, err := h.outcome(f.p)
			if err != nil {
				return err
			}
			if f.held == nil {
				f.held = map[int32]*Outcome{}
			}
			f.held[v] = &o
		}
		if t := j.FanOuts[v]; t != nil {
			if err := f.restoreFanOut(v, t); err != nil {
				return err
			}
		}
		if t := j.Units[v]; t != nil {
			if err := f.restoreUnit(v, t); err != nil {
				return err
			}
		}
	}
	if err := f.mode.restore(j); err != nil {
		return err
	}
	if f.parent != nil {
		w := f.parent.find(f.owner)
		if w == nil {
			return fmt.Errorf("the node that it is has ended")
		}
		w.adopt(f)
	}
	return nil
}

func (f *frame) restoreFanOut(v int32, j *fanOutJSON) error {
	n := &f.p.Nodes[f.p.Vertices[v].Node]
	call, items := &Call{}, Items{n: len(j.Phases)}
	if f.v[v].phase != resolved { // else what it saw may be forgotten
		if call = f.call(n, nil); call == nil {
			call = &Call{Path: f.path, Inputs: f.inputs}
		}
		if n.Puller == nil {
			items, _ = itemsAt("for_each.source", n.Source, Captured{For: n, Call: call, Place: -1})
		} else if j.Stream != nil {
			list := unwrap(j.Stream.Pull.Ahead)
			items = Items{list: list, n: len(list), base: j.Stream.Base}
		}
		if items.Len() != len(j.Phases) {
			return fmt.Errorf("node %s has %d items, want %d", n.ID, items.Len(), len(j.Phases))
		}
		if n.Puller == nil {
			call.Items = items
		}
	}
	t := &fanOut{f: f, v: v, n: n, call: call, items: items, next: j.Next, due: j.Due, ranges: chunk.Ranges{Size: j.Chunk}, early: j.Early, attempts: j.Attempts, trails: j.Trails}
	if t.attempts == nil {
		t.attempts = []uint8{}
	}
	t.givenUp = math.MaxInt
	t.group = group{parent: &f.group, limit: n.Concurrency, holder: t}
	if n.Puller != nil {
		if err := t.restoreStream(j.Stream); err != nil {
			return err
		}
	}
	for _, s := range j.Open {
		t.ranges.Add(chunk.Span{From: int32(s[0]), To: int32(s[1])})
	}
	if err := t.restoreOutcomes(j); err != nil {
		return err
	}
	if f.v[v].phase == resolved {
		t.dropVoid()
	}
	f.setTask(v, t)
	return nil
}

// restoreOutcomes brings back how far the items are.
func (t *fanOut) restoreOutcomes(j *fanOutJSON) error {
	for i, p := range j.Phases {
		p := phase(p)
		t.phases = append(t.phases, p)
		if p == succeeded || p == failed {
			t.done++
		}
		if p == failed {
			t.failed = append(t.failed, t.base+i)
		}
		if oj, ok := j.Outcomes[i]; ok {
			o, err := oj.outcome(t.f.p)
			if err != nil {
				return err
			}
			if t.outcomes == nil {
				t.outcomes = make([]Outcome, len(j.Phases))
			}
			t.outcomes[i] = o
		}
	}
	return nil
}

// restoreStream brings back what a fan-out over a stream has summed up.
func (t *fanOut) restoreStream(j *itemStreamJSON) error {
	if j == nil {
		return fmt.Errorf("node %s lacks its stream", t.n.ID)
	}
	read, err := j.Pull.Read.outcome(t.f.p)
	if err != nil {
		return err
	}
	t.base, t.done = j.Base, j.Base
	t.pull = puller{open: j.Pull.Open, ended: j.Pull.Ended, read: read.Writes, batch: j.Batch, failure: j.Failure, partial: j.Partial}
	t.settled = settled{attempts: j.Attempts, failed: j.Failed, first: j.First, failure: j.Why, partial: j.Some, changes: j.Changes, sent: unwrap(j.Sent)}
	for _, w := range t.f.p.Vertices[t.v].Writes {
		field := &t.f.p.Schema.Fields[w.Field]
		for _, v := range j.Deltas[field.Name] {
			restored, err := field.Restore(v.v)
			if err != nil {
				return err
			}
			t.settled.keep(0, &Outcome{Writes: []plan.Write{{Field: w.Field, Value: restored}}})
		}
	}
	return nil
}

func (f *frame) restoreUnit(v int32, j *unitJSON) error {
	u := f.p.Vertices[v].Unit
	t := &unit{f: f, v: v, u: u, results: j.Results, live: j.Live, next: j.Next, over: j.Over, failure: j.Failure, failAt: j.FailAt, failed: j.Failed, ranAll: j.Skips,
		partial: j.Partial, dropped: j.Dropped, reason: j.Reason, ended: j.Ended, interrupted: j.Broken, outputs: make([][]any, len(u.Members))}
	t.group = newUnitGroup(f, t)
	f.setTask(v, t)
	open := f.v[v].phase != resolved // else what it saw may be forgotten
	switch {
	case u.IsLoop || !open:
	case u.Puller == nil:
		t.items, _ = itemsAt("items", u.Items, levelEnv{f, f.p.Vertices[v].Level})
		t.items = t.items.inBatches(u.Batch)
	case j.Pull != nil:
		read, err := j.Pull.Read.outcome(f.p)
		if err != nil {
			return err
		}
		t.pull = puller{rows: j.Pull.Rows, taken: j.Pull.Taken, ahead: unwrap(j.Pull.Ahead), open: j.Pull.Open, ended: j.Pull.Ended, read: read.Writes}
	}
	if open {
		t.columns()
	}
	if len(t.results) != len(u.Members) {
		return fmt.Errorf("unit %s has %d members, want %d", u.ID, len(u.Members), len(t.results))
	}
	if err := t.restoreFields(j); err != nil {
		return err
	}
	for _, p := range t.live {
		if p == nil || p.Place < 0 || p.Place >= len(u.Members) {
			return fmt.Errorf("unit %s has a row or round at no member", u.ID)
		}
		p.t = t
	}
	for place := range u.Members {
		sent, ok := j.Outputs[place]
		if !ok {
			continue
		}
		n := 1
		if !u.IsLoop {
			n = t.passes()
		}
		t.outputs[place] = make([]any, n)
		for pass := range t.outputs[place] {
			t.outputs[place][pass] = sent[pass].v
		}
	}
	return nil
}

// restoreFields brings back the fields as the members see them.
func (t *unit) restoreFields(j *unitJSON) error {
	for i := range t.view {
		if i >= len(j.Columns) || i >= len(j.Canon) {
			return fmt.Errorf("unit %s lacks its fields", t.u.ID)
		}
		if err := t.view[i].Load(j.Columns[i]); err != nil {
			return err
		}
		if t.canon[i] == nil {
			continue
		}
		if err := t.canon[i].Load(j.Canon[i]); err != nil {
			return err
		}
	}
	return nil
}

// extend moves the limits of a frame's working time by a time without a process.
func (f *frame) extend(down int64) {
	if f.deadline > 0 {
		f.deadline += down
	}
	t, ok := f.task(0).(*walk)
	if !ok {
		return
	}
	t.due += down
	t.active += down
	for _, v := range t.live {
		if v.Fork != nil {
			v.Due += down
		}
	}
}

// reissue issues what was in flight and sets the timers again.
func (f *frame) reissue() {
	if f.stopped { // after what it cancels
		defer f.m.command(Command{Op: OpCancel, ID: ID{Frame: f.id}})
	} else if f.deadline > 0 {
		f.watch()
	}
	f.reissuePlaces()
	for i := range f.v {
		v := int32(i)
		if f.v[i].phase == losing {
			f.reissueLost(v)
			continue
		}
		if t := f.task(v); t != nil {
			t.reissue()
			continue
		}
		if f.v[i].phase == startable {
			f.ready.add(f.rank(v))
		} else if f.p.Vertices[v].Shape == plan.Plain {
			reissue(plainNode{f, v})
		}
	}
}

func (t *fanOut) reissue() {
	if t.f.v[t.v].phase != running {
		return
	}
	t.reissueOpen()
	for i, p := range t.phases {
		if p == backingOff || p == running && t.n.Wait != nil {
			reissue(item{t, t.base + i})
		}
	}
	if !t.f.stopped {
		t.giveUp()
	}
}

// reissueOpen issues the handlers in flight again.
func (t *fanOut) reissueOpen() {
	for _, s := range t.ranges.Open() {
		t.issue(s)
	}
	if t.pull.open {
		t.openPull(t.f.call(t.n.Puller, nil))
	}
}

func (t *unit) reissue() {
	if t.f.v[t.v].phase != running {
		return
	}
	t.reissueOpen()
}

// reissueOpen issues again what an answer is awaited to.
func (t *unit) reissueOpen() {
	if t.pull.open {
		t.openPull(t.f.call(t.u.Puller, nil))
	}
	for _, p := range t.live {
		reissue(p)
	}
}

// refreshAll finds out anew which tasks can start something.
func (f *frame) refreshAll() {
	for v := range f.tasks {
		f.refresh(int32(v))
	}
}
