package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// ErrOtherWorkflow is the error of Restore if the plan has another fingerprint than the plan of
// the snapshot, or another order of its parts.
var ErrOtherWorkflow = errors.New("it was taken of another workflow")

// VersionError is the error of Restore for a snapshot in a version of the format that this
// package does not read. Any other error except ErrOtherWorkflow means that the snapshot is
// damaged.
type VersionError struct {
	Got, Want int
}

// Error returns a message with both versions.
func (e *VersionError) Error() string {
	age := "an older"
	if e.Got > e.Want {
		age = "a newer"
	}
	return fmt.Sprintf("snapshot: it has format %d of %s wavefold, and this wavefold reads format %d", e.Got, age, e.Want)
}

// checkVersion decodes only the version, because other versions may have another format.
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

// Restore returns the machine of a snapshot. The plan must have the fingerprint and the order of
// the plan of the snapshot; otherwise the error is ErrOtherWorkflow. The next call of Next issues
// the commands again that were in flight, timers with the rest of their delays. Answers to the
// earlier commands still count.
func Restore(p *plan.Plan, snapshot []byte) (*Machine, error) { return RestoreAfter(p, snapshot, 0) }

// RestoreAfter is Restore after a time without a process. down is the time between the latest
// event before the snapshot and the moment at which the run continues; it is included in the
// times of later events. Waits and the delays of retries elapse during that time. Timeouts of
// nested runs and parallel nodes and the stall timeout of walks do not, because they limit work
// and none was done.
func RestoreAfter(p *plan.Plan, snapshot []byte, down time.Duration) (*Machine, error) {
	var j machineJSON
	if err := checkVersion(snapshot); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(snapshot, &j); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := checkPlanners(p, nil); err != nil {
		return nil, err
	}
	m, err := newMachine(p, j.Options), error(nil)
	if m.assigned, err = newAssignments(p, j.Options.Set); err != nil {
		return nil, err
	}
	if fingerprint, order := m.identity(); j.Plan != fingerprint || j.Order != order {
		return nil, fmt.Errorf("snapshot: %w", ErrOtherWorkflow)
	}
	m.now, m.seq, m.dropped, m.cancelled, m.endPublished = j.Now, j.Seq, j.Dropped, j.Cancelled, j.Finished
	m.claims = j.Claims
	for i, fj := range j.Frames {
		if fj == nil || (i == 0) != (fj.ID == 0) {
			return nil, fmt.Errorf("snapshot: the first frame is not the frame of the run, or another one is")
		}
		if err := m.restoreFrame(p, fj); err != nil {
			return nil, fmt.Errorf("snapshot: frame %d: %w", fj.ID, err)
		}
	}
	if m.root == nil {
		return nil, fmt.Errorf("snapshot: the frame of the run is missing")
	}
	if len(j.Emit) > 0 {
		m.events = j.Emit
		m.command(Command{Op: OpEmit, Events: m.events})
	}
	m.now += int64(down)
	m.instant = m.now
	for i := len(m.frames) - 1; i >= 0; i-- { // inner frames first, because outer frames depend on them
		m.frames[i].extend(int64(down))
		m.frames[i].reissue()
	}
	for i := len(m.frames) - 1; i >= 0; i-- {
		m.frames[i].refreshAll()
	}
	return m, nil
}

// restoreFrame makes a frame of a snapshot part of the machine. root is the plan of the run.
func (m *Machine) restoreFrame(root *plan.Plan, j *frameJSON) error {
	f := &j.frame
	p, err := root.At(f.Path)
	if err != nil {
		return err
	}
	if len(j.Ledger) != len(p.Schema.Fields) || len(j.Vertices) != len(p.Vertices) ||
		f.EndReasons != nil && len(f.EndReasons) != len(j.Vertices) || f.Outputs != nil && len(f.Outputs) < len(p.Nodes) { // a run may have added nodes, see restoreParts
		return ErrOtherWorkflow
	}
	var parent *frame
	if f.ID != 0 {
		if parent = m.frame(f.Owner.Frame); parent == nil {
			return fmt.Errorf("its parent %d is missing", f.Owner.Frame)
		}
		parent.children++
	}
	f.v = j.Vertices
	for i := range f.v {
		if f.v[i].Phase != resolved {
			f.unresolved++
		}
	}
	m.attach(f, p, parent, make([]any, len(j.Ledger)))
	if err := f.restoreLedger(j); err != nil {
		return err
	}
	return f.restoreParts(j)
}

