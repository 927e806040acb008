package native

import (
	"time"

	"github.com/wavefold/wavefold/core/source"
)

// These structs define the format. A tag gives the key and its limits, `doc` its
// meaning. Write prints the keys in the order of the fields.

// headShape holds the keys of a document other than graph, whose form depends on mode.
type headShape struct {
	Name        source.Text                `wavefold:"name,required" doc:"what the workflow is called in logs and events"`
	Mode        source.Text                `wavefold:"mode,oneof=dag|walk" doc:"dag runs each node once, when the nodes before it are done; walk visits one node at a time and may return to it; default dag"`
	Version     source.Text                `wavefold:"version" doc:"version of the workflow: three numbers with points, such as 1.4.0"`
	Description source.Text                `wavefold:"description" doc:"what the workflow is for"`
	Inputs      source.Members[inputShape] `wavefold:"inputs" doc:"parameters of a run, by name; without this section a run accepts a starting value for every state field"`
	State       stateShape                 `wavefold:"state" doc:"the data that nodes share"`
	Incremental *incrementalShape          `wavefold:"incremental" doc:"what one run leaves for the next: a cursor, or which partitions are done"`
	Phases      []phaseShape               `wavefold:"phases" doc:"labels that group nodes for display"`
	Runtime     runtimeShape               `wavefold:"runtime" doc:"limits of a run, and how safely it is stored"`
	Retry       source.Members[retryShape] `wavefold:"retry_policies" doc:"retry policies that nodes may name in on_error.preset"`
	Pos         source.Position            `wavefold:",pos"`
	Lost        source.Lost                `wavefold:",lost"`
}

// documentOf is a document whose graph has the form G.
type documentOf[G any] struct {
	headShape
	Graph G `wavefold:"graph,required" doc:"nodes and what connects them"`
}

// documentShape is a document of the mode dag.
type documentShape = documentOf[graphShape]

type inputShape struct {
	Type        source.Text               `wavefold:"type,oneof=string|number|integer|boolean|object|array|null" doc:"type of the value; absent: anything"`
	Required    bool                      `wavefold:"required" doc:"whether a run must be given a value; default false"`
	Default     *any                      `wavefold:"default" doc:"the value when a run is given none; default: no value"`
	Items       *typeShape                `wavefold:"items" doc:"type of the elements of an array"`
	Properties  source.Members[typeShape] `wavefold:"properties" doc:"types of the members of an object, by name"`
	Enum        []any                     `wavefold:"enum" doc:"the allowed values; absent: all of the type"`
	Description source.Text               `wavefold:"description" doc:"meaning of the input, for help"`
	Pos         source.Position           `wavefold:",pos"`
	Lost        source.Lost               `wavefold:",lost"`
}

type stateShape struct {
	Schema source.Members[fieldShape] `wavefold:"schema" doc:"the state fields, by name"`
	Store  *source.Value              `wavefold:"store" doc:"accepted for older documents; has no effect and is reported as a warning"`
	Lost   source.Lost                `wavefold:",lost"`
}

type fieldShape struct {
	Type        source.Text               `wavefold:"type,oneof=string|number|integer|boolean|object|array|null" doc:"type of the value; absent: anything. null passes for every type"`
	Merge       source.Text               `wavefold:"merge,oneof=last_wins|array_append|set_once|object_merge|union|sum|min|max|count" doc:"how a write is merged into the value; default last_wins"`
	Key         source.Text               `wavefold:"key" doc:"for merge: union, the member by which objects are compared; absent: whole values are compared"`
	Default     *any                      `wavefold:"default" doc:"the value before any write; default: no value"`
	Items       *typeShape                `wavefold:"items" doc:"type of the elements of an array"`
	Properties  source.Members[typeShape] `wavefold:"properties" doc:"types of the members of an object, by name; others are allowed"`
	Required    []source.Text             `wavefold:"required" doc:"members that an object must have"`
	Enum        []any                     `wavefold:"enum" doc:"the allowed values; absent: all of the type"`
	Ref         source.Text               `wavefold:"$ref" doc:"kept for other programs; has no effect and is reported as a warning"`
	Description source.Text               `wavefold:"description" doc:"meaning of the field"`
	Pos         source.Position           `wavefold:",pos"`
	Lost        source.Lost               `wavefold:",lost"`
}

