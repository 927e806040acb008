package dot

import (
	"slices"
	"strings"
)

// effect says how an attribute is treated.
type effect uint8

const (
	hasEffect effect = iota // it has an effect
	keptOnly                // it is kept and written back; no effect is expected
	noEffect                // it is kept and written back, with a warning that it has no effect
)

// attributeKey describes an attribute that the dialect or this engine defines.
type attributeKey struct {
	name   string
	effect effect
	// kinds are the kinds of nodes that have the attribute; nil means all kinds.
	kinds []string
	// replacedBy is the current name of a deprecated attribute. It wins if both are set.
	replacedBy string
	// harmless are values of an attribute without effect that describe the behaviour of
	// this engine anyway.
	harmless []string
	hint     string // what to write instead of an attribute without effect
}

// of reports whether nodes of the given kind have the attribute.
func (k *attributeKey) of(kind string) bool {
	return k.kinds == nil || slices.Contains(k.kinds, kind)
}

// attributeTable lists the attributes that one part of a document can have.
type attributeTable struct {
	name string // of the part, for messages
	keys []attributeKey
}

// find returns the attribute with the given name. It prefers an attribute of the given
// kind over one of other kinds, and returns nil if there is none.
func (p *attributeTable) find(name, kind string) *attributeKey {
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

// names returns the names of all attributes of a table.
func (p *attributeTable) names() []string {
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
	for i := range nodeTable.keys {
		if k := &nodeTable.keys[i]; k.name == name && k.effect != noEffect {
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
// and the attributes that kinds of this engine add. docs/formats/dot.md contains the
// same list.
var (
	nodeTable = attributeTable{"nodes", []attributeKey{
		{name: "label"}, {name: "shape"}, {name: "type"}, {name: "class"},
		{name: "allow_partial"}, {name: "auto_status"}, {name: "goal_gate"}, {name: "retry_policy"}, {name: "max_retries"},
		{name: "retry_target"}, {name: "fallback_retry_target"}, {name: "timeout"}, {name: "pause"}, {name: "max_visits"}, {name: "selection"}, {name: "import"},
		{name: "prompt", kinds: models}, {name: "model", kinds: models}, {name: "provider", kinds: models},
		{name: "reasoning_effort", kinds: models}, {name: "max_tokens", kinds: models},
		{name: "llm_prompt", kinds: models, replacedBy: "prompt"}, {name: "llm_model", kinds: models, replacedBy: "model"},
		{name: "llm_provider", kinds: models, replacedBy: "provider"},
		{name: "system", kinds: models}, {name: "context", kinds: models}, {name: "schema", kinds: models}, {name: "lenient", kinds: models},
		{name: "temperature", kinds: models}, {name: "timeout_ms", kinds: models}, {name: "fail_soft", kinds: models},
		{name: "tools", kinds: agents}, {name: "hosted_tools", kinds: agents}, {name: "max_turns", kinds: agents}, {name: "max_output", kinds: []string{kindAgent, kindScript}},
		{name: "instruction", kinds: models, effect: noEffect, hint: `write prompt="..."`},
		{name: "preamble", kinds: models, effect: noEffect, hint: noMapping}, {name: "context_nodes", kinds: models, effect: noEffect, hint: "write context=true"},
		{name: "requires", kinds: models, effect: noEffect, hint: noMapping}, {name: "eval", kinds: models, effect: noEffect, hint: noMapping},
		{name: "judge_model", kinds: models, effect: noEffect, hint: noMapping}, {name: "retry_instruction", kinds: models, effect: noEffect, hint: noMapping},
		{name: "commands", kinds: agents, effect: noEffect, hint: noMapping}, {name: "skills", kinds: agents, effect: noEffect, hint: `tools="..." names Go functions`},
		{name: "tool_filter", kinds: agents, effect: noEffect, hint: `tools="..." names Go functions`},
		{name: "script", kinds: scripts}, {name: "tool_command", kinds: scripts, replacedBy: "script"}, {name: "language", kinds: scripts},
		{name: "stdin", kinds: scripts}, {name: "output", kinds: scripts}, {name: "pass_env", kinds: scripts},
		{name: "duration", kinds: []string{kindWait}},
		{name: "text", kinds: humans}, {name: "show", kinds: humans}, {name: "human.default_choice", kinds: humans},
		{name: "stack.child_workflow", kinds: children}, {name: "stack.child_dotfile", kinds: children, replacedBy: "stack.child_workflow"},
		{name: "stack.child_dot_source", kinds: children},
		{name: "join_policy", kinds: parallel}, {name: "max_parallel", kinds: parallel}, {name: "error_policy", kinds: parallel},
		{name: "prompt", kinds: []string{kindFanIn}, effect: noEffect, hint: "the branch with the best status and score is picked; a node after it can ask a model"},
		{name: "fidelity", kinds: models},
		{name: "thread_id", effect: noEffect, hint: noSessions},
		{name: "speed", effect: noEffect, hint: "the model decides how fast it is"},
		{name: "backend", effect: noEffect, harmless: []string{"api"}, hint: "models are asked by their API"},
		{name: "project_memory", effect: noEffect, harmless: []string{"false"}, hint: `files of the project are in no prompt; prompt="@file" takes one`},
		{name: "tool_hooks.pre", effect: noEffect, hint: noHooks}, {name: "tool_hooks.post", effect: noEffect, hint: noHooks},
		{name: "stack.child_workdir", effect: noEffect, hint: "scripts run in the folder of their document"},
		{name: "stack.child_autostart", effect: noEffect, harmless: []string{"true"}, hint: noPolling},
		{name: "manager.poll_interval", effect: noEffect, hint: noPolling}, {name: "manager.max_cycles", effect: noEffect, hint: noPolling},
		{name: "manager.stop_condition", effect: noEffect, hint: noPolling}, {name: "manager.actions", effect: noEffect, hint: noPolling},
	}}
	edgeTable = attributeTable{"edges", []attributeKey{
		{name: "condition"}, {name: "label"}, {name: "weight"}, {name: "loop_restart"}, {name: "freeform"},
		{name: "fidelity"},
		{name: "thread_id", effect: noEffect, hint: noSessions},
	}}
	graphTable = attributeTable{"graphs", []attributeKey{
		{name: "goal"}, {name: "default_max_retries"}, {name: "default_max_retry", replacedBy: "default_max_retries"},
		{name: "retry_target"}, {name: "fallback_retry_target"},
		{name: "max_node_visits"}, {name: "stall_timeout"}, {name: "loop_restart_signature_limit"}, {name: "model_stylesheet"},
		{name: "default_fidelity"}, {name: "label", effect: keptOnly}, {name: "rankdir", effect: keptOnly},
		{name: "default_thread", effect: noEffect, hint: noSessions},
		{name: "tool_hooks.pre", effect: noEffect, hint: noHooks}, {name: "tool_hooks.post", effect: noEffect, hint: noHooks},
		{name: "stack.child_workflow", effect: noEffect, hint: "a sub-workflow is named by its node"},
		{name: "stack.child_dotfile", effect: noEffect, hint: "a sub-workflow is named by its node: stack.child_workflow"},
		{name: "stack.child_workdir", effect: noEffect, hint: "scripts run in the folder of their document"},
	}}
	attributeTables = []attributeTable{nodeTable, edgeTable, graphTable}
)

// otherEngineKeys are attributes that have an effect in other engines but not here, with
// the replacement to suggest.
var otherEngineKeys = map[string]string{
	"prompt_file":   `write prompt="@file"`,
	"output_schema": `schema="file.json" is for nodes that ask a model; of what a script prints no label and no context is taken`,
	"stdin_source":  "stdin=json hands a script the context",
	"for_each":      "a parallel node has one branch for each of its edges",
	"on_failure":    `what follows a failure: an edge with condition="outcome=fail", retry_target, auto_status`,
	"dot_file":      childHint,
	"child_graph":   childHint,
}

const childHint = `a sub-workflow is shape=house, stack.child_workflow="child.dot"`
