// Command tool-loop answers a question with a model that may call Go functions. Each visit
// of the node agent is one call of the model and the calls of the tools that it requests.
// The walk visits the node again until the model answers without a tool.
//
//	OPENAI_API_KEY=… go run ./examples/tool-loop 'Do I need an umbrella in Hamburg tomorrow?'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/openai"
)

func main() {
	question := strings.Join(os.Args[1:], " ")
	if err := ask(context.Background(), openai.FromEnv(os.LookupEnv), question, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var (
	question = wavefold.NewField[string]("question")
	answer   = wavefold.NewField[string]("answer")
)

// ask answers a question and prints the nodes that were visited.
func ask(ctx context.Context, m llm.Model, text string, out io.Writer) error {
	r, err := build(m).Run(ctx, question.Is(text))
	fmt.Fprintf(out, "%s\npath: %s\n", answer.Get(r), strings.Join(r.Path, " -> "))
	return err
}

// build returns the walk for a model.
func build(m llm.Model) *wavefold.Graph {
	a := &agent{model: m}
	return wavefold.NewWalk("weather",
		wavefold.Step("agent", question, answer, a.visit, wavefold.Entry(),
			wavefold.MaxVisits(6), wavefold.Transition(core.ErrorKey, "apologize")), // after six visits
		wavefold.Map("apologize", question, answer, func(_ context.Context, q string) (string, error) {
			return "I cannot answer this: " + q, nil
		})).
		OnNoToolCall("agent", wavefold.End, wavefold.Label("answered")).
		OnError("agent", "apologize", wavefold.Priority(1)).
		Graph()
}

// agent is a model with tools. It keeps nothing between visits: the conversation is part of
// the run, so that a stored run continues it after a crash.
type agent struct{ model llm.Model }

// visit asks the model once and calls the tools that it requests.
func (a *agent) visit(ctx context.Context, q string, v *wavefold.Visit) (string, error) {
	past, err := wavefold.ConversationAs[llm.Message](v)
	if err != nil {
		return "", err
	}
	var added []llm.Message
	if len(past) == 0 {
		added = append(added, llm.Message{Role: llm.User, Text: q})
	}
	res, err := llm.Complete(ctx, a.model, &llm.Request{Purpose: llm.PurposeRun, Node: "agent", Visit: v.Number, Turn: 1,
		Messages: append(past, added...), Tools: tools})
	if err != nil {
		return "", err
	}
	added = append(added, llm.Message{Role: llm.Assistant, Text: res.Text, Calls: res.Calls})
	for _, c := range res.Calls {
		result, err := call(c)
		if err != nil {
			result = err.Error() // the model may try again
		}
		added = append(added, llm.Message{Role: llm.ToolRole, Call: c.ID, Text: result, Failed: err != nil})
		v.ToolCalls = append(v.ToolCalls, c.Name) // the walk visits the node again
	}
	for _, m := range added {
		v.Messages = append(v.Messages, m)
	}
	return res.Text, nil
}

var tools = []llm.Tool{{Name: "forecast", Description: `returns the weather of tomorrow; the argument is {"city": NAME}`}}

// call calls a tool.
func call(c llm.ToolCall) (string, error) {
	var in struct{ City string }
	if c.Name != "forecast" {
		return "", fmt.Errorf("there is no tool %q", c.Name)
	}
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil {
		return "", fmt.Errorf("the arguments are not JSON: %w", err)
	}
	weather, ok := map[string]string{"Hamburg": "rain, 12 degrees", "Athens": "sun, 24 degrees"}[in.City]
	if !ok {
		return "", fmt.Errorf("there is no forecast for %q", in.City)
	}
	return weather, nil
}
