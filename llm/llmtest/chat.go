package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

type object = map[string]any

// chatRequest is the body of a request for a chat completion.
type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []chatCall      `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Type     string       `json:"type"`
		Function functionDecl `json:"function"`
	} `json:"tools"`
	ResponseFormat *struct {
		Type       string      `json:"type"`
		JSONSchema *schemaDecl `json:"json_schema"`
	} `json:"response_format"`
	ReasoningEffort     string   `json:"reasoning_effort"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"`
	Stream              bool     `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type functionDecl struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Parameters  *value.Object `json:"parameters"`
}

type schemaDecl struct {
	Name   string        `json:"name"`
	Strict bool          `json:"strict"`
	Schema *value.Object `json:"schema"`
}

// request converts the body to a request for the model.
func (c *chatRequest) request() *llm.Request {
	r := &llm.Request{Model: c.Model, Effort: c.ReasoningEffort, MaxTokens: max(c.MaxTokens, c.MaxCompletionTokens), Temperature: c.Temperature}
	for _, m := range c.Messages {
		out := llm.Message{Role: roleOf(m.Role), Text: contentOf(m.Content), Call: m.ToolCallID}
		for _, call := range m.ToolCalls {
			out.Calls = append(out.Calls, llm.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
		}
		r.Messages = append(r.Messages, out)
	}
	for _, t := range c.Tools {
		r.Tools = append(r.Tools, llm.Tool{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters})
	}
	if f := c.ResponseFormat; f != nil && f.JSONSchema != nil {
		r.Schema = &llm.Schema{Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema, Strict: f.JSONSchema.Strict}
	}
	return r
}

func roleOf(role string) llm.Role {
	if role == "developer" {
		return llm.System
	}
	return llm.Role(role)
}

// contentOf returns the text of a message's content, which is a string or a list of parts.
func contentOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	json.Unmarshal(raw, &parts) // any other content has no text
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func (s *Server) chat(w *answerWriter, r *http.Request, body []byte) {
	var c chatRequest
	if err := json.Unmarshal(body, &c); err != nil {
		w.fail(http.StatusBadRequest, "", "We could not parse the JSON body of your request: "+err.Error())
		return
	}
	res := s.ask(w, r, c.request(), c.ResponseFormat != nil)
	switch {
	case res == nil:
	case c.Stream:
		s.streamChat(w, &c, res)
	default:
		message := object{"role": "assistant", "content": res.Text, "refusal": nil}
		if res.Refusal != "" {
			message["refusal"] = res.Refusal
		}
		if len(res.Calls) > 0 {
			message["tool_calls"] = chatCalls(res.Calls)
		}
		out := object{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": modelOf(res, c.Model),
			"choices": []any{object{"index": 0, "message": message, "finish_reason": finishOf(res), "logprobs": nil}}}
		if !s.o.NoUsage {
			out["usage"] = chatUsage(res.Usage)
		}
		w.json(http.StatusOK, out)
	}
}

// streamChat sends the answer as a stream of chunks.
func (s *Server) streamChat(w *answerWriter, c *chatRequest, res *llm.Response) {
	chunk := func(choices ...any) object {
		return object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": modelOf(res, c.Model), "choices": append([]any{}, choices...)}
	}
	delta := func(d object) { w.event("", chunk(object{"index": 0, "delta": d, "finish_reason": nil})) }
	delta(object{"role": "assistant", "content": ""})
	for _, piece := range pieces(res.Text) {
		delta(object{"content": piece})
	}
	for _, piece := range pieces(res.Refusal) {
		delta(object{"refusal": piece})
	}
	for i, call := range res.Calls {
		delta(object{"tool_calls": []any{object{"index": i, "id": call.ID, "type": "function", "function": object{"name": call.Name, "arguments": ""}}}})
		for _, piece := range pieces(call.Arguments) {
			delta(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": piece}}}})
		}
	}
	w.event("", chunk(object{"index": 0, "delta": object{}, "finish_reason": finishOf(res)}))
	if c.StreamOptions.IncludeUsage && !s.o.NoUsage {
		last := chunk()
		last["usage"] = chatUsage(res.Usage)
		w.event("", last)
	}
	w.body.WriteString("data: [DONE]\n\n")
}

// pieces splits a string into parts of a few characters.
func pieces(s string) []string {
	var out []string
	for part := range slices.Chunk([]rune(s), 7) {
		out = append(out, string(part))
	}
	return out
}

func chatCalls(calls []llm.ToolCall) []any {
	var out []any
	for i, c := range calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", i)
		}
		out = append(out, object{"id": id, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}})
	}
	return out
}

func chatUsage(u core.Usage) object {
	return object{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Tokens(),
		"prompt_tokens_details":     object{"cached_tokens": u.CachedInput},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning}}
}

func modelOf(res *llm.Response, asked string) string {
	if res.Model != "" {
		return res.Model
	}
	return asked
}

func finishOf(res *llm.Response) string {
	switch {
	case res.Finish != "":
		return res.Finish
	case len(res.Calls) > 0:
		return llm.FinishTools
	}
	return llm.FinishStop
}
