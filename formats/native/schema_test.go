package native

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// shapeCodes are the findings that a schema can also detect.
var shapeCodes = []source.Code{source.CodeUnknownKey, source.CodeMissingKey, source.CodeWrongType, source.CodeBadValue, source.CodeUnknownKind}

// TestSchemaAgreesWithParser checks every test document, valid or not, against the
// schema. The schema and the parser must agree.
func TestSchemaAgreesWithParser(t *testing.T) {
	c, root := newValidator(t, SchemaFor(registry()))
	docs := documents(t)
	archives, _ := filepath.Glob("testdata/findings/*.txtar")
	for _, a := range archives {
		text, err := os.ReadFile(a)
		if err != nil {
			t.Fatal(err)
		}
		_, files := formatstest.Split(string(text))
		for _, f := range files {
			docs[filepath.Base(a)+"/"+f.Name] = []byte(f.Data)
		}
	}
	// A schema cannot express the rules that these documents break.
	except := []string{
		"on-error.yaml", // attempts goes with policy: retry
		"timeouts.yaml", // a duration above zero
	}
	right, wrong := 0, 0
	for file, data := range docs {
		if strings.HasSuffix(file, ".want") || slices.Contains(except, filepath.Base(file)) {
			continue
		}
		tree, ds := document.Parse(file, data)
		if tree == nil || ds.Failed(false) {
			continue
		}
		_, ds = Parse(file, data, options())
		bad := slices.ContainsFunc(ds, func(d source.Diagnostic) bool { return slices.Contains(shapeCodes, d.Code) })
		faults := c.faults(root, tree.Plain())
		if bad != (len(faults) > 0) {
			t.Errorf("%s: the parser says %v\nthe schema says %q", file, ds, faults)
		}
		if bad {
			wrong++
		} else {
			right++
		}
	}
	if right < 20 || wrong < 20 {
		t.Errorf("only %d right and %d wrong documents were compared", right, wrong)
	}
}

// TestSchemaFindsEach splits documents with many findings into single nodes, edges and
// units. The schema must reject exactly the documents that the parser rejects.
func TestSchemaFindsEach(t *testing.T) {
	c, _ := newValidator(t, SchemaFor(registry()))
	tests := []struct {
		section, in string
		ok          bool
	}{
		{"node", "{id: a, kind: tool, impl: f, timeout: 1m30s}", true},
		{"node", "{id: a, kind: tool, impl: f, timeout: 1.5h}", true},
		{"node", "{id: a, kind: tool, impl: f, timeout: 30}", false},
		{"node", "{id: a, kind: tool, impl: f, timeout: soon}", false},
		{"node", "{id: a, kind: tool, impl: f, timeout: -5s}", false},
		{"node", "{id: a, kind: tool, impl: f, args: }", true},
		{"node", "{id: a, kind: tool, impl: f, args: [1]}", false},
		{"node", "{id: a, kind: tool, prompt: f}", false},
		{"node", "{id: a, kind: agent, prompt: f}", true},
		{"node", "{id: a, kind: tol}", false},
		{"on_error", "{policy: retry, attempts: 20, base_ms: 100, max_ms: 1s}", true},
		{"on_error", "{policy: retry, attempts: 21}", false},
		{"on_error", "{policy: retry, attempts: 3, base_ms: 1.5}", false},
		{"on_error", "{policy: retry, attempts: 3, base_ms: -1}", false},
		{"on_error", "{policy: ignore}", false},
		{"unit_on_error", "{policy: retry}", false},
		{"edge", "{from: a, to: b, when: 1}", true},
		{"edge", "{from: a, to: b, when: [x]}", false},
		{"loop", "{id: l, body: a}", true},
		{"loop", "{id: l, body: [a, b]}", true},
		{"loop", "{id: l, body: []}", false},
		{"loop", "{id: l, body: ' '}", false},
		{"pipeline", "{id: p, items: $.x, stages: []}", false},
		{"steps_node", "{id: a, kind: tool, impl: f, transitions: {x: a}, critical: true}", true},
		{"steps_node", "{id: a, kind: tool, prompt: f}", false},
		{"steps_node", "{id: a, kind: my_function, args: {x: 1}}", true},
		{"steps_node", "{id: a, kind: tool, impl: f, goal_gate: true}", false},
		{"steps_node", "{id: a, kind: tool, impl: f, for_each: {source: $.x}}", false},
		{"outcomes_node", "{id: a, kind: parallel, join: first_success, max_parallel: 2}", true},
		{"outcomes_node", "{id: a, kind: parallel, join: all}", false},
		{"outcomes_node", "{id: a, kind: tool, impl: f, critical: true}", false},
		{"model_node", "{id: a, kind: agent, prompt: p, view_members: []}", true},
		{"model_node", "{id: a, kind: agent, prompt: p, transitions: {}}", false},
		{"steps_edge", "{from: a, to: b, when: 1}", true},
		{"steps_edge", "{from: a, to: b, on: error}", true},
		{"steps_edge", "{from: a, to: b, on: fail}", false},
		{"steps_edge", "{from: a, to: b, on: error, when: $.x}", false},
		{"steps_edge", "{from: a, to: b, ref: f}", true},
		{"steps_edge", "{from: a, to: b, ref: f, when: $.x}", false},
		{"steps_edge", "{from: a, to: b, ref: f, on: error}", false},
		{"steps_edge", "{from: a, to: b, on: output, key: k}", true},
		{"steps_edge", "{from: a, to: b, on: output, key: k, value: [1]}", true},
		{"steps_edge", "{from: a, to: b, on: output}", false},
		{"steps_edge", "{from: a, to: b, on: output, key: ' '}", false},
		{"steps_edge", "{from: a, to: b, on: error, key: k}", false},
		{"steps_edge", "{from: a, to: b, value: 3}", false},
		{"steps_edge", "{from: a, to: b, on: confidence, min: 0.5}", true},
		{"steps_edge", "{from: a, to: b, on: error, min: 0.5}", false},
		{"steps_edge", "{from: a, to: b, weight: 3}", false},
		{"loop_until", "{node: a, exit_to: b, until: $.x, max_iterations: 1}", true},
		{"loop_until", "{node: a, exit_to: b, on: error, until: $.x}", false},
		{"loop_until", "{node: a, exit_to: b, ref: f, until: $.x}", false},
		{"outcomes_edge", "{from: a, to: b, when: outcome=fail, weight: -1}", true},
		{"outcomes_edge", "{from: a, to: b, when: true}", false},
		{"outcomes_edge", "{from: a, to: b, when: ' '}", false},
		{"outcomes_edge", "{from: a, to: b, priority: 3}", false},
		{"model_edge", "{from: a, to: b, when: it is good, max_iterations: 2}", true},
		{"model_edge", "{from: a, to: b, weight: 2}", false},
		{"document", "{name: x, mode: walk, graph: {nodes: [{id: a, kind: tool, impl: f}]}}", false},
		{"document", "{name: x, mode: walk, graph: {router: step, nodes: [{id: a, kind: tool, impl: f}]}}", false},
		{"document", "{name: x, mode: walk, graph: {router: steps, entry: a, nodes: [{id: a, kind: tool, impl: f}]}}", true},
		{"document", "{name: x, mode: walk, graph: {router: model, loop_until: [], entry: a, nodes: [{id: a, kind: tool, impl: f}]}}", false},
		{"document", "{name: x, mode: walk, graph: {router: steps, pipelines: [], entry: a, nodes: [{id: a, kind: tool, impl: f}]}}", false},
		{"document", "{name: x, mode: dag, graph: {nodes: [{id: a, kind: tool, impl: f}]}}", true},
		{"document", "{name: x, graph: {router: steps, nodes: [{id: a, kind: tool, impl: f}]}}", false},
	}
	for _, tt := range tests {
		tree, ds := document.Parse("", []byte(tt.in))
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		faults := c.faults(value.ObjectOf("$ref", "#/$defs/"+tt.section), tree.Plain())
		if (len(faults) == 0) != tt.ok {
			t.Errorf("%s %s: faults %q", tt.section, tt.in, faults)
		}
	}
}

