package dot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// load parses a graph of testdata/graphs, which must have no errors. It returns the
// workflow and its findings by code.
func load(t *testing.T, name string) (*core.Workflow, map[source.Code]int) {
	t.Helper()
	file := filepath.Join("testdata", "graphs", name)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, ds := Parse(file, data, Options{Files: folder})
	codes := map[source.Code]int{}
	for _, d := range ds {
		if codes[d.Code]++; d.Severity == source.Error {
			t.Error(d)
		}
	}
	return w, codes
}

func node(t *testing.T, w *core.Workflow, id string) *core.Node {
	t.Helper()
	for _, n := range w.Nodes {
		if n.ID.Value == id {
			return n
		}
	}
	t.Fatalf("there is no node %s", id)
	return nil
}

func TestGraphs(t *testing.T) {
	tests := []struct {
		file         string
		nodes, edges int
		kinds        string // number of nodes of each kind, in the order of the table
		findings     map[source.Code]int
	}{
		{"circles.dot", 9, 11, "1 start, 1 exit, 7 agent", map[source.Code]int{source.CodeOrphanOutcome: 3, source.CodeUnknownKey: 2, source.CodeIgnored: 1}},
		{"quoted.dot", 17, 28, "1 start, 1 exit, 14 agent, 1 conditional", map[source.Code]int{source.CodeOrphanOutcome: 3, source.CodeUnknownKey: 2}},
		{"long.dot", 76, 100, "1 start, 1 exit, 56 agent, 18 conditional", nil},
		{"groups.dot", 8, 8, "1 start, 1 exit, 6 agent", map[source.Code]int{source.CodeIgnored: 1, source.CodeFidelity: 1}},
		{"kinds.dot", 19, 24, "1 start, 1 exit, 6 agent, 1 prompt, 2 script, 1 parallel, 1 fan_in, 2 human, 1 conditional, 1 wait, 1 workflow, 1 other", map[source.Code]int{source.CodeExprSyntax: 1, source.CodeIgnored: 2}},
		{"conditional.dot", 5, 7, "1 start, 1 exit, 2 agent, 1 conditional", map[source.Code]int{source.CodeIgnored: 1, source.CodeFidelity: 1}},
		{"texts.dot", 4, 3, "1 start, 1 exit, 1 agent, 1 script", nil},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			w, codes := load(t, tt.file)
			if len(w.Nodes) != tt.nodes || len(w.Edges) != tt.edges {
				t.Errorf("got %d nodes and %d edges, want %d and %d", len(w.Nodes), len(w.Edges), tt.nodes, tt.edges)
			}
			if got := kindCounts(w); got != tt.kinds {
				t.Errorf("got %s, want %s", got, tt.kinds)
			}
			if len(codes) != len(tt.findings) {
				t.Errorf("got findings %v, want %v", codes, tt.findings)
			}
			for code, n := range tt.findings {
				if codes[code] != n {
					t.Errorf("got findings %v, want %v", codes, tt.findings)
				}
			}
		})
	}
}

func kindCounts(w *core.Workflow) string {
	var parts []string
	count := func(name string, is func(kind string) bool) {
		n := 0
		for _, d := range w.Nodes {
			if is(d.Kind.Value) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, value.JSON(int64(n))+" "+name)
		}
	}
	for _, k := range kinds {
		count(k.kind, func(kind string) bool { return kind == k.kind })
	}
	count("other", func(kind string) bool { return byName(kind) == nil })
	return strings.Join(parts, ", ")
}

