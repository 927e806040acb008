package builder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/formatstest"
)

func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := Parse(file, data)
		return ds
	})
}

// graphs returns the documents of the folder testdata/graphs, by name.
func graphs(t testing.TB) map[string][]byte {
	files, err := filepath.Glob("testdata/graphs/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = data
	}
	return out
}

func parse(t testing.TB, data []byte) *core.Workflow {
	t.Helper()
	w, ds := Parse("graph.json", data)
	if w == nil || ds.Failed(false) {
		t.Fatalf("%s\n%v", data, ds)
	}
	return w
}

// plain is the content of a flow without positions.
func plain(w *core.Workflow) string {
	var b strings.Builder
	for _, n := range w.Nodes {
		fmt.Fprintf(&b, "%s %s %s", n.ID.Value, n.Kind.Value, n.Flow.Role)
		if n.Flow.Output != nil {
			fmt.Fprintf(&b, " output %s", value.JSON(n.Flow.Output))
		}
		if a := n.Flow.Agent; a != nil {
			fmt.Fprintf(&b, " %q %q %q %q %q %t %t", a.Name.Value, a.System.Value, a.User.Value, a.Model.Value, a.Effort.Value, a.WebSearch, a.Subagents)
		}
		for _, c := range n.Flow.Conditions {
			fmt.Fprintf(&b, " [%s]", c)
		}
		if n.Flow.Prompt.Value != "" {
			fmt.Fprintf(&b, " asks %q", n.Flow.Prompt.Value)
		}
		if n.Flow.Place != nil {
			fmt.Fprintf(&b, " at %v", *n.Flow.Place)
		}
		b.WriteByte('\n')
	}
	for _, e := range w.Edges {
		fmt.Fprintf(&b, "%s -> %s %s %s\n", e.From.Value, e.To.Value, e.Label.Value, e.Into.Value)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	w := parse(t, graphs(t)["legacy.json"])
	want := `s start start output ""
c if if [contains "Yes"]
c2 if if [contains "no"]
c3 if if [equal "new"]
ask approval approval at {1.5 20}
ask2 approval approval
a agent step "" "" "" "" "" true false
end end unknown
s -> c  
c -> c2 true 
c -> ask false 
ask -> a approve 
a -> end  
`
	if got := plain(w); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if w.Name.Value != "graph" || w.Nodes[1].ID.Pos.String() != "graph.json:2:8" || w.Edges[0].Pos.String() != "graph.json:9:16" {
		t.Errorf("named %s, node at %s, edge at %s", w.Name.Value, w.Nodes[1].ID.Pos, w.Edges[0].Pos)
	}
	calls := parse(t, graphs(t)["trip.json"]).AgentCalls()
	if got := value.JSON(jsonOf(t, calls["plan"])); !strings.Contains(got, `"subagents":[{"nodeId":"hotels"`) || !strings.Contains(got, `{"nodeId":"trains","agentName":"Trains","systemPrompt":"You know trains.","userPrompt":"","model":"gpt-5","reasoningEffort":"low","tools":{"web_search":false,"subagents":false}}`) {
		t.Errorf("the tree of the agent is %s", got)
	}
}

// A falsy start is the empty text, any other value stays as it is.
func TestInitialInput(t *testing.T) {
	for _, tt := range []struct{ given, want string }{
		{`""`, `""`}, {`null`, `""`}, {`0`, `""`}, {`0.0`, `""`}, {`-0`, `""`}, {`false`, `""`}, {`true`, `true`}, {`1`, `1`}, {`[]`, `[]`}, {`{}`, `{}`},
		{`{"b": 1, "a": [2]}`, `{"b":1,"a":[2]}`}, {`"x"`, `"x"`},
	} {
		w := parse(t, []byte(`{"nodes": [{"id": "s", "type": "start", "data": {"initialInput": `+tt.given+`}}], "connections": []}`))
		if got := value.JSON(w.Nodes[0].Flow.Output); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.given, got, tt.want)
		}
	}
}

