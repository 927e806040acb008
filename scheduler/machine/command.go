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

// Op is the operation that a command asks the driver for.
type Op uint8

// Operations.
const (
	OpRun      Op = iota // call the node's handler, for each item of the range
	OpTimer              // answer with TimerFired after Delay
	OpDeadline           // answer with Expired after Delay, unless OpMet comes before
	OpMet                // forget the deadline with that ID: the work ended in time
	OpEmit               // publish Events
	OpCancel             // cancel the handlers of the frame and of the frames inside it
	OpYield              // answer with Yielded: free slots could run items that the range has not started
	OpGiveUp             // cancel the node's items of the range, or the whole node; their results no longer count
	OpPlace              // place what the OpRun with that ID has prepared; answer with Placed
	OpDiscard            // drop what the OpRun with that ID has prepared, or place it if Keep is set
	OpFinish             // the run is over; Report is its result
)

// String names the operation.
func (o Op) String() string {
	return opNames[o]
}

var opNames = [...]string{"run", "timer", "deadline", "met", "emit", "cancel", "yield", "give up", "place", "discard", "finish"}

// ID identifies one piece of work. It is derived only from the plan and the progress of the run,
// so a replay produces the same IDs. Together with the ID of the run it is the idempotency key
// that handlers receive.
type ID struct {
	// Frame is the nested run, 0 for the run itself. It is a number of 52 bits that is derived
	// from the path of the nested run, its round, row, item or visit, and its attempt. It does
	// not depend on what began earlier or on when Next was called.
	Frame int64 `json:"frame"`
	// Node is -1 for a nested run as a whole. From, To and Attempt are then copied from the ID of
	// the node that runs it.
	Node int32 `json:"node"`
	// From and To are the range of items of a fan-out. For a stage of a pipeline From is the row,
	// for a member of a loop the round, and To is From+1. Both are 0 for a plain node.
	From int32 `json:"from,omitempty"`
	To   int32 `json:"to,omitempty"`
	// Attempt counts from 1. It is 0 for work outside attempts: reading rows of a stream, and
	// asking the router where a walk continues after a visit. It is PauseAttempt for asking a
	// person whether the execution may continue.
	Attempt int32 `json:"attempt"`
}

// PauseAttempt is the number of the attempt of a question whether an execution may continue, see
// plan.Node.Pauser.
const PauseAttempt = -1

// AttemptNumber returns the number of the attempt for people, 0 outside attempts.
func (id ID) AttemptNumber() int { return int(max(0, id.Attempt)) }

// IsWatch reports whether the ID belongs to the stall timer of a walk.
func (id ID) IsWatch() bool { return id.Node < 0 && id.To < 0 }

// String returns the ID as frame/node!attempt, followed by the range if there is one.
func (id ID) String() string {
	s := fmt.Sprintf("%d/%d!%d", id.Frame, id.Node, id.Attempt)
	if id.To > 0 {
		s += fmt.Sprintf("[%d:%d]", id.From, id.To)
	}
	return s
}

// Command is one operation for the driver.
type Command struct {
	ID ID `json:"id"`
	Op Op `json:"-"`
	// Keep belongs to OpDiscard: the attempt is over, but its result is placed.
	Keep bool       `json:"keep,omitempty"`
	Plan *plan.Plan `json:"-"` // the plan that contains Node
	Node *plan.Node `json:"-"`
	// Call is the input of the handler, nil if the handler gets nothing but its name. Of the call
	// of a timer or deadline only Path is of use.
	Call   *Call         `json:"-"`
	Delay  time.Duration `json:"delay,omitempty"`
	Events Emissions     `json:"events,omitempty"`
	Report *core.Report  `json:"-"`
}

// Path returns the path of the frame to which the command belongs: Call.Path, or "" for the run
// itself. It is known for commands that are answered: OpRun, OpTimer, OpDeadline and OpPlace.
func (c *Command) Path() string {
	if c.Call == nil {
		return ""
	}
	return c.Call.Path
}

// Call is the captured input of an execution. Its values are shared with the state and never
// change.
type Call struct {
	Values []any     `json:"-"` // parallel to Node.Reads
	view   core.View // see View
	reused bool      // see Machine.Reuse
	// CallContext is the rest of the input. It is not nil and does not change. Executions that
	// get only the values of fields share the context of their frame.
	*CallContext
}