// TestDefaultsAndGroups checks which nodes get defaults and classes.
func TestDefaultsAndGroups(t *testing.T) {
	w, _ := load(t, "groups.dot")
	tests := []struct {
		id, classes string
		timeout     time.Duration
	}{
		{"outside", "", 5 * time.Second},
		{"start", "", 900 * time.Second},
		{"plan", "hard big loop-a", 900 * time.Second}, // created by an edge before the group
		{"work", "loop-a inner-phase", 30 * time.Second},
		{"deep", "inner-phase", 30 * time.Second},
		{"build", "build-2", 900 * time.Second},
		{"check", "build-2", 900 * time.Second}, // the group's defaults do not apply outside of it
	}
	for _, tt := range tests {
		n := node(t, w, tt.id)
		if got := strings.Join(source.Strings(n.Classes), " "); got != tt.classes {
			t.Errorf("%s: got classes %q, want %q", tt.id, got, tt.classes)
		}
		if n.Timeout == nil || n.Timeout.Value != tt.timeout {
			t.Errorf("%s: got timeout %v, want %v", tt.id, n.Timeout, tt.timeout)
		}
	}
	if n := node(t, w, "outside"); n.OnError == nil || n.OnError.Attempts.Value != 3 || n.Config.Get("prompt").Scalar != "Look" {
		t.Errorf("outside is not merged from its declarations: %+v", n)
	}
	var edges []string
	for _, e := range w.Edges {
		edges = append(edges, e.From.Value+">"+e.To.Value+" "+value.JSON(int64(e.Weight.Value))+e.Label.Value+value.JSON(e.Attributes))
	}
	const want = `start>outside 1{} outside>plan 1{} plan>build 1{} plan>work 5in loop{} work>deep 1in loop{"style":"dashed"} build>check 1{} check>build 1{} check>exit 1{}`
	if got := strings.ReplaceAll(strings.Join(edges, " "), "null", "{}"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if goal := w.Inputs[0]; goal.Name.Value != "goal" || goal.Default != "Build in phases" {
		t.Errorf("got goal %+v", goal)
	}
	if label, ok := w.Walk.Attributes.Get("label"); ok {
		t.Errorf("the label %q of a group is that of the graph", label)
	}
}

// TestKinds checks how each kind uses its attributes.
func TestKinds(t *testing.T) {
	w, _ := load(t, "kinds.dot")
	tests := []struct{ id, config string }{
		{"plan", `{"prompt":"Plan for {{$input.goal}}.\nThen {{'{{'}} wrong }}.\n","model":"gpt-5.2-codex","reasoning_effort":"high","max_tokens":4000}`},
		{"quick", `{"prompt":"Summarise {{$input.goal}}","model":"small","reasoning_effort":"low"}`},
		{"ship", `{"prompt":"{{'README.md'}}","model":"small","reasoning_effort":"low"}`},
		{"tests", `{"script":"go test ./...","language":"shell"}`},
		{"old", `{"script":"make"}`},
		{"fork", `{}`},
		{"gate", `{"default_choice":"ship"}`},
		{"pause", `{"duration":"250ms"}`},
		{"sub", `{"file":"child.dot"}`},
		{"own", `{}`},
	}
	for _, tt := range tests {
		if got := value.JSON(node(t, w, tt.id).Config.Plain()); got != tt.config {
			t.Errorf("%s: got %s, want %s", tt.id, got, tt.config)
		}
	}
	if got := value.JSON(node(t, w, "own").Args.Plain()); got != `{"threshold":0.5,"mode":"strict mode"}` {
		t.Errorf("own: got args %s", got)
	}
	if n := node(t, w, "old"); n.Timeout.Value != 10*time.Minute {
		t.Errorf("old: got timeout %v", n.Timeout.Value)
	}
	fork := node(t, w, "fork")
	if fork.Join.Word() != core.JoinKOfN || fork.Join.Count.Value != 2 || fork.Parallel.MaxParallel.Value != 2 || fork.Parallel.ErrorPolicy.Value != "fail_fast" {
		t.Errorf("fork: got %+v %+v", fork.Join, fork.Parallel)
	}
	if got := value.JSON(node(t, w, "sub").Attributes); got != `{"manager.poll_interval":"45s","manager.max_cycles":1000}` {
		t.Errorf("sub: got attributes %s", got)
	}
	last := w.Edges[len(w.Edges)-1]
	if !last.LoopRestart || last.When == nil || last.Parsed == nil {
		t.Errorf("got edge %+v", last)
	}
	if other := w.Edges[14]; !other.Freeform || other.Label.Value != "Other" || other.From.Value != "gate" {
		t.Errorf("got edge %+v", other)
	}
}

// TestStylesheet checks which rule applies to a node.
func TestStylesheet(t *testing.T) {
	const doc = `digraph g {
  node [prompt=x]
  model_stylesheet = "
    #one { model: m_id; }
    .b { model: m_b; provider: p_b }
    * { model: m_all; reasoning_effort: 'low'; llm_provider: p_all; speed: fast }
    .a { model: m_a; }
    tab { model: m_tab; }
    box { reasoning_effort: high; }
    .b { reasoning_effort: b1; }
    .b { reasoning_effort: b2; }"
  plain
  one [class=\"a,b\"]
  two [class="b a"]
  three [class="b"]
  quick [shape=tab]
  own [model=mine, class=b]
  sh [shape=parallelogram, script=ls, class=b]
}`
	w, ds := Parse("", []byte(strings.ReplaceAll(doc, `\"`, `"`)), Options{})
	if len(ds) != 1 || ds[0].Code != source.CodeIgnored { // for the property speed
		t.Fatal(ds)
	}
	tests := []struct{ id, model, provider, effort string }{
		{"plain", "m_all", "p_all", "high"},
		{"one", "m_id", "p_b", "b2"},
		{"two", "m_a", "p_b", "b2"},
		{"three", "m_b", "p_b", "b2"},
		{"quick", "m_tab", "p_all", "low"},
		{"own", "mine", "p_b", "b2"},
		{"sh", "", "", ""},
	}
	for _, tt := range tests {
		get := func(key string) string {
			s, _ := node(t, w, tt.id).Config.Get(key).Plain().(string)
			return s
		}
		if model, provider, effort := get("model"), get("provider"), get("reasoning_effort"); model != tt.model || provider != tt.provider || effort != tt.effort {
			t.Errorf("%s: got %q %q %q, want %q %q %q", tt.id, model, provider, effort, tt.model, tt.provider, tt.effort)
		}
	}
	if pos := node(t, w, "one").Config.Get("model").Pos; pos.Line != 4 || pos.Column != 19 {
		t.Errorf("the value of #one stands at %v", pos)
	}
}

// TestDefaultsOfGroups checks that defaults apply from the beginning of their group.
func TestDefaultsOfGroups(t *testing.T) {
	w, _ := Parse("", []byte("digraph g { a; { b; node [timeout=5]; c; { d } } e; node [timeout=7] f; a -> h }"), Options{})
	var got []string
	for _, n := range w.Nodes {
		s := n.ID.Value
		if n.Timeout != nil {
			s += "=" + n.Timeout.Value.String()
		}
		got = append(got, s)
	}
	if s := strings.Join(got, " "); s != "a b=5s c=5s d=5s e f=7s h=7s" {
		t.Errorf("got %s", s)
	}
}

// TestClassesOfGroups checks that a group without a label adds no class, not even the
// class of the group that contains it.
func TestClassesOfGroups(t *testing.T) {
	w, _ := Parse("", []byte(`digraph g { { label="Outer One"; a; { b }; { label="In/ner_2 Ü" c; a } } d }`), Options{})
	var got []string
	for _, n := range w.Nodes {
		got = append(got, n.ID.Value+"="+strings.Join(source.Strings(n.Classes), ","))
	}
	if s := strings.Join(got, " "); s != "a=outer-one,inner2-ü b= c=inner2-ü d=" {
		t.Errorf("got %s", s)
	}
}

// TestNodePositions checks that the position of a node is its first declaration, or its
// first mention if it is not declared.
func TestNodePositions(t *testing.T) {
	w, _ := Parse("", []byte("digraph g {\n a -> b\n b [prompt=x]\n b [label=y]\n}"), Options{})
	if a, b := w.Nodes[0].Pos.String(), w.Nodes[1].Pos.String(); a != "2:2" || b != "3:2" {
		t.Errorf("a stands at %s and b at %s", a, b)
	}
}

// TestPrompts checks how placeholders are converted.
func TestPrompts(t *testing.T) {
	tests := []struct{ prompt, want string }{
		{"plain", "plain"},
		{"$goal", "{{$input.goal}}"},
		{"a$goal.b", "a{{$input.goal}}.b"},
		{"$goals.x", "{{coalesce($input.goals, $.context.goals, '$goals')}}.x"},
		{"$_1$b", "{{coalesce($input._1, $.context._1, '$_1')}}{{coalesce($input.b, $.context.b, '$b')}}"},
		{"$context", "$context"},
		{"$$goal $$ \\$goal \\$", "$goal $ $goal $"},
		{"$$$goal", "${{$input.goal}}"},
		{"\\\\$x $$$$x", "\\$x $$x"},
		{"$5 $1.20 US$ $ ${x} $(ls) $.a", "$5 $1.20 US$ $ ${x} $(ls) $.a"},
		{"{{ '$x' }} {{$.context['$x']}}", "{{ '$x' }} {{$.context['$x']}}"},
		{"$goal$goal", "{{$input.goal}}{{$input.goal}}"},
		{"{{goal}}{{ goal }}", "{{$input.goal}}{{$input.goal}}"},
		{"{{ inputs.a.b }}", "{{$input.a.b}}"},
		{"{{ inputs.goal }}", "{{$input.goal}}"},
		{"{{$.context['k']}} {{ context.k }}", "{{$.context['k']}} {{ context.k }}"},
		{"{{ '$goal' }}", "{{ '$goal' }}"},
		{"{{ nobody }}", "{{'{{'}} nobody }}"},
		{"{{{ x }}", "{{'{{'}}{ x }}"},
		{"{{{{ goal }}", "{{'{{'}}{{$input.goal}}"},
		{"{{ \"a }} $goal", "{{'{{'}} \"a }} {{$input.goal}}"},
		{"{{", "{{'{{'}}"},
		{"{$goal}", "{{'{'}}{{$input.goal}}}"},
		{"{{0{$goal", "{{'{{'}}0{{'{'}}{{$input.goal}}"},
		{"{ { }}", "{ { }}"},
	}
	for _, tt := range tests {
		for _, key := range promptKeys {
			w, _ := Parse("", []byte("digraph g { a [label=l, "+key+"="+inQuotes(tt.prompt)+"] }"), Options{})
			if got := w.Nodes[0].Config.Get("prompt").Scalar; got != tt.want {
				t.Errorf("%s=%s: got %s, want %s", key, tt.prompt, got, tt.want)
			}
		}
		if back := untemplate(tt.want); back != tt.prompt && !strings.Contains(tt.want, "{{'") && tt.prompt != "{{goal}}{{ goal }}" {
			other, _ := Parse("", []byte("digraph g { a [prompt="+inQuotes(back)+"] }"), Options{})
			if got := other.Nodes[0].Config.Get("prompt").Scalar; got != tt.want {
				t.Errorf("%s is written %s and read as %s", tt.want, back, got)
			}
		}
	}
}

// TestKeptAttributes checks that attributes are kept even if others take precedence.
func TestKeptAttributes(t *testing.T) {
	w, _ := Parse("", []byte(unusual), testOptions)
	tests := []struct{ id, want string }{
		{"start", `{"color":"#ff0000","fontsize":12,"shape":"circle"}`},
		{"f", `{"color":"#ff0000","fontsize":12,"max_retries":4}`},
		{"g", `{"color":"#ff0000","fontsize":12,"retry_policy":"often","selection":"rendom"}`},
		{"m", `{"color":"#ff0000","fontsize":12,"llm_model":"m","llm_prompt":"p"}`},
		{"e", `{"color":"#ff0000","fontsize":12,"shape":"house","stack.child_workflow":"gone.dot"}`},
	}
	for _, tt := range tests {
		if got := value.JSON(node(t, w, tt.id).Attributes); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.id, got, tt.want)
		}
	}
}

