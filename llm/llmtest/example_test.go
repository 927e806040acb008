package llmtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/llm/openai"
)

// These are the tests that docs/models.md shows.

func TestTriage(t *testing.T) {
	model := llmtest.Script(t,
		llmtest.Route("triage", "page").At(1), // at the first visit
		llmtest.Route("triage", "close"),      // at all others
	)
	router := llm.NewRouter(model)
	for visit, want := range []string{"page", "close", "close"} {
		q := core.RouteQuestion{Node: "triage", Visit: visit + 1, Fallback: core.NoRoute,
			Choices: []core.RouteChoice{{Target: "close", When: "it is solved"}, {Target: "page", When: "it is urgent"}}}
		a, err := router.Route(t.Context(), q)
		if err != nil || q.Choices[a.Choice].Target != want {
			t.Errorf("visit %d: got %+v, %v, want %s", visit+1, a, err, want)
		}
	}
	if n := model.Count(llm.PurposeRoute, "triage"); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

func TestBusyServer(t *testing.T) {
	server := llmtest.Serve(t, llmtest.Script(t, llmtest.Answer{Contains: "hello", Text: "hi"}), llmtest.ServerOptions{
		Faults: []llmtest.Fault{{Times: 2, Status: 429, RetryAfter: 20 * time.Second}},
	})
	synctest.Test(t, func(t *testing.T) { // waits take no time
		model := llm.WithRetry(openai.New(openai.Options{BaseURL: server.URL, Model: "any", Client: server.Client()}), llm.Retry{})
		answer, err := llm.Complete(t.Context(), model, &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}})
		if err != nil || answer.Text != "hi" || len(server.Requests()) != 3 {
			t.Errorf("got %+v, %v after %d requests", answer, err, len(server.Requests()))
		}
	})
}
