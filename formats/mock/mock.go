// Package mock parses mock files: the answers of a workflow's nodes in a test, and the
// expected result of the run. It does not run workflows.
//
//	initial: {limit: 3}
//	nodes:
//	  fetch: [{error: {message: timed out, retryable: true}}, {delta: {rows: [1, 2]}}]
//	  score: [{item: 0, delta: {scores: [0.5]}}, {item: 1, panic: boom}]
//	model:
//	  route: {review: [refine, publish]}
//	expect:
//	  run: failed
//	  nodes: {fetch: success, score: fail}
//	  attempts: {fetch: 2}
package mock

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// File is a parsed mock file. Its values keep their positions.
type File struct {
	// Initial are the starting values of state fields, Inputs the inputs of the run.
	Initial source.Members[*source.Value] `wavefold:"initial" doc:"starting values of state fields, by name"`
	Inputs  source.Members[*source.Value] `wavefold:"inputs" doc:"inputs of the run, by name"`
	// Nodes are the answers of the nodes, by id. Other nodes are not mocked.
	Nodes source.Members[Answers] `wavefold:"nodes" doc:"what each node answers, by id: one entry for each call, the last one repeats"`
	// Conditions are the answers of conditions that are Go functions, by the names under which they
	// are registered. Other registered conditions are called.
	Conditions source.Members[Verdicts] `wavefold:"conditions" doc:"what conditions that are Go functions answer, by name: one entry for each call, the last one repeats"`
	// Model holds the answers of models, nil if there are none.
	Model  *Model          `wavefold:"model" doc:"what models answer"`
	Expect *Expect         `wavefold:"expect" doc:"expected result of the run"`
	Pos    source.Position `wavefold:",pos"`
}

// Model holds the answers of models.
type Model struct {
	// Run are the answers of nodes that call a model, by id, as in File.Nodes. A node
	// has answers either here or there.
	Run source.Members[Answers] `wavefold:"run" doc:"results of the nodes that a model runs, by id: as under nodes"`
	// Route are the routing decisions after a node, by its id.
	Route source.Members[Routes] `wavefold:"route" doc:"routing decisions of a model after each node, by id: one entry for each question, the last one repeats"`
	Pos   source.Position        `wavefold:",pos"`
}

// Routes are the routing decisions after a node, never empty. Decisions with a Visit
// apply after that visit. The others apply after the other visits, in order. The last
// one of either group repeats.
type Routes []Route

// Route is one routing decision. Exactly one of To, Number, Answer and Error is set. In
// a file, To and Number can be written without a mapping: "publish", "none" or 2.
type Route struct {
	Visit *source.Int `wavefold:"visit,min=1" doc:"the decision after that visit of the node, from 1"`
	// To is the next node, or None.
	To *source.Text `wavefold:"to" doc:"id of the node to go to, or none"`
	// Number is the number of the true condition, from 1. The edge without a condition
	// is not counted. 0 means None.
	Number *source.Int `wavefold:"number,min=0" doc:"number of the true condition, from 1; 0 if none is"`
	// Answer is a model's answer as a string, which is parsed like a real one.
	Answer *source.Text `wavefold:"answer" doc:"answer of the model in words, parsed like a real answer"`
	// Error is set if the model gives no answer.
	Error *Error          `wavefold:"error" doc:"the model gives no answer"`
	Pos   source.Position `wavefold:",pos"`
}

// None, in place of a node, means that no condition is true.
const None = "none"

// Answers are the answers of a node, never empty. Answers with an Item apply to the
// calls for that item, in order. The others apply to the remaining calls, in order. The
// last one of either group repeats.
type Answers []Answer

