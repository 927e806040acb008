package native

import (
	"time"

	"github.com/wavefold/wavefold/core/source"
)

// These structs define the graphs of the mode walk, one form for each router.

// walkHead holds the keys with which the graph of a walk begins.
type walkHead struct {
	Router source.Text `wavefold:"router,required,oneof=steps|outcomes|model" doc:"how the next node is chosen: steps by the result of a visit, in seven steps; outcomes by conditions on its outcome, labels and weights; model by a model that reads the conditions"`
}

// walkLimits holds settings of walks of all routers.
type walkLimits struct {
	MaxRetries   *source.Int                    `wavefold:"default_max_retries,min=0" doc:"number of attempts after the first one, with the waits of the preset standard, for nodes without on_error; default 0"`
	StallTimeout *source.Located[time.Duration] `wavefold:"stall_timeout" doc:"the run fails after this time without a sign of progress, 0s for no limit; default 30m"`
}

// stepsGraph is the graph of a walk with router: steps.
type stepsGraph struct {
	walkHead
	Entry         source.Text           `wavefold:"entry,required" doc:"id of the node where the walk begins"`
	MaxVisits     *source.Int           `wavefold:"max_visits,min=0" doc:"limit on the visits of all nodes together in a run, 0 for no limit; default 50"`
	MaxNodeVisits *source.Int           `wavefold:"max_node_visits,min=0" doc:"limit on the visits of each node in a run, 0 for no limit; default 25"`
	MaxMutations  *source.Int           `wavefold:"max_mutations,min=0" doc:"number of changes of its graph that a run may make; default 10"`
	SelfModify    *source.Located[bool] `wavefold:"self_modification" doc:"whether outputs may ask for changes of the graph; if not, _graph_action is an ordinary member; default true"`
	walkLimits
	Attributes mappingShape     `wavefold:"attributes" doc:"values for other programs, which are kept"`
	Nodes      []stepsNode      `wavefold:"nodes,required" doc:"at least one node"`
	Edges      []stepsEdge      `wavefold:"edges" doc:"where the walk may go from a node; may be absent"`
	LoopUntil  []loopUntilShape `wavefold:"loop_until" doc:"nodes that are visited again until a condition is true"`
	Lost       source.Lost      `wavefold:",lost"`
}

// walkNode holds keys that the nodes of all walks have.
type walkNode struct {
	Label      source.Text   `wavefold:"label" doc:"name of the node for display; default: the id"`
	Classes    []source.Text `wavefold:"classes" doc:"names by which other programs select nodes"`
	Attributes mappingShape  `wavefold:"attributes" doc:"values for other programs, which are kept"`
}

type stepsNode struct {
	nodeHead
	Transitions source.Members[source.Text] `wavefold:"transitions" doc:"node to continue at, by member of the output: the first member in this order that is true or a non-empty string decides, unless an edge does; __end__ ends the walk"`
	DefaultNext source.Text                 `wavefold:"default_next" doc:"node to continue at if nothing else decides, or __end__; default: the walk ends"`
	Critical    bool                        `wavefold:"critical" doc:"whether a failure of the node ends the run at once; default false"`
	MaxVisits   *source.Int                 `wavefold:"max_visits,min=1" doc:"limit on the visits of the node in a run; the lower one of this and max_node_visits counts; default 10"`
	walkNode
	nodeRun
	nodeTail
}

// edgeEnds holds the keys with which an edge of a walk begins.
type edgeEnds struct {
	From source.Text `wavefold:"from,required" doc:"id of the node that the edge leaves"`
	To   source.Text `wavefold:"to,required" doc:"id of the node that the edge leads to; with router: steps also __end__"`
}

// resultCondition holds the forms of a condition on the result of a visit, except for an
// expression.
type resultCondition struct {
	On    source.Text              `wavefold:"on,oneof=tool_called|no_tool_call|output|error|confidence|guard_failed" doc:"what the visit must have done: called a tool or no tool, sent an output with a member that equals a value, failed, sent a confidence of at least min, failed a guard"`
	Key   source.Text              `wavefold:"key" doc:"with on: output, the member of the output; required there"`
	Value *any                     `wavefold:"value" doc:"with on: output, what the member must be equal to; default true"`
	Min   *source.Located[float64] `wavefold:"min" doc:"with on: confidence, the lowest confidence; default 0.7"`
	Ref   source.Text              `wavefold:"ref" doc:"name of a condition that the program has registered as a Go function"`
}

