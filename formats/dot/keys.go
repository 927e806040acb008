package dot

import (
	"slices"
	"strings"
)

// fate says how an attribute is treated.
type fate uint8

const (
	used   fate = iota // it has an effect
	kept               // it is kept and written back; no effect is expected
	undone             // it is kept and written back, with a warning that it has no effect
)

// attributeKey describes an attribute that the dialect or this engine defines.
type attributeKey struct {
	name string
	fate fate
	// kinds are the kinds of nodes that have the attribute; nil means all kinds.
	kinds []string
	// newer is the current name of a deprecated attribute. It wins if both are set.
	newer string
	// same are values of an attribute without effect that ask for the behaviour of this
	// engine.
	same []string
	hint string // what to write instead of an attribute without effect
}

// of reports whether nodes of a kind have the attribute.
func (k *attributeKey) of(kind string) bool {
	return k.kinds == nil || slices.Contains(k.kinds, kind)
}

// place is a part of a document that can have attributes, with those it can have.
type place struct {
	name string // used in messages
	keys []attributeKey
}

// find returns the attribute with a name. It prefers one that the kind has, then one
// that other kinds have, and returns nil if there is none.
func (p *place) find(name, kind string) *attributeKey {
	var other *attributeKey
	for i := range p.keys {
		if k := &p.keys[i]; k.name == name {
			if k.of(kind) {
				return k
			}
			if other == nil {
				other = k
			}
		}
	}
	return other
}

