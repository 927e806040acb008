package machine

import (
	"errors"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
)

// answer handles an answer about the flow as a whole.
func (t flowPlanner) answer(e *Event) bool      { return e.Kind == Expired && t.f.expire() }
func (flowPlanner) stallTimer(ID) (int64, bool) { return 0, false }
func (flowPlanner) noteActivity()               {}
func (t flowPlanner) userCodeRuns() bool        { return t.group.active > 0 }
func (t flowPlanner) memory() any               { return &t.flowMemory }
func (flowPlanner) extend(int64)                {}
func (flowPlanner) extendStall(int64)           {}

// maxVisits returns the limit of the arrivals. An option overrides it for the graph of the run.
func (t *flow) maxVisits() int {
	if m := t.f.m; t.f.parent == nil && m.opts.MaxVisits > 0 {
		return m.opts.MaxVisits
	}
	return t.p.MaxArrivals
}

func (t flowPlanner) nodes() []core.NodeReport {
	f := t.f
	out := make([]core.NodeReport, len(t.Nodes))
	for i := range out {
		r, node := &t.Nodes[i], int32(i)
		out[i] = core.NodeReport{ID: t.id(node), Status: r.Last, Failure: r.Failure, Visits: r.Visits, Attempts: r.Attempts, Items: r.Visits,
			Started: time.Duration(r.Started), Duration: time.Duration(max(0, r.Ended-r.Started)), Output: f.output(node), Note: f.Notes[node],
			Usage: f.Usage[node]}
		if r.Last.Succeeded() {
			out[i].Reason = r.Why
		}
	}
	return out
}

func (t flowPlanner) path() []string {
	ids := make([]string, len(t.flow.Path))
	for i, n := range t.flow.Path {
		ids[i] = t.id(n)
	}
	return ids
}

// restore connects the tokens and fields of a flow that was read from a snapshot.
func (t flowPlanner) restore() error {
	f, w := t.f, t.flow
	if err := w.restoreFields(w); err != nil {
		return err
	}
	asked := []*arrival{}
	if w.Asked != nil {
		asked = append(asked, w.Asked)
	}
	for _, list := range [][]*arrival{w.Admitted, asked, w.Waiting, w.Queue} {
		for _, a := range list {
			if a == nil || !w.has(a.Node) {
				return errors.New("a token is at a node that is not there")
			}
			a.t = w
			if err := f.restoreHeld(a.Held); err != nil {
				return err
			}
		}
	}
	f.m.queued = append(f.m.queued, w.Waiting...)
	return nil
}

// reissue issues the commands in flight again.
func (t *flow) reissue() {
	if t.Ended {
		return
	}
	for _, a := range t.Admitted {
		reissue(a)
	}
	if t.Asked != nil && t.Decision == nil {
		reissue(t.Asked)
		if t.Failure != nil {
			t.f.giveUp(t.Asked.id())
		}
	}
}

// Queued returns what is asked later in flows that are paused, in the order in which it is asked: all
// approvals that a token has reached while another one was asked.
func (m *Machine) Queued() (list []core.Question) {
	for _, f := range m.frames {
		if t, ok := f.mode.(flowPlanner); ok {
			for _, a := range t.Waiting {
				list = a.appendQuestion(list)
			}
		}
	}
	return list
}

// Queue returns the questions that were added to Queued since Queue was last called, and are still in it.
// The first call after Restore returns all of them.
func (m *Machine) Queue() (list []core.Question) {
	for _, a := range m.queued {
		if slices.Contains(a.t.Waiting, a) {
			list = a.appendQuestion(list)
		}
	}
	m.queued = nil
	return list
}

// appendQuestion appends the question that an approval will ask.
func (a *arrival) appendQuestion(list []core.Question) []core.Question {
	q, ok := a.def().Question(a.Input.v)
	if !ok {
		return list
	}
	f := a.t.f
	q.Run, q.Node, q.Visit, q.Attempt = f.m.opts.Run, f.name(a.t.id(a.Node)), a.Count, 1
	return append(list, q)
}
