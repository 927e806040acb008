package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/llm/openai"
)

func serve(t *testing.T, o llmtest.ServerOptions, answers ...llmtest.Answer) (*llmtest.Server, *llmtest.Scripted) {
	m := llmtest.Script(t, answers...)
	return llmtest.Serve(t, m, o), m
}

func model(s *llmtest.Server, change ...func(*openai.Options)) *openai.Model {
	o := openai.Options{Key: "key", BaseURL: s.URL, Model: "small", Client: s.Client()}
	for _, c := range change {
		c(&o)
	}
	return openai.New(o)
}

func user(text string) []llm.Message { return []llm.Message{{Role: llm.User, Text: text}} }

func closed(properties ...any) *value.Object {
	names := []any{}
	for i := 0; i < len(properties); i += 2 {
		names = append(names, properties[i])
	}
	return value.ObjectOf("type", "object", "properties", value.ObjectOf(properties...), "required", names, "additionalProperties", false)
}

// body returns the body of the i-th request that a server received.
func body(t *testing.T, s *llmtest.Server, i int) *value.Object {
	t.Helper()
	v, err := value.ParseJSON(s.Requests()[i].Body)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Object)
}

func TestComplete(t *testing.T) {
	for _, stream := range []bool{false, true} {
		s, m := serve(t, llmtest.ServerOptions{Key: "key"}, llmtest.Answer{Text: "hello, and more of it", Input: 12, Output: 5})
		temperature := 0.25
		r, err := model(s, func(o *openai.Options) { o.Stream = stream }).Complete(t.Context(), &llm.Request{
			Messages:  []llm.Message{{Role: llm.System, Text: "be kind"}, {Role: llm.User, Text: "hi"}},
			MaxTokens: 9, Temperature: &temperature, Effort: "low"})
		if err != nil {
			t.Fatal(err)
		}
		want := llm.Response{Text: "hello, and more of it", Model: "small", Finish: llm.FinishStop, Usage: core.Usage{Calls: 1, Input: 12, Output: 5}}
		if r.Text != want.Text || r.Model != want.Model || r.Finish != want.Finish || r.Usage != want.Usage || r.Refusal != "" || len(r.Calls) != 0 {
			t.Errorf("stream %t: got %+v, want %+v", stream, r, want)
		}
		q := m.Requests()[0]
		if q.Model != "small" || q.Effort != "low" || q.MaxTokens != 9 || *q.Temperature != 0.25 || len(q.Messages) != 2 || q.Messages[0].Role != llm.System || q.Messages[1].Text != "hi" {
			t.Errorf("stream %t: asked %+v", stream, q)
		}
		got := s.Requests()[0]
		if got.Header.Get("Authorization") != "Bearer key" || got.Path != "/v1/chat/completions" {
			t.Errorf("sent %+v", got)
		}
		if _, ok := body(t, s, 0).Get("max_tokens"); !ok {
			t.Error("a server of one's own was asked with max_completion_tokens")
		}
	}
}

