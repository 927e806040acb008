package llm_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/openai"
)

// This is how a program configures a model: the innermost wrapper is closest to the server.
func Example() {
	ctx := context.Background()
	var model llm.Model = openai.New(openai.Options{Key: os.Getenv("OPENAI_API_KEY"), Model: "gpt-5.4-mini"})
	model = llm.WithTimeout(model, 2*time.Minute)                                           // of each attempt
	model = llm.WithLimit(model, llm.Limits{Concurrent: 8, Requests: 500, Tokens: 200_000}) // per minute
	model = llm.WithRetry(model, llm.Retry{Attempts: 5})
	model = llm.WithPrices(model, llm.Prices{"gpt-5.4-mini": {Input: 0.75, Output: 4.5, CachedInput: 0.075}})

	answer, err := llm.Complete(ctx, model, &llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "One word for a large boat?"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text, answer.Usage.Tokens(), answer.Usage.Cost)
}

// A custom backend is one function.
func ExampleFunc() {
	ctx := context.Background()
	model := llm.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		last := r.Messages[len(r.Messages)-1].Text
		return &llm.Response{Text: "you said: " + last, Finish: llm.FinishStop}, nil
	})
	answer, err := llm.Complete(ctx, model, &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}})
	fmt.Println(answer.Text, err)
	// Output: you said: hello <nil>
}

// This model selects a backend by the provider that a node names.
func ExampleRequest_provider() {
	ctx := context.Background()
	named := func(name string) llm.Model {
		return llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
			return &llm.Response{Text: "from " + name, Finish: llm.FinishStop}, nil
		})
	}
	standard := named("the standard provider")
	byProvider := map[string]llm.Model{"other": named("the other provider")}

	model := llm.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		if m, ok := byProvider[r.Provider]; ok {
			return m.Complete(ctx, r)
		}
		return standard.Complete(ctx, r)
	})

	for _, provider := range []string{"", "other"} {
		answer, err := llm.Complete(ctx, model, &llm.Request{Provider: provider, Messages: []llm.Message{{Role: llm.User, Text: "hello"}}})
		fmt.Println(answer.Text, err)
	}
	// Output:
	// from the standard provider <nil>
	// from the other provider <nil>
}