// names returns the names of all attributes of a place.
func (p *place) names() []string {
	var out []string
	for i := range p.keys {
		if name := p.keys[i].name; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// owners names the kinds of nodes on which an attribute has an effect.
func owners(name string) string {
	var kinds []string
	for i := range nodePlace.keys {
		if k := &nodePlace.keys[i]; k.name == name && k.fate != undone {
			kinds = append(kinds, k.kinds...)
		}
	}
	return "nodes of the kind " + strings.Join(kinds, " or ")
}

var (
	models   = []string{kindAgent, kindPrompt}
	agents   = []string{kindAgent}
	scripts  = []string{kindScript}
	humans   = []string{kindHuman}
	parallel = []string{kindParallel}
	children = []string{kindWorkflow}
)

const (
	noMapping  = "DOT has no lists and mappings; a graph that is built in Go can have it"
	noSessions = "each visit is a conversation of its own"
	noPolling  = "a sub-workflow runs as a part of this walk, once, and is not polled"
	noHooks    = "no program runs before or after the calls of tools"
)

// These tables list the attributes that the dialect and its reference documents define,
// and those that kinds of this engine add. docs/formats/dot.md contains the same list.
var (
	nodePlace = place{"nodes", []attributeKey{
		{name: "label"}, {name: "shape"}, {name: "type"}, {name: "class"},
		{name: "allow_partial"}, {name: "auto_status"}, {name: "goal_gate"}, {name: "retry_policy"}, {name: "max_retries"},
		{name: "retry_target"}, {name: "fallback_retry_target"}, {name: "timeout"}, {name: "max_visits"}, {name: "selection"}, {name: "import"},
		{name: "prompt", kinds: models}, {name: "model", kinds: models}, {name: "provider", kinds: models},
		{name: "reasoning_effort", kinds: models}, {name: "max_tokens", kinds: models},
		{name: "llm_prompt", kinds: models, newer: "prompt"}, {name: "llm_model", kinds: models, newer: "model"},
		{name: "llm_provider", kinds: models, newer: "provider"},
		{name: "system", kinds: models}, {name: "context", kinds: models}, {name: "schema", kinds: models}, {name: "lenient", kinds: models},
		{name: "temperature", kinds: models}, {name: "timeout_ms", kinds: models}, {name: "fail_soft", kinds: models},
		{name: "tools", kinds: agents}, {name: "hosted_tools", kinds: agents}, {name: "max_turns", kinds: agents}, {name: "max_output", kinds: []string{kindAgent, kindScript}},
		{name: "instruction", kinds: models, fate: undone, hint: `write prompt="..."`},
		{name: "preamble", kinds: models, fate: undone, hint: noMapping}, {name: "context_nodes", kinds: models, fate: undone, hint: "write context=true"},
		{name: "requires", kinds: models, fate: undone, hint: noMapping}, {name: "eval", kinds: models, fate: undone, hint: noMapping},
		{name: "judge_model", kinds: models, fate: undone, hint: noMapping}, {name: "retry_instruction", kinds: models, fate: undone, hint: noMapping},
		{name: "commands", kinds: agents, fate: undone, hint: noMapping}, {name: "skills", kinds: agents, fate: undone, hint: `tools="..." names Go functions`},
		{name: "tool_filter", kinds: agents, fate: undone, hint: `tools="..." names Go functions`},
		{name: "script", kinds: scripts}, {name: "tool_command", kinds: scripts, newer: "script"}, {name: "language", kinds: scripts},
		{name: "stdin", kinds: scripts}, {name: "output", kinds: scripts}, {name: "pass_env", kinds: scripts},
		{name: "duration", kinds: []string{kindWait}},
		{name: "text", kinds: humans}, {name: "show", kinds: humans}, {name: "human.default_choice", kinds: humans},
		{name: "stack.child_workflow", kinds: children}, {name: "stack.child_dotfile", kinds: children, newer: "stack.child_workflow"},
		{name: "stack.child_dot_source", kinds: children},
		{name: "join_policy", kinds: parallel}, {name: "max_parallel", kinds: parallel}, {name: "error_policy", kinds: parallel},
		{name: "prompt", kinds: []string{kindFanIn}, fate: undone, hint: "the branch with the best status and score is picked; a node after it can ask a model"},
		{name: "fidelity", kinds: models},
		{name: "thread_id", fate: undone, hint: noSessions},
		{name: "speed", fate: undone, hint: "the model decides how fast it is"},
		{name: "backend", fate: undone, same: []string{"api"}, hint: "models are asked by their API"},
		{name: "project_memory", fate: undone, same: []string{"false"}, hint: `files of the project are in no prompt; prompt="@file" takes one`},
		{name: "tool_hooks.pre", fate: undone, hint: noHooks}, {name: "tool_hooks.post", fate: undone, hint: noHooks},
		{name: "stack.child_workdir", fate: undone, hint: "scripts run in the folder of their document"},
		{name: "stack.child_autostart", fate: undone, same: []string{"true"}, hint: noPolling},
		{name: "manager.poll_interval", fate: undone, hint: noPolling}, {name: "manager.max_cycles", fate: undone, hint: noPolling},
		{name: "manager.stop_condition", fate: undone, hint: noPolling}, {name: "manager.actions", fate: undone, hint: noPolling},
	}}
	edgePlace = place{"edges", []attributeKey{
		{name: "condition"}, {name: "label"}, {name: "weight"}, {name: "loop_restart"}, {name: "freeform"},
		{name: "fidelity"},
		{name: "thread_id", fate: undone, hint: noSessions},
	}}
	graphPlace = place{"graphs", []attributeKey{
		{name: "goal"}, {name: "default_max_retries"}, {name: "default_max_retry", newer: "default_max_retries"},
		{name: "retry_target"}, {name: "fallback_retry_target"},
		{name: "max_node_visits"}, {name: "stall_timeout"}, {name: "loop_restart_signature_limit"}, {name: "model_stylesheet"},
		{name: "default_fidelity"}, {name: "label", fate: kept}, {name: "rankdir", fate: kept},
		{name: "default_thread", fate: undone, hint: noSessions},
		{name: "tool_hooks.pre", fate: undone, hint: noHooks}, {name: "tool_hooks.post", fate: undone, hint: noHooks},
		{name: "stack.child_workflow", fate: undone, hint: "a sub-workflow is named by its node"},
		{name: "stack.child_dotfile", fate: undone, hint: "a sub-workflow is named by its node: stack.child_workflow"},
		{name: "stack.child_workdir", fate: undone, hint: "scripts run in the folder of their document"},
	}}
	places = []place{nodePlace, edgePlace, graphPlace}
)

// foreignKeys are attributes that have an effect in other engines but not here, with
// the replacement to suggest.
var foreignKeys = map[string]string{
	"prompt_file":   `write prompt="@file"`,
	"output_schema": `schema="file.json" is for nodes that ask a model; of what a script prints no label and no context is taken`,
	"stdin_source":  "stdin=json hands a script the context",
	"for_each":      "a parallel node has one branch for each of its edges",
	"on_failure":    `what follows a failure: an edge with condition="outcome=fail", retry_target, auto_status`,
	"dot_file":      childHint,
	"child_graph":   childHint,
}

const childHint = `a sub-workflow is shape=house, stack.child_workflow="child.dot"`