// A conversation with tools is sent and received unchanged.
func TestTools(t *testing.T) {
	for _, how := range []string{"chat", "stream", "responses"} {
		t.Run(how, func(t *testing.T) {
			s, m := serve(t, llmtest.ServerOptions{}, llmtest.Answer{Calls: []llm.ToolCall{
				{ID: "c3", Name: "look", Arguments: `{"at": "a long list of things", "deep": [1]}`}, {ID: "c4", Name: "stop", Arguments: `{bad`}}})
			params := value.ObjectOf("type", "object", "properties", value.ObjectOf("z", value.ObjectOf("type", "string"), "at", value.ObjectOf("type", "string")))
			q := &llm.Request{
				Messages: []llm.Message{
					{Role: llm.User, Text: "look"},
					{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c1", Name: "look", Arguments: `{"at":"x"}`}}},
					{Role: llm.ToolRole, Call: "c1", Text: "seen"},
					{Role: llm.Assistant, Text: "again", Calls: []llm.ToolCall{{ID: "c2", Name: "stop", Arguments: `{}`}}},
					{Role: llm.ToolRole, Call: "c2", Text: "no", Failed: true}},
				Tools: []llm.Tool{{Name: "look", Description: "looks", Parameters: params}, {Name: "stop"}}}
			if how == "responses" {
				q.Hosted = []string{llm.WebSearch}
			}
			r, err := model(s, func(o *openai.Options) { o.Stream, o.Responses = how == "stream", true }).Complete(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Calls) != 2 || r.Calls[0] != (llm.ToolCall{ID: "c3", Name: "look", Arguments: `{"at": "a long list of things", "deep": [1]}`}) || r.Calls[1].Arguments != "{bad" || r.Finish != llm.FinishTools {
				t.Errorf("got %+v", r)
			}
			request := m.Requests()[0]
			if len(request.Messages) != 5 || request.Messages[1].Calls[0] != q.Messages[1].Calls[0] || request.Messages[2].Call != "c1" || request.Messages[2].Text != "seen" ||
				request.Messages[3].Text != "again" || request.Messages[3].Calls[0].ID != "c2" || request.Messages[4].Text != "no" {
				t.Errorf("asked %+v", request.Messages)
			}
			if len(request.Tools) != 2 || request.Tools[0].Description != "looks" || request.Tools[1].Parameters == nil {
				t.Errorf("asked %+v", request.Tools)
			}
			if props, _ := request.Tools[0].Parameters.Get("properties"); value.JSON(props) != `{"z":{"type":"string"},"at":{"type":"string"}}` {
				t.Errorf("the parameters are %s", value.JSON(props))
			}
		})
	}
}

func TestSchema(t *testing.T) {
	for _, tt := range []struct {
		name   string
		schema llm.Schema
		strict bool
	}{
		{"closed", llm.Schema{Name: "s", Strict: true, Schema: closed("a", value.ObjectOf("type", "string"), "b", closed("c", value.ObjectOf("enum", []any{value.ObjectOf("type", "object")})))}, true},
		{"not asked for", llm.Schema{Name: "s", Schema: closed()}, false},
		{"a member that need not be there", llm.Schema{Name: "s", Strict: true, Schema: value.ObjectOf("type", "object", "properties", value.ObjectOf("a", value.NewObject(0)), "additionalProperties", false)}, false},
		{"open", llm.Schema{Name: "s", Strict: true, Schema: value.ObjectOf("type", "object")}, false},
		{"open inside", llm.Schema{Name: "s", Strict: true, Schema: closed("a", value.ObjectOf("type", "array", "items", value.ObjectOf("type", "object")))}, false},
		{"a keyword without support", llm.Schema{Name: "s", Strict: true, Schema: closed("a", value.ObjectOf("oneOf", []any{value.ObjectOf("type", "string")}))}, false},
		{"open in a definition", llm.Schema{Name: "s", Strict: true, Schema: value.ObjectOf("$ref", "#/$defs/a", "$defs", value.ObjectOf("a", value.ObjectOf("type", "object")))}, false},
		{"a member of any type", llm.Schema{Name: "s", Strict: true, Schema: closed("a", value.NewObject(0))}, false},
		{"a choice of two", llm.Schema{Name: "s", Strict: true, Schema: closed("a", value.ObjectOf("anyOf", []any{value.ObjectOf("type", "string"), closed()}))}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, hosted := range [][]string{nil, {llm.WebSearch}} {
				s, m := serve(t, llmtest.ServerOptions{}, llmtest.Answer{Text: "{}"})
				if _, err := model(s, func(o *openai.Options) { o.Responses = true }).Complete(t.Context(), &llm.Request{Messages: user("x"), Schema: &tt.schema, Hosted: hosted}); err != nil {
					t.Fatal(err)
				}
				got := m.Requests()[0]
				if got.Schema == nil || got.Schema.Strict != tt.strict || got.Schema.Name != "s" || !value.Equal(got.Schema.Schema, tt.schema.Schema) {
					t.Errorf("asked for %+v", got.Schema)
				}
				if len(got.Messages) != 1 {
					t.Errorf("the schema is in the prompt, too: %+v", got.Messages)
				}
			}
		})
	}
}