// TestGraphSettings checks how attributes of the graph are used.
func TestGraphSettings(t *testing.T) {
	w, _ := load(t, "conditional.dot")
	g := w.Walk
	if g.MaxVisits.Value != 10 || g.StallTimeout == nil || g.StallTimeout.Value != 0 || g.MaxRetries != nil {
		t.Errorf("got %+v", g)
	}
	build := node(t, w, "build")
	if build.OnError.Preset.Value != "patient" || build.OnError.Attempts != nil || build.FallbackRetryTarget.Value != "build" {
		t.Errorf("got %+v", build.OnError)
	}
	if n := node(t, w, "repair"); n.MaxVisits.Value != 3 {
		t.Errorf("got %+v", n.MaxVisits)
	}
	if w, _ := Parse("", []byte("digraph g { default_max_retries=-2; a [prompt=x, max_retries=-4] }"), Options{}); w.Walk.MaxRetries.Value != 0 || w.Nodes[0].OnError.Attempts.Value != 1 {
		t.Errorf("negative retries: got %+v and %+v", w.Walk.MaxRetries, w.Nodes[0].OnError.Attempts)
	}
	if w, _ := Parse("", []byte("digraph g { a -> b [weight=-2.00] }"), Options{}); w.Edges[0].Weight.Value != -2 {
		t.Errorf("a weight with zeros behind the point: got %+v", w.Edges[0].Weight)
	}
	w, _ = load(t, "circles.dot")
	if w.Walk.MaxRetries.Value != 3 || w.Walk.RetryTarget.Value != "FetchUpstream" {
		t.Errorf("got %+v", w.Walk)
	}
}

