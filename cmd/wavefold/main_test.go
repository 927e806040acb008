package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm/llmtest"
)

const triage = `id: triage
name: Triage
entry: look
nodes:
  look: {name: Look, instruction: Look at the alert}
  page: {name: Page, instruction: Page somebody}
  close: {name: Close, instruction: Close it}
edges:
  - {from: look, to: page, when: it is urgent}
  - {from: look, to: close, when: it is not}
`

func run(t *testing.T, env map[string]string) (*wavefold.Result, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "triage.yml")
	if err := os.WriteFile(file, []byte(triage), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := engine(func(name string) (string, bool) { v, ok := env[name]; return v, ok }).Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return g.Run(t.Context())
}

// Two variables are enough to run a workflow against a server of one's own.
func TestServerOfOnesOwn(t *testing.T) {
	m := llmtest.Script(t,
		llmtest.Answer{Contains: "Which condition holds?", Text: `{"reason": "it burns", "choice": 1}`},
		llmtest.Answer{Contains: "Look at the alert", Text: "it burns"},
		llmtest.Answer{Contains: "Page somebody", Text: "paged"})
	s := llmtest.Serve(t, m, llmtest.ServerOptions{Faults: []llmtest.Fault{{Times: 1, Status: 503, RetryAfter: time.Millisecond}}})
	r, err := run(t, map[string]string{"OPENAI_BASE_URL": s.URL, "WAVEFOLD_MODEL": "llama3.2"})
	if err != nil || r.Status != core.RunSuccess {
		t.Fatalf("got %+v, %v", r, err)
	}
	if n := len(s.Requests()); n != 4 || m.Count("", "") != 3 {
		t.Errorf("%d requests, %d of them answered", n, m.Count("", ""))
	}
}

func TestNoModel(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"set OPENAI_API_KEY":               nil,
		"set WAVEFOLD_MODEL":               {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
		`WAVEFOLD_MODEL_TIMEOUT is "soon"`: {"OPENAI_API_KEY": "k", "WAVEFOLD_MODEL_TIMEOUT": "soon"},
	} {
		if _, err := run(t, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q in it", env, err, want)
		}
	}
}
