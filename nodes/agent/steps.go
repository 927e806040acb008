package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

// visit makes one visit of a node of a walk by steps: one call of the model, and the calls of the
// tools that the answer requests. After an answer that requests tools, called is true, the walk
// returns to the node, and the next visit continues the conversation.
func (c *conversation) visit(ctx context.Context) (v any, text string, called bool, err error) {
	turn := 1
	for _, m := range c.messages {
		if m.Role == llm.Assistant {
			turn++
		}
	}
	res, err := c.ask(ctx, c.request(turn))
	if err != nil {
		return nil, "", false, err
	}
	if res.Refusal == "" && len(res.Calls) > 0 {
		return nil, "", true, c.callTools(ctx, res, turn)
	}
	if err := c.usable(res); err != nil {
		return nil, "", false, err
	}
	v, wrong := c.read(res.Text)
	if wrong != nil && !c.lenient {
		return nil, "", false, unusable(wrong, res.Text)
	}
	return v, res.Text, false, nil
}

// handleVisit is Handle for a walk by steps.
func (r *runner) handleVisit(ctx context.Context, in core.Input, known *value.Object) (core.Result, error) {
	c, before, err := r.continued(ctx, in, known)
	if err != nil {
		return core.Result{}, err
	}
	v, answer, called, err := c.visit(ctx)
	if d, ok := errors.AsType[*declined](err); ok {
		return r.declinedResult(d)
	}
	if err != nil {
		return core.Result{}, err
	}
	if !called {
		return r.checkedResult(ctx, c, v, answer)
	}
	routing := &core.Routing{Messages: messageValues(c.messages[before:])}
	for _, m := range c.messages[before:] {
		for _, call := range m.Calls {
			routing.ToolCalls = append(routing.ToolCalls, truncate(call.Name, maxName))
		}
	}
	return core.Result{Routing: routing}, nil
}

// continued returns the conversation of a visit, and the number of its messages that earlier visits
// have recorded.
func (r *runner) continued(ctx context.Context, in core.Input, known *value.Object) (*conversation, int, error) {
	if earlier := in.Conversation(); len(earlier) > 0 {
		c := &conversation{runner: r, in: in}
		if err := c.resume(earlier); err != nil {
			return nil, 0, core.Permanent(fmt.Errorf("the recorded conversation: %w", err))
		}
		before := len(c.messages)
		return c, before, c.again(ctx)
	}
	c, err := r.converse(ctx, in, known)
	if err != nil {
		return nil, 0, err
	}
	c.messages, c.system = append(c.opening(), c.messages...), ""
	return c, 0, nil
}

// again tells the model of an attempt that failed its checks within a conversation.
func (c *conversation) again(ctx context.Context) error {
	if c.in.Attempt() < 2 {
		return nil
	}
	prompt, err := c.promptText(c.in)
	if err != nil {
		return err
	}
	parts, err := c.retryPreamble(ctx, c.in, prompt)
	if err == nil && parts != nil {
		c.messages = append(c.messages, llm.Message{Role: llm.User, Text: strings.Join(parts, "\n\n")})
	}
	return err
}

// Members of a message in a recorded conversation.
const (
	msgRole   = "role" // the name of its llm.Role
	msgText   = "text"
	msgCalls  = "tool_calls"
	msgID     = "id"        // of a tool call
	msgName   = "name"      // of its tool
	msgArgs   = "arguments" // as the model wrote them
	msgCall   = "call"      // the id of the tool call whose result the message is
	msgFailed = "failed"
)

// messageValues returns messages as JSON values.
func messageValues(list []llm.Message) []any {
	out := make([]any, len(list))
	for i, m := range list {
		o := value.ObjectOf(msgRole, string(m.Role), msgText, m.Text)
		if len(m.Calls) > 0 {
			calls := make([]any, len(m.Calls))
			for k, call := range m.Calls {
				calls[k] = value.ObjectOf(msgID, call.ID, msgName, call.Name, msgArgs, call.Arguments)
			}
			o.Set(msgCalls, calls)
		}
		if m.Call != "" {
			o.Set(msgCall, m.Call)
		}
		if m.Failed {
			o.Set(msgFailed, true)
		}
		out[i] = o
	}
	return out
}

