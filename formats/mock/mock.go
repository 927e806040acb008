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
)

// File is a parsed mock file. Its values keep their positions.
type File struct {
	// Initial are the starting values of state fields, Inputs the inputs of the run.
	Initial core.Members[*core.Value] `wavefold:"initial" doc:"starting values of state fields, by name"`
	Inputs  core.Members[*core.Value] `wavefold:"inputs" doc:"inputs of the run, by name"`
	// Nodes are the answers of the nodes, by id. Other nodes are not mocked.
	Nodes core.Members[Answers] `wavefold:"nodes" doc:"what each node answers, by id: one entry for each call, the last one repeats"`
	// Model holds the answers of models, nil if there are none.
	Model  *Model        `wavefold:"model" doc:"what models answer"`
	Expect *Expect       `wavefold:"expect" doc:"expected result of the run"`
	Pos    core.Position `wavefold:",pos"`
}

// Model holds the answers of models.
type Model struct {
	// Run are the answers of nodes that call a model, by id, as in File.Nodes. A node
	// is in only one of the two.
	Run core.Members[Answers] `wavefold:"run" doc:"results of the nodes that a model runs, by id: as under nodes"`
	// Route are the routing decisions after a node, by its id.
	Route core.Members[Routes] `wavefold:"route" doc:"routing decisions of a model after each node, by id: one entry for each question, the last one repeats"`
	Pos   core.Position        `wavefold:",pos"`
}

// Routes are the routing decisions after a node, never empty. Decisions with a Visit
// apply after that visit. The others apply after the other visits, in order. The last
// one of either group repeats.
type Routes []Route

// Route is one routing decision. Exactly one of To, Number, Answer and Error is set. A
// file may contain To and Number without a mapping: "publish", "none" or 2.
type Route struct {
	Visit *core.Int `wavefold:"visit,min=1" doc:"the decision after that visit of the node, from 1"`
	// To is the next node, or None.
	To *core.Text `wavefold:"to" doc:"id of the node to go to, or none"`
	// Number is the number of the true condition, from 1. The edge without a condition
	// is not counted. 0 means None.
	Number *core.Int `wavefold:"number,min=0" doc:"number of the true condition, from 1; 0 if none is"`
	// Answer is a model's answer as a string, which is parsed like a real one.
	Answer *core.Text `wavefold:"answer" doc:"answer of the model in words, parsed like a real answer"`
	// Error is set if the model gives no answer.
	Error *Error        `wavefold:"error" doc:"the model gives no answer"`
	Pos   core.Position `wavefold:",pos"`
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
	// Item is the index of the item that this answers, nil for any call.
	Item *core.Int `wavefold:"item,min=0" doc:"index of the item of a fan-out, or the row of a pipeline, that this answers"`
	// Visit is the visit of a walk's node that this answers, from 1; nil for any.
	Visit *core.Int `wavefold:"visit,min=1" doc:"which visit of the node in a walk, from 1, this answers"`
	// Delta are the writes, by field. EdgeOutput is the output along the edges, nil if
	// there is none (a null is a value).
	Delta      core.Members[*core.Value] `wavefold:"delta" doc:"writes of the node, by field"`
	EdgeOutput *core.Value               `wavefold:"edge_output" doc:"output along its edges"`
	// Output is the result of a node that calls a model, nil if there is none. It is
	// sent and written as by such nodes. Evals are the checks of the result.
	Output *core.Value        `wavefold:"output" doc:"result of the node: sent along its edges, and written as for a node that a model runs"`
	Evals  core.Members[Eval] `wavefold:"evals" doc:"checks of the result, by name: true, false or {pass, kind, reasoning}"`
	// Status is "", "success", "partial_success", "fail", "retry", which requests
	// another attempt, or, in a walk, "skipped".
	Status core.Text `wavefold:"status,oneof=success|partial_success|fail|retry|skipped" doc:"status of the call; retry asks for another attempt; skipped is for walks; default success"`
	// Note is the note that goes with the status.
	Note core.Text `wavefold:"note" doc:"reason of the failure or of the request for another attempt"`
	// Category is a core.Category, only with the status fail. If it is "", the note
	// determines the category.
	Category core.Text `wavefold:"category,oneof=transient_infra|deterministic|budget_exhausted|compilation_loop|canceled|structural" doc:"with status: fail: category of the failure; default as the note says"`
	// PreferredLabel, SuggestedNext and ContextUpdates are what a node of a walk
	// returns to influence the choice of the next node.
	PreferredLabel core.Text                 `wavefold:"preferred_label" doc:"in a walk: label of the preferred edge"`
	SuggestedNext  []core.Text               `wavefold:"suggested_next" doc:"in a walk: suggested next nodes, best first"`
	ContextUpdates core.Members[*core.Value] `wavefold:"context_updates" doc:"in a walk: values for the context, by key"`
	// Human is the answer of a person at a human gate. If it is nil, the other keys
	// apply.
	Human *core.Text `wavefold:"human" doc:"at a human gate: the answer of the person, a key or label; with a sleep beyond the timeout it is too late"`
	// Error makes the call fail, Panic makes it panic with a message. At most one of
	// them is set.
	Error *Error     `wavefold:"error" doc:"makes the call fail"`
	Panic *core.Text `wavefold:"panic" doc:"makes the call panic with this message"`
	// Sleep is the duration of the call.
	Sleep core.Located[time.Duration] `wavefold:"sleep" doc:"duration of the call, such as 200ms"`
	Pos   core.Position               `wavefold:",pos"`
}

