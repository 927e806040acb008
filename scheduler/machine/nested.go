package machine

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// nested is a plain node that runs another workflow.
type nested struct {
	plainNode
	child *frame
}

func (t *nested) slotChanged()       { t.f.refresh(t.v) }
func (t *nested) holdsSlot() bool    { return t.child.group.active > 0 }
func (t *nested) canStart() bool     { return t.child.canStart() }
func (t *nested) startOne() bool     { return t.child.startOrEnd() }
func (t *nested) answer(*Event) bool { return false } // answers go to the child
func (t *nested) find(ID) work       { return t.plainNode }
func (t *nested) commit()            { invariant(false, "a nested run commits after it is gone") }
func (t *nested) stop()              { t.child.halt() }
func (t *nested) cancelForRace()     { t.child.halt() }
func (t *nested) reissue()           {} // the child reissues its own commands
func (t *nested) reissueOpen()       {}
func (t *nested) cancelInFlight()    {} // the child has been stopped

// setDeadlineTimer issues the command for the deadline of a nested run.
func (f *frame) setDeadlineTimer() {
	f.m.command(Command{Op: OpDeadline, ID: f.wholeID(), Plan: f.parent.p, Node: &f.parent.p.Nodes[f.Owner.Node],
		Call: f.empty, Delay: f.m.until(f.Deadline)})
}

// wholeID returns the ID of a nested run as a whole.
func (f *frame) wholeID() ID {
	id := f.Owner
	id.Frame, id.Node = f.ID, -1
	return id
}

// expire stops a nested run whose deadline has passed, and reports whether it was still running.
func (f *frame) expire() bool {
	if f.Deadline == 0 || f.Stopped {
		return false
	}
	f.Expired = true
	f.stop()
	return true
}

func badInputs(err error) *core.Failure {
	return &core.Failure{Class: core.ClassInput, Message: err.Error(), Permanent: true, Cause: err}
}

// startNestedItem starts a handler in the nested run of an item. It begins the nested run of
// another item if the limit allows it.
func (t *fanOut) startNestedItem() bool {
	for t.f.v[t.v].Phase == running {
		again := false
		for _, i := range t.nestedItems {
			if c := t.Details[i].child; c.group.free() {
				if c.startOrEnd() {
					return true
				}
				if c.ended() {
					again = true
					break // t.nestedItems has changed
				}
			}
		}
		if again {
			continue
		}
		if !t.hasUnstarted() || t.nestedLimitReached() {
			return false
		}
		w := item{t, int(t.takeDue(1).From)}
		begin(w)
		if w.load().Phase != running {
			t.check()
		}
	}
	return false
}

// nestedLimitReached reports whether the concurrency of the node allows no further nested run.
// Runs that wait for an earlier item to place its result do not count if that item is due,
// because they would keep it from being retried.
func (t *fanOut) nestedLimitReached() bool {
	n := len(t.nestedItems) + t.paused
	if len(t.Due) > 0 && len(t.f.m.pendingFrames) > 0 {
		for _, i := range t.nestedItems {
			if i > t.Due[0] && t.Details[i].child.hasPending() {
				n--
			}
		}
	}
	return n >= t.n.Concurrency
}

func (t *fanOut) canStartNested() bool {
	return slices.ContainsFunc(t.nestedItems, func(i int) bool {
		child := t.Details[i].child
		return child.canStart() && child.group.freeBelow(&t.f.group)
	})
}

// startOrEnd is startOne for a nested run. A start may end without a handler, for example if a
// node has none; if the run ends by that, it is handed over.
func (f *frame) startOrEnd() bool {
	if f.startOne() {
		return true
	}
	if f.ended() {
		f.handOver()
	}
	return false
}

// handOver ends a nested run and passes its result to the work that it executes.
func (f *frame) handOver() {
	if f.m.nested[f.ID] != f {
		return
	}
	f.m.end(f)
	if f.Deadline > 0 && !f.Expired {
		f.m.command(Command{Op: OpMet, ID: f.wholeID()})
	}
	parent := f.parent
	parent.children--
	parent.addUsage(f.Owner.Node, f.totalUsage())
	n := &parent.p.Nodes[f.Owner.Node]
	var o Outcome
	if parent.v[n.Vertex].Phase != beingCancelled {
		o = f.outcome(n)
		if o.Failure != nil {
			parent.voidClaims(f.Owner)
		}
	}
	w := parent.find(f.Owner)
	if w == nil { // not invariant, whose argument would be allocated
		panic("machine: a nested run of nothing, " + f.Owner.String())
	}
	w.adopt(nil)
	attemptEnded(w, &o, f.m.now)
	w.afterAnswer()
}

// outcome returns the outcome of node n, whose nested run has ended.
func (f *frame) outcome(n *plan.Node) Outcome {
	r := f.report()
	if f.Expired {
		return Outcome{Failure: f.timedOut(n)}
	}
	switch r.Status {
	case core.RunFailed, core.RunCancelled:
		fail := cancelled()
		if r.Status == core.RunFailed {
			fail = r.Err.(*core.NodeError).Nested()
		}
		return Outcome{Failure: fail}
	}
	o := Outcome{}
	if r.Status == core.RunPartial {
		o.Status = core.PartialSuccess
	}
	var written map[string]any // if it is the output, too
	if f.parent.p.Conventions.Steps && !n.Frame.Send {
		written = map[string]any{}
	}
	for _, out := range n.Frame.Outputs {
		v := out.Of(f.mode.final(int(out.Inner)))
		if value.IsMissing(v) {
			continue
		}
		accepted, err := f.parent.accept(n, &out, v)
		if err != nil {
			return Outcome{Failure: &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("output %q: %v", out.Name, err)}}
		}
		if fault := f.parent.p.Lacks(n, out.Outer, accepted); fault != nil {
			return Outcome{Failure: fault}
		}
		o.Writes = append(o.Writes, plan.Write{Field: out.Outer, Value: accepted})
		if written != nil {
			written[out.Name] = v
		}
	}
	o.outputOfWrites(n, written)
	if n.Frame.Send {
		status := "success"
		if r.Status == core.RunPartial {
			status = "partial"
		}
		o.Output, o.HasOutput = value.ObjectOf("status", status, "finalState", f.finalState(true)), true
	}
	return o
}

// timedOut returns the failure of a node whose nested run took too long. It names the first node
// that was cancelled.
func (f *frame) timedOut(n *plan.Node) *core.Failure {
	fail := timedOut(n)
	for v := range f.v {
		if f.v[v].Status == core.Fail && f.endReason(int32(v)).Failure.Class == core.ClassCanceled {
			fail.Message += ", in " + f.name(f.p.Vertices[v].ID)
			break
		}
	}
	return fail
}

func timedOut(n *plan.Node) *core.Failure {
	return &core.Failure{Class: core.ClassTimeout, Message: fmt.Sprintf("timed out after %s", n.Timeout)}
}

// vertexInParent returns the vertex in the parent that the frame executes.
func (f *frame) vertexInParent() int32 { return f.parent.p.Nodes[f.Owner.Node].Vertex }