// CallContext is the part of a Call that does not come from the fields of the state.
type CallContext struct {
	// Path is the path of the frame: "" for the run itself, "outer[3]" for the fourth item of the
	// fan-out outer.
	Path string `json:"path,omitempty"`
	// Items are all elements of a fan-out. Item is the element of a row of a pipeline.
	Items  Items         `json:"-"`
	Row    core.Ordinal  `json:"row,omitzero"` // of a pipeline
	Item   any           `json:"-"`
	Taken  int           `json:"taken,omitempty"` // number of elements that the pipeline has read from its stream so far
	Round  core.Ordinal  `json:"round,omitzero"`  // of a loop
	Loop   string        `json:"loop,omitempty"`
	Visit  int           `json:"visit,omitempty"` // of a node of a walk, from 1
	Edges  *value.Object `json:"edges,omitempty"`
	Inputs *value.Object `json:"-"`
	Nodes  []NodeValue   `json:"-"` // parallel to Node.NodeRefs
	// Previous is the error of the previous attempt, or the note with which it asked to be run
	// again. It is "" for the first attempt.
	Previous string `json:"previous,omitempty"`
	// Briefing describes the earlier stages of a walk to a node that requests it. It is nil for
	// other nodes.
	Briefing *core.Briefing `json:"briefing,omitempty"`
	// Route makes the call a question to the router: where the walk continues after a
	// visit of the node. The handler is not called.
	Route *core.RouteQuestion `json:"route,omitempty"`

	// Conversation holds the messages of the visits that a visit continues.
	Conversation values `json:"conversation,omitempty"`
	// Functions makes the call one of the hooks or conditions of a node of a walk by steps. The
	// handler is not called.
	Functions *FunctionCall `json:"functions,omitempty"`

	plain bool // the handler gets only the values of the declared reads and the inputs of the run
}

// Name returns the path of node n. A nil Call belongs to a node of the run itself.
func (c *Call) Name(n *plan.Node) string {
	if c == nil || c.Path == "" {
		return n.ID
	}
	return c.Path + "/" + n.ID
}

// Unit returns the path of a pipeline or loop of the same graph.
func (c *Call) Unit(u *plan.Unit) string {
	if c == nil || c.Path == "" {
		return u.ID
	}
	return c.Path + "/" + u.ID
}

// NodeValue is the value of $nodes.ID.
type NodeValue struct {
	Status core.Status
	Output any
}

// EventKind is the kind of an event.
type EventKind uint8

// Kinds of events.
const (
	Finished   EventKind = iota // an OpRun has ended
	TimerFired                  // the timer of an OpTimer has ended
	Expired                     // the deadline of an OpDeadline has passed
	Cancel                      // the caller wants to end the run
	Yielded                     // the OpRun continues up to ID.To; the items after it were not started and will not be
	Placed                      // an OpPlace has ended
	Gone                        // the result of an OpPlace no longer exists and has to be prepared again
)

func (k EventKind) isTimer() bool { return k == TimerFired || k == Expired }

// Event is something that happened in the driver. Times are nanoseconds since the start of the
// run. A range may yield at any time, whether or not it was asked to, but never its first item.
type Event struct {
	Kind    EventKind `json:"kind"`
	ID      ID        `json:"id"`
	Started int64     `json:"started,omitempty"`
	Ended   int64     `json:"ended,omitempty"`
	// Outcome is the result of a single execution. For a range, Items holds one outcome for each
	// item from ID.From on, or is nil if every item ended with the zero Outcome. A driver may
	// answer a part of a range by lowering ID.To; the other items count as not started.
	Outcome Outcome   `json:"-"`
	Items   []Outcome `json:"-"`
	// Writes holds the writes of the items whose outcomes in Items have nothing else, parallel to
	// Node.WriteFields; nil if there are none. Such an item has its writes there or in Items. The
	// machine keeps neither Items nor Writes, so a driver may use them again.
	Writes []*state.ItemWrites `json:"-"`
	// Ends holds the instants at which the items of a range ended, one after the other. Only their
	// events need it: without it, they have the times of the range.
	Ends []int64 `json:"ends,omitempty"`
	// Position is where a stream continues after the rows of the answer to a read, in the form of
	// the maker of the stream. It is nil if the stream has no positions. The machine does not use
	// it; it is for journals.
	Position *value.Object `json:"-"`
}

