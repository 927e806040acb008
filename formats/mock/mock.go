// Package mock reads mock files: what the nodes of a workflow answer in a test, and
// what the run is expected to come to. It only reads them; running a workflow against
// one is somebody else's work.
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

// File is a mock file. Values keep the places they were written at.
type File struct {
	// Initial are starting values of state fields, Inputs the run's inputs.
	Initial core.Members[*core.Value] `wavefold:"initial" doc:"starting values of state fields, by name"`
	Inputs  core.Members[*core.Value] `wavefold:"inputs" doc:"inputs of the run, by name"`
	// Nodes are the answers of the nodes, by id. A node that is not among them
	// has no mock.
	Nodes core.Members[Answers] `wavefold:"nodes" doc:"what each node answers, by id: one entry for each call, the last one repeats"`
	// Model is what models answer, nil for nothing.
	Model  *Model        `wavefold:"model" doc:"what models answer"`
	Expect *Expect       `wavefold:"expect" doc:"expected result of the run"`
	Pos    core.Position `wavefold:",pos"`
}

// Model is what models answer.
type Model struct {
	// Run are the answers of nodes that a model runs, by id, as in File.Nodes. No node is
	// in both.
	Run core.Members[Answers] `wavefold:"run" doc:"results of the nodes that a model runs, by id: as under nodes"`
	// Route are the decisions where to go on from a node, by its id.
	Route core.Members[Routes] `wavefold:"route" doc:"routing decisions of a model after each node, by id: one entry for each question, the last one repeats"`
	Pos   core.Position        `wavefold:",pos"`
}

// Routes are the answers to where a walk goes on from a node, never empty. Those with a
// Visit are for the decision after that visit, the others for the other decisions, in
// order. The last of either repeats.
type Routes []Route

// Route is one answer to where a walk goes on. Exactly one of To, Number, Answer and Error
// is set. In a file the first two stand for themselves: "publish", "none" or 2.
type Route struct {
	Visit *core.Int `wavefold:"visit,min=1" doc:"the decision after that visit of the node, from 1"`
	// To is the node to go to, or None.
	To *core.Text `wavefold:"to" doc:"id of the node to go to, or none"`
	// Number is that of the condition which holds, from 1, without the edge that has none;
	// 0 is as None.
	Number *core.Int `wavefold:"number,min=0" doc:"number of the true condition, from 1; 0 if none is"`
	// Answer is a text that is read as that of a model.
	Answer *core.Text `wavefold:"answer" doc:"answer of the model in words, parsed like a real answer"`
	// Error is that of a model which gives no answer.
	Error *Error        `wavefold:"error" doc:"the model gives no answer"`
	Pos   core.Position `wavefold:",pos"`
}

// None in place of a node says that no condition holds.
const None = "none"

// Answers are what a node answers, never empty. Those with an Item answer the calls
// for that item, in order; the others answer the remaining calls, in order. The last
// of either repeats.
type Answers []Answer

// Answer is one answer of a node. The zero Answer is a success that writes and sends
// nothing.
type Answer struct {
	// Item is the index this answers, nil for calls in general.
	Item *core.Int `wavefold:"item,min=0" doc:"index of the item of a fan-out, or the row of a pipeline, that this answers"`
	// Visit is the visit of a node in a walk this answers, from 1; nil for any.
	Visit *core.Int `wavefold:"visit,min=1" doc:"which visit of the node in a walk, from 1, this answers"`
	// Delta are the writes, by field; EdgeOutput is what goes along the edges, nil
	// for nothing (a null is a value).
	Delta      core.Members[*core.Value] `wavefold:"delta" doc:"writes of the node, by field"`
	EdgeOutput *core.Value               `wavefold:"edge_output" doc:"output along its edges"`
	// Output is the data that a node comes to which a model runs, nil for none: it is sent
	// and written as such nodes do it. Evals are the checks of it.
	Output *core.Value        `wavefold:"output" doc:"result of the node: sent along its edges, and written as for a node that a model runs"`
	Evals  core.Members[Eval] `wavefold:"evals" doc:"checks of the result, by name: true, false or {pass, kind, reasoning}"`
	// Status is "", "success", "partial_success", "fail", "retry", which asks to be run
	// again, or, in a walk, "skipped".
	Status core.Text `wavefold:"status,oneof=success|partial_success|fail|retry|skipped" doc:"status of the call; retry asks for another attempt; skipped is for walks; default success"`
	// Note is the text beside the status.
	Note core.Text `wavefold:"note" doc:"reason of the failure or of the request for another attempt"`
	// Category is a core.Category, beside the status fail only; "" leaves it to the note.
	Category core.Text `wavefold:"category,oneof=transient_infra|deterministic|budget_exhausted|compilation_loop|canceled|structural" doc:"with status: fail: category of the failure; default as the note says"`
	// PreferredLabel, SuggestedNext and ContextUpdates are what the node of a walk says of
	// the way on.
	PreferredLabel core.Text                 `wavefold:"preferred_label" doc:"in a walk: label of the preferred edge"`
	SuggestedNext  []core.Text               `wavefold:"suggested_next" doc:"in a walk: suggested next nodes, best first"`
	ContextUpdates core.Members[*core.Value] `wavefold:"context_updates" doc:"in a walk: values for the context, by key"`
	// Human is what a person says at a human gate. nil leaves the gate to the other keys.
	Human *core.Text `wavefold:"human" doc:"at a human gate: the answer of the person, a key or label; with a sleep beyond the timeout it is too late"`
	// Error makes the call fail, Panic makes it panic with a text. At most one is
	// set.
	Error *Error     `wavefold:"error" doc:"makes the call fail"`
	Panic *core.Text `wavefold:"panic" doc:"makes the call panic with this message"`
	// Sleep is how long the call takes.
	Sleep core.Located[time.Duration] `wavefold:"sleep" doc:"duration of the call, such as 200ms"`
	Pos   core.Position               `wavefold:",pos"`
}