// Eval is a check of a node's result.
type Eval struct {
	Pass      bool          `wavefold:"pass,required" doc:"whether the check passed"`
	Kind      core.Text     `wavefold:"kind,oneof=value|function|judge" doc:"value, function or judge; default value"`
	Reasoning core.Text     `wavefold:"reasoning" doc:"why"`
	Pos       core.Position `wavefold:",pos"`
}

// Error is the error that a call returns.
type Error struct {
	Message core.Text `wavefold:"message,required" doc:"message of the error"`
	// Retryable defaults to true.
	Retryable bool `wavefold:"retryable" doc:"whether another attempt may help; default true"`
	// Category is a core.Category. If it is "", a retryable error is transient_infra,
	// and the message determines the category of any other error.
	Category core.Text     `wavefold:"category,oneof=transient_infra|deterministic|budget_exhausted|compilation_loop|canceled|structural" doc:"category of the failure; default transient_infra if retryable, otherwise as the message says"`
	Pos      core.Position `wavefold:",pos"`
}

// Expect is the expected result of a run. Absent keys are not checked.
type Expect struct {
	// Run is the run's status, a core.RunStatus.
	Run core.Text `wavefold:"run,oneof=success|partial_success|failed|paused|cancelled" doc:"status of the run"`
	// Nodes are statuses by node: success, partial_success, fail, skipped, or none for
	// a node that was never reached.
	Nodes core.Members[core.Text] `wavefold:"nodes,oneof=success|partial_success|fail|skipped|none" doc:"status of each node; none: never reached"`
	// State holds the values of fields at the end. Absent are fields without a value.
	State  core.Members[*core.Value] `wavefold:"state" doc:"values of state fields at the end"`
	Absent []core.Text               `wavefold:"absent" doc:"state fields that have no value at the end"`
	// Runs and Attempts count executions and attempts by node.
	Runs     core.Members[core.Int] `wavefold:"runs,min=0" doc:"number of executions of each node: items, rows and rounds count, attempts do not"`
	Attempts core.Members[core.Int] `wavefold:"attempts,min=0" doc:"number of attempts of each node"`
	// Order are nodes in the order in which they start. Other nodes may start between
	// them.
	Order []core.Text `wavefold:"order" doc:"ids of nodes in the order in which they start"`
	// Trace are executions in the order in which they start.
	Trace []Step `wavefold:"trace" doc:"executions in the order in which they start, each as node or node#index"`
	// Path are the nodes that a walk visits, in order, without branches.
	Path []core.Text `wavefold:"path" doc:"ids of the nodes that a walk visits, in order, branches left out"`
	// Asked are strings that must occur in the last question to a person at a gate, by
	// node.
	Asked core.Members[core.Text] `wavefold:"asked" doc:"at human gates: a string that occurs in what the person was shown last, by node"`
	// Calls are the numbers of routing questions to a model, by node or in "total".
	Calls Counts `wavefold:"calls" doc:"number of routing questions to a model: a number in total, or by node and in total"`
	// Context holds values of a walk's context at the end.
	Context core.Members[*core.Value] `wavefold:"context" doc:"values of the context of a walk at the end, by key"`
	// Failure is the class of the run's failure.
	Failure core.Text `wavefold:"failure" doc:"class of the failure with which the run ends, such as no_route"`
	// Peak is the maximum number of concurrent executions, by node or in "total".
	Peak core.Members[core.Int] `wavefold:"peak,min=0" doc:"maximum number of executions at once, of a node or in total"`
	Pos  core.Position          `wavefold:",pos"`
}

// Total is the key for all nodes together in numbers by node.
const Total = "total"

// Counts are numbers by node or in Total. In a file, a single number is the total.
type Counts core.Members[core.Int]

// Step is one execution. A plain node is written as its id; the execution of "score"
// for item 3 is written as score#3.
type Step struct {
	Node  string
	Index core.Ordinal // of an item, row or round; 0 if there is none
	Pos   core.Position
}