// restoreLedger loads the fields and passes the readers that they have already released.
func (f *frame) restoreLedger(j *frameJSON) error {
	if err := loadColumns(f.columns(), j.Ledger); err != nil {
		return err
	}
	for i, readers := range f.p.Readers {
		cursor := int32(f.ledger.Column(i).Cursor())
		for at := f.readersAt[i]; int(at) < len(readers) && readers[at].Threshold <= cursor; at++ {
			f.readersAt[i] = at + 1
		}
	}
	return nil
}

// restoreParts restores the tasks and the results that wait to be committed or placed.
func (f *frame) restoreParts(j *frameJSON) error {
	f.restorePending(j.Pending)
	for i := range f.v {
		v := int32(i)
		for _, o := range []*Outcome{f.Uncommitted[v], f.Details[v].Held} {
			if err := f.restoreHeld(o); err != nil {
				return err
			}
		}
		if t := j.FanOuts[v]; t != nil {
			if err := t.restore(f, v); err != nil {
				return err
			}
		}
		if t := j.Units[v]; t != nil {
			if err := t.restore(f, v); err != nil {
				return err
			}
		}
	}
	if err := j.Planner.restore(f.mode.memory()); err != nil {
		return err
	}
	if err := f.mode.restore(); err != nil {
		return err
	}
	if f.Outputs != nil && len(f.Outputs) != len(f.p.Nodes) {
		return ErrOtherWorkflow
	}
	if f.parent != nil {
		w := f.parent.find(f.Owner)
		if w == nil {
			return fmt.Errorf("the node that it is has ended")
		}
		w.adopt(f)
	}
	return nil
}

// restoreWrites restores the Go types of values that were read from JSON.
func (f *frame) restoreWrites(list []plan.Write) (err error) {
	for i := range list {
		w := &list[i]
		if int(w.Field) >= len(f.p.Schema.Fields) {
			return ErrOtherWorkflow
		}
		if w.Value, err = f.p.Schema.Fields[w.Field].Restore(w.Value); err != nil {
			return err
		}
	}
	return nil
}

// restoreHeld is restoreWrites for an outcome, which may be nil.
func (f *frame) restoreHeld(o *Outcome) error {
	if o == nil {
		return nil
	}
	return f.restoreWrites(o.Writes)
}

// restore attaches a fan-out of a snapshot to its vertex.
func (t *fanOut) restore(f *frame, v int32) error {
	n := &f.p.Nodes[f.p.Vertices[v].Node]
	if len(t.Attempts) != len(t.Phases) || !t.Results.IsZero() && t.Results.len != len(t.Phases) {
		return fmt.Errorf("node %s has %d items, want %d", n.ID, len(t.Attempts), len(t.Phases))
	}
	open := f.v[v].Phase != resolved // the values that it has read may be forgotten
	var call *Call
	var items Items
	if open {
		call = f.call(n, nil)
	}
	if open && n.Puller == nil {
		items, _ = itemsAt("for_each.source", n.Source, Captured{For: n, Call: call, Place: -1})
		if items.Len() != len(t.Phases) {
			return fmt.Errorf("node %s has %d items, want %d", n.ID, items.Len(), len(t.Phases))
		}
	}
	t.attach(f, v, call, items)
	if n.Puller != nil {
		t.setItems(t.Pull.Ahead)
	}
	if err := t.restoreItems(); err != nil {
		return err
	}
	if !open {
		t.dropVoidFailures()
	}
	return nil
}

// restoreItems restores what is derived from the progress of the items, and the Go types of their
// writes.
func (t *fanOut) restoreItems() error {
	t.done = t.Base
	for i, p := range t.Phases {
		if p == succeeded || p == failed {
			t.done++
		}
		if p == failed {
			t.failed = append(t.failed, t.Base+i)
		}
		if p == pausing {
			t.paused++
		}
	}
	for _, d := range t.Details {
		if err := t.f.restoreHeld(d.Held); err != nil {
			return err
		}
	}
	if err := t.Results.restore(t.f); err != nil {
		return err
	}
	for field, list := range t.Folded.Deltas {
		for i := range list {
			w := []plan.Write{{Field: field, Value: list[i]}}
			if err := t.f.restoreWrites(w); err != nil {
				return err
			}
			list[i] = w[0].Value
		}
	}
	return t.f.restoreWrites(t.Pull.Read)
}