// Eval is a check of what a node came to.
type Eval struct {
	Pass      bool          `wavefold:"pass,required" doc:"whether the check passed"`
	Kind      core.Text     `wavefold:"kind,oneof=value|function|judge" doc:"value, function or judge; default value"`
	Reasoning core.Text     `wavefold:"reasoning" doc:"why"`
	Pos       core.Position `wavefold:",pos"`
}

// Error is the error a call returns.
type Error struct {
	Message core.Text `wavefold:"message,required" doc:"message of the error"`
	// Retryable is true unless the file says otherwise.
	Retryable bool `wavefold:"retryable" doc:"whether another attempt may help; default true"`
	// Category is a core.Category, "" for transient_infra of what is retryable, and else for
	// the one that the message says.
	Category core.Text     `wavefold:"category,oneof=transient_infra|deterministic|budget_exhausted|compilation_loop|canceled|structural" doc:"category of the failure; default transient_infra if retryable, otherwise as the message says"`
	Pos      core.Position `wavefold:",pos"`
}

// Expect is what a run is expected to come to. What is absent is not checked.
type Expect struct {
	// Run is the run's status, a core.RunStatus.
	Run core.Text `wavefold:"run,oneof=success|partial_success|failed|paused|cancelled" doc:"status of the run"`
	// Nodes are statuses by node: success, partial_success, fail, skipped, or none
	// for a node that was never reached.
	Nodes core.Members[core.Text] `wavefold:"nodes,oneof=success|partial_success|fail|skipped|none" doc:"status of each node; none: never reached"`
	// State are the values of fields at the end; Absent are fields without one.
	State  core.Members[*core.Value] `wavefold:"state" doc:"values of state fields at the end"`
	Absent []core.Text               `wavefold:"absent" doc:"state fields that have no value at the end"`
	// Runs and Attempts count executions and attempts by node.
	Runs     core.Members[core.Int] `wavefold:"runs,min=0" doc:"number of executions of each node: items, rows and rounds count, attempts do not"`
	Attempts core.Members[core.Int] `wavefold:"attempts,min=0" doc:"number of attempts of each node"`
	// Order are nodes in the order in which they start; others may come between.
	Order []core.Text `wavefold:"order" doc:"ids of nodes in the order in which they start"`
	// Trace are executions in the order in which they start.
	Trace []Step `wavefold:"trace" doc:"executions in the order in which they start, each as node or node#index"`
	// Path are the nodes that a walk visits, in order, without branches.
	Path []core.Text `wavefold:"path" doc:"ids of the nodes that a walk visits, in order, branches left out"`
	// Asked are texts that stand in what a person was shown last at a gate, by node.
	Asked core.Members[core.Text] `wavefold:"asked" doc:"at human gates: a string that occurs in what the person was shown last, by node"`
	// Calls count how often a model was asked where to go on, by node or in "total".
	Calls Counts `wavefold:"calls" doc:"number of routing questions to a model: a number in total, or by node and in total"`
	// Context are values of the context of a walk at the end.
	Context core.Members[*core.Value] `wavefold:"context" doc:"values of the context of a walk at the end, by key"`
	// Failure is the class of the failure of the run.
	Failure core.Text `wavefold:"failure" doc:"class of the failure with which the run ends, such as no_route"`
	// Peak is the largest number of executions at a time, by node or in "total".
	Peak core.Members[core.Int] `wavefold:"peak,min=0" doc:"maximum number of executions at once, of a node or in total"`
	Pos  core.Position          `wavefold:",pos"`
}

// Total stands for all nodes together where numbers are given by node.
const Total = "total"

// Counts are numbers by node or in Total. In a file a number alone is the total.
type Counts core.Members[core.Int]

// Step is one execution: a plain node is written by its id, "score" for item 3 is
// written score#3.
type Step struct {
	Node  string
	Index core.Ordinal // of an item, row or round; 0 for none
	Pos   core.Position
}
