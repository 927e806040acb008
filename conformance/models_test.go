package conformance

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/llm/openai"
)

// sorting is a walk whose way depends on the number it is given, and on nothing else.
const sorting = `
id: sorting
name: Sorting
entry: sort
nodes:
  sort: {name: Sort, instruction: Repeat the number., output: {type: object, properties: {n: {type: integer}}, required: [n]}}
  even: {name: Even, instruction: It is even.}
  odd: {name: Odd, instruction: It is odd.}
  done: {name: Done, instruction: It is done.}
edges:
  - {from: sort, to: even, when: n is even}
  - {from: sort, to: odd, when: n is odd}
  - {from: even, to: done}
  - {from: odd, to: done, when: n is more than 500}
`

var number = regexp.MustCompile(`"(?:walk|n)":\s*(\d+)`)

// sorter is a model that gets every walk right: what it says depends on the number that
// it reads in what it is asked.
var sorter = llm.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
	text := ""
	for _, m := range r.Messages {
		text += m.Text + "\n"
	}
	found := number.FindStringSubmatch(text)
	if found == nil {
		return nil, fmt.Errorf("no number in %s", text)
	}
	n, _ := strconv.Atoi(found[1])
	res := &llm.Response{Finish: llm.FinishStop, Usage: core.Usage{Input: 10, Output: 2}}
	switch {
	case !strings.Contains(text, "Which condition holds?"):
		res.Text = fmt.Sprintf(`{"n": %d}`, n)
	case strings.Contains(text, "n is more than 500") && n > 500:
		res.Text = "done"
	case strings.Contains(text, "n is more than 500"):
		res.Text = "none"
	case n%2 == 0:
		res.Text = "even"
	default:
		res.Text = "odd"
	}
	return res, nil
})

// TestManyWalksOverTheNetwork runs 1,000 walks at once against a server of which one answer
// in a hundred is 429: each takes its own way, and asks as often as the rules demand and no
// more.
func TestManyWalksOverTheNetwork(t *testing.T) {
	const walks = 1000
	server := llmtest.Serve(t, sorter, llmtest.ServerOptions{Seed: 1, Faults: []llmtest.Fault{{Share: 0.01, Status: http.StatusTooManyRequests, Message: "slow down"}}})
	model := llm.WithRetry(llm.WithLimit(openai.New(openai.Options{BaseURL: server.URL, Model: "sorter"}), llm.Limits{Concurrent: 64}), llm.Retry{Delay: time.Millisecond, Attempts: 6})
	engine := wavefold.NewEngine()
	engine.UseModel(model)
	w, ds := engine.Parse("sorting.yml", []byte(sorting))
	if w == nil {
		t.Fatal(ds)
	}
	g := engine.Graph(w)
	if err := g.Compile(); err != nil {
		t.Fatal(err)
	}
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		calls int64
	)
	start := time.Now()
	for n := range walks {
		all.Go(func() {
			r, err := g.Run(t.Context(), wavefold.Set("walk", n))
			path, asked := "sort even done", int64(4) // three nodes and one decision
			switch {
			case n%2 == 1 && n > 500:
				path, asked = "sort odd done", 5
			case n%2 == 1:
				path = "sort odd"
			}
			if err != nil || strings.Join(r.Path, " ") != path || r.Usage.Calls != asked {
				t.Errorf("walk %d went %v with %d calls (%v), want %s with %d", n, r.Path, r.Usage.Calls, err, path, asked)
			}
			mu.Lock()
			defer mu.Unlock()
			calls += r.Usage.Calls
		})
	}
	all.Wait()
	refused := 0
	for _, r := range server.Requests() {
		if r.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	t.Logf("%d walks, %d answered calls, %d requests refused with 429, %s", walks, calls, refused, time.Since(start).Round(time.Millisecond))
	if refused == 0 {
		t.Error("no request was refused")
	}
}
