package core

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Flow holds the settings of a graph of ModeFlow. A flow moves tokens along its edges: a token
// carries a value, its arrival runs the node, and the result moves on along all edges that the
// node selects, at the same time. Nodes do not wait for several tokens. Unset fields have their
// defaults.
type Flow struct {
	// MaxArrivals limits the arrivals of a run; nil means DefaultMaxArrivals.
	MaxArrivals *source.Int
	// Document is the text that the flow was read from. Formats use it to save what they do not
	// know.
	Document []byte
	Pos      source.Position
}

// Defaults of a flow.
const (
	DefaultMaxArrivals = 1000
	DefaultFlowCalls   = 64 // calls in flight
)

// FlowRole is what a node of a flow does when a token arrives.
type FlowRole uint8

// Roles of nodes of a flow.
const (
	FlowStep     FlowRole = iota // the node does its work, and its result moves on
	FlowStart                    // a run begins there
	FlowIf                       // the first condition that holds selects the edges; the token moves on unchanged
	FlowApproval                 // a person selects the edges; the token moves on unchanged
	FlowUnknown                  // the type is not known: null moves on
)

var flowRoleNames = [...]string{"step", "start", "if", "approval", "unknown"}

// String returns "step", "start", "if", "approval" or "unknown".
func (r FlowRole) String() string { return flowRoleNames[r] }

// FlowNode is what a node does in a flow.
type FlowNode struct {
	Role FlowRole
	// Output is the value that leaves a start.
	Output any
	// Conditions are the conditions of an if node. Legacy reports that the document has the older form, a text
	// that the input must contain.
	Conditions []FlowCondition
	Legacy     bool
	// Agent describes the call of a model; nil if the node is not an agent.
	Agent *FlowAgent
	// Prompt is the question of an approval, "" for a default.
	Prompt source.Text
	// Place is where the document draws the node, nil if it does not say.
	Place *FlowPlace
}

// FlowPlace is a place in a drawing, with y growing downwards.
type FlowPlace struct{ X, Y float64 }

// FlowAgent is a call of a model as the document has it. Empty fields have their defaults.
type FlowAgent struct {
	Name, System, User, Model, Effort source.Text
	WebSearch, Subagents              bool
}

// Defaults of an agent of a flow.
const (
	DefaultAgentName   = "Agent"
	DefaultAgentSystem = "You are a helpful assistant."
	DefaultAgentModel  = "gpt-5"
	DefaultAgentEffort = "low"
)

// AgentCall is a call of an agent of a flow: what a backend gets. Subagents are the agents to which
// it may delegate, in the order of their edges. UserPrompt is the prompt in the document, or, in a call in
// progress, the prompt with the previous output in it.
type AgentCall struct {
	NodeID          string       `json:"nodeId"`
	AgentName       string       `json:"agentName"`
	SystemPrompt    string       `json:"systemPrompt"`
	UserPrompt      string       `json:"userPrompt"`
	Model           string       `json:"model"`
	DefaultModel    bool         `json:"-"` // the document names no model, and Model is DefaultAgentModel
	ReasoningEffort string       `json:"reasoningEffort"`
	Tools           AgentTools   `json:"tools"`
	Subagents       []*AgentCall `json:"subagents,omitempty"`
}

// AgentTools are the tools of an agent of a flow.
type AgentTools struct {
	WebSearch bool `json:"web_search"`
	Subagents bool `json:"subagents"`
}

// PreviousOutput is the placeholder in an agent's prompt that is replaced by the value of the token.
const PreviousOutput = "{{PREVIOUS_OUTPUT}}"

// FlowPrompt returns the prompt of an agent: the template with the text of the previous output in
// place of every PreviousOutput, or that text alone if the template is blank.
func FlowPrompt(template string, previous any) string {
	text := FlowText(previous)
	if strings.TrimSpace(template) == "" {
		return text
	}
	return strings.ReplaceAll(template, PreviousOutput, text)
}