// Answer is one answer of a node. The zero Answer is a success without writes or
// output.
type Answer struct {
	// Item is the index of the item that this answer is for, nil for any call.
	Item *source.Int `wavefold:"item,min=0" doc:"index of the item of a fan-out, or the row of a pipeline, that this answers"`
	// Visit is the visit of a walk's node that this answer is for, from 1; nil for any.
	Visit *source.Int `wavefold:"visit,min=1" doc:"which visit of the node in a walk, from 1, this answers"`
	// Delta are the writes, by field. EdgeOutput is the output along the edges, nil if
	// there is none (a null is a value).
	Delta      source.Members[*source.Value] `wavefold:"delta" doc:"writes of the node, by field"`
	EdgeOutput *source.Value                 `wavefold:"edge_output" doc:"output along its edges"`
	// Output is the result of a node that calls a model, nil if there is none. It is
	// sent and written as by such nodes. Evals are the checks of the result.
	Output *source.Value        `wavefold:"output" doc:"result of the node: sent along its edges, and written as for a node that a model runs"`
	Evals  source.Members[Eval] `wavefold:"evals" doc:"checks of the result, by name: true, false or {pass, kind, reasoning}"`
	// Status is "", "success", "partial_success", "fail", "retry", which requests
	// another attempt, or, in a walk, "skipped".
	Status source.Text `wavefold:"status,oneof=success|partial_success|fail|retry|skipped" doc:"status of the call; retry asks for another attempt; skipped is for walks; default success"`
	// Note is the note that goes with the status.
	Note source.Text `wavefold:"note" doc:"reason of the failure or of the request for another attempt"`
	// Category is a core.Category, only with the status fail. If it is "", the note
	// determines the category.
	Category source.Text `wavefold:"category,oneof=transient_infra|deterministic|budget_exhausted|compilation_loop|canceled|structural" doc:"with status: fail: category of the failure; default as the note says"`
	// PreferredLabel, SuggestedNext and ContextUpdates are what a node of a walk
	// returns to influence the choice of the next node.
	PreferredLabel source.Text                   `wavefold:"preferred_label" doc:"in a walk: label of the preferred edge"`
	SuggestedNext  []source.Text                 `wavefold:"suggested_next" doc:"in a walk: suggested next nodes, best first"`
	ContextUpdates source.Members[*source.Value] `wavefold:"context_updates" doc:"in a walk: values for the context, by key"`
	// The keys up to Mutations are for walks by steps. ToolCalls are the tools that the visit has
	// called; ToolLoop reports whether the node wants to see their results, nil for the default.
	ToolCalls []source.Text `wavefold:"tool_calls" doc:"in a walk by steps: names of the tools that the visit has called; the node is visited again"`
	ToolLoop  *bool         `wavefold:"tool_loop" doc:"in a walk by steps: whether the node wants to see the results of tool_calls; default true"`
	Guards    *Guards       `wavefold:"guards" doc:"in a walk by steps: names of the checks that the result has passed and failed"`
	NextNode  source.Text   `wavefold:"next_node" doc:"in a walk by steps: the next node, as code sets it, or __end__"`
	Mutations []Mutation    `wavefold:"mutations" doc:"in a walk by steps: changes of the graph that the code of the node asks for"`
	// Human is the answer of a person at a human gate. If it is nil, the other keys
	// apply.
	Human *source.Text `wavefold:"human" doc:"at a human gate: the answer of the person, a key or label; with a sleep beyond the timeout it is too late"`
	// Error makes the call fail, Panic makes it panic with a message. At most one of
	// them is set.
	Error *Error       `wavefold:"error" doc:"makes the call fail"`
	Panic *source.Text `wavefold:"panic" doc:"makes the call panic with this message"`
	// Sleep is the duration of the call.
	Sleep source.Located[time.Duration] `wavefold:"sleep" doc:"duration of the call, such as 200ms"`
	Pos   source.Position               `wavefold:",pos"`
	// Keys are the keys that the file gives, with their positions.
	Keys []source.Text
}

// Guards are the names of checks.
type Guards struct {
	Passed []source.Text   `wavefold:"passed" doc:"the checks that were passed"`
	Failed []source.Text   `wavefold:"failed" doc:"the checks that were not"`
	Pos    source.Position `wavefold:",pos"`
}

// Mutation is a change of the graph, see core.Mutation.
type Mutation struct {
	Action source.Text     `wavefold:"action,required,oneof=add_node|remove_node|add_edge|remove_edge" doc:"what is changed"`
	Node   source.Text     `wavefold:"node" doc:"of remove_node: the node"`
	From   source.Text     `wavefold:"from" doc:"of edges: the node that the edge leaves"`
	To     source.Text     `wavefold:"to" doc:"of edges: where the edge leads"`
	Config *source.Value   `wavefold:"config" doc:"of add_node: the description of the node"`
	Pos    source.Position `wavefold:",pos"`
}