type typeShape struct {
	Type        source.Text               `wavefold:"type,oneof=string|number|integer|boolean|object|array|null" doc:"type of the value; absent: anything. null passes for every type"`
	Items       *typeShape                `wavefold:"items" doc:"type of the elements of an array"`
	Properties  source.Members[typeShape] `wavefold:"properties" doc:"types of the members of an object, by name; others are allowed"`
	Required    []source.Text             `wavefold:"required" doc:"members that an object must have"`
	Enum        []any                     `wavefold:"enum" doc:"the allowed values; absent: all of the type"`
	Ref         source.Text               `wavefold:"$ref" doc:"kept for other programs; has no effect and is reported as a warning"`
	Description source.Text               `wavefold:"description" doc:"meaning of the value"`
}

type incrementalShape struct {
	File       source.Text      `wavefold:"file" doc:"the file that stores the progress, relative to the workflow's folder; default: the workflow's name with .progress.json"`
	Cursor     *cursorShape     `wavefold:"cursor" doc:"a value that is passed from run to run; it is saved only if the run succeeded and no node failed"`
	Partitions *partitionsShape `wavefold:"partitions" doc:"pieces of work that are each completed once; failed ones are repeated"`
	Pos        source.Position  `wavefold:",pos"`
}

type cursorShape struct {
	Input source.Text     `wavefold:"input,required" doc:"the input that gets the value; its default is the value of the first run"`
	From  source.Text     `wavefold:"from,required" doc:"an expression over the state at the end, such as $.newest"`
	Pos   source.Position `wavefold:",pos"`
}

type partitionsShape struct {
	Input source.Text     `wavefold:"input,required" doc:"the input that lists the partitions, an array"`
	Node  source.Text     `wavefold:"node,required" doc:"the node with for_each over that input"`
	Pos   source.Position `wavefold:",pos"`
}

type phaseShape struct {
	ID    source.Text `wavefold:"id,required" doc:"the name that nodes and units use"`
	Title source.Text `wavefold:"title" doc:"what to display; default: the id"`
	Lost  source.Lost `wavefold:",lost"`
}

type runtimeShape struct {
	Concurrency    *source.Int `wavefold:"concurrency,min=1" doc:"maximum number of nodes that run at once; default 1"`
	MaxInFlight    *source.Int `wavefold:"max_in_flight,min=1" doc:"limit on all user code that runs at once: nodes, items, stages, nested workflows; default: no limit"`
	Schedule       source.Text `wavefold:"schedule,oneof=dataflow|barrier" doc:"dataflow starts a node as soon as its inputs are there, barrier finishes a level before the next one starts; the results are the same; default dataflow"`
	Durability     source.Text `wavefold:"durability,oneof=full|batch|off" doc:"how much of a stored run survives a crash of the machine: full everything, batch all but the last 10 ms and every result of nodes with effects, off nothing, so that the run cannot be resumed; default batch"`
	ConcurrencyKey source.Text `wavefold:"concurrency_key" doc:"runs in one store whose key is the same run one at a time; a template over the inputs, such as load-{{$input.day}}; default: all may run at the same time"`
	Overlap        source.Text `wavefold:"overlap,oneof=queue|skip|fail|cancel_previous" doc:"what a run does while another one has its concurrency_key: queue waits, skip does not run and succeeds, fail does not run and fails, cancel_previous cancels the other one; default queue"`
}

