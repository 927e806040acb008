package verify

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// flow checks the tokens of a flow: each node begins because a token has moved to it, along an edge
// that is there, and what follows a node that ends while an approval is asked begins later.
type flow struct {
	f        *frame
	group    group
	arrived  []int // by node
	tokens   map[tokenAt]*token
	asked    *token
	arrivals int
	failed   bool
}

// tokenAt names the arrival of a token: its number at the node.
type tokenAt struct {
	node int32
	n    int
}

// token is a token that has moved to a node.
type token struct {
	at tokenAt
	// deferred reports whether the node that sent it ended while an approval was asked, so that it must
	// not begin while one is. began and ended are event counts.
	deferred     bool
	began, ended int
	phase        phase
	attempt      int
	backoff      backoff
	hasSlot      bool
	inner        *frame
}

func newFlow(f *frame) *flow {
	t := &flow{f: f, arrived: make([]int, len(f.p.Nodes)), tokens: map[tokenAt]*token{}}
	t.group = group{parent: &f.group, name: "the flow"}
	f.writes[f.p.Flow.Context].count++ // the engine writes the context
	f.v[0].phase = running
	t.arrives(f.p.Flow.Start, nil)
	return t
}

// arrives records that a token moves to a node from another one, nil for the start.
func (t *flow) arrives(node int32, from *token) {
	t.arrived[node]++
	t.arrivals++
	x := &token{at: tokenAt{node, t.arrived[node]}, deferred: t.asked != nil && from != nil && from.ended > t.asked.began}
	t.tokens[x.at] = x
	limit := t.f.p.Flow.MaxArrivals
	if l := t.f.c.limits; t.f == t.f.c.root && l != nil && l.MaxVisits > 0 {
		limit = l.MaxVisits
	}
	if t.arrivals > limit {
		t.f.c.breaks(Limits, "is arrival %d of the flow, which may make %d", t.arrivals, limit)
	}
}

// event handles an event of a node.
func (t *flow) event(n *plan.Node) {
	c := t.f.c
	x := t.tokens[tokenAt{n.Index, c.e.Visit}]
	switch {
	case x == nil:
		c.breaks(Order, "%s of arrival %d, and no token has moved there", c.e.Type, c.e.Visit)
		return
	case c.e.Type == core.EdgeChosen:
		t.moves(n, x)
		return
	case c.e.Type == core.NodeStarted:
		t.started(n, x)
		return
	case x.phase != running && !(x.phase == waiting && c.e.Type == core.NodeFailed):
		c.breaks(Lifecycle, "%s of arrival %d, which is not in progress", c.e.Type, c.e.Visit)
		return
	}
	switch c.e.Type {
	case core.NodeRetrying:
		t.f.failedAttempt(n, x.attempt)
		t.closes(x)
		x.phase, x.backoff = waiting, backoff{c.e.Time, c.e.Delay}
	case core.NodeFinished, core.NodeFailed:
		t.ended(x)
	case core.StateWritten:
		if !slices.Contains(n.Writes, c.e.Field) {
			c.breaks(Writes, "writes %s, which it does not declare", c.e.Field)
		} else if field, ok := t.f.p.Schema.Index(c.e.Field); ok {
			t.f.writes[field].count++
		}
	case core.NodeAsked, core.NodeAnswered:
		t.f.asks(n)
	default:
		c.breaks(Lifecycle, "%s in a flow", c.e.Type)
	}
}

// moves handles a token that moves along an edge.
func (t *flow) moves(n *plan.Node, x *token) {
	c := t.f.c
	if x.phase != resolved {
		c.breaks(Order, "a token leaves arrival %d, which has not ended", x.at.n)
	}
	for i := range t.f.p.Flow.Nodes[n.Index].Ways {
		w := &t.f.p.Flow.Nodes[n.Index].Ways[i]
		for _, e := range w.Edges {
			if to := t.f.p.Edges[e].ToNode; w.Handle == c.e.Label && t.f.p.Nodes[to].ID == c.e.To {
				t.arrives(to, x)
				return
			}
		}
	}
	c.breaks(Routes, "a token moves to %s by the handle %q, and there is no such edge", c.e.To, c.e.Label)
}