// If a server does not support response_format, the prompt contains the schema, without
// another failed request from the second call on.
func TestServerWithoutFormat(t *testing.T) {
	s, m := serve(t, llmtest.ServerOptions{NoFormat: true}, llmtest.Answer{Text: `{"a": "x"}`})
	backend := model(s)
	q := &llm.Request{Messages: user("x"), Schema: &llm.Schema{Name: "s", Schema: closed("a", value.ObjectOf("type", "string"))}}
	for range 2 {
		r, err := backend.Complete(t.Context(), q)
		if err != nil || r.Text != `{"a": "x"}` {
			t.Fatalf("got %+v, %v", r, err)
		}
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
	request := m.Requests()[1]
	if last := request.Messages[len(request.Messages)-1].Text; request.Schema != nil || !strings.Contains(last, `"required":["a"]`) {
		t.Errorf("asked %+v", request)
	}
	if len(q.Messages) != 1 {
		t.Error("the request was changed")
	}
}

func TestHosted(t *testing.T) {
	s, m := serve(t, llmtest.ServerOptions{}, llmtest.Answer{Text: "news", Input: 3, Output: 2})
	r, err := model(s, func(o *openai.Options) { o.Responses = true }).Complete(t.Context(), &llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "short"}, {Role: llm.User, Text: "what is new?"}}, Hosted: []string{llm.WebSearch}, Effort: "high", MaxTokens: 77, Model: "big"})
	if err != nil || r.Text != "news" || r.Usage != (core.Usage{Calls: 1, Input: 3, Output: 2}) || r.Finish != llm.FinishStop {
		t.Errorf("got %+v, %v", r, err)
	}
	q := m.Requests()[0]
	if q.Hosted[0] != llm.WebSearch || q.Effort != "high" || q.MaxTokens != 77 || q.Model != "big" || q.Messages[0].Role != llm.System || q.Messages[1].Text != "what is new?" {
		t.Errorf("asked %+v", q)
	}
	if store, _ := body(t, s, 0).Get("store"); store != false || s.Requests()[0].Path != "/v1/responses" {
		t.Errorf("sent %s to %s", s.Requests()[0].Body, s.Requests()[0].Path)
	}
}

func TestLacks(t *testing.T) {
	hosted := func(tools ...string) *llm.Request { return &llm.Request{Hosted: tools, Messages: user("x")} }
	own, official := openai.New(openai.Options{BaseURL: "http://localhost:1/v1"}), openai.New(openai.Options{})
	for _, tt := range []struct {
		m    *openai.Model
		r    *llm.Request
		want string
	}{
		{own, hosted(), ""},
		{own, &llm.Request{Provider: "other", Messages: user("x")}, "all models are asked at http://localhost:1/v1, so no provider can be chosen"},
		{own, hosted(llm.WebSearch), "needs the Responses API of OpenAI; if the server at http://localhost:1/v1 has it, set WAVEFOLD_RESPONSES=1"},
		{official, hosted(llm.WebSearch), ""},
		{official, hosted("teleport"), `there is no hosted tool "teleport"; there is web_search`},
		{openai.New(openai.Options{BaseURL: "http://localhost:1/v1", Responses: true}), hosted(llm.WebSearch), ""},
	} {
		if got := tt.m.Lacks(tt.r); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%v: got %q", tt.r.Hosted, got)
		}
	}
	if _, err := own.Complete(t.Context(), &llm.Request{Model: "m", Messages: user("x"), Hosted: []string{llm.WebSearch}}); err == nil || !strings.Contains(err.Error(), "WAVEFOLD_RESPONSES") {
		t.Errorf("got %v", err)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, responses := range []bool{false, true} {
		for _, tt := range []struct {
			name   string
			answer llmtest.Answer
			want   llm.Response
		}{
			{"refusal", llmtest.Answer{Refusal: "I cannot", Input: 1, Output: 1}, llm.Response{Refusal: "I cannot", Finish: llm.FinishStop}},
			{"length", llmtest.Answer{Text: `{"a": "x`, Finish: llm.FinishLength, Input: 1, Output: 1}, llm.Response{Text: `{"a": "x`, Finish: llm.FinishLength}},
			{"filter", llmtest.Answer{Finish: llm.FinishFilter, Input: 1, Output: 1}, llm.Response{Finish: llm.FinishFilter}},
		} {
			s, _ := serve(t, llmtest.ServerOptions{}, tt.answer)
			q := &llm.Request{Messages: user("x")}
			if responses {
				q.Hosted = []string{llm.WebSearch}
			}
			r, err := model(s, func(o *openai.Options) { o.Responses = true }).Complete(t.Context(), q)
			if err != nil || r.Text != tt.want.Text || r.Refusal != tt.want.Refusal || r.Finish != tt.want.Finish {
				t.Errorf("%s: got %+v, %v", tt.name, r, err)
			}
		}
	}
}

