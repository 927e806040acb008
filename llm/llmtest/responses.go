package llmtest

import (
	"encoding/json"
	"net/http"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
)

// responsesRequest is the body of a request to the Responses API.
type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        []struct {
		Type string `json:"type"`
		functionDecl
	} `json:"tools"`
	Text struct {
		Format *struct {
			Type string `json:"type"`
			schemaDecl
		} `json:"format"`
	} `json:"text"`
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	MaxOutputTokens int      `json:"max_output_tokens"`
	Temperature     *float64 `json:"temperature"`
	Stream          bool     `json:"stream"`
}

// inputItem is a message, a function call, or the result of a function call.
type inputItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

// request converts the body to a request for the model.
func (c *responsesRequest) request() *llm.Request {
	r := &llm.Request{Model: c.Model, Effort: c.Reasoning.Effort, MaxTokens: c.MaxOutputTokens, Temperature: c.Temperature}
	if c.Instructions != "" {
		r.Messages = append(r.Messages, llm.Message{Role: llm.System, Text: c.Instructions})
	}
	var items []inputItem
	if json.Unmarshal(c.Input, &items) != nil {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: contentOf(c.Input)})
	}
	for _, i := range items {
		switch i.Type {
		case "function_call":
			call := llm.ToolCall{ID: i.CallID, Name: i.Name, Arguments: i.Arguments}
			if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.Assistant {
				r.Messages[n-1].Calls = append(r.Messages[n-1].Calls, call)
			} else {
				r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{call}})
			}
		case "function_call_output":
			r.Messages = append(r.Messages, llm.Message{Role: llm.ToolRole, Text: contentOf(i.Output), Call: i.CallID})
		default:
			r.Messages = append(r.Messages, llm.Message{Role: roleOf(i.Role), Text: contentOf(i.Content)})
		}
	}
	for _, t := range c.Tools {
		if t.Type == "function" {
			r.Tools = append(r.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		} else {
			r.Hosted = append(r.Hosted, t.Type)
		}
	}
	if f := c.Text.Format; f != nil && f.Type == "json_schema" {
		r.Schema = &llm.Schema{Name: f.Name, Schema: f.Schema, Strict: f.Strict}
	}
	return r
}

func (s *Server) responses(w *answerWriter, r *http.Request, body []byte) {
	var c responsesRequest
	if err := json.Unmarshal(body, &c); err != nil {
		w.fail(http.StatusBadRequest, "", "We could not parse the JSON body of your request: "+err.Error())
		return
	}
	q := c.request()
	res := s.ask(w, r, q, q.Schema != nil)
	if res == nil {
		return
	}
	out := s.response(&c, q, res)
	if !c.Stream {
		w.json(http.StatusOK, out)
		return
	}
	w.event("response.created", object{"type": "response.created", "sequence_number": 0, "response": object{"id": "resp_1", "object": "response", "status": "in_progress"}})
	n := 1
	for _, piece := range pieces(res.Text) {
		w.event("response.output_text.delta", object{"type": "response.output_text.delta", "sequence_number": n, "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": piece})
		n++
	}
	w.event("response.completed", object{"type": "response.completed", "sequence_number": n, "response": out})
}

func (s *Server) response(c *responsesRequest, q *llm.Request, res *llm.Response) object {
	output := []any{}
	for _, tool := range q.Hosted {
		output = append(output, object{"type": tool + "_call", "id": "ws_1", "status": "completed", "action": object{"type": "search", "query": "q"}})
	}
	content := []any{}
	if res.Text != "" {
		content = append(content, object{"type": "output_text", "text": res.Text, "annotations": []any{}})
	}
	if res.Refusal != "" {
		content = append(content, object{"type": "refusal", "refusal": res.Refusal})
	}
	if len(content) > 0 {
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content})
	}
	for _, call := range res.Calls {
		output = append(output, object{"type": "function_call", "id": "fc_" + call.ID, "call_id": call.ID, "name": call.Name, "arguments": call.Arguments, "status": "completed"})
	}
	out := object{"id": "resp_1", "object": "response", "created_at": 1, "model": modelOf(res, c.Model), "status": "completed", "output": output,
		"error": nil, "incomplete_details": nil, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}}
	switch finishOf(res) {
	case llm.FinishLength:
		out["status"], out["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case llm.FinishFilter:
		out["status"], out["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	}
	if !s.o.NoUsage {
		out["usage"] = responsesUsage(res.Usage)
	}
	return out
}

func responsesUsage(u core.Usage) object {
	return object{"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Tokens(),
		"input_tokens_details":  object{"cached_tokens": u.CachedInput},
		"output_tokens_details": object{"reasoning_tokens": u.Reasoning}}
}
