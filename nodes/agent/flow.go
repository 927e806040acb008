package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

// compileInFlow compiles an agent of a flow, whose configuration is env.Agent. A Go function that is
// registered under the name of the kind replaces the model: its arguments are the members of the
// core.AgentCall.
func compileInFlow(n *core.Node, env core.Env, m llm.Model) (core.Compiled, source.Diagnostics) {
	if env.Tool != nil {
		if h, ok := env.Tool(kindAgent); ok {
			var ds source.Diagnostics
			if b, ok := h.(core.Binder); ok {
				h, ds = b.Bind(n, env)
			}
			return core.Compiled{Handler: &agentFunction{h, env.Agent}}, ds
		}
	}
	if m == nil {
		return core.Compiled{NoModel: `an agent has no model to ask: give the engine one (Engine.UseModel), or register a Go function of the name "agent"`}, nil
	}
	f := &flowAgent{call: env.Agent, runner: flowRunner(m, n.ID.Value, env.Agent)}
	var ds source.Diagnostics
	if why := llm.Lacks(m, &llm.Request{Purpose: llm.PurposeRun, Model: f.runner.model, Effort: f.runner.effort, Hosted: f.runner.hosted}); why != "" {
		ds.Errorf(source.CodeBadValue, n.ID.Pos, "%s: %s", n.Subject(), why)
		return core.Compiled{}, ds
	}
	return core.Compiled{Handler: f, Models: true, Unpriced: f.runner.unpriced()}, nil
}

// flowRunner returns the runner of an agent without tools for sub-agents. The model that a user has chosen for
// requests that name none replaces the default of agents, not a model that the document names.
func flowRunner(m llm.Model, node string, call *core.AgentCall) *runner {
	model := call.Model
	if call.DefaultModel {
		model = cmp.Or(llm.ChosenModel(m), model)
	}
	r := &runner{llm: m, model: model, effort: call.ReasoningEffort, maxTurns: DefaultMaxTurns, maxOutput: DefaultMaxOutput, id: node}
	if call.Tools.WebSearch {
		r.hosted = []string{llm.WebSearch}
	}
	return r
}

// flowAgent is an agent of a flow. It is immutable.
type flowAgent struct {
	runner *runner // without the tools
	call   *core.AgentCall
}

// Handle calls the model with the prompts of the agent. What the model answers moves on.
func (f *flowAgent) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if ctx.Err() != nil {
		return core.Result{}, context.Cause(ctx)
	}
	previous, _ := in.Shared().Edges.Get(flowInput)
	d := &delegation{root: in.Node(), llm: f.runner.llm, prefix: strconv.Itoa(max(1, in.Visit()))}
	text, err := d.converse(ctx, in, f.runner, f.call, core.FlowPrompt(f.call.UserPrompt, previous), parent{})
	if err != nil {
		return core.Result{}, err
	}
	return core.Send(text), nil
}

// flowInput is the edge input with the value of the token.
const flowInput = "input"

// delegation is one run of an agent with its sub-agents.
type delegation struct {
	root   string // the node of the agent
	llm    llm.Model
	prefix string // of the ids of calls
	calls  int
}

// parent is the call of the agent that delegates; the zero value is the agent of the node.
type parent struct {
	id    string
	depth int
	node  string // of the agent that delegates; "" means the agent of the node
}

// converse lets an agent answer a prompt. Its sub-agents are tools.
func (d *delegation) converse(ctx context.Context, in core.Input, base *runner, call *core.AgentCall, prompt string, at parent) (string, error) {
	r := *base
	r.tools = nil
	if call.Tools.Subagents {
		for _, child := range call.Subagents {
			r.tools = append(r.tools, d.tool(child, r.tools, at))
		}
	}
	c := &conversation{runner: &r, in: in, as: at.node, system: call.SystemPrompt, messages: []llm.Message{{Role: llm.User, Text: prompt}}}
	_, text, err := c.run(ctx)
	return text, err
}

