package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
)

// TestThousandWalks runs a thousand walks at once against a server that turns one request
// in a hundred away. Each walk goes the way of its own input, gets the answers to its own
// prompts, and asks as often as it must: two nodes and one decision.
func TestThousandWalks(t *testing.T) {
	issue := regexp.MustCompile(`"issue":\s*(\d+)`)
	m := llm.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
		found := issue.FindStringSubmatch(r.Messages[len(r.Messages)-1].Text)
		if found == nil {
			return nil, fmt.Errorf("no issue in %+v", r.Messages)
		}
		n, _ := strconv.Atoi(found[1])
		text := "seen " + found[1]
		if r.Schema != nil && r.Schema.Name == "choice" {
			text = fmt.Sprintf(`{"reason": "issue %d", "choice": %d}`, n, n%2+1)
		}
		return &llm.Response{Text: text, Usage: core.Usage{Input: 10, Output: 2}}, nil
	})
	s := llmtest.Serve(t, m, llmtest.ServerOptions{Seed: 11, Faults: []llmtest.Fault{{Share: 0.01, Status: 429, RetryAfter: time.Millisecond}}})
	file := filepath.Join(t.TempDir(), "triage.yml")
	if err := os.WriteFile(file, []byte(triage), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"OPENAI_BASE_URL": s.URL, "WAVEFOLD_MODEL": "m", "WAVEFOLD_MODEL_CONCURRENCY": "100"}
	g, err := engine(func(name string) (string, bool) { v, ok := env[name]; return v, ok }).Load(file)
	if err != nil {
		t.Fatal(err)
	}
	const walks = 1000
	begin := time.Now()
	var all sync.WaitGroup
	for n := range walks {
		all.Go(func() {
			r, err := g.Run(t.Context(), wavefold.Set("issue", n))
			if err != nil {
				t.Errorf("walk %d: %v", n, err)
				return
			}
			end := []string{"page", "close"}[n%2]
			walked, _ := r.State.Get(core.ContextField)
			sent, _ := walked.(*value.Object).Get(end)
			if want := fmt.Sprintf(`{"summary":"seen %d"}`, n); value.JSON(sent) != want || len(r.Path) != 2 || r.Path[1] != end {
				t.Errorf("walk %d went %q and ended with %s, want %s of %s", n, r.Path, value.JSON(sent), want, end)
			}
			if want := (core.Usage{Calls: 3, Input: 30, Output: 6}); r.Usage != want {
				t.Errorf("walk %d took %+v, want %+v", n, r.Usage, want)
			}
		})
	}
	all.Wait()
	refused := 0
	for _, r := range s.Requests() {
		if r.Status == 429 {
			refused++
		}
	}
	if n := len(s.Requests()); n != 3*walks+refused || refused < 10 {
		t.Errorf("%d requests, %d of them refused", n, refused)
	}
	t.Logf("%d walks, %d requests, %d of them refused, %v", walks, len(s.Requests()), refused, time.Since(begin).Round(time.Millisecond))
}
