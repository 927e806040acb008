package std_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
)

// bySteps returns a walk by steps whose nodes, JSON mappings, follow each other.
func bySteps(t *testing.T, nodes ...string) *core.Workflow {
	w := &core.Workflow{Name: source.Text{Value: "t"}, Mode: core.ModeWalk, Dir: t.TempDir(), Walk: &core.Walk{Router: source.Text{Value: core.RouterSteps}}}
	for _, text := range nodes {
		n := nodestest.Node(t, text)
		n.DefaultNext = source.Text{Value: core.EndNode}
		if last := len(w.Nodes) - 1; last >= 0 {
			w.Nodes[last].DefaultNext = n.ID
		}
		w.Nodes = append(w.Nodes, n)
	}
	w.Walk.Entry = w.Nodes[0].ID
	return w
}

// runSteps runs a walk and returns its path, state and status.
func runSteps(t *testing.T, w *core.Workflow, o scheduler.Options) (string, *core.Report) {
	t.Helper()
	e := wavefold.NewEngine(std.Kinds()...)
	if err := e.AddTool("twice", func(_ context.Context, a struct {
		N int `json:"n"`
	}) (int, error) {
		return 2 * a.N, nil
	}); err != nil {
		t.Fatal(err)
	}
	p, ds := e.Compile(w, false)
	if p == nil || ds.Failed(false) {
		t.Fatal(ds)
	}
	r, _ := scheduler.Run(t.Context(), p, nil, o)
	return strings.Join(r.Path, " ") + " | " + value.JSON(r.State) + " | " + string(r.Status), r
}

// TestKindsBySteps runs nodes of the kinds in a walk by steps without declared fields: what they write
// are members of the context, which expressions, templates, args and reads name as fields.
func TestKindsBySteps(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"q": %q}`, r.URL.Query().Get("q"))
	}))
	defer server.Close()
	const first = `{"id": "a", "kind": "template", "text": "7", "writes": ["k"]}`
	for _, tt := range []struct {
		name  string
		nodes []string
		want  string
	}{
		{"template", []string{first, `{"id": "b", "kind": "template", "text": "{{$.k}} {{k}}", "reads": ["k"], "writes": ["r"]}`}, `{"k":"7","r":"7 7"}`},
		{"command", []string{first, `{"id": "b", "kind": "command", "run": ["echo", "{{$.k}}"], "allow_options": true, "writes": ["r"]}`}, `{"k":"7","r":"7"}`},
		{"script", []string{first, `{"id": "b", "kind": "script", "script": "grep -o '\"x\":\"[^\"]*\"'", "stdin": "json", "args": {"x": "$.k"}, "output": "text", "writes": ["r"]}`}, `{"k":"7","r":"\"x\":\"7\""}`},
		{"http", []string{first, `{"id": "b", "kind": "http", "url": "` + server.URL + `", "query": {"q": "{{$.k}}"}, "writes": ["r"]}`}, `{"k":"7","r":{"q":"7"}}`},
		{"sql", []string{`{"id": "a", "kind": "sql", "dsn": "x.db", "exec": "CREATE TABLE n (v INT)", "writes": []}`,
			`{"id": "b", "kind": "sql", "dsn": "x.db", "query": "SELECT 3 AS v", "writes": ["rows"]}`}, `{"rows":[{"v":3}]}`},
		{"wait", []string{`{"id": "b", "kind": "wait", "duration": "1ms"}`, first}, `{"k":"7"}`},
		{"tool", []string{`{"id": "a", "kind": "tool", "impl": "twice", "args": {"n": 4}, "writes": ["n"]}`,
			`{"id": "b", "kind": "tool", "impl": "twice", "args": {"n": "$.n"}, "writes": ["m"]}`}, `{"n":8,"m":16}`},
		{"transform", []string{`{"id": "a", "kind": "script", "script": "echo '[{\"v\": 1}, {\"v\": 5}]'", "output": "json", "writes": ["rows"]}`,
			`{"id": "b", "kind": "transform", "from": "$.rows", "filter": "$item.v > 2", "writes": ["big"]}`}, `{"rows":[{"v":1},{"v":5}],"big":[{"v":5}]}`},
		{"guard", []string{first, `{"id": "b", "kind": "guard", "check": "$.k == '7'", "on_pass": "c", "writes": []}`,
			`{"id": "skipped", "kind": "template", "text": "x", "writes": ["s"]}`, `{"id": "c", "kind": "template", "text": "y", "writes": ["c"]}`}, `{"k":"7","c":"y"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, r := runSteps(t, bySteps(t, tt.nodes...), scheduler.Options{})
			if want := ` | {"context":` + tt.want + `} | success`; !strings.HasSuffix(got, want) {
				t.Errorf("got  %s (%v)\nwant %s", got, r.Err, want)
			}
		})
	}
}

