package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
)

// respond calls the Responses API, which has hosted tools. The request tells the server to store
// nothing.
func (m *Model) respond(ctx context.Context, r *llm.Request, model string, f format) (*llm.Response, error) {
	p := responses.ResponseNewParams{Model: model, Store: openai.Bool(false), Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(r.Effort)}}
	for _, msg := range f.messages(r) {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, inputItems(&msg)...)
	}
	for _, t := range r.Tools {
		tool := responses.ToolParamOfFunction(t.Name, parameters(t.Parameters), false)
		if t.Description != "" {
			tool.OfFunction.Description = openai.String(t.Description)
		}
		p.Tools = append(p.Tools, tool)
	}
	for range r.Hosted { // lacksHosted has checked that each is web_search
		p.Tools = append(p.Tools, responses.ToolParamOfWebSearch(responses.WebSearchToolTypeWebSearch))
	}
	if f.schema != nil && f.native {
		p.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: f.schema.Name, Schema: parameters(f.schema.Schema), Strict: openai.Bool(f.strict)}
	}
	if r.MaxTokens > 0 {
		p.MaxOutputTokens = openai.Int(int64(r.MaxTokens))
	}
	if r.Temperature != nil {
		p.Temperature = openai.Float(*r.Temperature)
	}
	done, err := m.responses.New(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.response(done)
}

func inputItems(m *llm.Message) []responses.ResponseInputItemUnionParam {
	switch m.Role {
	case llm.ToolRole:
		item := responses.ResponseInputItemParamOfFunctionCallOutput(m.Text)
		item.OfFunctionCallOutput.CallID = openai.String(m.Call)
		return []responses.ResponseInputItemUnionParam{item}
	case llm.Assistant:
		var out []responses.ResponseInputItemUnionParam
		if m.Text != "" {
			out = append(out, responses.ResponseInputItemParamOfMessage(m.Text, responses.EasyInputMessageRoleAssistant))
		}
		for _, c := range m.Calls {
			out = append(out, responses.ResponseInputItemParamOfFunctionCall(c.Arguments, c.ID, c.Name))
		}
		return out
	case llm.System:
		return []responses.ResponseInputItemUnionParam{responses.ResponseInputItemParamOfMessage(m.Text, responses.EasyInputMessageRoleSystem)}
	}
	return []responses.ResponseInputItemUnionParam{responses.ResponseInputItemParamOfMessage(m.Text, responses.EasyInputMessageRoleUser)}
}

func (m *Model) response(done *responses.Response) (*llm.Response, error) {
	if done.Status == responses.ResponseStatusFailed {
		err := fmt.Errorf("the model failed: %s", m.mask(shorten(done.Error.Message)))
		if strings.Contains(string(done.Error.Code), "server_error") || strings.Contains(string(done.Error.Code), "rate_limit") {
			return nil, core.Categorized(err, core.TransientInfra)
		}
		return nil, err
	}
	u := &done.Usage
	out := &llm.Response{Model: done.Model, Finish: llm.FinishStop, Usage: core.Usage{
		Input: u.InputTokens, CachedInput: u.InputTokensDetails.CachedTokens,
		Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens}}
	for _, item := range done.Output {
		switch item.Type {
		case "message":
			for _, part := range item.Content {
				out.Text += part.Text
				out.Refusal += part.Refusal
			}
		case "function_call":
			out.Calls = append(out.Calls, llm.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments.OfString})
			out.Finish = llm.FinishTools
		}
	}
	switch done.IncompleteDetails.Reason {
	case "max_output_tokens":
		out.Finish = llm.FinishLength
	case "content_filter":
		out.Finish = llm.FinishFilter
	}
	return out, nil
}
