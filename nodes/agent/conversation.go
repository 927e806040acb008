package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

// conversation is the exchange with the model in one attempt of a node.
type conversation struct {
	*runner
	in       core.Input
	as       string // the node that requests name; "" means the node of in
	system   string
	messages []llm.Message
	uses     []toolUse
}

// declined is the error of a model that replied without a usable answer: the model
// refused, exceeded a limit, or sent an invalid answer. It is not an error of the backend.
type declined struct {
	text     string
	category core.Category
}

func (d *declined) Error() string           { return d.text }
func (d *declined) Category() core.Category { return d.category }

func decline(c core.Category, format string, args ...any) error {
	return &declined{fmt.Sprintf(format, args...), c}
}

// run calls the model and its tools until the model gives a usable answer. v is the parsed
// answer, text the original.
func (c *conversation) run(ctx context.Context) (v any, text string, err error) {
	repaired := false
	for turn := 1; ; turn++ {
		res, err := c.ask(ctx, c.request(turn))
		if err != nil {
			return nil, "", err
		}
		if res.Refusal == "" && len(res.Calls) > 0 {
			if err := c.callTools(ctx, res, turn); err != nil {
				return nil, "", err
			}
			continue
		}
		if err := c.usable(res); err != nil {
			return nil, "", err
		}
		v, wrong := c.read(res.Text)
		if wrong == nil {
			return v, res.Text, nil
		}
		if repaired {
			if c.lenient {
				return v, res.Text, nil
			}
			return nil, "", unusable(wrong, res.Text)
		}
		repaired = true
		c.messages = append(c.messages, llm.Message{Role: llm.Assistant, Text: res.Text}, llm.Message{Role: llm.User, Text: c.repair(wrong)})
	}
}

// usable returns an error if a reply without tool calls has no answer.
func (c *conversation) usable(res *llm.Response) error {
	switch {
	case res.Refusal != "":
		return decline(core.Deterministic, "the model declined: %s", cut(res.Refusal, maxReason))
	case res.Finish == llm.FinishLength:
		return decline(core.BudgetExhausted, "the answer was cut off: it is longer than the limit of tokens allows")
	case res.Finish == llm.FinishFilter:
		return decline(core.Deterministic, "the answer was held back by a filter of the model's server")
	case strings.TrimSpace(res.Text) == "" && c.schema == nil && len(c.uses) == 0:
		return decline(core.Deterministic, "the model answered nothing")
	}
	return nil
}

// unusable returns the error of an answer that is not as the schema requires.
func unusable(wrong []string, answer string) error {
	return decline(core.Deterministic, "the answer cannot be used: %s; it was: %s", strings.Join(wrong, "; "), cut(answer, maxReason))
}

// request returns the request for a turn.
func (c *conversation) request(turn int) *llm.Request {
	r := &llm.Request{Purpose: llm.PurposeRun, Node: cmp.Or(c.as, c.in.Node()), Visit: c.in.Visit(), Turn: turn, Model: c.model, Provider: c.provider,
		Messages: c.opening(), Hosted: c.hosted, Effort: c.effort, MaxTokens: c.maxTokens, Temperature: c.temperature}
	r.Messages = append(r.Messages, c.messages...)
	for _, t := range c.tools {
		r.Tools = append(r.Tools, t.Tool)
	}
	if c.schema != nil {
		r.Schema = &llm.Schema{Name: "answer", Schema: c.schema.object, Strict: !c.lenient}
	}
	return r
}

func (c *conversation) opening() []llm.Message {
	if c.system == "" {
		return nil
	}
	return []llm.Message{{Role: llm.System, Text: c.system}}
}

// maxCalls limits the number of tool calls in one reply.
const maxCalls = 100

// callTools runs the tool calls of a reply and appends their results to the messages.
func (c *conversation) callTools(ctx context.Context, res *llm.Response, turn int) error {
	switch {
	case len(c.tools) == 0 && len(c.hosted) == 0:
		return decline(core.Deterministic, "the model asked for the tool %s, and it was offered none", res.Calls[0].Name)
	case len(res.Calls) > maxCalls:
		return decline(core.BudgetExhausted, "the model asked for %d tools at once, and may ask for %d", len(res.Calls), maxCalls)
	case turn >= c.maxTurns && !c.graph.Steps:
		return decline(core.BudgetExhausted, "the turn limit of %d is reached and the model still asks for tools", c.maxTurns)
	}
	c.messages = append(c.messages, llm.Message{Role: llm.Assistant, Text: res.Text, Calls: slices.Clone(res.Calls)})
	for _, call := range res.Calls {
		u, err := c.callTool(ctx, call, turn)
		if err != nil {
			return err
		}
		c.uses = append(c.uses, u)
		c.messages = append(c.messages, llm.Message{Role: llm.ToolRole, Text: u.text, Call: call.ID, Failed: u.err != nil})
	}
	return nil
}

// repair tells the model what is wrong with its answer.
func (c *conversation) repair(wrong []string) string {
	return "This answer cannot be used:\n- " + strings.Join(wrong, "\n- ") +
		"\n\nAnswer again with one JSON value and nothing else, in the form of this JSON Schema:\n" + value.JSON(c.schema.object)
}

// ask calls the model. An error comes from the backend. In a walk that a model routes it ends
// the run; elsewhere the error policy of the node applies.
func (r *runner) ask(ctx context.Context, q *llm.Request) (*llm.Response, error) {
	res, err := llm.Complete(ctx, r.llm, q)
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case r.graph.HasRouter:
		return nil, core.FailRun(err)
	}
	return nil, err
}