type graphShape struct {
	Nodes     []nodeShape     `wavefold:"nodes,required" doc:"at least one node"`
	Edges     []edgeShape     `wavefold:"edges" doc:"which node comes after which, and when; may be absent"`
	Pipelines []pipelineShape `wavefold:"pipelines" doc:"rows of an array that pass through stages"`
	Loops     []loopShape     `wavefold:"loops" doc:"nodes that are repeated"`
	Lost      source.Lost     `wavefold:",lost"`
}

// nodeHead, nodeRun and nodeTail are the keys that nodes have in all modes, in the order in
// which they are written.
type nodeHead struct {
	ID          source.Text   `wavefold:"id,required" doc:"name of the node: letters, digits and underscore, not starting with a digit"`
	Kind        source.Text   `wavefold:"kind,required" doc:"what the node does; each kind has its own keys"`
	Description source.Text   `wavefold:"description" doc:"purpose of the node"`
	Phase       source.Text   `wavefold:"phase" doc:"label for display; should be one of phases"`
	Args        mappingShape  `wavefold:"args" doc:"arguments. A string that is a path such as $.orders[0].id is replaced by the value; write $$. for a string that begins with $."`
	Reads       []source.Text `wavefold:"reads" doc:"the state fields the node sees; default: none"`
	Writes      []source.Text `wavefold:"writes" doc:"the state fields the node may write; default: none"`
}

type nodeRun struct {
	OnError *onErrorShape                  `wavefold:"on_error" doc:"what happens when the node fails; absent: nodes that depend on it are skipped, the others run, the run is failed"`
	Partial bool                           `wavefold:"allow_partial" doc:"whether the node is a partial success when its last attempt still asks for another; default false"`
	Auto    bool                           `wavefold:"auto_status" doc:"whether the node is a success whatever the results of its attempts; default false"`
	Timeout *source.Located[time.Duration] `wavefold:"timeout,min=1ns" doc:"limit on one attempt, such as 30s; default: no limit"`
	Pause   source.Text                    `wavefold:"pause,oneof=before|after" doc:"each execution of the node waits until a person lets it continue, before its first attempt or after its last one; default: no pause"`
	Cache   *cacheShape                    `wavefold:"cache" doc:"keep the results of the node in the store of the run, so that later runs with equal inputs need not compute them; default: they are not kept"`
}

type nodeTail struct {
	Version source.Text     `wavefold:"version" doc:"the version of what the node computes; a stored run does not keep results of another version"`
	Effects *bool           `wavefold:"effects" doc:"whether the node's work is visible outside of the run, so that it must start only when its inputs are final; default: as the kind says"`
	Config  *source.Value   `wavefold:",rest"`
	Pos     source.Position `wavefold:",pos"`
	Lost    source.Lost     `wavefold:",lost"`
}

type nodeShape struct {
	nodeHead
	ForEach *forEachShape `wavefold:"for_each" doc:"run the node once for each element of an array"`
	nodeRun
	Join     joinShape  `wavefold:"join" doc:"all: every predecessor must be done and no condition false; all_done: run once all predecessors are resolved, whatever happened; any: run when one has succeeded; a mapping sets the number; default all"`
	Race     bool       `wavefold:"race" doc:"whether a join that takes some predecessors takes the first to finish and gives the others up; without it the first in canonical order are taken, whatever their timing; default false"`
	Priority source.Int `wavefold:"priority" doc:"of the nodes that may start, the one with the highest number starts first; affects time only; default 0"`
	nodeTail
}

// cacheShape has the fields of core.Cache.
type cacheShape struct {
	Key     source.Text                    `wavefold:"key" doc:"expression whose value identifies a result, such as $item.id; default: all that the node reads does"`
	TTL     *source.Located[time.Duration] `wavefold:"ttl,min=1ns" doc:"age up to which a result is used, such as 24h; default: no limit"`
	Version source.Text                    `wavefold:"version" doc:"another version makes the node ignore earlier results"`
	Lost    source.Lost                    `wavefold:",lost"`
	Pos     source.Position                `wavefold:",pos"`
}