// FlowText returns the value of a token as a string. A string is returned unchanged; other values
// are converted to compact JSON, with the members of objects in their order. For null, or if there
// is no value, it returns the empty string.
func FlowText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	if value.IsMissing(v) {
		return ""
	}
	return value.JSON(v)
}

// FlowCondition is a condition of an if.
type FlowCondition struct {
	Contains bool // else the texts must be equal
	Value    string
}

// String returns the operator and the value, as logs show them.
func (c FlowCondition) String() string {
	if c.Contains {
		return `contains "` + c.Value + `"`
	}
	return `equal "` + c.Value + `"`
}

// Holds tests the text of a value. Letters are compared in lower case; the expected value is
// trimmed, and nothing matches an empty one.
func (c FlowCondition) Holds(text string) bool {
	want := strings.ToLower(strings.TrimSpace(c.Value))
	switch {
	case want == "":
		return false
	case c.Contains:
		return strings.Contains(strings.ToLower(text), want)
	}
	return strings.ToLower(text) == want
}

// Handles of the edges of a flow.
const (
	HandleSubagent  = "subagent"   // of an agent: the target is a sub-agent
	HandleInput     = "input"      // of a target
	HandleCondition = "condition-" // of an if, followed by the number of the condition
	HandleTrue      = "true"       // of an if: an older name of condition-0
	HandleFalse     = "false"      // of an if: no condition holds
	HandleApprove   = "approve"    // of an approval
	HandleReject    = "reject"
)

// LooseDecision reads the answer to an approval as visual builders do that are less strict than a run, which
// accepts approve and reject only. Of an object, the member decision counts: reject, in any case of letters, is
// reject, and anything else, or nothing, is approve. A text is reject if it contains reject, in any case of
// letters, even in "do not reject", and approve otherwise. No answer is approve. The note is the member note of
// an object, if it is a string.
func LooseDecision(answer any) (decision, note string) {
	rejects := false
	switch v := answer.(type) {
	case string:
		rejects = strings.Contains(strings.ToLower(v), HandleReject)
	case *value.Object:
		word, _ := v.Get("decision")
		s, _ := word.(string)
		rejects = strings.EqualFold(strings.TrimSpace(s), HandleReject)
		text, _ := v.Get("note")
		note, _ = text.(string)
	}
	if rejects {
		return HandleReject, note
	}
	return HandleApprove, note
}

// Delegates reports whether an edge of a flow leads to a sub-agent. It is never followed.
func (e *Edge) Delegates() bool { return e.Label.Value == HandleSubagent }

// FlowRoleOf returns the role of a node in a flow.
func (n *Node) FlowRoleOf() FlowRole {
	if n.Flow == nil {
		return FlowStep
	}
	return n.Flow.Role
}

// agent returns the agent of a node of a flow, nil if the node is nil or is not an agent.
func (n *Node) agent() *FlowAgent {
	if n == nil || n.Flow == nil {
		return nil
	}
	return n.Flow.Agent
}

// Types of the entries of the log of a flow; see FlowLogged. Calls of sub-agents have the types of
// their events.
const (
	LogStepStart     = "step_start"
	LogStartPrompt   = "start_prompt"
	LogLogicCheck    = "logic_check"
	LogWaitInput     = "wait_input"
	LogInputReceived = "input_received"
	LogLLMResponse   = "llm_response"
	LogLLMError      = "llm_error"
	LogError         = "error"
	LogWarn          = "warn"
	LogSubagentStart = "subagent_call_start"
	LogSubagentEnd   = "subagent_call_end"
	LogSubagentError = "subagent_call_error"
)

// FlowPrevious is the member of the context of a flow with the output before the next step, and
// FlowDecision the end of the names of members with decisions: "ask_approval" holds {decision, note}.
// The other members are the outputs of nodes, by id.
const (
	FlowPrevious = "previous_output"
	FlowDecision = "_approval"
)

// SystemNode is the node of entries in the log of a flow that are about no node.
const SystemNode = "system"
