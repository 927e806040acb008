package machine

import (
	"fmt"
	"math"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// flow is the planner of the mode flow: several tokens move along the edges, and each arrival runs
// the node. It is the task of the only vertex.
//
// While no approval is asked, arrivals of one token are admitted together: agents begin when they get a
// slot, and nodes without a handler end at once. When a token reaches an approval, the flow is paused:
// admitted arrivals continue, and later arrivals wait in the queue, except approvals, which wait to be
// asked. Once no admitted arrival is left, the answer takes effect: first the branch of the decision runs
// to its end, then each token of the queue to its own end, then the next approval is asked.
type flow struct {
	p     *plan.Flow
	group group
	flowMemory
}

// flowMemory is what snapshots contain of a flow.
type flowMemory struct {
	Admitted []*arrival `json:"admitted,omitempty"` // arrivals at steps that have not ended, in order
	Asked    *arrival   `json:"asked,omitempty"`    // at the approval that is asked; the flow is paused
	Decision *Outcome   `json:"decision,omitempty"` // the answer to Asked, until it takes effect
	Waiting  []*arrival `json:"waiting,omitempty"`  // at approvals that are asked later, in order
	Queue    []*arrival `json:"queue,omitempty"`    // deferred, in order

	Arrived int32 `json:"arrived"`
	visits
}

// flowPlanner implements planner for a flow.
type flowPlanner struct{ *flow }

func newFlow(f *frame) *flow {
	t := &flow{p: f.p.Flow, flowMemory: flowMemory{visits: newVisits(f)}}
	t.group = group{parent: &f.group, limit: math.MaxInt, holder: t}
	return t
}

// open begins the flow.
func (t flowPlanner) open() {
	t.begin(t.flow)
	if a := t.create(t.p.Start, nil, true); a != nil {
		t.admit(a)
	}
	t.settle()
	t.f.refresh(0)
}

// create makes the arrival of a token. It fails the flow and returns nil if there are too many.
func (t *flow) create(node int32, input any, trunk bool) *arrival {
	if limit := t.maxVisits(); int(t.Arrived) >= limit {
		t.fail(node, core.LogError, &core.Failure{Class: core.ClassVisitLimit, Permanent: true,
			Message: fmt.Sprintf("the flow has made %d arrivals, as many as it may; the next one is at %s, %s", limit, t.id(node), t.ringText(node))})
		return nil
	}
	r := &t.Nodes[node]
	r.Visits++
	a := &arrival{t: t, N: t.Arrived, Node: node, Count: r.Visits, Input: anyJSON{input}, Trunk: trunk}
	t.Arrived++
	t.Path = append(t.Path, node)
	return a
}

// admit runs the node of a token: a step begins when it gets a slot, any other node ends at once.
func (t *flow) admit(a *arrival) {
	n := &t.p.Nodes[a.Node]
	if n.Role == core.FlowStep {
		t.Admitted = append(t.Admitted, a)
		return
	}
	a.Started = t.f.m.now
	t.assignFirst(a)
	t.emitStarted(a)
	t.log(a, core.LogStepStart, t.describe(a.Node))
	switch n.Role {
	case core.FlowStart:
		t.left(a, n.Output)
	case core.FlowIf:
		way := t.selectWay(a, n)
		t.recordEnd(a, &Outcome{})
		t.follow(a, way, a.Input.v, a.Trunk)
	default:
		t.log(a, core.LogWarn, fmt.Sprintf("Unknown node type %q skipped", t.f.p.Nodes[a.Node].Kind))
		t.left(a, nil)
	}
}

// assignFirst makes the assignments that come before the first token begins at a node.
func (t *flow) assignFirst(a *arrival) {
	if a.Count == 1 && t.f.m.assigned != nil {
		t.assign(a.Node, a.N)
	}
}

// left stores the result of a node and moves the token on.
func (t *flow) left(a *arrival, v any) {
	t.set(a, t.id(a.Node), v)
	if a.Trunk {
		t.set(a, core.FlowPrevious, v)
	}
	t.recordEnd(a, &Outcome{Output: v, HasOutput: true})
	t.follow(a, &t.p.Nodes[a.Node].Ways[0], v, a.Trunk)
}

// selectWay returns the way of the first condition that holds.
func (t *flow) selectWay(a *arrival, n *plan.FlowNode) *plan.FlowWay {
	text := core.FlowText(a.Input.v)
	for i, c := range n.Conditions {
		holds := c.Holds(text)
		t.log(a, core.LogLogicCheck, fmt.Sprintf("Condition %d (%s) evaluated as %t", i+1, c, holds))
		if holds {
			return &n.Ways[i]
		}
	}
	return &n.Ways[len(n.Conditions)]
}

// follow moves a token along all edges of a way. The token reaches the targets together: if one of
// them is an approval, the others still begin.
func (t *flow) follow(from *arrival, way *plan.FlowWay, v any, trunk bool) {
	for _, id := range way.Lost {
		t.log(from, core.LogWarn, fmt.Sprintf("Connection target %q not found", id))
	}
	paused := t.Asked != nil
	trunk = trunk && len(way.Edges) == 1
	for i, e := range way.Edges {
		to := t.f.p.Edges[e].ToNode
		asks := t.p.Nodes[to].Role == core.FlowApproval
		if t.Failure != nil || asks && t.leadsTo(way.Edges[:i], to) { // an approval is asked once
			continue
		}
		a := t.create(to, v, trunk)
		if a == nil {
			return
		}
		t.emitFollowed(from, way, e)
		switch {
		case asks:
			t.reach(a)
		case paused:
			t.Queue = append(t.Queue, a)
		default:
			t.admit(a)
		}
	}
}

// leadsTo reports whether one of the edges leads to a node.
func (t *flow) leadsTo(edges []int32, node int32) bool {
	for _, e := range edges {
		if t.f.p.Edges[e].ToNode == node {
			return true
		}
	}
	return false
}

// reach handles the arrival at an approval. The approval is asked at once, or waits for another one
// that is being asked.
func (t *flow) reach(a *arrival) {
	t.log(a, core.LogStepStart, t.describe(a.Node))
	if t.Asked != nil {
		t.Waiting = append(t.Waiting, a)
		t.f.m.queued = append(t.f.m.queued, a)
		return
	}
	t.ask(a)
}

// ask pauses the flow at an approval.
func (t *flow) ask(a *arrival) {
	t.Asked = a
	a.Phase, a.Number, a.Started = running, 1, t.f.m.now
	t.Nodes[a.Node].Attempts++
	t.assignFirst(a)
	t.emitStarted(a)
	t.log(a, core.LogWaitInput, "Waiting for user approval")
	a.run(t.call(a))
}

// settle continues the flow when no arrival is admitted: with the answer, the queue, or the next
// approval. It ends the flow if there is none of these.
func (t *flow) settle() {
	for len(t.Admitted) == 0 && !t.Ended {
		switch {
		case t.f.Stopped, t.Failure != nil:
			if t.Asked == nil {
				t.finish()
			}
			return
		case t.Asked != nil:
			if t.Decision == nil {
				return
			}
			t.decide()
		case len(t.Queue) > 0:
			a := t.Queue[0]
			t.Queue = t.Queue[1:]
			a.Trunk = true
			t.admit(a)
		case len(t.Waiting) > 0:
			a := t.Waiting[0]
			t.Waiting = t.Waiting[1:]
			t.ask(a)
		default:
			t.finish()
		}
	}
}

// decide moves the token of an approval on, by the decision. The token carries the value from before
// the approval.
func (t *flow) decide() {
	a, o := t.Asked, t.Decision
	t.Asked, t.Decision = nil, nil
	word, way := core.HandleApprove, plan.WayApprove
	if o.Route.Label == core.HandleReject {
		word, way = core.HandleReject, plan.WayReject
	}
	t.log(a, core.LogInputReceived, decisionText(word, o.Note))
	t.set(a, t.id(a.Node)+core.FlowDecision, value.ObjectOf("decision", word, "note", o.Note))
	t.set(a, core.FlowPrevious, a.Input.v)
	t.recordEnd(a, &Outcome{Note: o.Note})
	t.follow(a, &t.p.Nodes[a.Node].Ways[way], a.Input.v, true)
}

// fail ends the flow because of a failure. What runs is awaited, and its results are dropped.
func (t *flow) fail(node int32, entry string, fail *core.Failure) {
	if t.Failure != nil {
		return
	}
	t.Failure, t.FailAt = fail, node
	t.f.emitLog(t.id(node), 0, entry, fail.Message)
	t.Queue, t.Waiting = nil, nil
	for _, a := range append([]*arrival(nil), t.Admitted...) {
		if n := a.def(); a.child != nil || a.Number > 0 && a.inFlight(n) {
			continue // awaited
		}
		halt(a)
	}
	if t.Asked != nil && t.Decision == nil {
		t.f.giveUp(t.Asked.id())
	}
	t.dropDecision()
}

// dropDecision ends an approval whose answer will not take effect.
func (t *flow) dropDecision() {
	if a := t.Asked; t.Decision != nil {
		t.Asked, t.Decision = nil, nil
		t.recordEnd(a, &Outcome{Failure: cancelled()})
	}
}

// finish ends the flow.
func (t *flow) finish() {
	f := t.f
	t.Ended = true
	f.v[0].Ended = f.m.now
	if t.Failure == nil && f.Stopped {
		t.Failure = cancelled()
	}
	if t.Failure != nil {
		f.setFailure(0, t.Failure)
		f.resolve(0, core.Fail)
		return
	}
	f.resolve(0, core.Success)
}

// set sets a member of the context.
func (t *flow) set(a *arrival, key string, v any) {
	t.write(a, plan.Write{Field: t.p.Context, Value: value.ObjectOf(key, v)})
}

// write merges a write into the state.
func (t *flow) write(a *arrival, w plan.Write) {
	t.merge(a.Node, w)
	if t.f.m.opts.Wrote != nil {
		t.f.m.opts.Wrote(&Write{Graph: Graph{t.f}, ID: a.id(), Visit: a.Count, At: t.f.m.instant, Write: w})
	}
}