type joinKeysShape struct {
	KOfN   *source.Int              `wavefold:"k_of_n,min=0" doc:"run when this number of predecessors have succeeded"`
	Quorum *source.Located[float64] `wavefold:"quorum" doc:"run when that share of the predecessors has succeeded, from 0 to 1; half a predecessor counts as a whole one"`
	Pos    source.Position          `wavefold:",pos"`
}

type forEachShape struct {
	Source      source.Text     `wavefold:"source,required" doc:"path of the array, such as $.orders"`
	Concurrency *source.Int     `wavefold:"concurrency,min=1" doc:"maximum number of items that run at once; default 1"`
	MaxFailures *source.Int     `wavefold:"max_failures,min=0" doc:"number of items that may fail before the rest is given up; default: any number"`
	Collect     source.Text     `wavefold:"collect" doc:"the field among writes that gets the results of the items as one list, in item order; each item that succeeds adds one element; default: each item writes on its own"`
	Pos         source.Position `wavefold:",pos"`
	Lost        source.Lost     `wavefold:",lost"`
}

// onErrorShape has the fields of core.OnError.
type onErrorShape struct {
	Policy   source.Text                    `wavefold:"policy,required,oneof=skip|fail_run|retry" doc:"skip tolerates the failure: dependents are skipped, the run ends partial_success at best; fail_run ends the run; retry makes another attempt"`
	Preset   source.Text                    `wavefold:"preset" doc:"retry policy to start from: none, standard, aggressive, linear, patient or one of retry_policies; other keys override it; retry only"`
	Attempts *source.Int                    `wavefold:"attempts,min=1,max=20" doc:"number of attempts, including the first; required with retry unless a preset sets it, and only there"`
	Backoff  source.Text                    `wavefold:"backoff,oneof=linear|exponential" doc:"waits of base, 2 base, 3 base or of base, 2 base, 4 base; retry only; default linear"`
	Factor   *source.Located[float64]       `wavefold:"factor,min=1" doc:"ratio of each wait to the previous one; exponential has 2; retry only"`
	Base     *source.Located[time.Duration] `wavefold:"base_ms,ms" doc:"wait before the second attempt; retry only; default 100"`
	Max      *source.Located[time.Duration] `wavefold:"max_ms,ms" doc:"longest wait; retry only; default: no limit"`
	Jitter   *bool                          `wavefold:"jitter" doc:"multiply each wait by a random factor from 0.5 to 1.5; retry only; default false"`
	RetryOn  source.Text                    `wavefold:"retry_on,oneof=any|transient" doc:"any retries after every failure that is not permanent; transient only after failures that another attempt can cure, such as a timeout; retry only; default any"`
	Then     source.Text                    `wavefold:"then,oneof=skip|fail_run" doc:"what happens when all attempts failed; retry only; absent: as without on_error"`
	Lost     source.Lost                    `wavefold:",lost"`
	Pos      source.Position                `wavefold:",pos"`
}

// retryShape has the fields of core.RetryPolicy.
type retryShape struct {
	Name     source.Text                    // the key in the mapping retry_policies
	Preset   source.Text                    `wavefold:"preset" doc:"retry policy to start from: none, standard, aggressive, linear, patient or another one of these; other keys override it"`
	Attempts *source.Int                    `wavefold:"attempts,min=1,max=20" doc:"number of attempts, including the first"`
	Backoff  source.Text                    `wavefold:"backoff,oneof=linear|exponential" doc:"waits of base, 2 base, 3 base or of base, 2 base, 4 base; default linear"`
	Factor   *source.Located[float64]       `wavefold:"factor,min=1" doc:"ratio of each wait to the previous one; exponential has 2"`
	Base     *source.Located[time.Duration] `wavefold:"base_ms,ms" doc:"wait before the second attempt; default 100"`
	Max      *source.Located[time.Duration] `wavefold:"max_ms,ms" doc:"longest wait; default: no limit"`
	Jitter   *bool                          `wavefold:"jitter" doc:"multiply each wait by a random factor from 0.5 to 1.5; default false"`
	RetryOn  source.Text                    `wavefold:"retry_on,oneof=any|transient" doc:"any retries after every failure that is not permanent; transient only after failures that another attempt can cure, such as a timeout; default any"`
	Lost     source.Lost                    `wavefold:",lost"`
	Pos      source.Position                `wavefold:",pos"`
}