func TestNotConfigured(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	for _, tt := range []struct {
		name   string
		lookup func(string) (string, bool)
		want   []string // expected in the error
	}{
		{"nothing", env(), []string{"set OPENAI_API_KEY", "OPENAI_BASE_URL"}},
		{"an empty key", env("OPENAI_API_KEY", " "), []string{"set OPENAI_API_KEY"}},
		{"the official server without a key", env("OPENAI_BASE_URL", "https://api.openai.com/v1"), []string{"set OPENAI_API_KEY"}},
		{"no URL", env("OPENAI_BASE_URL", "localhost:11434"), []string{"OPENAI_BASE_URL is not the URL", `"localhost:11434"`, "http://localhost:11434/v1"}},
		{"no URL at all", env("OPENAI_BASE_URL", "http://[::1"), []string{"OPENAI_BASE_URL is not the URL"}},
		{"no model", env("OPENAI_BASE_URL", "http://localhost:1/v1"), []string{"set WAVEFOLD_MODEL"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openai.FromEnv(tt.lookup).Complete(t.Context(), &llm.Request{Messages: user("x")})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
			if f := core.FailureOf(err); !f.FailsRun || !f.Permanent {
				t.Errorf("got the failure %+v", f)
			}
		})
	}
}

// Two variables suffice to use a local server.
func TestFromEnv(t *testing.T) {
	m := llmtest.Script(t, llmtest.Answer{Text: "hi"})
	s := llmtest.Serve(t, m, llmtest.ServerOptions{})
	env := map[string]string{"OPENAI_BASE_URL": s.URL, "WAVEFOLD_MODEL": "llama3.2"}
	r, err := openai.FromEnv(func(name string) (string, bool) { v, ok := env[name]; return v, ok }).Complete(t.Context(), &llm.Request{Messages: user("x")})
	if err != nil || r.Text != "hi" || r.Model != "llama3.2" {
		t.Errorf("got %+v, %v", r, err)
	}
	if got := s.Requests()[0].Header.Values("Authorization"); len(got) != 0 {
		t.Errorf("a key was sent: %q", got)
	}
}

// Options are not overridden by the environment of the process.
func TestOnlyOptionsCount(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "other")
	t.Setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Odd: 1")
	s, _ := serve(t, llmtest.ServerOptions{Key: "key"}, llmtest.Answer{Text: "hi"})
	if _, err := model(s).Complete(t.Context(), &llm.Request{Messages: user("x")}); err != nil {
		t.Error(err)
	}
	if s.Requests()[0].Header.Get("X-Odd") != "" {
		t.Error("a header comes from the environment")
	}
}