// restore attaches a unit of a snapshot to its vertex.
func (t *unit) restore(f *frame, v int32) error {
	view, canon := t.View, t.Canon
	t.f, t.v, t.u, t.View, t.Canon = f, v, f.p.Vertices[v].Unit, nil, nil
	t.group = newUnitGroup(f, t)
	f.setTask(v, t)
	if len(t.Results) != len(t.u.Members) || t.Outputs != nil && len(t.Outputs) != len(t.u.Members) {
		return fmt.Errorf("unit %s has %d members, want %d", t.u.ID, len(t.Results), len(t.u.Members))
	}
	for _, p := range t.Live {
		if p == nil || p.Place < 0 || p.Place >= len(t.u.Members) {
			return fmt.Errorf("unit %s has a row or round at no member", t.u.ID)
		}
		p.t = t
	}
	if f.v[v].Phase == resolved { // the values that it has read may be forgotten
		return nil
	}
	if !t.u.IsLoop && t.u.Puller == nil {
		t.items, _ = itemsAt("items", t.u.Items, levelEnv{f, f.p.Vertices[v].Level})
		t.items = t.items.inBatches(t.u.Batch)
	}
	t.columns()
	for _, p := range t.Live {
		if err := f.restoreHeld(p.Held); err != nil {
			return fmt.Errorf("unit %s: %w", t.u.ID, err)
		}
	}
	for _, err := range []error{loadColumns(t.View, view), loadColumns(t.Canon, canon), f.restoreWrites(t.Pull.Read)} {
		if err != nil {
			return fmt.Errorf("unit %s: %w", t.u.ID, err)
		}
	}
	return nil
}

// extend moves the deadlines of a frame by a time without a process, in which it could not work.
func (f *frame) extend(down int64) {
	if f.Deadline > 0 {
		f.Deadline += down
	}
	f.mode.extend(down)
}

// reissue issues the commands in flight again, and sets the timers again.
func (f *frame) reissue() {
	if f.Stopped { // runs last, because it cancels the reissued commands
		defer f.m.command(Command{Op: OpCancel, ID: ID{Frame: f.ID}})
	} else if f.Deadline > 0 {
		f.setDeadlineTimer()
	}
	f.reissuePlaces()
	for i := range f.v {
		v := int32(i)
		if f.v[i].Phase == beingCancelled {
			f.reissueCancelled(v)
			continue
		}
		if t := f.task(v); t != nil {
			t.reissue()
			continue
		}
		if f.v[i].Phase == startable {
			f.addStartable(v)
		} else if f.p.Vertices[v].Shape == plan.Plain {
			reissue(plainNode{f, v})
		}
	}
}

func (t *fanOut) reissue() {
	if t.f.v[t.v].Phase != running {
		return
	}
	t.reissueOpen()
	for i, p := range t.Phases {
		if p == backingOff || p == running && t.n.Wait != nil {
			reissue(item{t, t.Base + i})
		}
	}
	if !t.f.Stopped {
		t.giveUp()
	}
}

// reissueOpen issues the handlers in flight again.
func (t *fanOut) reissueOpen() {
	for _, s := range t.Ranges.Open() {
		t.issue(s)
	}
	if t.Pull.Open {
		t.openPull(t.f.call(t.n.Puller, nil))
	}
	for i, p := range t.Phases {
		if p == pausing {
			reissue(item{t, t.Base + i})
		}
	}
}

func (t *unit) reissue() {
	if t.f.v[t.v].Phase != running {
		return
	}
	t.reissueOpen()
}

// reissueOpen issues the commands again whose answers are awaited.
func (t *unit) reissueOpen() {
	if t.Pull.Open {
		t.openPull(t.f.call(t.u.Puller, nil))
	}
	for _, p := range t.Live {
		reissue(p)
	}
}

// refreshAll refreshes all vertices with tasks.
func (f *frame) refreshAll() {
	for v := range f.tasks {
		f.refresh(int32(v))
	}
}
