package wavefold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// FlowPart is a part of a flow: a node or an edge.
type FlowPart interface{ addToFlow(*flowBuilder) }

// NewFlow builds a flow: a graph in which tokens move along all edges of a node at the same time, and
// each arrival of a token runs the node. It never fails: Compile reports all errors at once. Each
// agent needs a function (AgentSpec.Run); an agent of a flow from Engine.NewFlow without one asks the engine's model.
//
// Run runs a flow as any graph; StartFlow gives a run that people answer in this process.
func NewFlow(name string, parts ...FlowPart) *Graph { return newFlow(nil, name, parts) }

// NewFlow is the function NewFlow for a flow whose agents ask the model of the engine.
func (e *Engine) NewFlow(name string, parts ...FlowPart) *Graph { return newFlow(e, name, parts) }

func newFlow(e *Engine, name string, parts []FlowPart) *Graph {
	pos := here()
	b := &flowBuilder{w: &core.Workflow{Name: source.At(name, pos), Mode: core.ModeFlow, OpenInputs: true, HasInputs: true, Pos: pos, Flow: &core.Flow{Pos: pos}}}
	if name == "" {
		b.ds.Errorf(source.CodeMissingKey, pos, "the flow has no name")
	}
	for _, p := range parts {
		if p != nil {
			p.addToFlow(b)
		}
	}
	b.w.Findings = b.ds
	if calls := b.w.AgentCalls(); len(b.w.FlowErrors()) == 0 {
		for _, a := range b.agents {
			a.call = calls[a.id]
		}
	}
	return &Graph{w: b.w, engine: e}
}

// flowBuilder collects the parts of a flow.
type flowBuilder struct {
	w      *core.Workflow
	ds     source.Diagnostics
	agents []*agentFunc
}

type flowPart func(*flowBuilder)

func (p flowPart) addToFlow(b *flowBuilder) { p(b) }

// flowNode returns the part for a node.
func flowNode(id, kind string, f core.FlowNode, h core.Handler) FlowPart {
	pos := here()
	return flowPart(func(b *flowBuilder) {
		n := &core.Node{ID: source.At(id, pos), Kind: source.At(kind, pos), Flow: &f, Handler: h, Pos: pos}
		if a, ok := h.(*agentFunc); ok {
			b.agents = append(b.agents, a)
		}
		b.w.Nodes = append(b.w.Nodes, n)
	})
}

// FlowStart is the node where a run begins. output is the value of the first token: a string, or any
// value with a JSON form.
func FlowStart(id string, output any) FlowPart {
	v, err := value.Canonical(output)
	if err != nil {
		pos := here()
		return flowPart(func(b *flowBuilder) {
			b.ds.Errorf(source.CodeWrongType, pos, "node %s: the output of the start: %v", id, err)
		})
	}
	if v == nil {
		v = ""
	}
	return flowNode(id, "start", core.FlowNode{Role: core.FlowStart, Output: v}, nil)
}

// FlowFunc is a node that calls a function with the value of the token. The token moves on with the
// result. An error fails the flow.
func FlowFunc(id string, f func(ctx context.Context, input any) (any, error)) FlowPart {
	var h core.Handler
	if f != nil {
		h = core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
			input, _ := in.Shared().Edges.Get("input")
			v, err := f(ctx, value.Clone(input))
			if err != nil {
				return core.Result{}, err
			}
			return core.Send(v), nil
		})
	}
	return flowNode(id, "function", core.FlowNode{}, h)
}

// AgentSpec describes an agent of a flow. Empty fields have the defaults of visual builders.
type AgentSpec struct {
	Name   string // a label
	System string // the system prompt
	// Prompt is the user prompt. The value of the token replaces each core.PreviousOutput in it. If the prompt is
	// blank, the agent gets the value alone.
	Prompt        string
	Model, Effort string
	WebSearch     bool
	// Run answers in place of a model. It gets the prompts, the tools and the sub-agents.
	Run func(ctx context.Context, call core.AgentCall) (string, error)
}

// FlowAgent is a node that asks a model, or calls AgentSpec.Run.
func FlowAgent(id string, a AgentSpec) FlowPart {
	var h core.Handler
	if a.Run != nil {
		h = &agentFunc{id: id, run: a.Run}
	}
	pos := here()
	text := func(s string) source.Text { return source.At(s, pos) }
	return flowNode(id, "agent", core.FlowNode{Agent: &core.FlowAgent{Name: text(a.Name), System: text(a.System), User: text(a.Prompt),
		Model: text(a.Model), Effort: text(a.Effort), WebSearch: a.WebSearch}}, h)
}

// agentFunc is a function in place of a model.
type agentFunc struct {
	id   string
	call *core.AgentCall
	run  func(ctx context.Context, call core.AgentCall) (string, error)
}

// Handle calls the function.
func (a *agentFunc) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if a.call == nil {
		return core.Result{}, errors.New("the agent is not part of a valid flow")
	}
	input, _ := in.Shared().Edges.Get("input")
	call := *a.call
	call.UserPrompt = core.FlowPrompt(call.UserPrompt, input)
	text, err := a.run(ctx, call)
	if err != nil {
		return core.Result{}, err
	}
	return core.Send(text), nil
}

