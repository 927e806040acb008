// Package expressionstest executes the examples of the user's documentation.
package expressionstest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// Example is a text and what it gives: JSON, "missing", or "error: words".
type Example struct{ Text, Want string }

// Fails returns the words of an expected error.
func (e Example) Fails() (words string, ok bool) { return strings.CutPrefix(e.Want, "error: ") }

// arrow stands between a text and its result.
const arrow = " → "

// inline is an example inside of a sentence or table.
var inline = regexp.MustCompile("`([^`]+)`" + arrow + "`([^`]+)`")

// Examples returns the examples in a Markdown file: the lines of code blocks
// of the given language and, for "expr", also those inside of the text.
func Examples(tb testing.TB, file, language string) []Example {
	tb.Helper()
	var out []Example
	block := ""
	for line := range strings.Lines(read(tb, file)) {
		line = strings.TrimSuffix(line, "\n")
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && block == "":
			block = fence
		case isFence:
			block = ""
		case block == language && strings.Contains(line, arrow):
			text, want, _ := strings.Cut(line, arrow)
			out = append(out, Example{text, want})
		case block == "" && language == "expr":
			for _, m := range inline.FindAllStringSubmatch(strings.ReplaceAll(line, `\|`, "|"), -1) {
				out = append(out, Example{m[1], m[2]})
			}
		}
	}
	if len(out) < 5 {
		tb.Fatalf("%s has only %d examples of %s", file, len(out), language)
	}
	return out
}

// Env returns what the examples see: the first JSON block of the file.
func Env(tb testing.TB, file string) expressions.MapEnv {
	tb.Helper()
	_, rest, _ := strings.Cut(read(tb, file), "```json\n")
	block, _, _ := strings.Cut(rest, "```")
	v, err := core.ParseJSON([]byte(block))
	if err != nil {
		tb.Fatal(err)
	}
	env := expressions.MapEnv{}
	for k, e := range v.(*core.Object).All() {
		switch k {
		case "state":
			env.State = e.(*core.Object)
		case "input":
			env.Inputs = e.(*core.Object)
		case "item":
			env.Item = e
		case "index":
			env.Index = core.Nth(int(e.(int64)))
		case "nodes":
			env.Nodes = nodes(e.(*core.Object))
		}
	}
	return env
}

func nodes(all *core.Object) core.NodeLookup {
	return func(id string) (status core.Status, output any, ok bool) {
		v, ok := all.Get(id)
		if !ok {
			return 0, nil, false
		}
		node := v.(*core.Object)
		text, _ := node.Get("status")
		if status.UnmarshalText([]byte(text.(string))) != nil {
			return 0, nil, false
		}
		if output, ok = node.Get("output"); !ok {
			output = core.Missing
		}
		return status, output, true
	}
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
