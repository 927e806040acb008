package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	_ "github.com/wavefold/wavefold/llm/jsonschema" // documents may have schemas
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestConformance checks every case of every archive: first the findings of its
// document, then its runs at several limits, with and without barriers between the
// levels, with equal and with shuffled durations. All runs must have the same outcome.
func TestConformance(t *testing.T) {
	for _, topic := range topics(t) {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range topic.cases {
				t.Run(c.name, func(t *testing.T) {
					if c.table == nil {
						c.test(t)
						return
					}
					for _, d := range c.expand(t) {
						t.Run(d.name, d.test)
					}
				})
			}
		})
	}
}

func (c *testCase) test(t *testing.T) {
	p, findings := c.compile(t)
	c.checkFindings(t, findings)
	switch {
	case t.Failed():
		t.Logf("the document:\n%s", numbered(c.files["workflow.yaml"]))
	case p == nil && c.want != nil:
		t.Errorf("the document has errors and cannot run:\n%v", findings)
	case p != nil && c.want == nil && !findings.Failed(true):
		t.Error("neither a finding nor a run is asked for")
	case c.want != nil:
		c.runAll(t, p)
	}
}

// compile parses and compiles the document like the command does. A document with other
// files is read from a folder.
func (c *testCase) compile(t *testing.T) (*plan.Plan, source.Diagnostics) {
	t.Helper()
	e := wavefold.NewEngine()
	for _, name := range sortedKeys(c.tools) {
		if err := e.AddTool(name, c.tools[name].handler()); err != nil {
			t.Fatal(err)
		}
	}
	w, findings := c.parse(t, e)
	if w == nil {
		return nil, findings
	}
	p, findings := e.Compile(w, false)
	if (p == nil) != findings.Failed(false) {
		t.Errorf("a plan: %v; findings:\n%v", p != nil, findings)
	}
	strict, _ := e.Compile(w, true)
	if (strict == nil) != findings.Failed(true) {
		t.Errorf("strict: a plan: %v; findings:\n%v", strict != nil, findings)
	}
	return p, findings
}

func (c *testCase) parse(t *testing.T, e *wavefold.Engine) (*core.Workflow, source.Diagnostics) {
	t.Helper()
	if len(c.files) == 1 {
		return e.Parse("workflow.yaml", []byte(c.files["workflow.yaml"]))
	}
	dir := t.TempDir()
	for name, text := range c.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return e.Read(filepath.Join(dir, "workflow.yaml"))
}

func numbered(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		b.WriteString(fmt.Sprintf("%4d  %s", n, line))
	}
	return b.String()
}