func (t *flow) started(n *plan.Node, x *token) {
	c := t.f.c
	asks := t.f.p.Flow.Nodes[n.Index].Role == core.FlowApproval
	switch {
	case x.phase == waiting:
		t.f.checkWait(&x.backoff)
	case x.phase != undecided:
		c.breaks(Lifecycle, "begins arrival %d again", x.at.n)
		return
	case asks && t.asked != nil:
		c.breaks(Order, "is asked while %s is", t.f.p.Nodes[t.asked.at.node].ID)
	case asks:
		t.asked = x
	case x.deferred && t.asked != nil:
		c.breaks(Order, "begins while %s is asked, and follows what ended since", t.f.p.Nodes[t.asked.at.node].ID)
	}
	x.phase, x.backoff, x.began = running, backoff{}, c.report.Events
	x.attempt = t.f.attempt(n, x.attempt)
	if holdsSlots(n) {
		x.hasSlot = true
		t.f.acquire(&t.group)
	}
}

// closes releases the slot of an attempt and ends its nested run.
func (t *flow) closes(x *token) {
	if x.hasSlot {
		x.hasSlot = false
		t.f.free(&t.group)
	}
	if x.inner != nil {
		fail := t.f.c.e.Error
		if fail == nil && t.f.c.e.Type != core.NodeFinished {
			fail = &core.Failure{} // the event lacks the failure
		}
		x.inner.close(fail)
		x.inner = nil
	}
}

func (t *flow) ended(x *token) {
	e := t.f.c.e
	if failed := e.Type == core.NodeFailed; failed != (e.Status == core.Fail.String()) {
		t.f.c.breaks(Statuses, "%s with the status %q", e.Type, e.Status)
	} else if failed {
		t.failed = true
	}
	t.closes(x)
	x.phase, x.ended = resolved, t.f.c.report.Events
	t.f.c.report.Nodes++
	if t.asked == x {
		t.asked = nil
	}
}

// nested opens the nested run of an execution at its first event.
func (t *flow) nested(outer string) *frame {
	name, _, _ := strings.Cut(outer[strings.LastIndexByte(outer, '/')+1:], "[")
	n, ok := t.f.p.Node(name)
	if !ok || n.Frame == nil {
		return nil
	}
	for i := 1; i <= t.arrived[n.Index]; i++ {
		if x := t.tokens[tokenAt{n.Index, i}]; x.phase == running && x.inner == nil {
			x.inner = t.f.nest(n, outer, &t.group)
			return x.inner
		}
	}
	return nil
}

// end checks that the flow may end in its current state.
func (t *flow) end(stopped bool) {
	t.f.v[0].phase = resolved
	for i := range t.arrived {
		for n := 1; n <= t.arrived[i]; n++ {
			x, id := t.tokens[tokenAt{int32(i), n}], t.f.name(t.f.p.Nodes[i].ID)
			switch {
			case x.phase == running || x.phase == waiting:
				t.f.faultOf(id, Lifecycle, "arrival %d began and has no end", n)
			case x.phase == undecided && !t.failed && !stopped && !t.limited():
				t.f.faultOf(id, Lifecycle, "arrival %d never began", n)
			}
		}
	}
}

// limited reports whether the run ended because of the limit of arrivals.
func (t *flow) limited() bool {
	limit := t.f.p.Flow.MaxArrivals
	if l := t.f.c.limits; t.f == t.f.c.root && l != nil && l.MaxVisits > 0 {
		limit = l.MaxVisits
	}
	return t.arrivals >= limit && strings.Contains(t.f.c.e.Reason, "as many as it may")
}

// status returns the status of a run.
func (t *flow) status() core.RunStatus {
	if t.failed || t.limited() {
		return core.RunFailed
	}
	return core.RunSuccess
}
