package machine

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Op is what a command asks for.
type Op uint8

// Operations.
const (
	OpRun      Op = iota // call the node's handler, for each item of the range
	OpTimer              // answer with TimerFired after Delay
	OpDeadline           // answer with Expired after Delay, unless OpMet comes before
	OpMet                // forget the deadline of that ID: what it is for has ended in time
	OpEmit               // publish Event
	OpCancel             // cancel what runs in the frame and in frames inside it
	OpYield              // answer with Yielded: others could begin items that the range still holds
	OpGiveUp             // cancel the node's items of the range, or the whole node, which cannot count any more
	OpPlace              // put what the OpRun of that ID has prepared in place; answer with Placed
	OpDiscard            // drop what the OpRun of that ID has prepared, or put it in place if Keep is set
	OpFinish             // the run is over; Report tells how
)

// String names the operation.
func (o Op) String() string {
	return [...]string{"run", "timer", "deadline", "met", "emit", "cancel", "yield", "give up", "place", "discard", "finish"}[o]
}

// ID names one piece of work. It is derived from the plan and the progress of
// the run alone, so a replay gives the same ids; together with the run's id it
// is the idempotency key handed to handlers.
type ID struct {
	// Frame is the nested run, 0 for the run itself. It is a number of 52 bits that follows
	// from the path of the nested run, the round, row, item or visit it is for and the attempt:
	// it does not depend on what began before it, or on when Next was called.
	Frame int64 `json:"frame"`
	// Node is -1 for a nested run as a whole; From, To and Attempt are then those of
	// the node it is.
	Node int32 `json:"node"`
	// From and To are the range of items of a fan-out. For a stage of a
	// pipeline From is the row, for a loop body the round, and To is From+1.
	// Both are 0 for a plain node.
	From int32 `json:"from,omitempty"`
	To   int32 `json:"to,omitempty"`
	// Attempt counts from 1; 0 is what belongs to no attempt: fetching the rows of a
	// stream, or the question where a walk goes on after the visit.
	Attempt int32 `json:"attempt"`
}

// IsWatch reports whether it is that of the watch for signs of life in a walk.
func (id ID) IsWatch() bool { return id.Node < 0 && id.To < 0 }

// String formats the id for people.
func (id ID) String() string {
	s := fmt.Sprintf("%d/%d!%d", id.Frame, id.Node, id.Attempt)
	if id.To > 0 {
		s += fmt.Sprintf("[%d:%d]", id.From, id.To)
	}
	return s
}

// Command is one thing to do.
type Command struct {
	Op   Op
	ID   ID
	Plan *plan.Plan // the node's plan
	Node *plan.Node
	// Call is what the handler gets; nil when it gets nothing but its name.
	Call  *Call
	Delay time.Duration
	// Keep belongs to OpDiscard: the attempt is over, but its targets are replaced.
	Keep   bool
	Event  *core.Event
	Report *core.Report
}

// Call is the captured input of an execution. Its values are shared with the
// state and never change.
type Call struct {
	// Path is where the frame is: "" for the run itself, "outer[3]" inside the
	// fourth item of the fan-out outer.
	Path   string
	Values []any // parallel to Node.Reads
	// Items are all elements of a fan-out, []any or a Go slice; Item is the one
	// of a pipeline row.
	Items  Items
	Row    core.Ordinal // row of a pipeline
	Item   any
	Taken  int          // elements that a pipeline has pulled of its stream before
	Round  core.Ordinal // round of a loop
	Loop   string
	Visit  int // of a walk, from 1
	Edges  *core.Object
	Inputs *core.Object
	Nodes  []NodeValue // parallel to Node.NodeRefs
	// Previous is what the attempt before said, "" for the first.
	Previous string
	// Briefing is what a node of a walk is told of what came before it, nil for nothing.
	Briefing *core.Briefing
	// Route makes it a question to the router, which way to go on after a visit of the
	// node: its handler is not called.
	Route *core.RouteQuestion
}

// Name returns the path of a node whose call it is; a nil Call is that of a node
// of the run itself.
func (c *Call) Name(n *plan.Node) string {
	if c == nil || c.Path == "" {
		return n.ID
	}
	return c.Path + "/" + n.ID
}

