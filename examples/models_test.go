package examples

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/llm/openai"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestModels runs the examples that need a model with a server that implements the API of
// OpenAI, configured by the two variables that also select any other server. The model
// takes the first choice and fills a schema with the first values that match.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		folder string
		args   []string
		want   []string // substrings of the output
	}{
		{"triage", []string{"triage.yml", "--input", "alert=disk full"},
			[]string{"path: gather -> gather -> gather -> classify -> comment", "ended at comment: no edge leaves it", "; models: "}},
		{"review", []string{"review.yml", "--input", "task=x", "--max-visits", "3"},
			[]string{"path: write -> review -> fix\n", "ended at fix: the walk has made as many visits as it may"}},
		{"review", []string{"review.yml", "--input", "task=x", "--budget-calls", "4"},
			[]string{"path: write -> review -> fix -> review\n", "ended at review: the run could not continue", "the budget of the run is used up"}},
		{"agents", []string{"agents.yaml"}, []string{"agents: success", "verdicts  3 elements"}},
		{"unparseable", []string{"unparseable.yaml"}, []string{"judged   3 elements", "unparseable: success"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			copied(t, c.folder)
			t.Chdir("examples/" + c.folder)
			s := llmtest.Serve(t, llm.Func(first), llmtest.ServerOptions{Key: "key"})
			env := map[string]string{openai.EnvKey: "key", openai.EnvBaseURL: s.URL, openai.EnvModel: "any"}
			get := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
			e := wavefold.NewEngine(std.Kinds()...)
			e.UseModel(openai.FromEnv(get))
			var out bytes.Buffer
			cli.Run(t.Context(), e, append([]string{"run", "-q"}, c.args...), cli.Streams{Out: &out, Err: &out, In: os.Stdin, Getenv: noStore})
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("want %q in\n%s", want, out.String())
				}
			}
		})
	}
}

// TestNoKey checks that a missing key is reported, with the variable to set, before
// anything runs.
func TestNoKey(t *testing.T) {
	e := wavefold.NewEngine(std.Kinds()...)
	e.UseModel(llm.WithEnv(openai.New(openai.Options{}), func(string) (string, bool) { return "", false }))
	for file, dry := range map[string]string{"triage/triage.yml": "false", "review/review.yml": "true", "agents/agents.yaml": ""} {
		var out bytes.Buffer
		args := []string{"run", file, "-i", "alert=x", "-i", "task=x", "-i", "dryRun=" + dry}
		if dry == "" {
			args = args[:2]
		}
		code := cli.Run(t.Context(), e, args, cli.Streams{Out: &out, Err: &out, In: os.Stdin, Getenv: noStore})
		if text := out.String(); code != 2 || !strings.Contains(text, openai.EnvKey) || !strings.Contains(text, openai.EnvBaseURL) || strings.Contains(text, "run.started") {
			t.Errorf("%s: exit code %d, %s", file, code, text)
		}
	}
}

// TestModelsAfterwards inspects the log of a run: the choices and answers, the rules of
// verify, and the drawing. Every call requested the model of --model.
func TestModelsAfterwards(t *testing.T) {
	copied(t, "triage")
	t.Chdir("examples/triage")
	s := llmtest.Serve(t, llm.Func(first), llmtest.ServerOptions{})
	e := wavefold.NewEngine(std.Kinds()...)
	e.UseModel(openai.New(openai.Options{BaseURL: s.URL, Model: "usual"}))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"run", "-q", "triage.yml", "-i", "alert=x", "--events", "e.ndjson", "--model", "other", "--json"},
			[]string{`"ended": "ended at comment: no edge leaves it"`, `"usage": {`}},
		{[]string{"verify", "triage.yml", "e.ndjson"}, []string{"no violations"}},
		{[]string{"why", "classify", "--run", "e.ndjson"}, []string{
			"from gather: unconditional: only path", "then to comment: a model chose: an open incident covers it already",
			"        1 an open incident covers it already -> comment", "        none of the above -> close", `      answer: {"reason":"2024-01-31","choice":1}`,
			"what it was shown has the hash ", "its calls to models: 2 calls"}},
		{[]string{"why", "page", "triage.yml", "--run", "e.ndjson"}, []string{"page was never visited", "the edge classify -> page was not taken", "classify went to comment"}},
		{[]string{"graph", "--run", "e.ndjson", "triage.yml"}, []string{"at most 2 times) ×2", `class="edge condition taken"`, "incident-triage, success"}},
		{[]string{"graph", "--run", "e.ndjson", "-f", "mermaid", "triage.yml"}, []string{"×2", "linkStyle ", "class gather,classify,comment success"}},
	} {
		var out bytes.Buffer
		if code := cli.Run(t.Context(), e, c.args, cli.Streams{Out: &out, Err: &out, In: os.Stdin, Getenv: noStore}); code != 0 {
			t.Errorf("%v: exit code %d", c.args, code)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: want %q in\n%s", c.args, want, out.String())
			}
		}
	}
	for _, r := range s.Requests() {
		if !bytes.Contains(r.Body, []byte(`"model":"other"`)) {
			t.Errorf("asked %s", r.Body)
		}
	}
}

// first answers with the first choice, or with the first value that matches the schema.
func first(_ context.Context, r *llm.Request) (*llm.Response, error) {
	if r.Schema == nil {
		return &llm.Response{Text: "Well."}, nil
	}
	return &llm.Response{Text: value.JSON(instance(r.Schema.Schema))}, nil
}

func instance(schema *value.Object) any {
	if list, ok := schema.Get("enum"); ok {
		values := list.([]any)
		return values[min(1, len(values)-1)] // the first value of a choice means none
	}
	properties, _ := schema.Get("properties")
	switch kind, _ := schema.Get("type"); kind {
	case "object":
		o := value.NewObject(4)
		inner, _ := properties.(*value.Object)
		for name, s := range inner.All() {
			o.Set(name, instance(s.(*value.Object)))
		}
		return o
	case "array":
		if items, ok := schema.Get("items"); ok {
			return []any{instance(items.(*value.Object))}
		}
		return []any{}
	case "integer", "number":
		return int64(1)
	case "boolean":
		return true
	}
	return "2024-01-31"
}

// noStore is an environment in which runs are not stored.
func noStore(name string) string {
	if name == "WAVEFOLD_STORE" {
		return "none"
	}
	return ""
}
