package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// report returns the result of a frame.
func (f *frame) report() *core.Report {
	r := new(core.Report)
	r.Run, r.Workflow, r.Duration, r.State = f.m.opts.Run, f.p.Name, time.Duration(f.m.now), f.finalState(false)
	r.Status, r.Err = f.status()
	r.Nodes = f.mode.nodes
	r.Units = f.mode.units
	r.Path = f.mode.path()
	r.Usage = f.totalUsage()
	return r
}

// status returns the status of a frame that has ended. A skip does not fail it. A failure does,
// unless its policy tolerates it or an edge with handles: true handled it.
func (f *frame) status() (core.RunStatus, error) {
	tolerated := false
	var first *core.NodeError
	for i := range f.v {
		x, failure := &f.v[i], f.endReason(int32(i)).Failure
		switch {
		case x.Status == core.PartialSuccess:
			tolerated = true
		case x.Status != core.Fail:
		case x.Handled || f.policy(int32(i)) == plan.PolicySkip && !failure.FailsRun:
			tolerated = true
		case first == nil || first.Failure.Class == core.ClassCanceled && failure.Class != core.ClassCanceled:
			others := 0
			if first != nil {
				others = first.Others + 1
			}
			first = &core.NodeError{Node: f.name(f.mode.failedNode(int32(i))), Failure: failure, Others: others}
		default:
			first.Others++
		}
	}
	if first == nil {
		first = f.mergeError()
	}
	switch {
	case f.m.cancelled:
		return core.RunCancelled, cancelError(first)
	case f.Stopped && !f.FailedRun: // from outside
		return core.RunCancelled, cancelError(first)
	case first != nil:
		return core.RunFailed, first
	case f.FailedRun:
		return core.RunFailed, &core.NodeError{Node: f.Path, Failure: cancelled()}
	case tolerated:
		return core.RunPartial, nil
	}
	return core.RunSuccess, nil
}

// mergeError returns the error of a run whose nodes all ended well, but in which the writes of a
// field could not be merged. It returns nil if there is no such field.
func (f *frame) mergeError() *core.NodeError {
	for i := range f.p.Schema.Fields {
		if s, ok := f.mode.final(i).(*state.FailedMerge); ok {
			return &core.NodeError{Node: f.name(f.mode.unmergedWriter(int32(i), s.Slot)), Failure: &core.Failure{Class: core.ClassMerge,
				Permanent: true, Cause: s.Err, Message: fmt.Sprintf("the write of field %q: %v", f.p.Schema.Fields[i].Name, s.Err)}}
		}
	}
	return nil
}

// cancelError returns the error of a cancelled run.
func cancelError(first *core.NodeError) error {
	return &core.CancelError{First: first}
}

// finalState returns the values of all fields in declared order. If canonical is set, values of
// Go types are converted to their JSON form.
func (f *frame) finalState(canonical bool) *value.Object {
	keys := f.p.Schema.Keys()
	values, complete := make([]any, keys.Len()), true
	for i, name := range keys.Names() {
		values[i] = readable(f.mode.final(i))
		if value.IsMissing(values[i]) {
			complete = false
		} else if canonical {
			values[i] = f.eventValue(name, values[i])
		}
	}
	if complete {
		return value.NewRow(keys, values)
	}
	o := &value.Object{}
	for i, name := range keys.Names() {
		if !value.IsMissing(values[i]) {
			o.Set(name, values[i])
		}
	}
	return o
}

// nodes returns the results of all nodes in canonical order.
func (d dag) nodes() []core.NodeReport {
	f := d.f
	out := make([]core.NodeReport, 0, len(f.p.Nodes))
	for v := range f.p.Vertices {
		pv := &f.p.Vertices[v]
		if pv.Unit == nil {
			out = append(out, f.nodeReport(int32(v), &f.p.Nodes[pv.Node]))
			continue
		}
		for place, m := range pv.Unit.Members {
			out = append(out, f.memberReport(int32(v), place, &f.p.Nodes[m]))
		}
	}
	return out
}

