package docs

import (
	"os"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/internal/docstest"
)

// TestModels checks that the Go code of models.md is code of tests and examples that run.
func TestModels(t *testing.T) {
	var code string
	for _, file := range []string{"../llm/example_test.go", "../llm/llmtest/example_test.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += flush(string(b))
	}
	found := 0
	for _, b := range docstest.Blocks(t, "models.md") {
		if b.Lang() != "go" {
			continue
		}
		found++
		if !strings.Contains(code, flush(b.Text)) {
			t.Errorf("%s:%d: no test or example has this code", b.File, b.Line)
		}
	}
	if found < 4 {
		t.Errorf("found %d blocks", found)
	}
}

// flush takes the indentation off.
func flush(code string) string {
	var out strings.Builder
	for line := range strings.Lines(code) {
		out.WriteString(strings.TrimLeft(line, "\t"))
	}
	return out.String()
}