func TestFailures(t *testing.T) {
	html := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<html>login</html>")
	})
	plain := func(status int, text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, text, status) })
	}
	fault := func(f llmtest.Fault) http.Handler {
		return llmtest.Serve(t, llmtest.Script(t, llmtest.Answer{Text: "hi"}), llmtest.ServerOptions{Faults: []llmtest.Fault{f}})
	}
	body := func(s string) http.Handler { return fault(llmtest.Fault{Body: s}) }
	for _, tt := range []struct {
		name     string
		server   http.Handler
		want     string
		category core.Category
		status   int
		wait     time.Duration
	}{
		{"429", fault(llmtest.Fault{Status: 429, RetryAfter: 1500 * time.Millisecond, Message: "slow down"}), "answered 429 Too Many Requests: slow down", core.TransientInfra, 429, 1500 * time.Millisecond},
		{"no money", fault(llmtest.Fault{Status: 429, RetryAfter: time.Second, Code: "insufficient_quota", Message: "no money"}), "no money", core.BudgetExhausted, 429, time.Second},
		{"500", fault(llmtest.Fault{Status: 500}), "answered 500 Internal Server Error", core.TransientInfra, 500, 0},
		{"500 in plain text", plain(502, "upstream\ndied"), "answered 502 Bad Gateway: upstream\ndied", core.TransientInfra, 502, 0},
		{"an empty failure", plain(503, ""), "answered 503 Service Unavailable", core.TransientInfra, 503, 0},
		{"a failure of another form", plain(422, `{"detail": "no such field"}`), "no such field", core.Deterministic, 422, 0},
		{"a failure in a text", plain(400, `{"error": "model too big"}`), "answered 400 Bad Request: model too big", core.Deterministic, 400, 0},
		{"a long failure", plain(400, strings.Repeat("é", 400)), "é…", core.Deterministic, 400, 0},
		{"the wrong key", fault(llmtest.Fault{Status: 401, Message: "Incorrect API key: secret-key."}), "Incorrect API key: [the key]. (the key is from OPENAI_API_KEY)", core.Deterministic, 401, 0},
		{"the wrong path", plain(404, "not found"), "asked for /v1/chat/completions; OPENAI_BASE_URL is http://", core.Deterministic, 404, 0},
		{"no such model", plain(404, `{"error": {"message": "model 'x' not found"}}`), "answered 404 Not Found: model 'x' not found", core.Deterministic, 404, 0},
		{"a page", html, `not a JSON object but text/html; charset=utf-8: "<html>login</html>" (is OPENAI_BASE_URL right?`, core.Deterministic, 0, 0},
		{"malformed", body(`{"choices": [{"mess`), "asking the model's server at", core.TransientInfra, 0, 0},
		{"no object", body(`[]`), "not a JSON object", core.TransientInfra, 0, 0},
		{"nothing", body(" "), "not a JSON object", core.TransientInfra, 0, 0},
		{"no choice", body(`{"choices": []}`), "without a choice", core.TransientInfra, 0, 0},
		{"an error for an answer", body(`{"error": {"message": "provider is down", "code": 502}}`), "without a choice: provider is down", core.TransientInfra, 0, 0},
		{"cut", fault(llmtest.Fault{Cut: true}), "broke off", core.TransientInfra, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				s := httptest.NewServer(tt.server)
				defer s.Close()
				_, err := openai.New(openai.Options{Key: "secret-key", BaseURL: s.URL + "/v1", Model: "m", Stream: stream}).Complete(t.Context(), &llm.Request{Messages: user("x")})
				if err == nil {
					t.Fatal("no error")
				}
				if stream && tt.status == 0 && !strings.HasPrefix(tt.name, "cut") {
					continue // a response that is not a stream has another message
				}
				if !strings.Contains(err.Error(), tt.want) && !stream || strings.Contains(err.Error(), "secret-key") {
					t.Errorf("stream %t: got %q, want %q in it", stream, err, tt.want)
				}
				if got := core.CategoryOf(err); got != tt.category {
					t.Errorf("stream %t: %v is %s, want %s", stream, err, got, tt.category)
				}
				if e, ok := errors.AsType[*llm.StatusError](err); ok != (tt.status != 0) || ok && (e.Status != tt.status || e.RetryAfter != tt.wait) {
					t.Errorf("stream %t: got %+v", stream, e)
				}
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	_, err := openai.New(openai.Options{BaseURL: "http://127.0.0.1:1/v1", Model: "m"}).Complete(t.Context(), &llm.Request{Messages: user("x")})
	if err == nil || !strings.HasPrefix(err.Error(), "asking the model's server at http://127.0.0.1:1/v1: dial tcp") || core.CategoryOf(err) != core.TransientInfra {
		t.Errorf("got %v", err)
	}
}

// An endless answer does not exhaust the memory.
func TestEndlessAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("{"))
		spaces := []byte(strings.Repeat(" ", 1<<20))
		for r.Context().Err() == nil {
			if _, err := w.Write(spaces); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	_, err := openai.New(openai.Options{BaseURL: s.URL, Model: "m"}).Complete(t.Context(), &llm.Request{Messages: user("x")})
	if err == nil || !strings.Contains(err.Error(), "longer than 67108864 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestSlowServer(t *testing.T) {
	s, _ := serve(t, llmtest.ServerOptions{Faults: []llmtest.Fault{{Delay: time.Hour}}}, llmtest.Answer{Text: "hi"})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := model(s).Complete(ctx, &llm.Request{Messages: user("x")})
		if !errors.Is(err, context.DeadlineExceeded) || core.CategoryOf(err) != core.TransientInfra {
			t.Errorf("got %v", err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		why := errors.New("no longer wanted")
		stop(why)
		if _, err := model(s).Complete(ctx, &llm.Request{Messages: user("x")}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}

// The programs of a run do not get the variable of the key: every wrapper of a model passes
// its name on.
func TestKeyVariables(t *testing.T) {
	lookup := func(name string) (string, bool) { return map[string]string{llm.EnvRequests: "many"}[name], true }
	m := openai.FromEnv(func(string) (string, bool) { return "", false })
	for name, around := range map[string]llm.Model{"itself": m, "with retries": llm.WithEnv(m, func(string) (string, bool) { return "", false }),
		"misconfigured": llm.WithEnv(m, lookup), "named": llm.Named(llm.WithTimeout(m, time.Second), "x")} {
		if got := llm.KeyVariables(around); !slices.Equal(got, []string{openai.EnvKey}) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	for address, want := range map[string]int{"http://u:pw@host/v1": 2, "http://host/v1?api-key=pw": 2, "http://host:80/v1": 1, "u:pw@host": 2} {
		if got := openai.New(openai.Options{BaseURL: address}).KeyVariables(); len(got) != want || want == 2 && got[1] != openai.EnvBaseURL {
			t.Errorf("%s: got %v", address, got)
		}
	}
	if got := llm.KeyVariables(llm.Func(nil)); got != nil {
		t.Errorf("a function: got %v", got)
	}
}

// Parts of the server's address that may be keys are sent, but no message shows them.
func TestCredentialsOfTheAddress(t *testing.T) {
	for address, want := range map[string]string{
		"http://user:passw0rd@127.0.0.1:1/v1?api-key=qu3ry": "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1?api-key=qu3ry#passw0rd": "http://127.0.0.1:1/v1",
		"user:passw0rd@host/v1?k=qu3ry": "host/v1", "http://user:passw0rd@": "http://", "ftp://user:passw0rd@host/v1": "ftp://host/v1", "user:passw0rd?x@host": "…", "http://user:passw0rd%zz@host/v1": "http://host/v1",
	} {
		for name, o := range map[string]openai.Options{"": {Key: "k", BaseURL: address, Model: "m"}, "no model": {BaseURL: address}} {
			_, err := openai.New(o).Complete(t.Context(), &llm.Request{Messages: user("x")})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "passw0rd") || strings.Contains(err.Error(), "qu3ry") || strings.Contains(err.Error(), "user") {
				t.Errorf("%s %s: got %v", address, name, err)
			}
		}
		lacks := openai.New(openai.Options{BaseURL: address, Model: "m"}).Lacks(&llm.Request{Hosted: []string{llm.WebSearch}})
		if !strings.Contains(lacks, want) || strings.Contains(lacks, "passw0rd") || strings.Contains(lacks, "qu3ry") {
			t.Errorf("%s: got %s", address, lacks)
		}
	}
	for _, status := range []int{200, 401, 404, 500} {
		var got *http.Request
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			io.WriteString(w, "wrong: passw0rd, qu3ry")
		}))
		address := strings.Replace(s.URL, "http://", "http://user:passw0rd@", 1) + "/v1?api-key=qu3ry"
		_, err := openai.New(openai.Options{BaseURL: address, Model: "m"}).Complete(t.Context(), &llm.Request{Messages: user("x")})
		s.Close()
		if err == nil || strings.Contains(err.Error(), "passw0rd") || strings.Contains(err.Error(), "qu3ry") {
			t.Errorf("%d: got %v", status, err)
		}
		if _, password, _ := got.BasicAuth(); password != "passw0rd" || got.URL.Query().Get("api-key") != "qu3ry" {
			t.Errorf("%d: sent %s with the password %q", status, got.URL, password)
		}
	}
}