func TestIs(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{"nodes": [], "connections": []}`, true},
		{"\xef\xbb\xbf {\"connections\": 3}", true},
		{`{"nodes": [], "connections": [`, true},
		{`{"graph": {"nodes": []}, "connections": []}`, false},
		{`{"graph": {"nodes": []}}`, false},
		{`{"nodes": {"a": "\"connections\""}, "entry": "a"}`, false},
		{`{"nodes": {"connections": 1}, "entry": "connections"}`, false},
		{`[{"connections": []}]`, false},
		{"nodes: []\nconnections: []", false},
		{`{"nodes": [], "connections": [], "x": "`, true},
		{`{"x": "\"connections\": 1", "y": {"connections": 1}}`, false},
		{`{"connections" : [], "x": [{"graph": 1}]}`, true},
		{"", false},
	} {
		if got := Is([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: %t", tt.text, got)
		}
	}
}

// TestWriteUnchanged checks that a flow that has not changed has the bytes of its document.
func TestWriteUnchanged(t *testing.T) {
	for name, data := range graphs(t) {
		got, err := Write(parse(t, data))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %v, written as\n%s", name, err, got)
		}
	}
}

// A change of one node leaves the text of everything else.
func TestWriteChanged(t *testing.T) {
	data := graphs(t)["older.json"]
	w := parse(t, data)
	w.Nodes[1].Flow.Agent.User.Value = "Say <hi> & go: {{PREVIOUS_OUTPUT}}"
	w.Edges = append(w.Edges, &core.Edge{From: w.Nodes[1].ID, To: w.Nodes[1].ID})
	got, err := Write(w)
	want := strings.Replace(string(data), `{"id": "node-2", "type": "agent", "data": {"userPrompt": "{{PREVIOUS_OUTPUT}}", "collapsed": false}, "custom": [1, 2.0, "\u00e9"]}`,
		`{"id":"node-2","type":"agent","data":{"userPrompt":"Say <hi> & go: {{PREVIOUS_OUTPUT}}","collapsed":false},"custom":[1,2.0,"é"]}`, 1)
	want = strings.Replace(want, `"id": "edge-1"}]`, `"id": "edge-1"},{"source":"node-2","target":"node-2"}]`, 1)
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	if again, err := Write(parse(t, got)); err != nil || !bytes.Equal(again, got) {
		t.Errorf("written again: %v\n%s", err, again)
	}
	for name, data := range graphs(t) { // without the source text, the whole document is generated
		w := parse(t, data)
		w.Flow.Document = nil
		got, err := Write(w)
		if err != nil {
			t.Fatal(name, err)
		}
		if back := plain(parse(t, got)); back != plain(w) {
			t.Errorf("%s: written as\n%s\nread as\n%s\nwant\n%s", name, got, back, plain(w))
		}
	}
}

func TestUpgrade(t *testing.T) {
	got, ds := Upgrade("legacy.json", graphs(t)["legacy.json"])
	want := `{"nodes":[{"id":"s","type":"start"},
{"id":"c","type":"if","data":{"conditions": [{"operator": "contains", "value": "Yes"}],"collapsed":true}},
{"id":"c2","type":"if","data":{"conditions":[{"operator": "contains", "value": "no"}]}},
{"id":"c3","type":"if","data":{"conditions":[{"operator":"equal","value":"new"}]}},
{"id":"ask","type":"approval","x":1.50,"y":2e1,"data":{"prompt": "Approve this step?"}},
{"id":"ask2","type":"approval", "data": {"prompt": "Approve this step?"}},
{"id":"a","type":"agent","data":{"tools":{"web_search":true,"subagents":false}}},
{"id":"end","type":"end"}],
"connections":[{"source":"s","target":"c"},{"source":"c","target":"c2","sourceHandle":"condition-0"},{"source":"c","target":"ask","sourceHandle":"false"},
{"source":"ask","target":"a","sourceHandle":"approve"},{"source":"a","target":"end"}]}
`
	if len(ds) > 0 || string(got) != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", ds, got, want)
	}
	if again, _ := Upgrade("", got); !bytes.Equal(again, got) {
		t.Errorf("upgraded again it is\n%s", again)
	}
	if data := graphs(t)["trip.json"]; true {
		if got, _ := Upgrade("", data); !bytes.Equal(got, data) {
			t.Errorf("a document of today was changed to\n%s", got)
		}
	}
	if got, ds := Upgrade("x.json", []byte(`{"nodes": 1}`)); got != nil || len(ds) != 2 {
		t.Errorf("got %s, %v", got, ds)
	}
}

// big returns a document with n agents in a ring, an if and an approval.
func big(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"nodes":[{"id":"s","type":"start"}`)
	for i := range n {
		fmt.Fprintf(&b, ",\n{\"id\":\"node-%d\",\"type\":\"agent\",\"x\":%d,\"y\":20,\"data\":{\"agentName\":\"Agent %d\",\"userPrompt\":\"{{PREVIOUS_OUTPUT}}\",\"model\":\"gpt-5\",\"tools\":{\"web_search\":false}}}", i, i*10, i)
	}
	b.WriteString("],\n\"connections\":[{\"source\":\"s\",\"target\":\"node-0\"}")
	for i := range n {
		fmt.Fprintf(&b, ",\n{\"source\":\"node-%d\",\"target\":\"node-%d\",\"sourceHandle\":\"output\",\"targetHandle\":\"input\"}", i, (i+1)%n)
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

// TestManyNodes checks that a document of 100,000 nodes is read and checked in linear time.
func TestManyNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 25 MB")
	}
	data := big(100_000)
	began := time.Now()
	if !Is(data) {
		t.Error("not a flow")
	}
	w := parse(t, data)
	if ds := Preflight(w); ds != nil {
		t.Error(ds)
	}
	if took := time.Since(began); took > 20*time.Second { // a bound that a quadratic step exceeds on any machine
		t.Errorf("took %s", took)
	}
}

func BenchmarkParse100k(b *testing.B) {
	data := big(100_000)
	for b.Loop() {
		if w, ds := Parse("graph.json", data); ds != nil || Preflight(w) != nil {
			b.Fatal(ds)
		}
	}
}

// FuzzParse checks that Parse and Upgrade never panic, that an unchanged flow is written as it was
// read, and that an upgraded document means the same.
func FuzzParse(f *testing.F) {
	formatstest.AddDocuments(f, "testdata/*.txtar")
	for _, data := range graphs(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Is(data)
		w, ds := Parse("graph.json", data)
		for _, d := range ds {
			if d.Pos.File != "graph.json" || d.Pos.Line < 1 || d.Pos.Column < 1 {
				t.Errorf("%s has no position", d)
			}
		}
		upgraded, _ := Upgrade("graph.json", data)
		if w == nil {
			return
		}
		w.Preflight()
		got, err := Write(w)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%v, written as\n%s", err, got)
		}
		if ds.Failed(false) {
			return
		}
		v, ds := Parse("graph.json", upgraded)
		if v == nil || ds.Failed(false) {
			t.Fatalf("upgraded to\n%s\n%v", upgraded, ds)
		}
		for _, n := range w.Nodes {
			if n.Flow.Role == core.FlowApproval && n.Flow.Prompt.Value == "" {
				n.Flow.Prompt.Value = DefaultPrompt
			}
		}
		for _, e := range w.Edges {
			if i := slices.IndexFunc(w.Nodes, func(n *core.Node) bool { return n.ID.Value == e.From.Value && n.Flow.Role == core.FlowIf }); i >= 0 && e.Label.Value == "true" {
				e.Label.Value = "condition-0"
			}
		}
		if plain(v) != plain(w) {
			t.Errorf("upgraded to\n%s\nread as\n%s\nwant\n%s", upgraded, plain(v), plain(w))
		}
	})
}

func jsonOf(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := value.ParseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestManyKeys finds a key that appears twice among many, in time that grows with the document.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"nodes": [], "connections": []`)
	const keys = 200_000
	for i := range keys {
		fmt.Fprintf(&b, `, "k%d": %d`, i, i)
	}
	b.WriteString(`, "k5": 1, "k199999": 1}`)
	began := time.Now()
	_, ds := Parse("graph.json", []byte(b.String()))
	if len(ds) != 2 || !strings.Contains(ds[0].Message, `"k5" appears twice`) || !strings.Contains(ds[1].Message, `"k199999" appears twice`) {
		t.Error(ds)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}
