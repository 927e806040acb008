package core

import (
	"context"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Defaults of a walk of RouterSteps.
const (
	DefaultMaxRunVisits  = 50 // visits of all nodes together, see Walk.MaxSteps
	DefaultMaxNodeVisits = 25 // visits of a node, see Walk.MaxVisits
	DefaultNodeBudget    = 10 // visits of a node that sets no limit, see Node.MaxVisits
	DefaultMaxMutations  = 10 // see Walk.MaxMutations
	DefaultLoopBudget    = 5  // see LoopUntil.MaxIterations
)

// EndNode is the name that ends a walk of RouterSteps wherever a node can be named: as the
// target of an edge, a transition or a loop, as DefaultNext, in an output, and in
// Routing.Next. No node of such a walk can have this name.
const EndNode = "__end__"

// ErrorNode is the name of the node where a walk of RouterSteps continues after a node whose
// visits are used up, unless the node has a transition with the key ErrorKey.
const (
	ErrorNode = "__error__"
	ErrorKey  = "error"
)

// Transition leads a walk of RouterSteps from a node to To if the member Key of the node's
// output is true or a non-empty string. To is the ID of a node or EndNode.
type Transition struct {
	Key, To source.Text
}

// LoopUntil repeats a node of a walk of RouterSteps until a condition holds after a visit of
// the node, or its visits are used up. The walk then continues at ExitTo.
type LoopUntil struct {
	Node, ExitTo source.Text
	// Until is an expression, or nil if Cond is the condition.
	Until *source.Text
	Cond  *Cond
	// MaxIterations limits the visits of the node in a run; nil means DefaultLoopBudget.
	MaxIterations *source.Int
	Lost          source.Lost
	Pos           source.Position
}

// Cond is a condition of an edge of RouterSteps that is not an expression. It depends on
// the result of the visit that has ended. Either Kind is set, or Func or Ref.
type Cond struct {
	// Kind is one of CondKinds, or "" for a function.
	Kind source.Text
	// Key is the member of the output that CondOutput compares with Value.
	Key   source.Text
	Value any
	// Min is the lowest confidence that satisfies CondConfidence; nil means
	// DefaultConfidence.
	Min *source.Located[float64]
	// Ref is the name of a function that is registered with Registry.AddCondition, or "".
	Ref source.Text
	// Func is a Go function. If Ref is set, too, it is the name under which Func is stored;
	// a graph that contains a function without a name cannot be saved.
	Func Predicate
	Pos  source.Position
}

// Kinds of conditions.
const (
	CondToolCalled  = "tool_called"  // the visit called at least one tool
	CondNoToolCall  = "no_tool_call" // the visit called no tool; it may have failed
	CondOutput      = "output"       // the output has the member Key, which equals Value
	CondError       = "error"        // the visit failed
	CondConfidence  = "confidence"   // the member confidence of the output is a number of at least Min
	CondGuardFailed = "guard_failed" // at least one guard failed
)

// CondKinds returns the kinds of conditions.
func CondKinds() []string {
	return []string{CondToolCalled, CondNoToolCall, CondOutput, CondError, CondConfidence, CondGuardFailed}
}

// DefaultConfidence is the default of Cond.Min.
const DefaultConfidence = 0.7

// VisitResult is the result of a visit, as conditions and After hooks of RouterSteps see it.
type VisitResult struct {
	// Node is the ID of the node, and Visit the number of its visit, from 1.
	Node  string
	Visit int
	// Output is what the visit sends along edges, in its JSON form: nil, bool, int64,
	// float64, string, []any or *value.Object. A struct or map is an object.
	Output any
	// Failure says why the visit failed, and is nil if it did not.
	Failure *Failure
	// ToolCalls are the names of the tools that the visit called, in order.
	ToolCalls []string
	// GuardsPassed and GuardsFailed are the names of guards.
	GuardsPassed, GuardsFailed []string
	// Next is the node that the result names as the next one; see Routing.Next.
	Next string
	// End can be set by an After hook: the walk then ends after this visit.
	End bool
}

// Member returns a member of the output. ok is false if the output is not an object or has
// no such member.
func (r *VisitResult) Member(name string) (v any, ok bool) {
	o, _ := r.Output.(*value.Object)
	return o.Get(name)
}

// Predicate is a condition that is a Go function. It is called once after each visit of the
// node that its edge leaves, by the driver, and its answer is recorded: when a stored run is
// resumed, it is not called again for that visit. It must depend on nothing but its
// argument, which it must not change. A panic counts as false, and so does an answer that
// takes longer than the grace period of the run.
type Predicate func(r *VisitResult) bool

// BeforeHook is called before the first attempt of each visit of a node. What it sets in the
// state is seen by the visit. An error or a panic is logged and otherwise ignored.
type BeforeHook func(ctx context.Context, s *HookState) error

// AfterHook is called once after the last attempt of each visit of a node, and may change
// the result, for example clear Failure or set Next. An error or a panic is logged and
// otherwise ignored; what the hook has changed until then is dropped.
type AfterHook func(ctx context.Context, r *VisitResult) error

// HookState is the state of a walk for a BeforeHook. It must not be used after the hook has
// returned.
type HookState struct {
	get     func(name string) (any, bool)
	changes map[string]any
	order   []string
}

// NewHookState returns a state with the values that get returns.
func NewHookState(get func(name string) (any, bool)) *HookState { return &HookState{get: get} }

// Get returns the value of a field that the node reads, or of a member of the context if the
// walk declares no fields. It must not be changed.
func (s *HookState) Get(name string) (v any, ok bool) {
	if v, ok = s.changes[name]; ok {
		return v, true
	}
	return s.get(name)
}

// Set writes a field, or a member of the context, as a node does: the value is merged by
// the strategy of the field.
func (s *HookState) Set(name string, v any) {
	if s.changes == nil {
		s.changes = map[string]any{}
	}
	if _, ok := s.changes[name]; !ok {
		s.order = append(s.order, name)
	}
	s.changes[name] = v
}

// Changes returns the names that were set, in order, and their values.
func (s *HookState) Changes() (names []string, values map[string]any) { return s.order, s.changes }

// Mutation is a change of the graph of a running walk of RouterSteps. It affects this run
// only. A change that is not possible is rejected, which is an event and changes nothing.
type Mutation struct {
	// Action is one of the Mutation constants.
	Action string
	// Node is the node to remove.
	Node string
	// From and To are the ends of the edge to add or remove. All edges from From to To are
	// removed. To may be EndNode.
	From, To string
	// Config describes the node to add, see NodeConfigKeys.
	Config *value.Object
}

// Actions of mutations. The output of a visit requests one of the actions add_node,
// add_edge, skip_to and retry_with with the member GraphAction.
const (
	MutationAddNode    = "add_node"
	MutationRemoveNode = "remove_node"
	MutationAddEdge    = "add_edge"
	MutationRemoveEdge = "remove_edge"
	MutationSkipTo     = "skip_to"
	MutationRetryWith  = "retry_with"
)

// Members of the output with which a visit requests a mutation.
const (
	GraphAction   = "_graph_action"   // the action
	ActionTarget  = "_target"         // of skip_to: a node or EndNode
	ActionUpdate  = "_context_update" // of retry_with: what is merged into the state
	ActionFrom    = "_from"           // of add_edge
	ActionTo      = "_to"             // of add_edge
	ActionConfig  = "_node_config"    // of add_node
	configName    = "name"
	configType    = "type"
	configText    = "instructions"
	configDefault = "default_next"
	configTo      = "transitions"
	configVisits  = "max_iterations"
)

// NodeConfigKeys returns the keys of the description of a node that is added to a running
// walk: name, type, instructions, default_next, transitions and max_iterations.
func NodeConfigKeys() []string {
	return []string{configName, configType, configText, configDefault, configTo, configVisits}
}

// RouteKeys are the members of an output that name the next node, in the order in which
// they count.
var RouteKeys = [...]string{"route", "_next", "next_step", "goto"}