type edgeShape struct {
	From    source.Text           `wavefold:"from,required" doc:"id of the node that comes first"`
	To      source.Text           `wavefold:"to,required" doc:"id of the node that comes after it"`
	When    conditionShape        `wavefold:"when" doc:"condition on the state under which the target runs; the word else is true when no other condition out of the same node is; absent: always"`
	On      source.Text           `wavefold:"on,oneof=success|fail|done" doc:"how the first node must have ended: well, with a failure of its own, or in any way; default success"`
	Handles *source.Located[bool] `wavefold:"handles" doc:"with on: fail only: whether the failure is handled, so that it does not fail the run, if the second node runs; default false"`
	Pos     source.Position       `wavefold:",pos"`
	Lost    source.Lost           `wavefold:",lost"`
}

type pipelineShape struct {
	ID          source.Text                    `wavefold:"id,required" doc:"name of the pipeline"`
	Items       source.Text                    `wavefold:"items,required" doc:"path of the array whose elements are the rows, such as $.orders"`
	Stages      []source.Text                  `wavefold:"stages,required" doc:"ids of the nodes that each row passes, in order"`
	Concurrency *source.Int                    `wavefold:"concurrency,min=1" doc:"maximum number of rows in flight; the result is the same as for one at a time; default 1"`
	Batch       *source.Int                    `wavefold:"batch,min=1" doc:"number of elements in a row, which is then an array; absent: each element is a row"`
	Flush       *source.Located[time.Duration] `wavefold:"flush,min=1ns" doc:"maximum time that elements of a stream wait for a batch to fill, such as 2s; absent: no limit"`
	Phase       source.Text                    `wavefold:"phase" doc:"label for display"`
	OnError     *unitOnErrorShape              `wavefold:"on_error" doc:"what happens when the pipeline itself cannot run, such as items that are not an array"`
	Pos         source.Position                `wavefold:",pos"`
	Lost        source.Lost                    `wavefold:",lost"`
}

type loopShape struct {
	ID          source.Text       `wavefold:"id,required" doc:"name of the loop"`
	Body        bodyShape         `wavefold:"body,required" doc:"id of the node that is repeated, or a list of ids that run one after the other"`
	Until       conditionShape    `wavefold:"until" doc:"condition that ends the loop, evaluated after each round; until, max_iters or both are required"`
	MaxIters    *source.Int       `wavefold:"max_iters,min=1" doc:"maximum number of rounds; default 100 if there is an until"`
	OnExhausted source.Text       `wavefold:"on_exhausted,oneof=continue|fail" doc:"whether max_iters rounds without until becoming true are a normal end or a failure; default continue"`
	Budget      *source.Value     `wavefold:"budget" doc:"accepted for older documents; has no effect and is reported as a warning"`
	Phase       source.Text       `wavefold:"phase" doc:"label for display"`
	OnError     *unitOnErrorShape `wavefold:"on_error" doc:"what happens when the loop itself fails"`
	Pos         source.Position   `wavefold:",pos"`
	Lost        source.Lost       `wavefold:",lost"`
}

type unitOnErrorShape struct {
	Policy source.Text     `wavefold:"policy,required,oneof=skip|fail_run" doc:"skip tolerates the failure, fail_run ends the run"`
	Pos    source.Position `wavefold:",pos"`
	Lost   source.Lost     `wavefold:",lost"`
}
