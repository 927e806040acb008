package machine

import (
	"cmp"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// emitLog emits an entry of the log of a flow. id is the node, and visit the number of the arrival.
func (f *frame) emitLog(id string, visit int, entry, content string) {
	if f.m.opts.Events {
		f.m.emit(core.Event{Type: core.FlowLogged, Node: f.name(id), Visit: visit, Step: entry, Log: content})
	}
}

// log emits an entry about an arrival.
func (t *flow) log(a *arrival, entry, content string) {
	t.f.emitLog(t.id(a.Node), a.Count, entry, content)
}

// describe describes a node, as the log does when a token arrives.
func (t *flow) describe(node int32) string {
	n := &t.p.Nodes[node]
	switch {
	case n.Agent != nil:
		return n.Agent.AgentName + " agent node"
	case n.Role == core.FlowIf:
		return "condition node"
	}
	return cmp.Or(t.f.p.Nodes[node].Kind, "function") + " node"
}

// prompt returns what a step is asked: the prompt of an agent, or the text of the token.
func (t *flow) prompt(a *arrival) string {
	if agent := t.p.Nodes[a.Node].Agent; agent != nil {
		return core.FlowPrompt(agent.UserPrompt, a.Input.v)
	}
	return core.FlowText(a.Input.v)
}

// decisionText describes a decision.
func decisionText(word, note string) string {
	text := "User approved this step."
	if word == core.HandleReject {
		text = "User rejected this step."
	}
	if note = strings.TrimSpace(note); note != "" {
		text += " Feedback: " + note
	}
	return text
}

func (t *flow) emitStarted(a *arrival) {
	if t.f.m.opts.Events {
		e := t.note(nodeStarted, a)
		e.attempt = max(1, a.Number)
		t.f.m.note(e)
	}
}

func (t *flow) note(what eventSet, a *arrival) Emission {
	e := t.f.nodeNote(what, a.def())
	e.visit = int32(a.Count)
	return e
}

// event returns an event about an arrival.
func (t *flow) event(what core.EventType, a *arrival) core.Event {
	n := a.def()
	return core.Event{Type: what, Node: t.f.name(n.ID), Kind: n.Kind, Phase: n.Phase, Visit: a.Count}
}

func (t *flow) emitEnded(a *arrival, o *Outcome) {
	if !t.f.m.opts.Events {
		return
	}
	took := max(0, t.f.m.now-a.Started)
	if o.Failure == nil && o.Why == "" {
		e := t.note(nodeFinished, a)
		e.status, e.took = statusOf(o), took
		t.f.m.note(e)
		return
	}
	e := t.event(core.NodeFinished, a)
	e.Status, e.Reason, e.Duration = statusOf(o).String(), o.Why, time.Duration(took)
	if o.Failure != nil {
		e.Type, e.Error, e.Reason = core.NodeFailed, o.Failure, o.Failure.Message
	}
	t.f.m.emit(e)
}

func (t *flow) emitWrites(a *arrival, writes []plan.Write) {
	if t.f.m.opts.Events {
		t.f.emitWrites(t.note(0, a), writes)
	}
}

// emitFollowed emits that a token moves along an edge of a way.
func (t *flow) emitFollowed(a *arrival, way *plan.FlowWay, edge int32) {
	if !t.f.m.opts.Events {
		return
	}
	e := t.event(core.EdgeChosen, a)
	e.Kind, e.Phase = "", ""
	e.From, e.To = t.id(a.Node), t.id(t.f.p.Edges[edge].ToNode)
	e.Step, e.Label, e.Reason, e.Status = core.StepToken, way.Handle, way.Why, core.Success.String()
	t.f.m.emit(e)
}

// locate adds the number of the arrival to an event.
func (t *flow) locate(e *core.Event, id ID) {
	if a := t.arrival(id); a != nil {
		e.Visit = a.Count
	}
}

// ringText describes a shortest cycle of execution edges through a node, or says that there is
// none.
func (t *flow) ringText(node int32) string {
	g := make([][]int32, len(t.p.Nodes))
	for i := range t.p.Nodes {
		for _, w := range t.p.Nodes[i].Ways {
			for _, e := range w.Edges {
				g[i] = append(g[i], t.f.p.Edges[e].ToNode)
			}
		}
	}
	before := make([]int32, len(g)) // the node before, plus 1
	for queue := []int32{node}; len(queue) > 0; queue = queue[1:] {
		for _, to := range g[queue[0]] {
			if to == node {
				return "in the ring " + t.pathText(before, node, queue[0])
			}
			if before[to] == 0 {
				before[to] = queue[0] + 1
				queue = append(queue, to)
			}
		}
	}
	return "which is in no ring: many tokens were sent"
}

// maxRing limits the nodes of a ring that are named.
const maxRing = 20

// pathText formats the ring that begins at a node and comes back to it from the node last.
func (t *flow) pathText(before []int32, node, last int32) string {
	ids := []string{t.id(node)}
	for at := last; at != node; at = before[at] - 1 {
		ids = append(ids, t.id(at))
	}
	ids = append(ids, t.id(node))
	for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	if len(ids) > maxRing {
		ids = append(append(ids[:maxRing/2:maxRing/2], "…"), ids[len(ids)-maxRing/2:]...)
	}
	return strings.Join(ids, " -> ")
}