// TestStrings checks how strings are parsed, and that positions in them are correct.
func TestStrings(t *testing.T) {
	w, _ := load(t, "texts.dot")
	prompt := node(t, w, "ask").Config.Get("prompt")
	const want = "Erste Zeile\nzweite \"Zeile\"\tmit \\ und \\d+ und \\\nfortgesetzt, auf mehreren\nZeilen für {{$input.goal}}"
	if prompt.Scalar != want {
		t.Errorf("got  %q\nwant %q", prompt.Scalar, want)
	}
	text := source.At(want, prompt.Pos)
	for part, pos := range map[string]string{"Erste": "4:43", "zweite": "4:56", "Zeile\"": "4:65", "mit": "4:74", "fortgesetzt": "5:1", "Zeilen": "6:1", "{{$input": "6:13"} {
		got := source.Inside(text, strings.Index(want, part))
		if got.File = ""; got.String() != pos {
			t.Errorf("%q stands at %s, got %s", part, pos, got)
		}
	}
	if script := node(t, w, "run").Config.Get("script").Scalar; script != "set -e; \\\n  make all && \\\n  ls *.txt | sed 's/\\./,/'\necho \"fertig\"" {
		t.Errorf("got %q", script)
	}
}

// TestRolesByID checks when an id makes a node the start or exit.
func TestRolesByID(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"plain", "start -> a -> end", "start:start a:agent end:exit"},
		{"any shape", "Start [shape=box] Exit [shape=doublecircle] Start -> Exit", "Start:start Exit:exit"},
		{"shape first", "s [shape=Mdiamond] start -> s -> End; x [shape=Msquare]", "s:start start:agent End:agent x:exit"},
		{"type first", "s [type=start] start -> s -> end; exit [type=agent]", "s:start start:agent end:exit exit:agent"},
		{"two", "start -> Start -> exit -> End", "start:start Start:start exit:exit End:exit"},
		{"a script alone", "a [script=ls] b [tool_command=ls, label=B] c [script=ls, prompt=x] d [script=ls, llm_prompt=x] e [script=\" \"] start [script=ls]",
			"a:script b:script c:agent d:agent e:agent start:start"},
		{"a script and a shape", "node [shape=box] a [script=ls] b [script=ls, shape=tab] c [script=ls, type=agent] d [script=ls, shape=\"\"] e [script=ls, shape=ellipse]",
			"a:agent b:prompt c:agent d:script e:agent"},
		{"type beats shape", "a [shape=Mdiamond, type=agent] b [shape=box, type=conditional] c [shape=hexagon, type=my_own]", "a:agent b:conditional c:my_own"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := Parse("", []byte("digraph g { "+tt.doc+" }"), Options{})
			var got []string
			for _, n := range w.Nodes {
				got = append(got, n.ID.Value+":"+n.Kind.Value)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestInputs checks which inputs a document declares.
func TestInputs(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"none", "a [prompt=x]", "goal"},
		{"default", "goal=ship; a [prompt=x]", "goal=ship"},
		{"file", "goal=\"@prompts/goal.md\"; a [prompt=x]", "goal=Ship it."},
		{"number", "goal=5; a [prompt=x]", "goal=5"},
		{"needed", `a [prompt="do $goal"]`, "goal!"},
		{"given", `goal=g a [prompt="do {{ goal }}"]`, "goal=g"},
		{"others", `a [prompt="{{inputs.day}} {{ inputs.order.id }} {{ inputs.day }} {{ inputs.goal }}"]`, "goal! day! order!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := Parse("", []byte("digraph g { "+tt.doc+" }"), Options{Files: folder})
			var got []string
			for _, in := range w.Inputs {
				s := in.Name.Value
				if in.Required {
					s += "!"
				}
				if !value.IsMissing(in.Default) {
					s += "=" + in.Default.(string)
				}
				got = append(got, s)
			}
			if strings.Join(got, " ") != tt.want || !w.HasInputs {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