// Verdicts are the answers of a condition, never empty: true, false, or Panics.
type Verdicts []Verdict

// Verdict is one answer of a condition.
type Verdict struct {
	Holds, Panics bool
	Pos           source.Position
}

// Panics, in place of true or false, means that a condition panics.
const Panics = "panic"

// Eval is a check of a node's result.
type Eval struct {
	Pass      bool            `wavefold:"pass,required" doc:"whether the check passed"`
	Kind      source.Text     `wavefold:"kind,oneof=value|function|judge" doc:"value, function or judge; default value"`
	Reasoning source.Text     `wavefold:"reasoning" doc:"why"`
	Pos       source.Position `wavefold:",pos"`
}

// Error is the error that a call returns.
type Error struct {
	Message source.Text `wavefold:"message,required" doc:"message of the error"`
	// Retryable defaults to true.
	Retryable bool `wavefold:"retryable" doc:"whether another attempt may help; default true"`
	// Category is a core.Category. If it is "", a retryable error is transient_infra,
	// and the message determines the category of any other error.
	Category source.Text     `wavefold:"category,oneof=transient_infra|deterministic|budget_exhausted|compilation_loop|canceled|structural" doc:"category of the failure; default transient_infra if retryable, otherwise as the message says"`
	Pos      source.Position `wavefold:",pos"`
}

// Expect is the expected result of a run. Absent keys are not checked.
type Expect struct {
	// Run is the run's status, a core.RunStatus.
	Run source.Text `wavefold:"run,oneof=success|partial_success|failed|paused|cancelled" doc:"status of the run"`
	// Nodes are statuses by node: success, partial_success, fail, skipped, or none for
	// a node that was never reached.
	Nodes source.Members[source.Text] `wavefold:"nodes,oneof=success|partial_success|fail|skipped|none" doc:"status of each node; none: never reached"`
	// State holds the values of fields at the end. Absent are fields without a value.
	State  source.Members[*source.Value] `wavefold:"state" doc:"values of state fields at the end"`
	Absent []source.Text                 `wavefold:"absent" doc:"state fields that have no value at the end"`
	// Runs and Attempts count executions and attempts by node.
	Runs     source.Members[source.Int] `wavefold:"runs,min=0" doc:"number of executions of each node: items, rows and rounds count, attempts do not"`
	Attempts source.Members[source.Int] `wavefold:"attempts,min=0" doc:"number of attempts of each node"`
	// Order are nodes in the order in which they start. Other nodes may start between
	// them.
	Order []source.Text `wavefold:"order" doc:"ids of nodes in the order in which they start"`
	// Trace are executions in the order in which they start.
	Trace []Step `wavefold:"trace" doc:"executions in the order in which they start, each as node or node#index"`
	// Path are the nodes that a walk visits, in order, without branches.
	Path []source.Text `wavefold:"path" doc:"ids of the nodes that a walk visits, in order, branches left out"`
	// Asked are strings that must occur in the last question to a person at a gate, by
	// node.
	Asked source.Members[source.Text] `wavefold:"asked" doc:"at human gates: a string that occurs in what the person was shown last, by node"`
	// Calls are the numbers of routing questions to a model, by node or in "total".
	Calls Counts `wavefold:"calls" doc:"number of routing questions to a model: a number in total, or by node and in total"`
	// Context holds values of a walk's context at the end.
	Context source.Members[*source.Value] `wavefold:"context" doc:"values of the context of a walk at the end, by key"`
	// Failure is the class of the run's failure.
	Failure source.Text `wavefold:"failure" doc:"class of the failure with which the run ends, such as no_route"`
	// Peak is the maximum number of concurrent executions, by node or in "total".
	Peak source.Members[source.Int] `wavefold:"peak,min=0" doc:"maximum number of executions at once, of a node or in total"`
	Pos  source.Position            `wavefold:",pos"`
}

// Total is the key for all nodes together in numbers by node.
const Total = "total"

// Counts are numbers by node or in Total. In a file, a single number is the total.
type Counts source.Members[source.Int]

// Step is one execution. A plain node is written as its id; the execution of "score"
// for item 3 is written as score#3.
type Step struct {
	Node  string
	Index core.Ordinal // of an item, row or round; 0 if there is none
	Pos   source.Position
}