type stepsEdge struct {
	edgeEnds
	When conditionShape `wavefold:"when" doc:"condition on the result of the visit and the state, such as $output.score >= 8; an edge has when, on or ref, or it is followed always"`
	resultCondition
	Label      source.Text     `wavefold:"label" doc:"name of the edge for display"`
	Priority   source.Int      `wavefold:"priority" doc:"edges of a node are tried from the highest number to the lowest; of edges with the same number, edges with a condition are tried first, each in the order written; default 0"`
	Attributes mappingShape    `wavefold:"attributes" doc:"values for other programs, which are kept"`
	Pos        source.Position `wavefold:",pos"`
	Lost       source.Lost     `wavefold:",lost"`
}

type loopUntilShape struct {
	Node   source.Text    `wavefold:"node,required" doc:"id of the node that is visited again"`
	ExitTo source.Text    `wavefold:"exit_to,required" doc:"id of the node to continue at, or __end__, when the condition is true or the visits are used up"`
	Until  conditionShape `wavefold:"until" doc:"condition that ends the loop, tested after each visit; one of until, on and ref is required"`
	resultCondition
	MaxIterations *source.Int     `wavefold:"max_iterations,min=1" doc:"limit on the visits of the node in a run; default 5"`
	Pos           source.Position `wavefold:",pos"`
	Lost          source.Lost     `wavefold:",lost"`
}

// outcomesGraph is the graph of a walk with router: outcomes.
type outcomesGraph struct {
	walkHead
	MaxVisits     *source.Int `wavefold:"max_visits,min=0" doc:"limit on the visits of all nodes together in a run, 0 for no limit; default: no limit"`
	MaxNodeVisits *source.Int `wavefold:"max_node_visits,min=0" doc:"limit on the visits of each node in a run, 0 for no limit; default: no limit"`
	MaxJumps      *source.Int `wavefold:"max_jumps,min=0" doc:"number of times that an unsatisfied goal gate may send the walk back; default 10"`
	RepeatLimit   *source.Int `wavefold:"loop_restart_signature_limit,min=1" doc:"the run fails when the same failure has occurred this number of times; default 3"`
	walkLimits
	retryTargets
	Fidelity   source.Text    `wavefold:"default_fidelity,oneof=compact|truncate|none|full|summary:low|summary:medium|summary:high" doc:"how much nodes that ask a model are told of the walk so far; default compact"`
	Attributes mappingShape   `wavefold:"attributes" doc:"values for other programs, which are kept"`
	Nodes      []outcomesNode `wavefold:"nodes,required" doc:"at least a node of the kind start and one of the kind exit"`
	Edges      []outcomesEdge `wavefold:"edges" doc:"where the walk may go from a node; may be absent"`
	Lost       source.Lost    `wavefold:",lost"`
}

type retryTargets struct {
	RetryTarget         source.Text `wavefold:"retry_target" doc:"node to continue at after a failure that no edge handles, and from the exit if a goal gate is not satisfied"`
	FallbackRetryTarget source.Text `wavefold:"fallback_retry_target" doc:"the same, if there is no node retry_target"`
}