// Equal is a condition of FlowIf: the text of the token equals s, in any case of letters and without
// blanks around s.
func Equal(s string) core.FlowCondition { return core.FlowCondition{Value: s} }

// Contains is a condition of FlowIf: the text of the token contains s.
func Contains(s string) core.FlowCondition { return core.FlowCondition{Contains: true, Value: s} }

// FlowIf is a node whose first condition that holds selects the edges that the token follows. The edges of the
// first condition have the handle condition-0, the edges of the second one condition-1, and so on. If no
// condition holds, the token follows the edges with the handle false.
func FlowIf(id string, conditions ...core.FlowCondition) FlowPart {
	return flowNode(id, "if", core.FlowNode{Role: core.FlowIf, Conditions: slices.Clone(conditions)}, nil)
}

// FlowApproval is a node at which the flow is paused until a person decides. The decision, approve or
// reject, is the handle of the edges that the token follows, with the value that it had before.
func FlowApproval(id, prompt string) FlowPart {
	return flowNode(id, "approval", core.FlowNode{Role: core.FlowApproval, Prompt: source.At(prompt, here())}, nil)
}

// Connect is an edge. handle is the one of its source that the edge belongs to, for FlowIf and
// FlowApproval.
func Connect(from, to string, handle ...string) FlowPart {
	pos := here()
	return flowPart(func(b *flowBuilder) {
		e := &core.Edge{From: source.At(from, pos), To: source.At(to, pos), Pos: pos}
		switch len(handle) {
		case 0:
		case 1:
			e.Label = source.At(handle[0], pos)
		default:
			b.ds.Errorf(source.CodeBadValue, pos, "connection %s -> %s: an edge has one handle, got %d", from, to, len(handle))
		}
		if e.Delegates() {
			b.ds.Errorf(source.CodeBadValue, pos, "connection %s -> %s: Delegate makes an edge to a sub-agent", from, to)
		}
		b.w.Edges = append(b.w.Edges, e)
	})
}

// Delegate lets an agent delegate to other agents, its sub-agents: tools that its model may call. A
// sub-agent has one parent and is not a step of the flow.
func Delegate(parent string, children ...string) FlowPart {
	pos := here()
	return flowPart(func(b *flowBuilder) {
		if i := slices.IndexFunc(b.w.Nodes, func(n *core.Node) bool { return n.ID.Value == parent && n.Flow.Agent != nil }); i >= 0 {
			b.w.Nodes[i].Flow.Agent.Subagents = true
		}
		for _, c := range children {
			b.w.Edges = append(b.w.Edges, &core.Edge{From: source.At(parent, pos), To: source.At(c, pos), Label: source.At(core.HandleSubagent, pos), Pos: pos})
		}
	})
}

// FlowEntry is an entry of the log of a flow.
type FlowEntry struct {
	Timestamp string `json:"timestamp"`
	NodeID    string `json:"nodeId"` // core.SystemNode if it is about no node
	Type      string `json:"type"`   // one of the Log constants of core
	Content   string `json:"content"`
}

// UnmarshalJSON reads an entry. Records of older formats have contents that are not strings, which become
// compact JSON.
func (e *FlowEntry) UnmarshalJSON(data []byte) error {
	var j struct {
		Timestamp, NodeID, Type string
		Content                 json.RawMessage
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*e = FlowEntry{Timestamp: j.Timestamp, NodeID: j.NodeID, Type: j.Type}
	if len(j.Content) == 0 || json.Unmarshal(j.Content, &e.Content) == nil {
		return nil
	}
	v, err := value.ParseJSON(j.Content)
	e.Content = core.FlowText(v)
	return err
}

// ReadFlowRecord reads the record of a run: a snapshot, or a record that another program has stored, also
// of an older format. Missing members are empty. Only a snapshot can be continued, by Graph.RestoreFlow.
func ReadFlowRecord(data []byte) (*FlowResult, error) {
	var r FlowResult
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return &r, nil
}

// WithFlowLog calls a function with each entry of the log of a flow as it is made, as WithListener does
// with events. It replaces a listener.
func WithFlowLog(log func(FlowEntry)) RunOption {
	return WithListener(func(e core.Event) {
		if entry, ok := flowEntry(&e); ok {
			log(entry)
		}
	})
}

// flowEntry returns the entry of an event.
func flowEntry(e *core.Event) (FlowEntry, bool) {
	if e.Type != core.FlowLogged {
		return FlowEntry{}, false
	}
	return FlowEntry{Timestamp: e.Time.UTC().Format("2006-01-02T15:04:05.000Z"), NodeID: e.Node, Type: e.Step, Content: e.Log}, true
}

// systemError is the log of a flow that cannot run.
func systemError(now string, ds source.Diagnostics) FlowEntry {
	text := fmt.Sprint(ds)
	for _, d := range ds {
		if d.Severity == source.Error {
			text = fmt.Sprintf("%s: %s", d.Code, d.Message)
			break
		}
	}
	return FlowEntry{Timestamp: now, NodeID: core.SystemNode, Type: core.LogError, Content: text}
}