// tool returns the tool that calls a sub-agent.
func (d *delegation) tool(child *core.AgentCall, before []tool, at parent) tool {
	return tool{
		Tool: llm.Tool{
			Name:        delegateName(child, before),
			Description: fmt.Sprintf("Delegates a task to the agent %s. %s", child.AgentName, truncate(child.SystemPrompt, maxDescription)),
			Parameters: value.ObjectOf("type", "object", "properties", value.ObjectOf(toolInput, value.ObjectOf("type", "string", "description", "what the agent is to do, with everything that it needs to know")),
				"required", []any{toolInput}, "additionalProperties", false),
		},
		call: func(ctx context.Context, in core.Input, args *value.Object) (string, error) {
			task, _ := args.Get(toolInput)
			text, ok := task.(string)
			if !ok {
				return "", errors.New(`the arguments need "input", the task as a string`)
			}
			return d.delegate(ctx, in, child, text, at)
		},
	}
}

const (
	toolInput      = "input"
	maxDescription = 500
	maxToolName    = 64
)

// delegateName returns the name of the tool of a sub-agent: its name in letters that tools may have, with a
// number if another tool has that name.
func delegateName(child *core.AgentCall, before []tool) string {
	name := "ask_" + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, truncate(child.NodeID, maxToolName-10))
	for i, base := 2, name; ; i++ {
		taken := false
		for _, t := range before {
			taken = taken || t.Name == name
		}
		if !taken {
			return name
		}
		name = base + "_" + strconv.Itoa(i)
	}
}

// subagentEvent is the content of the entries about a call of a sub-agent.
type subagentEvent struct {
	Type         string `json:"type"`
	ParentNode   string `json:"parentNodeId"`
	SubagentNode string `json:"subagentNodeId"`
	SubagentName string `json:"subagentName"`
	CallID       string `json:"callId"`
	ParentCallID string `json:"parentCallId,omitempty"`
	Depth        int    `json:"depth"`
	Message      string `json:"message,omitempty"`
}

// delegate calls a sub-agent and logs the begin and the end of the call.
func (d *delegation) delegate(ctx context.Context, in core.Input, child *core.AgentCall, task string, by parent) (string, error) {
	d.calls++
	e := subagentEvent{ParentNode: d.root, SubagentNode: child.NodeID, SubagentName: child.AgentName, ParentCallID: by.id, Depth: by.depth + 1,
		CallID: fmt.Sprintf("%s-%s-%d", d.root, d.prefix, d.calls)}
	e.log(ctx, core.LogSubagentStart, "")
	text, err := d.converse(ctx, in, flowRunner(d.llm, child.NodeID, child), child, core.FlowPrompt(child.UserPrompt, task), parent{e.CallID, e.Depth, child.NodeID})
	if err != nil {
		e.log(ctx, core.LogSubagentError, err.Error())
		return "", err
	}
	e.log(ctx, core.LogSubagentEnd, "")
	return text, nil
}

// log logs the event with a type.
func (e subagentEvent) log(ctx context.Context, entry, message string) {
	meter := core.MeterOf(ctx)
	if meter == nil || meter.Logged == nil {
		return
	}
	e.Type, e.Message = entry, message
	var b strings.Builder
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(e); err != nil { // it has strings only
		return
	}
	meter.Logged(entry, strings.TrimSuffix(b.String(), "\n"))
}

// agentFunction is a Go function in place of the model of a flow.
type agentFunction struct {
	handler core.Handler
	call    *core.AgentCall
}

// Handle calls the function.
func (f *agentFunction) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	s := in.Shared()
	previous, _ := s.Edges.Get(flowInput)
	call := *f.call
	call.UserPrompt = core.FlowPrompt(call.UserPrompt, previous)
	data, err := json.Marshal(&call)
	if err != nil {
		return core.Result{}, err
	}
	v, err := value.ParseJSON(data)
	if err != nil {
		return core.Result{}, err
	}
	s.Args, _ = v.(*value.Object)
	return f.handler.Handle(ctx, core.NewInput(in.Run(), in.Node(), in.Attempt(), s))
}
