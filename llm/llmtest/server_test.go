package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

const hello = `{"model": "small", "messages": [{"role": "developer", "content": "be short"}, {"role": "user", "content": [{"type": "text", "text": "hello "}, {"type": "text", "text": "there"}]}]}`

func post(t *testing.T, c *http.Client, url, body string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	res, err := c.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

// both runs a test over the network and without it.
func both(t *testing.T, f func(t *testing.T, client func(*Server) *http.Client)) {
	t.Run("network", func(t *testing.T) { f(t, func(s *Server) *http.Client { return s.http.Client() }) })
	t.Run("memory", func(t *testing.T) { f(t, (*Server).Client) })
}

func TestServerChat(t *testing.T) {
	both(t, func(t *testing.T, client func(*Server) *http.Client) {
		m := Script(t, Answer{Contains: "hello there", Text: "hi", Input: 4, Output: 1})
		s := Serve(t, m, ServerOptions{Key: "key"})
		res, body, err := post(t, client(s), s.URL+"/chat/completions", hello)
		if err != nil || res.StatusCode != 200 || !strings.Contains(body, `"content":"hi"`) || !strings.Contains(body, `"prompt_tokens":4`) || !strings.Contains(body, `"finish_reason":"stop"`) {
			t.Errorf("got %v, %s", err, body)
		}
		r := m.Requests()[0]
		if r.Model != "small" || r.Messages[0].Role != llm.System || r.Messages[1].Text != "hello there" {
			t.Errorf("the model was asked %+v", r)
		}
		if got := s.Requests(); len(got) != 1 || got[0].Path != "/v1/chat/completions" || got[0].Status != 200 || string(got[0].Body) != hello {
			t.Errorf("recorded %+v", got)
		}
	})
}

func TestServerToolsAndSchema(t *testing.T) {
	m := Script(t, Answer{Calls: []llm.ToolCall{{ID: "c2", Name: "look", Arguments: `{"a":1}`}}})
	s := Serve(t, m, ServerOptions{})
	body := `{"model": "m", "max_completion_tokens": 9, "temperature": 0.5, "reasoning_effort": "low",
		"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c1", "content": "seen"}],
		"tools": [{"type": "function", "function": {"name": "look", "description": "looks", "parameters": {"type": "object"}}}],
		"response_format": {"type": "json_schema", "json_schema": {"name": "s", "strict": true, "schema": {"type": "object"}}}}`
	_, answer, err := post(t, s.Client(), s.URL+"/chat/completions", body)
	if err != nil || !strings.Contains(answer, `"arguments":"{\"a\":1}"`) || !strings.Contains(answer, `"finish_reason":"tool_calls"`) {
		t.Errorf("got %v, %s", err, answer)
	}
	r := m.Requests()[0]
	if r.Messages[0].Calls[0] != (llm.ToolCall{ID: "c1", Name: "look", Arguments: "{}"}) || r.Messages[1].Call != "c1" || r.Messages[1].Role != llm.ToolRole ||
		r.Tools[0].Description != "looks" || value.JSON(r.Tools[0].Parameters) != `{"type":"object"}` || !r.Schema.Strict || r.Schema.Name != "s" ||
		r.MaxTokens != 9 || *r.Temperature != 0.5 || r.Effort != "low" {
		t.Errorf("the model was asked %+v", r)
	}
}

func TestServerStreams(t *testing.T) {
	s := Serve(t, Script(t, Answer{Text: "a long answer in pieces", Input: 3, Output: 6}), ServerOptions{})
	body := strings.Replace(hello, "{", `{"stream": true, "stream_options": {"include_usage": true}, `, 1)
	res, answer, err := post(t, s.Client(), s.URL+"/chat/completions", body)
	if err != nil || res.Header.Get("Content-Type") != "text/event-stream" || !strings.HasSuffix(answer, "data: [DONE]\n\n") || !strings.Contains(answer, `"prompt_tokens":3`) {
		t.Errorf("got %v, %s", err, answer)
	}
	text := ""
	for event := range strings.SplitSeq(answer, "\n\n") {
		var c struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &c) == nil && len(c.Choices) > 0 {
			text += c.Choices[0].Delta.Content
		}
	}
	if text != "a long answer in pieces" {
		t.Errorf("got %q", text)
	}
}

func TestServerResponses(t *testing.T) {
	m := Script(t, Answer{Turn: 0, Contains: "what is new", Text: "nothing", Finish: llm.FinishLength, Input: 2, Output: 1})
	s := Serve(t, m, ServerOptions{})
	body := `{"model": "m", "instructions": "be short", "max_output_tokens": 5, "reasoning": {"effort": "high"}, "tools": [{"type": "web_search"}, {"type": "function", "name": "look", "parameters": {}}],
		"text": {"format": {"type": "json_schema", "name": "s", "schema": {"type": "object"}}},
		"input": [{"role": "user", "content": "what is new"}, {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "seen"}]}`
	_, answer, err := post(t, s.Client(), s.URL+"/responses", body)
	if err != nil || !strings.Contains(answer, `"type":"web_search_call"`) || !strings.Contains(answer, `"text":"nothing"`) || !strings.Contains(answer, `"reason":"max_output_tokens"`) || !strings.Contains(answer, `"input_tokens":2`) {
		t.Errorf("got %v, %s", err, answer)
	}
	r := m.Requests()[0]
	if r.Hosted[0] != llm.WebSearch || len(r.Tools) != 1 || r.Tools[0].Name != "look" || r.Effort != "high" || r.MaxTokens != 5 || r.Schema == nil ||
		len(r.Messages) != 4 || r.Messages[2].Calls[0].ID != "c1" || r.Messages[3].Text != "seen" {
		t.Errorf("the model was asked %+v", r)
	}
	if _, answer, err := post(t, s.Client(), s.URL+"/responses", `{"model": "m", "input": "what is new", "stream": true}`); err != nil || !strings.Contains(answer, "event: response.completed\n") {
		t.Errorf("got %v, %s", err, answer)
	}
}

func TestServerFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      ServerOptions
		path   string
		status int
		want   string // a substring of the body
	}{
		{"429", ServerOptions{Faults: []Fault{{Status: 429, RetryAfter: 1500 * time.Millisecond, Code: "rate_limit_exceeded"}}}, "/chat/completions", 429, `"code":"rate_limit_exceeded"`},
		{"500", ServerOptions{Faults: []Fault{{Status: 500, Message: "out of memory"}}}, "/chat/completions", 500, `"message":"out of memory"`},
		{"malformed", ServerOptions{Faults: []Fault{{Body: `{"choices": [`}}}, "/chat/completions", 200, `{"choices": [`},
		{"the wrong key", ServerOptions{Key: "other"}, "/chat/completions", 401, "Incorrect API key"},
		{"no such path", ServerOptions{}, "/embeddings", 404, "Unknown request URL"},
		{"no responses", ServerOptions{NoResponses: true}, "/responses", 404, "Unknown request URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			both(t, func(t *testing.T, client func(*Server) *http.Client) {
				s := Serve(t, Script(t), tt.o)
				res, body, err := post(t, client(s), s.URL+tt.path, hello)
				if err != nil || res.StatusCode != tt.status || !strings.Contains(body, tt.want) || s.Requests()[0].Status != tt.status {
					t.Errorf("got %v, %s", err, body)
				}
				if tt.status == 429 && (res.Header.Get("Retry-After") != "2" || res.Header.Get("Retry-After-Ms") != "1500") {
					t.Errorf("the headers are %v", res.Header)
				}
			})
		})
	}
}

func TestServerCutsAnswers(t *testing.T) {
	both(t, func(t *testing.T, client func(*Server) *http.Client) {
		s := Serve(t, Script(t, Answer{Text: "hi"}), ServerOptions{Faults: []Fault{{Times: 1, Cut: true}}})
		if _, body, err := post(t, client(s), s.URL+"/chat/completions", hello); !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 {
			t.Errorf("got %v, %q", err, body)
		}
		if _, _, err := post(t, client(s), s.URL+"/chat/completions", hello); err != nil {
			t.Errorf("the next request failed, too: %v", err)
		}
	})
}

func TestServerRefusesWhatItHasNot(t *testing.T) {
	format := strings.Replace(hello, "{", `{"response_format": {"type": "json_object"}, `, 1)
	tools := strings.Replace(hello, "{", `{"tools": [{"type": "function", "function": {"name": "x"}}], `, 1)
	for body, o := range map[string]ServerOptions{format: {NoFormat: true}, tools: {NoTools: true}, `{"messages": []}`: {}, `{"model": `: {}} {
		s := Serve(t, Script(t), o)
		if res, _, err := post(t, s.Client(), s.URL+"/chat/completions", body); err != nil || res.StatusCode != 400 {
			t.Errorf("%s: got %+v, %v", body, res, err)
		}
	}
}

// The server responds with the status of a model's StatusError.
func TestServerModelFails(t *testing.T) {
	s := Serve(t, Script(t, Answer{Err: &llm.StatusError{Status: 503, RetryAfter: 2 * time.Second, Message: "loading"}}.Once(), Answer{Err: errors.New("boom")}), ServerOptions{})
	res, body, err := post(t, s.Client(), s.URL+"/chat/completions", hello)
	if err != nil || res.StatusCode != 503 || res.Header.Get("Retry-After") != "2" || !strings.Contains(body, "loading") {
		t.Errorf("got %v, %s", err, body)
	}
	if res, _, err := post(t, s.Client(), s.URL+"/chat/completions", hello); err != nil || res.StatusCode != 500 {
		t.Errorf("got %+v, %v", res, err)
	}
}

// The API does not transmit the node of a request, so an answer can be selected only by
// what the request contains. A request without a matching answer is not retried.
func TestServerWithoutAnswer(t *testing.T) {
	s := Serve(t, Script(nil, Run("draft", "text")), ServerOptions{})
	res, body, err := post(t, s.Client(), s.URL+"/chat/completions", hello)
	if err != nil || res.StatusCode != 422 || !strings.Contains(body, "pick the answer by Contains") {
		t.Errorf("got %v, %v, %s", res.StatusCode, err, body)
	}
}

func TestServerFaultsByShare(t *testing.T) {
	strikes := func(seed uint64) (n int) {
		s := Serve(t, Script(t, Answer{Text: "hi"}), ServerOptions{Seed: seed, Faults: []Fault{{Share: 0.1, Status: 429}}})
		for range 300 {
			if res, _, err := post(t, s.Client(), s.URL+"/chat/completions", hello); err != nil {
				t.Fatal(err)
			} else if res.StatusCode == 429 {
				n++
			}
		}
		return n
	}
	if a, b, c := strikes(1), strikes(1), strikes(2); a != b || a < 15 || a > 50 || c < 15 || c > 50 {
		t.Errorf("got %d, %d and %d of 300", a, b, c)
	}
}

func TestServerIsSlow(t *testing.T) {
	s := Serve(t, Script(t, Answer{Text: "hi"}), ServerOptions{Faults: []Fault{{Delay: time.Minute}}})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/chat/completions", strings.NewReader(hello))
		if _, err := s.Client().Do(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		start := time.Now()
		if _, _, err := post(t, s.Client(), s.URL+"/chat/completions", hello); err != nil || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}
