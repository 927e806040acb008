package openai

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

// complete requests a chat completion.
func (m *Model) complete(ctx context.Context, r *llm.Request, model string, f format) (*llm.Response, error) {
	p := openai.ChatCompletionNewParams{Model: model, ReasoningEffort: shared.ReasoningEffort(r.Effort)}
	for _, msg := range f.messages(r) {
		p.Messages = append(p.Messages, chatMessage(&msg))
	}
	for _, t := range r.Tools {
		fn := shared.FunctionDefinitionParam{Name: t.Name, Parameters: parameters(t.Parameters)}
		if t.Description != "" {
			fn.Description = openai.String(t.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(fn))
	}
	if f.schema != nil && f.native {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: f.schema.Name, Schema: f.schema.Schema, Strict: openai.Bool(f.strict)}}
	}
	switch {
	case r.MaxTokens <= 0:
	case m.official: // newer models of OpenAI reject max_tokens, and other servers reject max_completion_tokens
		p.MaxCompletionTokens = openai.Int(int64(r.MaxTokens))
	default:
		p.MaxTokens = openai.Int(int64(r.MaxTokens))
	}
	if r.Temperature != nil {
		p.Temperature = openai.Float(*r.Temperature)
	}
	done, err := m.completion(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(done.Choices) == 0 {
		// Some proxies respond with status 200 and an error in the body.
		if message, _ := messageOf([]byte(done.RawJSON())); message != "" {
			return nil, core.Categorized(fmt.Errorf("the model's server answered without a choice: %s", m.mask(message)), core.TransientInfra)
		}
		return nil, core.Categorized(errors.New("the model's server answered without a choice"), core.TransientInfra)
	}
	return chatResponse(done), nil
}

// completion sends the request, streamed or not.
func (m *Model) completion(ctx context.Context, p openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	if !m.o.Stream {
		return m.chat.New(ctx, p)
	}
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := m.chat.NewStreaming(ctx, p)
	defer stream.Close()
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			return nil, core.Categorized(errors.New("the pieces of the answer do not fit together"), core.TransientInfra)
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if len(all.Choices) > 0 && all.Choices[0].FinishReason == "" {
		return nil, core.Categorized(errors.New("the answer of the model's server broke off"), core.TransientInfra)
	}
	return &all.ChatCompletion, nil
}

func chatMessage(m *llm.Message) openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case llm.System:
		return openai.SystemMessage(m.Text)
	case llm.ToolRole:
		return openai.ToolMessage(m.Text, m.Call)
	case llm.Assistant:
		out := openai.AssistantMessage(m.Text)
		if m.Text == "" && len(m.Calls) > 0 {
			out.OfAssistant.Content = openai.ChatCompletionAssistantMessageParamContentUnion{}
		}
		for _, c := range m.Calls {
			out.OfAssistant.ToolCalls = append(out.OfAssistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.ID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Arguments}}})
		}
		return out
	}
	return openai.UserMessage(m.Text)
}

// parameters returns the parameters of a function; the SDK requires a map, whose values
// keep their order.
func parameters(o *value.Object) map[string]any {
	if o == nil {
		return map[string]any{"type": "object", "properties": map[string]any{}}
	}
	out := make(map[string]any, o.Len())
	for k, v := range o.All() {
		out[k] = v
	}
	return out
}

func chatResponse(done *openai.ChatCompletion) *llm.Response {
	c, u := &done.Choices[0], &done.Usage
	out := &llm.Response{Text: c.Message.Content, Refusal: c.Message.Refusal, Model: done.Model, Finish: c.FinishReason, Usage: core.Usage{
		Input: u.PromptTokens, CachedInput: u.PromptTokensDetails.CachedTokens,
		Output: u.CompletionTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens}}
	for i, call := range c.Message.ToolCalls {
		id := call.ID
		if id == "" { // small servers send none
			id = fmt.Sprintf("call_%d", i)
		}
		out.Calls = append(out.Calls, llm.ToolCall{ID: id, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	switch {
	case len(out.Calls) > 0 && out.Finish != llm.FinishLength:
		out.Finish = llm.FinishTools
	case out.Finish == "":
		out.Finish = llm.FinishStop
	}
	return out
}