func (f *frame) nodeReport(v int32, n *plan.Node) core.NodeReport {
	x := &f.v[v]
	r := core.NodeReport{ID: n.ID, Status: x.Status, Failure: f.endReason(v).Failure, Output: f.output(n.Index), Note: f.Notes[n.Index],
		Started: time.Duration(x.Started), Duration: f.duration(v), Attempts: int(x.Attempts), Usage: f.Usage[n.Index]}
	switch x.Status {
	case core.Success, core.PartialSuccess:
		r.Reason = f.Changes[n.Index]
	case core.Skipped:
		r.Reason, r.Cause = f.skipText(v)
	case core.Fail:
		r.Handled = x.Handled || tolerated(n, r.Failure)
	}
	switch t, ok := f.task(v).(*fanOut); {
	case ok:
		r.Items, r.Failed, r.Attempts = t.countedItems(), t.failures(), t.Folded.Attempts
		for _, a := range t.Attempts[:t.firstVoid()-t.Base] { // whether items after the cutoff ran depends on timing
			r.Attempts += int(a)
		}
	case n.Source != nil:
		r.Attempts = 0 // no item has made an attempt
	case x.Attempts > 0:
		r.Items = 1
		if strings.HasPrefix(r.Reason, core.CachedReason) {
			r.Attempts = 0
		}
	}
	return r
}

// tolerated reports whether the policy of a node that failed keeps the run from failing.
func tolerated(n *plan.Node, fail *core.Failure) bool {
	return n.Policy == plan.PolicySkip && (fail == nil || !fail.FailsRun)
}

func (f *frame) memberReport(v int32, place int, n *plan.Node) core.NodeReport {
	x := &f.v[v]
	r := core.NodeReport{ID: n.ID, Status: f.memberStatus(n), Output: f.output(n.Index), Note: f.Notes[n.Index],
		Started: time.Duration(x.Started), Duration: f.duration(v), Usage: f.Usage[n.Index]}
	if t, ok := f.task(v).(*unit); ok {
		res := &t.Results[place]
		r.Items, r.Failed, r.Attempts, r.Failure = res.Runs, res.Failed, res.Attempts, res.Failure
		if r.Status == core.Skipped {
			r.Reason, r.Cause = "an earlier member failed each time", f.name(f.failureOrigin(v))
			if t.Done == 0 {
				r.Reason = t.u.ID + " failed before its first " + t.pass()
			}
		}
		if r.Status.Succeeded() {
			r.Reason = f.Changes[n.Index]
		}
		if r.Status == core.Fail {
			r.Handled = x.Handled || tolerated(n, r.Failure)
		}
	} else if x.Status == core.Skipped {
		r.Reason, r.Cause = f.skipText(v)
	}
	return r
}

// memberStatus returns the status of a member of a unit. If the unit is not resolved, it is the
// status of the vertex.
func (f *frame) memberStatus(n *plan.Node) core.Status {
	x := &f.v[n.Vertex]
	t, ok := f.task(n.Vertex).(*unit)
	if !ok || x.Phase != resolved {
		return x.Status
	}
	switch res := &t.Results[n.Member]; {
	case res.Failed > 0:
		return core.Fail
	case res.Partial:
		return core.PartialSuccess
	case res.Runs > 0 || t.Done == 0 && t.Failure == nil:
		return core.Success
	case t.Interrupted:
		return core.StatusNone
	}
	return core.Skipped
}

func (d dag) units() []core.UnitReport {
	f := d.f
	var out []core.UnitReport
	for v := range f.p.Vertices {
		u := f.p.Vertices[v].Unit
		if u == nil {
			continue
		}
		r := core.UnitReport{ID: u.ID, Status: f.v[v].Status}
		if t, ok := f.task(int32(v)).(*unit); ok {
			r.Rows, r.Reason = t.Done, t.Reason
		} else if r.Status == core.Skipped { // a unit that was never reached has no reason
			r.Reason, _ = f.skipText(int32(v))
		}
		out = append(out, r)
	}
	return out
}
