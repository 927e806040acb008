package wait_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/wait"
)

func TestCompile(t *testing.T) {
	tests := []struct {
		node string
		want time.Duration
		find string
	}{
		{`{"duration": "250ms"}`, 250 * time.Millisecond, ""},
		{`{"duration": "1h30m"}`, 90 * time.Minute, ""},
		{`{"duration": "0s"}`, 0, ""},
		{`{"duration": "1s", "writes": ["x"]}`, time.Second, `1:31: warning: node n: a wait writes nothing, field "x" stays as it is [UNUSED]`},
		{`{"duration": "-1s"}`, 0, `1:14: error: node n: duration: want a duration that is not negative, found string "-1s" [BAD_VALUE]`},
		{`{"duration": 5}`, 0, `1:14: error: node n: duration: want a duration such as "30s" or "1.5h", found number 5 (write "5s" for seconds or "5ms" for milliseconds) [WRONG_TYPE]`},
		{`{"duration": "soon"}`, 0, `1:14: error: node n: duration: want a duration such as "30s" or "1.5h", found string "soon" [BAD_VALUE]`},
		{`{}`, 0, `1:1: error: node n: key "duration" is missing [MISSING_KEY]`},
	}
	for _, tt := range tests {
		made, ds := wait.Kind.Compile(nodestest.Node(t, tt.node), core.Env{})
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != tt.find {
			t.Errorf("%s: got finding %s, want %s", tt.node, got, tt.find)
		}
		if !ds.Failed(false) && (made.Wait == nil || made.Wait.Duration != tt.want) {
			t.Errorf("%s: got %v, want %v", tt.node, made.Wait, tt.want)
		}
	}
}

// TestNoDurationInAWalk tests that a node without a duration compiles and fails when it is visited.
func TestNoDurationInAWalk(t *testing.T) {
	made, ds := wait.Kind.Compile(nodestest.Node(t, `{}`), core.Env{Conventions: core.Conventions{Late: true}})
	if made.Lacks != "there is no duration" || len(ds) > 0 {
		t.Errorf("got %+v, %v", made, ds)
	}
}

func TestConformance(t *testing.T) {
	nodestest.Run(t, wait.Kind, nodestest.Case{Name: "plain", Node: `{"duration": "1s"}`})
}

func TestDocs(t *testing.T) {
	nodestest.CheckDocs(t, wait.Kind)
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, wait.Kind, nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "pause")})
}