// TestSchemaHasTheParsersKeys checks that the sections of the schema have exactly the
// keys of the parser, each with a description.
func TestSchemaHasTheParsersKeys(t *testing.T) {
	c, _ := newValidator(t, Schema())
	if c.defs.Len() != len(sections) {
		t.Errorf("%d definitions for %d sections", c.defs.Len(), len(sections))
	}
	for _, s := range sections {
		def, _ := c.defs.Get(s.name)
		props, _ := def.(*value.Object).Get("properties")
		var want []string
		for _, k := range source.KeysOf(s.shape) {
			want = append(want, k.Name)
			p, _ := props.(*value.Object).Get(k.Name)
			if d, _ := p.(*value.Object).Get("description"); d == "" || d != k.Doc || !utf8.ValidString(k.Doc) {
				t.Errorf("%s.%s has the description %q", s.name, k.Name, d)
			}
		}
		if got := props.(*value.Object).Keys(); !slices.Equal(got, want) {
			t.Errorf("%s: schema has %q, parser %q", s.name, got, want)
		}
	}
}

// TestSchemaDescribesKinds checks that an editor can show the description of a kind.
func TestSchemaDescribesKinds(t *testing.T) {
	type config struct {
		Topic source.Text `wavefold:"topic"`
	}
	compile := func(*core.Node, core.Env, *config) (core.Compiled, source.Diagnostics) { return core.Compiled{}, nil }
	text := string(SchemaFor(core.NewRegistry(
		core.NewKind(core.KindOf[config]{Name: "notice", Doc: "Writes a notice.", Compile: compile}),
		core.NewKind(core.KindOf[config]{Name: "plain", Compile: compile}))))
	text = strings.Join(strings.Fields(text), "")
	for _, want := range []string{
		`{"if":{"properties":{"kind":{"const":"notice"}}},"then":{"properties":{"topic":true},"description":"Writesanotice."}}`,
		`{"if":{"properties":{"kind":{"const":"plain"}}},"then":{"properties":{"topic":true}}}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the schema does not have %s", want)
		}
	}
}

// TestSchemaOpenNodes checks that nodes may have any keys without a registry, because
// the keys of the kinds are unknown.
func TestSchemaOpenNodes(t *testing.T) {
	c, root := newValidator(t, Schema())
	for file, data := range documents(t) {
		tree, _ := document.Parse(file, data)
		if faults := c.faults(root, tree.Plain()); len(faults) > 0 {
			t.Errorf("%s: %q", file, faults)
		}
	}
}