// NodeValue is what $nodes.ID gives.
type NodeValue struct {
	Status core.Status
	Output any
}

// EventKind tells what happened.
type EventKind uint8

// Kinds of events.
const (
	Finished   EventKind = iota // an OpRun is answered
	TimerFired                  // an OpTimer is answered
	Expired                     // an OpDeadline has passed
	Cancel                      // the caller wants the run to end
	Yielded                     // the OpRun goes on up to ID.To; the items behind have not begun and will not
	Placed                      // an OpPlace is answered
	Gone                        // nobody has what the OpPlace is about: it is to be prepared again
)

func (k EventKind) isTimer() bool { return k == TimerFired || k == Expired }

// Event tells the machine what happened. Times are nanoseconds since the start
// of the run. A range may yield at any time, asked for it or not, but never its
// first item.
type Event struct {
	Kind    EventKind
	ID      ID
	Started int64
	Ended   int64
	// Outcome is the result of a single execution. For a range, Items holds one
	// outcome for each item from ID.From on; nil means that all of them ended
	// with the zero Outcome. A driver may answer a part of a range by lowering
	// ID.To: the rest counts as not started.
	Outcome Outcome
	Items   []Outcome
}

// Outcome is the result of one attempt, already checked against the node's
// write set and types. The zero Outcome is a success that wrote nothing.
type Outcome struct {
	// Status is Success (or zero), PartialSuccess, Retry or, beside a Failure, Fail: what
	// such an attempt wrote is kept because auto_status may make it count.
	Status    core.Status   `json:"status,omitempty"`
	Writes    []plan.Write  `json:"-"`
	Output    any           `json:"-"`
	HasOutput bool          `json:"-"`
	Failure   *core.Failure `json:"failure,omitempty"`
	Note      string        `json:"note,omitempty"`
	Text      string        `json:"text,omitempty"` // what the node put out where it sends nothing
	// Route is where a walk is to go on, nil when the result does not say.
	Route *Route `json:"route,omitempty"`
	// Usage is what calls to models took, nil for nothing.
	Usage *core.Usage `json:"usage,omitempty"`
	// Claim is what is to be replaced before the attempt is over; nil for nothing. There is
	// no result before that.
	Claim *Claim `json:"claim,omitempty"`
	// Why tells which setting of the node made this the outcome of its visit, "" when
	// it is that of the last attempt. The Status is never zero then.
	Why string `json:"why,omitempty"`
}

// Route is what a result says about the way on in a walk.
type Route struct {
	Label string       `json:"label,omitempty"`
	Next  []string     `json:"next,omitempty"`
	Evals *core.Object `json:"evals,omitempty"`
	// Answer is that of the router, when it was asked.
	Answer *core.RouteAnswer `json:"answer,omitempty"`
}

// Empty reports whether it is the zero Outcome.
func (o *Outcome) Empty() bool {
	return o.Failure == nil && len(o.Writes) == 0 && !o.HasOutput && o.Status == core.StatusNone && o.Note == "" && o.Text == "" && o.Route == nil && o.Usage == nil && o.Claim == nil
}

// Accept makes the zero Outcome that of an attempt whose handler returned a result and no
// error: it is checked against the node's write set and types, and what it sends along the
// edges gets its canonical form.
func (o *Outcome) Accept(p *plan.Plan, n *plan.Node, res *core.Result) {
	o.Writes, o.Failure = p.Accept(n, res)
	if o.Failure != nil && res.Status != core.Fail {
		return
	}
	o.Note = core.CutText(res.Note)
	if res.Routing != nil {
		o.Text = res.Routing.Text
	}
	if res.Status != core.Success {
		o.Status = res.Status
	}
	if r := res.Routing; r != nil && (r.PreferredLabel != "" || len(r.SuggestedNext) > 0 || r.Evals != nil) {
		o.Route = &Route{Label: r.PreferredLabel, Next: r.SuggestedNext, Evals: r.Evals}
	}
	if !res.HasEdgeOutput && res.EdgeOutput == nil {
		return
	}
	v, err := core.Canonical(res.EdgeOutput)
	switch {
	case err == nil:
		o.Output, o.HasOutput = v, true
	case o.Failure == nil:
		*o = Outcome{Failure: &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("edge output: %v", err), Cause: err}}
	}
}