// Outcome is the result of one attempt, already checked against the writes and types that the
// node declares. The zero Outcome is a success without writes.
type Outcome struct {
	// Status is Success (or zero), PartialSuccess, Retry or, together with a Failure, Fail. The
	// writes of a failed attempt are kept, because auto_status may turn it into a success.
	Status    core.Status   `json:"status,omitempty"`
	Writes    []plan.Write  `json:"-"`
	Output    any           `json:"-"`
	HasOutput bool          `json:"-"`
	Failure   *core.Failure `json:"failure,omitempty"`
	Note      string        `json:"note,omitempty"`
	Text      string        `json:"text,omitempty"` // the text that the node produced, if it sends no output
	// Route says where the walk continues, nil if the result does not say.
	Route *Route `json:"route,omitempty"`
	// Usage is the usage of models, nil if none was called.
	Usage *core.Usage `json:"usage,omitempty"`
	// Claim lists the targets to replace before the attempt is over, or nil if there are none. The
	// result follows when they are replaced.
	Claim *Claim `json:"claim,omitempty"`
	// Why names the setting of the node that changed the outcome of the visit, or begins with
	// core.CachedReason if the outcome was taken from an earlier run. It is "" if the outcome is the
	// outcome of the last attempt. If Why is set, Status is not zero.
	Why string `json:"why,omitempty"`
}

// Route is the part of a result that says where a walk continues.
type Route struct {
	Label string        `json:"label,omitempty"`
	Next  []string      `json:"next,omitempty"`
	Evals *value.Object `json:"evals,omitempty"`
	// Visited is what the result says in a walk by steps, nil if it says nothing.
	Visited *Visited `json:"visited,omitempty"`
	// Answer is the answer of the router, if it was asked.
	Answer *core.RouteAnswer `json:"answer,omitempty"`
}

// Empty reports whether it is the zero Outcome.
func (o *Outcome) Empty() bool {
	return len(o.Writes) == 0 && o.OnlyWrites()
}

// isCached reports whether the outcome was taken from an execution in an earlier run. Such an outcome
// does not count as an attempt.
func (o *Outcome) isCached() bool { return strings.HasPrefix(o.Why, core.CachedReason) }

// OnlyWrites reports whether it is a success that does nothing but write.
func (o *Outcome) OnlyWrites() bool {
	return o.Failure == nil && !o.HasOutput && o.Status == core.StatusNone && o.Note == "" && o.Text == "" && o.Route == nil && o.Usage == nil && o.Claim == nil
}

// Accept sets o, which is zero except for room in Writes, to the outcome of an attempt whose handler returned res and no
// error. It checks the result against the writes and types that the node declares, and converts
// what the node sends along its edges to its canonical form.
func (o *Outcome) Accept(p *plan.Plan, n *plan.Node, res *core.Result) {
	o.Writes, o.Failure = p.Accept(n, res, o.Writes)
	if o.Failure != nil && res.Status != core.Fail {
		return
	}
	o.Note = value.CutText(res.Note)
	if res.Routing != nil {
		o.Text = res.Routing.Text
	}
	if res.Status != core.Success {
		o.Status = res.Status
	}
	if r := res.Routing; r != nil && (r.PreferredLabel != "" || len(r.SuggestedNext) > 0 || r.Evals != nil) {
		o.Route = &Route{Label: r.PreferredLabel, Next: r.SuggestedNext, Evals: r.Evals}
	}
	if p.Conventions.Steps {
		o.acceptVisited(n, res)
	}
	if !res.HasEdgeOutput && res.EdgeOutput == nil {
		return
	}
	v, err := value.Canonical(res.EdgeOutput)
	switch {
	case err == nil:
		o.Output, o.HasOutput = v, true
	case o.Failure == nil:
		*o = Outcome{Failure: &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("edge output: %v", err), Cause: err}}
	}
}