// resume adds recorded messages to the conversation, and the tool calls among them to its uses.
func (c *conversation) resume(recorded []any) error {
	names := map[string]string{} // of tools, by the ids of calls
	for i, v := range recorded {
		m, err := messageOf(v)
		if err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
		for _, call := range m.Calls {
			names[call.ID] = call.Name
		}
		if m.Role == llm.ToolRole {
			u := toolUse{name: truncate(names[m.Call], maxName), text: m.Text}
			if m.Failed {
				u.err = errors.New(m.Text)
			}
			c.uses = append(c.uses, u)
		}
		c.messages = append(c.messages, m)
	}
	return nil
}

// messageOf is the inverse of messageValues for one message.
func messageOf(v any) (llm.Message, error) {
	o, ok := v.(*value.Object)
	if !ok {
		return llm.Message{}, fmt.Errorf("want an object, got %s", value.TypeName(v))
	}
	m := llm.Message{Role: llm.Role(text(o, msgRole)), Text: text(o, msgText), Call: text(o, msgCall)}
	if !slices.Contains([]llm.Role{llm.System, llm.User, llm.Assistant, llm.ToolRole}, m.Role) {
		return m, fmt.Errorf("there is no role %q", m.Role)
	}
	failed, _ := o.Get(msgFailed)
	m.Failed = failed == true
	calls, _ := o.Get(msgCalls)
	list, _ := calls.([]any)
	for _, e := range list {
		call, _ := e.(*value.Object)
		m.Calls = append(m.Calls, llm.ToolCall{ID: text(call, msgID), Name: text(call, msgName), Arguments: text(call, msgArgs)})
	}
	return m, nil
}

// text returns a member that is a string, or "" if there is none.
func text(o *value.Object, key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// routeKey is the member of the answer by which a model chooses where a walk by steps continues.
const routeKey = "route"

// choices offers the transitions of a node of a walk by steps to its model, if there are at least two
// and the model has no tools.
func (b *builder) choices(r *runner) {
	if !b.env.Steps || len(r.tools)+len(r.hosted) > 0 {
		return
	}
	var lines []string
	var keys []any
	for _, t := range b.node.Transitions {
		if t.Key.Value == core.ErrorKey {
			continue
		}
		to := "continue at " + t.To.Value
		if t.To.Value == core.EndNode {
			to = "finish"
		}
		lines, keys = append(lines, fmt.Sprintf("- %s: %s", value.JSON(t.Key.Value), to)), append(keys, t.Key.Value)
	}
	if len(lines) < 2 {
		return
	}
	key := routeKey
	if r.schema == nil && len(b.node.Writes) > 0 {
		r.schema = b.ownSchema(b.writesSchema(), b.node.Pos, "the answer has to fit what the node writes")
	}
	if r.schema != nil {
		key = b.routeMember(r, keys)
	}
	if key == "" {
		return
	}
	r.choices = "Choose what comes next, and name your choice in your answer, a JSON object, as its member " + value.JSON(key) + ". The choices are:\n" + strings.Join(lines, "\n")
}

// routeMember returns the member of an answer with a schema by which the model chooses. It extends a
// schema that has none; it returns "" if the answer cannot have one.
func (b *builder) routeMember(r *runner, keys []any) string {
	for _, key := range core.RouteKeys {
		if slices.Contains(r.schema.properties, key) {
			return key
		}
	}
	if kind, ok := r.schema.object.Get("type"); ok && kind != value.ObjectType.String() {
		return ""
	}
	extended := r.schema.object.Copy(1)
	members := value.NewObject(1)
	if v, _ := extended.Get("properties"); v != nil {
		members = v.(*value.Object).Copy(1)
	}
	members.Set(routeKey, value.ObjectOf("type", "string", "enum", keys))
	extended.Set("properties", members)
	pos := b.node.Pos
	if b.Schema != nil {
		pos = b.Schema.Pos
	}
	if s := b.ownSchema(extended, pos, "the model chooses what comes next"); s != nil {
		r.schema = s
	}
	return routeKey
}

// chosen returns an answer to a prompt that offers choices as an object, if it has one. Any other
// answer is text.
func chosen(answer string) any {
	v, err := value.ParseJSON([]byte(llm.Unfenced(answer)))
	if o, ok := v.(*value.Object); ok && err == nil {
		return o
	}
	return answer
}

// warnTurns warns of max_turns in a walk by steps, where a visit is one call of the model.
func (b *builder) warnTurns() {
	if b.env.Steps && b.MaxTurns.Value > 0 {
		b.warn(source.CodeIgnored, cmp.Or(b.MaxTurns.Pos, b.node.Pos), "limit the visits of the node: max_visits",
			"max_turns has no effect: in a walk by steps each visit is one call of the model")
	}
}