type outcomesNode struct {
	nodeHead
	GoalGate  bool        `wavefold:"goal_gate" doc:"whether the walk may end only if the last outcome of the node is a success; default false"`
	MaxVisits *source.Int `wavefold:"max_visits,min=0" doc:"limit on the visits of the node in a run, 0 for no limit; default: max_node_visits of the graph"`
	retryTargets
	Selection   source.Text       `wavefold:"selection,oneof=deterministic|random" doc:"random chooses among the edges by chance, weighted, instead of the heaviest one; default deterministic"`
	Fidelity    source.Text       `wavefold:"fidelity,oneof=compact|truncate|none|full|summary:low|summary:medium|summary:high" doc:"how much the node is told of the walk so far; default: default_fidelity of the graph"`
	Join        parallelJoinShape `wavefold:"join" doc:"of a parallel node, which branches must succeed: all of them, the first one, or a number; default wait_all"`
	MaxParallel *source.Int       `wavefold:"max_parallel,min=1" doc:"of a parallel node, maximum number of branches that run at once; default 4"`
	ErrorPolicy source.Text       `wavefold:"error_policy,oneof=continue|fail_fast|ignore" doc:"of a parallel node, what the failure of a branch means for the others: nothing, the end, or that it does not count; default continue"`
	walkNode
	nodeRun
	nodeTail
}

type outcomesEdge struct {
	edgeEnds
	When        textShape       `wavefold:"when" doc:"condition on the outcome and the context, such as outcome=fail && context.tries > 2; absent: always"`
	Label       source.Text     `wavefold:"label" doc:"name of the edge: for display, for the choices of a person, and for nodes that prefer it"`
	Weight      source.Int      `wavefold:"weight" doc:"of several edges that could be followed, the one with the highest number is; default 0"`
	LoopRestart bool            `wavefold:"loop_restart" doc:"whether the walk starts again at the target, with an empty context; default false"`
	Freeform    bool            `wavefold:"freeform" doc:"whether a node that asks a person continues here after an answer that is not a choice; default false"`
	Fidelity    source.Text     `wavefold:"fidelity,oneof=compact|truncate|none|full|summary:low|summary:medium|summary:high" doc:"how much the target is told of the walk so far; default: as the target says"`
	Attributes  mappingShape    `wavefold:"attributes" doc:"values for other programs, which are kept"`
	Pos         source.Position `wavefold:",pos"`
	Lost        source.Lost     `wavefold:",lost"`
}

// modelGraph is the graph of a walk with router: model.
type modelGraph struct {
	walkHead
	Entry         source.Text `wavefold:"entry,required" doc:"id of the node where the walk begins"`
	Model         source.Text `wavefold:"model" doc:"the model that chooses edges; default: the model of the program"`
	MaxVisits     *source.Int `wavefold:"max_visits,min=0" doc:"limit on the visits of all nodes together in a run, 0 for no limit; default 200"`
	MaxNodeVisits *source.Int `wavefold:"max_node_visits,min=0" doc:"limit on the visits of each node in a run, 0 for no limit; default: no limit"`
	walkLimits
	Attributes mappingShape `wavefold:"attributes" doc:"values for other programs, which are kept"`
	Nodes      []modelNode  `wavefold:"nodes,required" doc:"at least one node"`
	Edges      []modelEdge  `wavefold:"edges" doc:"where the walk may go from a node; may be absent"`
	Lost       source.Lost  `wavefold:",lost"`
}

type modelNode struct {
	nodeHead
	MaxVisits   *source.Int   `wavefold:"max_visits,min=0" doc:"limit on the visits of the node in a run, 0 for no limit; default: max_node_visits of the graph"`
	ViewMembers []source.Text `wavefold:"view_members" doc:"the members of its output that the model sees when it chooses an edge; absent: all"`
	walkNode
	nodeRun
	nodeTail
}

type modelEdge struct {
	edgeEnds
	When          textShape       `wavefold:"when" doc:"when to follow the edge, in plain language for a model; absent: when no other edge of the node is chosen"`
	MaxIterations *source.Int     `wavefold:"max_iterations,min=1" doc:"number of times that the walk may go from the one node to the other before the edge is no longer offered; default: no limit"`
	Label         source.Text     `wavefold:"label" doc:"name of the edge for display"`
	Attributes    mappingShape    `wavefold:"attributes" doc:"values for other programs, which are kept"`
	Pos           source.Position `wavefold:",pos"`
	Lost          source.Lost     `wavefold:",lost"`
}

// unroutedGraph is the graph of a walk whose router is missing or not known, so that no
// other key can be read.
type unroutedGraph struct {
	walkHead
	Rest *source.Value `wavefold:",rest"`
	Lost source.Lost   `wavefold:",lost"`
}
