package expressions_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/jsonpath"
	"github.com/wavefold/wavefold/expressions/template"
)

// manual is the user's documentation. The tests run every example in it.
const manual = "../docs/expressions.md"

func TestManualExpressions(t *testing.T) {
	env := manualEnv(t)
	for _, e := range examples(t, "expr") {
		p, ds := expressions.Compile(source.Text{Value: e.text}, expressions.Scope{}, "")
		if words, ok := e.fails(); ok || p == nil {
			if !ok || p != nil || !strings.Contains(ds.Error(), words) {
				t.Errorf("%s\n\tgot  %v\n\twant %s", e.text, ds, e.want)
			}
			continue
		}
		v := p.Value(env.Bind(p))
		got := value.JSON(v)
		if value.IsMissing(v) {
			got = "missing"
		}
		if got != e.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", e.text, got, e.want)
		}
	}
}

func TestManualPaths(t *testing.T) {
	env := manualEnv(t)
	for _, e := range examples(t, "jsonpath") {
		p, ds := jsonpath.Compile(source.Text{Value: e.text})
		if words, ok := e.fails(); ok || p == nil {
			if !ok || p != nil || !strings.Contains(ds.Error(), words) {
				t.Errorf("%s\n\tgot  %v\n\twant %s", e.text, ds, e.want)
			}
			continue
		}
		all, err := p.All(env.State, nil)
		if got := value.JSON(all); err != nil || got != e.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", e.text, got, e.want)
		}
	}
}

func TestManualTemplates(t *testing.T) {
	env := template.Values{MapEnv: manualEnv(t)}
	for _, e := range examples(t, "template") {
		tmpl, ds := template.Compile(source.Text{Value: e.text}, expressions.Scope{}, "")
		got, err := "", ds.Err(false)
		if tmpl != nil {
			got, err = tmpl.Render(env.On(tmpl))
		}
		if words, ok := e.fails(); ok || err != nil {
			if !ok || err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s\n\tgot  %v\n\twant %s", e.text, err, e.want)
			}
			continue
		}
		if got != e.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", e.text, got, e.want)
		}
	}
}

// block matches a template and the code block with its result.
var block = regexp.MustCompile("(?s)\n`([^`\n]+)` writes:\n\n```text\n(.*?)\n```")

func TestManualTemplatesOfManyLines(t *testing.T) {
	env := template.Values{MapEnv: manualEnv(t)}
	found := block.FindAllStringSubmatch(readManual(t), -1)
	if len(found) == 0 {
		t.Fatal("none")
	}
	for _, m := range found {
		tmpl, ds := template.Compile(source.Text{Value: m[1]}, expressions.Scope{}, "")
		if tmpl == nil {
			t.Fatal(ds)
		}
		if got, err := tmpl.Render(env.On(tmpl)); got != m[2] {
			t.Errorf("%s\n\tgot  %s, %v\n\twant %s", m[1], got, err, m[2])
		}
	}
}

// example is an expression or template and its result: JSON, "missing", or "error:
// words".
type example struct{ text, want string }

// fails returns the words that the error message is expected to contain.
func (e example) fails() (words string, ok bool) { return strings.CutPrefix(e.want, "error: ") }

// arrow separates an expression from its result.
const arrow = " → "

// inline matches an example inside a sentence or table.
var inline = regexp.MustCompile("`([^`]+)`" + arrow + "`([^`]+)`")

// examples returns the examples in the manual: the lines of code blocks of the given
// language and, for "expr", also the inline ones.
func examples(tb testing.TB, language string) []example {
	tb.Helper()
	var out []example
	block := ""
	for line := range strings.Lines(readManual(tb)) {
		line = strings.TrimSuffix(line, "\n")
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && block == "":
			block = fence
		case isFence:
			block = ""
		case block == language && strings.Contains(line, arrow):
			text, want, _ := strings.Cut(line, arrow)
			out = append(out, example{text, want})
		case block == "" && language == "expr":
			for _, m := range inline.FindAllStringSubmatch(strings.ReplaceAll(line, `\|`, "|"), -1) {
				out = append(out, example{m[1], m[2]})
			}
		}
	}
	if len(out) < 5 {
		tb.Fatalf("%s has only %d examples of %s", manual, len(out), language)
	}
	return out
}

// manualEnv returns the environment of the examples: the first JSON block of the
// manual.
func manualEnv(tb testing.TB) expressions.MapEnv {
	tb.Helper()
	_, rest, _ := strings.Cut(readManual(tb), "```json\n")
	block, _, _ := strings.Cut(rest, "```")
	v, err := value.ParseJSON([]byte(block))
	if err != nil {
		tb.Fatal(err)
	}
	env := expressions.MapEnv{}
	for k, e := range v.(*value.Object).All() {
		switch k {
		case "state":
			env.State = e.(*value.Object)
		case "input":
			env.Inputs = e.(*value.Object)
		case "item":
			env.Item = e
		case "index":
			env.Index = e
		case "nodes":
			env.Nodes = manualNodes(e.(*value.Object))
		}
	}
	return env
}

func manualNodes(all *value.Object) func(id string) (status, output any, ok bool) {
	return func(id string) (status, output any, ok bool) {
		v, ok := all.Get(id)
		if !ok {
			return nil, nil, false
		}
		node := v.(*value.Object)
		status, _ = node.Get("status")
		if output, ok = node.Get("output"); !ok {
			output = value.Missing
		}
		return status, output, true
	}
}

func readManual(tb testing.TB) string {
	tb.Helper()
	data, err := os.ReadFile(manual)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