// TestGuardFailsBySteps tests that a failed guard does not fail the visit, and where the walk continues.
func TestGuardFailsBySteps(t *testing.T) {
	const next = `{"id": "next", "kind": "template", "text": "x", "writes": []}`
	for _, tt := range []struct {
		name, node, want string
		edge             bool
	}{
		{"on_fail", `{"id": "g", "kind": "guard", "check": "1 == 2", "on_fail": "other"}`, "g other", true},
		{"an edge", `{"id": "g", "kind": "guard", "check": "1 == 2", "on_pass": "other"}`, "g edge", true},
		{"the default", `{"id": "g", "kind": "guard", "check": "1 == 2", "on_pass": "other"}`, "g next", false},
		{"the end", `{"id": "g", "kind": "guard", "check": "1 == 1", "on_pass": "__end__"}`, "g", true},
	} {
		w := bySteps(t, tt.node, next, `{"id": "other", "kind": "template", "text": "x", "writes": []}`, `{"id": "edge", "kind": "template", "text": "x", "writes": []}`)
		for _, n := range w.Nodes[1:] {
			n.DefaultNext = source.Text{Value: core.EndNode}
		}
		if tt.edge {
			w.Edges = []*core.Edge{{From: w.Nodes[0].ID, To: w.Nodes[3].ID, Cond: &core.Cond{Kind: source.Text{Value: core.CondGuardFailed}}}}
		}
		if got, r := runSteps(t, w, scheduler.Options{}); strings.Split(got, " | ")[0] != tt.want || r.Status != core.RunSuccess {
			t.Errorf("%s: got %s (%v), want %s", tt.name, got, r.Err, tt.want)
		}
	}
}

// TestHumanBySteps tests that the choice of a person is the output, and that transitions and edges
// see it.
func TestHumanBySteps(t *testing.T) {
	const ship, fix = `{"id": "ship", "kind": "template", "text": "x", "writes": []}`, `{"id": "fix", "kind": "template", "text": "x", "writes": []}`
	for _, byEdge := range []bool{false, true} {
		settings := ""
		if byEdge {
			settings = `, "choices": ["yes", "no"]`
		}
		w := bySteps(t, `{"id": "ask", "kind": "human", "text": "Good?", "writes": ["verdict"]`+settings+`}`, fix, ship)
		w.Nodes[1].DefaultNext, w.Nodes[0].DefaultNext = w.Nodes[0].ID, source.Text{}
		if when := (source.Text{Value: "$output.choice == 'yes'"}); byEdge {
			w.Edges = []*core.Edge{{From: w.Nodes[0].ID, To: w.Nodes[2].ID, When: &when}, {From: w.Nodes[0].ID, To: w.Nodes[1].ID}}
		} else {
			text := func(s string) source.Text { return source.Text{Value: s} }
			w.Nodes[0].Transitions = []core.Transition{{Key: text("no"), To: text("fix")}, {Key: text("yes"), To: text("ship")}}
		}
		got, r := runSteps(t, w, scheduler.Options{Interviewer: human.Queue("no", "yes"), Concurrency: 1})
		if !strings.HasPrefix(got, "ask fix ask ship | ") || !strings.Contains(got, `{"context":{"verdict":{"choice":"yes","text":"yes","note":"","by":""`) || r.Status != core.RunSuccess {
			t.Errorf("by an edge %t: %s (%v)", byEdge, got, r.Err)
		}
	}
}

// TestNestedBySteps tests that a walk by steps may be a node of a dag, and a dag or a walk a node of a walk by
// steps, with one slot.
func TestNestedBySteps(t *testing.T) {
	text := func(s string) source.Text { return source.Text{Value: s} }
	walk := bySteps(t, `{"id": "a", "kind": "template", "text": "7", "writes": ["k"]}`, `{"id": "b", "kind": "template", "text": "{{$.k}}!", "writes": ["r"]}`)
	walk.Fields = []core.FieldDecl{{Name: text("k")}, {Name: text("r")}}
	nest := func(inner *core.Workflow) *core.Node {
		return &core.Node{ID: text("inner"), Kind: text("workflow"), Child: inner, Writes: []source.Text{text("r")}, HasWrites: true, Config: &source.Value{Kind: source.ObjectValue}}
	}
	dag := &core.Workflow{Name: text("dag"), Mode: core.ModeDAG, Dir: walk.Dir, Fields: []core.FieldDecl{{Name: text("r")}}, Nodes: []*core.Node{nest(walk)}}
	outer := bySteps(t, `{"id": "last", "kind": "template", "text": "{{$.r}}?", "writes": ["s"]}`)
	first := nest(dag)
	first.DefaultNext = outer.Nodes[0].ID
	outer.Nodes = append(outer.Nodes, first)
	outer.Walk.Entry = first.ID
	got, r := runSteps(t, outer, scheduler.Options{Concurrency: 1, MaxInFlight: 1})
	if got != `inner last | {"context":{"r":"7!","s":"7!?"}} | success` {
		t.Errorf("got %s (%v)", got, r.Err)
	}
}
