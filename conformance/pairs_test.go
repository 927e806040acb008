package conformance

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// soundDocument is a document without findings. Every fault below changes one line, so
// the positions of all other lines stay the same.
const soundDocument = `name: pairs
# a line
version: 1.0.0
phases: [{id: early}, {id: late}]
runtime: {concurrency: 2}
inputs:
  limit: {type: integer, default: 3}
  region: {type: string, default: north}
state:
  schema:
    orders: {type: array, default: [{id: 1}]}
    raw: {type: array}
    best: {type: number, merge: max}
    note: {type: string, default: ""}
    word: {type: string, default: ""}
    log: {type: array, merge: array_append, default: []}
    once: {type: string, merge: set_once}
    size: {type: integer, default: 0}
    tone: {type: string, default: ""}
    mood: {type: string}
    pick: {type: string}
    text: {type: string}
    last: {type: string, default: ""}
    spare: {}
    unseen: {}
graph:
  nodes:
    - {id: load, kind: tool, impl: nothing, phase: early, reads: [limit], writes: [raw, size]}
    - {id: score, kind: tool, impl: nothing, for_each: {source: $.orders, concurrency: 2}, args: {it: $item.id}, writes: [best]}
    - {id: tell, kind: template, text: "{{ $.note }} of {{ $nodes.load.status }}", into: text, writes: [text]}
    - {id: choose, kind: tool, impl: nothing, phase:  late, reads: [raw, text, best], writes: [mood]}
    - {id: good, kind: tool, impl: nothing, reads: [mood], writes: [pick]}
    - {id: bad, kind: tool, impl: nothing, writes: [pick]}
    - {id: save, kind: tool, impl: nothing, phase: late, join: all_done, reads: [pick, log], writes: [once], on_error: {policy: retry, attempts: 3}}
    - {id: clean, kind: tool, impl: nothing, args: {row: $item}, writes: [note]}
    - {id: store, kind: tool, impl: nothing, args: {row: $item, n: $index}, reads: [note], writes: [log]}
    - {id: draft, kind: tool, impl: nothing, args: {n: $iter}, reads: [size], writes: [size]}
    - {id: polish, kind: tool, impl: nothing, reads: [word], writes: [word]}
    - {id: alone, kind: tool, impl: nothing, reads: [tone], writes: []}
    - {id: other, kind: tool, impl: nothing, writes: [last], timeout: 30s}
    - {id: third, kind: tool, impl: nothing, reads: [last, region], writes: []}
    - {id: fourth, kind: tool, impl: nothing, args: {how: $nodes.other.status}, writes: []}
    - {id: fifth, kind: tool, impl: nothing, writes: [spare]}
    - {id: loose, kind: tool, impl: nothing, args: {}, writes: []}
  edges:
    # an edge
    - {from: load, to: choose}
    - {from: score, to: choose}
    - {from: load, to: tell}
    - {from: tell, to: choose}
    - {from: choose, to: good, when: $.mood == 'fine'}
    - {from: choose, to: bad, when: else}
    - {from: good, to: save}
    - {from: bad, to: save}
    - {from: other, to: third}
    - {from: third, to: fourth}
    - {from: fourth, to: fifth, when: $.size > 1}
    - {from: load, to: fourth}
    - {from: load, to: clean}
    - {from: store, to: save}
    - {from: load, to: draft}
    - {from: draft, to: fourth}
  pipelines:
    - {id: rows, items: $.orders, stages: [clean, store]}
  loops:
    - {id: refine, body: draft, until: $.size > 3, max_iters: 4}
    - {id: shine, body: [polish], until: $.word != '', max_iters: 9}
`

// fault is a change of one line that introduces one mistake.
type fault struct {
	name     string
	old, new string
	code     source.Code
}

var faults = []fault{
	// Shape.
	{"unknown key of the document", "# a line", "extra: 1", source.CodeUnknownKey},
	{"misspelt section", "inputs:", "input:", source.CodeUnknownKey},
	{"bad number", "runtime: {concurrency: 2}", "runtime: {concurrency: 0}", source.CodeBadValue},
	{"bad word", "merge: max", "merge: maxx", source.CodeBadValue},
	{"misspelt key of a field", "merge: set_once", "mrege: set_once", source.CodeUnknownKey},
	{"field that is not a mapping", "tone: {type: string, default: \"\"}", "tone: string", source.CodeWrongType},
	{"unknown key of a node", "fourth, kind: tool, impl: nothing,", "fourth, kind: tool, impl: nothing, tries: 3,", source.CodeUnknownKey},
	{"misspelt writes", "reads: [mood], writes: [pick]", "reads: [mood], wrties: [pick]", source.CodeUnknownKey},
	{"misspelt kind", "fifth, kind: tool", "fifth, knid: tool", source.CodeMissingKey},
	{"misspelt key of a kind", "other, kind: tool, impl: nothing", "other, kind: tool, imlp: nothing", source.CodeUnknownKey},
	{"writes that are no list", "reads: [limit], writes: [raw, size]", "reads: [limit], writes: raw", source.CodeWrongType},
	{"duration without a unit", "timeout: 30s", "timeout: 30", source.CodeWrongType},
	{"fan-out without a source", "{source: $.orders, concurrency: 2}", "{sorce: $.orders, concurrency: 2}", source.CodeUnknownKey},
	{"fan-out that is not a mapping", "{source: $.orders, concurrency: 2}", "$.orders", source.CodeWrongType},
	{"attempts out of range", "attempts: 3", "attempts: 30", source.CodeBadValue},
	{"attempts missing", "{policy: retry, attempts: 3}", "{policy: retry}", source.CodeMissingKey},
	{"stages that are no list", "stages: [clean, store]", "stages: clean", source.CodeWrongType},
	{"misspelt items", "items: $.orders", "itmes: $.orders", source.CodeUnknownKey},
	{"body missing", "body: [polish], ", "", source.CodeMissingKey},
	{"condition that is not a text", "when: $.mood == 'fine'", "when: [$.mood]", source.CodeWrongType},
	{"misspelt when", "when: $.mood == 'fine'", "wehn: $.mood == 'fine'", source.CodeUnknownKey},
	{"edge without a target", "{from: third, to: fourth}", "{from: third}", source.CodeMissingKey},
	{"tag", "args: {how: $nodes.other.status}", "args: !!x {how: 1}", source.CodeSyntax},
	{"number with a leading zero", "max_iters: 4", "max_iters: 04", source.CodeBadValue},
	{"placeholder", "max_iters: 9", "max_iters: {{N}}", source.CodeSyntax},
	{"key that is not a text", "unseen: {}", "2: {}", source.CodeWrongType},
	// Names and references.
	{"node without an id", "{id: loose, kind", "{kind", source.CodeMissingKey},
	{"bad id", "id: loose", "id: lo-ose", source.CodeBadID},
	{"id that appears twice", "id: loose", "id: fifth", source.CodeDuplicateID},
	{"unknown target", "{from: load, to: tell}", "{from: load, to: tel}", source.CodeUnknownNode},
	{"unknown target, unlike any", "{from: other, to: third}", "{from: other, to: elsewhere}", source.CodeUnknownNode},
	{"unknown source", "{from: bad, to: save}", "{from: bda, to: save}", source.CodeUnknownNode},
	{"unknown source of a choice", "{from: choose, to: bad, when: else}", "{from: chose, to: bad, when: else}", source.CodeUnknownNode},
	{"unknown target of a choice", "{from: choose, to: good, when", "{from: choose, to: goood, when", source.CodeUnknownNode},
	{"unknown field that is read", "reads: [tone]", "reads: [tnoe]", source.CodeUnknownField},
	{"unknown field that is written", "reads: [mood], writes: [pick]", "reads: [mood], writes: [pikc]", source.CodeUnknownField},
	{"unknown field in a path", "args: {it: $item.id}", "args: {it: $.ordres}", source.CodeExprName},
	{"unknown field in a source", "source: $.orders", "source: $.ordres", source.CodeExprName},
	{"unknown node in a path", "$nodes.other.status", "$nodes.othre.status", source.CodeExprName},
	{"unknown kind", "alone, kind: tool", "alone, kind: tol", source.CodeUnknownKind},
	{"unknown function", "fifth, kind: tool, impl: nothing", "fifth, kind: tool, impl: nothin", source.CodeUnknownImpl},
	{"unknown phase", "phase:  late", "phase:  lte", source.CodeUnknownPhase},
	{"unknown stage", "stages: [clean, store]", "stages: [clean, stroe]", source.CodeUnknownNode},
	{"unknown body", "body: draft", "body: drfat", source.CodeUnknownNode},
	// The graph.
	{"edge to itself", "# an edge", "- {from: alone, to: alone}", source.CodeCycle},
	{"cycle", "{from: third, to: fourth}", "{from: third, to: other}", source.CodeCycle},
	{"node between two members", "{from: load, to: clean}", "{from: save, to: clean}", source.CodeUnitCycle},
	{"member twice", "body: [polish]", "body: [polish, polish]", source.CodeUnitOverlap},
	{"fan-out in a unit", "polish, kind: tool, impl: nothing", "polish, kind: tool, impl: nothing, for_each: {source: $.orders}", source.CodeUnitForEach},
	{"else without a condition", "{from: load, to: draft}", "{from: load, to: draft, when: else}", source.CodeElse},
	{"duplicate edge", "{from: load, to: fourth}", "{from: third, to: fourth}", source.CodeDuplicateEdge},
	// Expressions and templates.
	{"syntax of a condition", "when: $.size > 1", "when: $.size >", source.CodeExprSyntax},
	{"type of a condition", "when: $.size > 1", "when: $.size > 'x'", source.CodeExprType},
	{"name in a condition", "when: $.mood == 'fine'", "when: $.moood == 'fine'", source.CodeExprName},
	{"constant condition", "when: $.size > 1", "when: 2 > 1", source.CodeExprConstant},
	{"type of an until", "until: $.word != ''", "until: $.word > 2", source.CodeExprType},
	{"until that nothing changes", "until: $.word != ''", "until: $.limit > 5", source.CodeLoopBound},
	{"name in a template", "{{ $.note }}", "{{ $.noet }}", source.CodeExprName},
	{"syntax of a template", "{{ $.note }}", "{{ $.note + }}", source.CodeExprSyntax},
	{"root of another place", "args: {}", "args: {x: $item}", source.CodeExprName},
	{"source that is not an array", "source: $.orders", "source: $.limit", source.CodeExprType},
	// State.
	{"merge against the type", "log: {type: array,", "log: {type: string,", source.CodeMergeType},
	{"default against the type", "size: {type: integer, default: 0}", "size: {type: integer, default: none}", source.CodeWrongType},
	{"input against the type", "limit: {type: integer, default: 3}", "limit: {type: integer, default: three}", source.CodeWrongType},
	// The order of the graph.
	{"read that only its wave orders", "fifth, kind: tool, impl: nothing,", "fifth, kind: tool, impl: nothing, reads: [mood],", source.CodeReadUnordered},
	{"read before the write", "alone, kind: tool, impl: nothing, reads: [tone]", "alone, kind: tool, impl: nothing, reads: [tone, mood]", source.CodeReadBefore},
	{"two writers in no order", "args: {}, writes: []", "args: {}, writes: [spare]", source.CodeUnorderedWrites},
	{"node that ends later", "$nodes.load.status", "$nodes.save.status", source.CodeNodeOrder},
}

// in returns the document with the fault. The number of lines does not change.
func (f *fault) in(doc string) string {
	if strings.Count(doc, f.old) != 1 {
		return ""
	}
	return strings.Replace(doc, f.old, f.new, 1)
}

// line returns the line of the sound document that the fault changes.
func (f *fault) line() int {
	return strings.Count(soundDocument[:strings.Index(soundDocument, f.old)], "\n")
}

type finder struct{ engine *wavefold.Engine }

func newFinder(t *testing.T) *finder {
	t.Helper()
	e := wavefold.NewEngine()
	h := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	if err := e.AddTool("nothing", h); err != nil {
		t.Fatal(err)
	}
	return &finder{e}
}

// find returns the errors and warnings of a document, without hints.
func (f *finder) find(doc string) source.Diagnostics {
	w, ds := f.engine.Parse("pairs.yaml", []byte(doc))
	if w != nil {
		_, ds = f.engine.Compile(w, false)
	}
	return slices.DeleteFunc(ds, func(d source.Diagnostic) bool { return d.Severity == source.Hint })
}

// One fault causes one finding. Its consequences are not reported.
func TestEachFaultIsOneFinding(t *testing.T) {
	f := newFinder(t)
	if ds := f.find(soundDocument); len(ds) > 0 {
		t.Fatalf("the sound document:\n%v", ds)
	}
	for _, x := range faults {
		doc := x.in(soundDocument)
		if doc == "" {
			t.Errorf("%s: %q does not stand there once", x.name, x.old)
			continue
		}
		if ds := f.find(doc); len(ds) != 1 || ds[0].Code != x.code {
			t.Errorf("%s: want %s alone, got\n%v", x.name, x.code, ds)
		}
	}
}

// hides lists the findings that a fault hides, because they cannot be distinguished
// from its consequences. Pairs of faults on the same line, or about the same words, are
// listed as well.
var hides = map[string][]string{
	// The names that it would have declared are unknown.
	"misspelt section":   {"name in a condition", "name in a template", "unknown field", "read before the write", "source that is not an array", "until that nothing changes", "input against the type"},
	"node without an id": {"unknown target", "unknown source", "unknown stage", "unknown body", "unknown node"},
	// Its members, and their inputs, may be any nodes.
	"stages that are no list": {"read ", "two writers", "root of another place", "node between two members"},
	"body missing":            {"read ", "two writers", "fan-out in a unit"},
	"unknown stage":           {"root of another place", "node between two members"},
	// It may write any field.
	"misspelt writes":               {"read before the write"},
	"writes that are no list":       {"read before the write"},
	"unknown field that is written": {"read before the write"},
	// Its edge may lead to any node.
	"unknown target of a choice": {"read before the write", "read that only its wave orders"},
	"edge to itself":             {"read before the write"},
	// The other fault is about what this one changes.
	"cycle":                       {"duplicate edge", "unknown target, unlike any"},
	"edge without a target":       {"duplicate edge"},
	"id that appears twice":       {"edge to itself"},
	"source that is not an array": {"input against the type"},
	"type of a condition":         {"default against the type"},
	"unknown source of a choice":  {"else without a condition"},
	"node between two members":    {"node that ends later"},
}

// hidden reports whether one fault may hide the other.
func hidden(a, b fault) bool {
	hide := func(a, b fault) bool {
		return slices.ContainsFunc(hides[a.name], func(prefix string) bool { return strings.HasPrefix(b.name, prefix) })
	}
	return hide(a, b) || hide(b, a)
}

// allPairs selects all pairs of faults. By default, every fourth pair is tried.
var allPairs = flag.Bool("pairs", false, "try all pairs of faults")

// Two faults in different places cause two findings and no others.
func TestPairsOfFaultsAreTwoFindings(t *testing.T) {
	f := newFinder(t)
	alone := map[string]source.Diagnostics{}
	for _, x := range faults {
		alone[x.name] = f.find(x.in(soundDocument))
	}
	pairs, exceptions := 0, 0
	for i, a := range faults {
		for _, b := range faults[i+1:] {
			doc := b.in(a.in(soundDocument))
			if doc == "" || a.line() == b.line() {
				continue
			}
			if pairs++; pairs%4 != 0 && !*allPairs {
				continue
			}
			want, got := positions(append(slices.Clone(alone[a.name]), alone[b.name]...)), positions(f.find(doc))
			switch {
			case slices.Equal(want, got):
			case !hidden(a, b):
				t.Errorf("%s, %s:\n got %q\nwant %q", a.name, b.name, got, want)
			default:
				exceptions++
				for _, p := range got {
					if !slices.Contains(want, p) {
						t.Errorf("%s, %s: %s follows from them", a.name, b.name, p)
					}
				}
			}
		}
	}
	if pairs < 2000 || exceptions > 50 {
		t.Errorf("%d pairs, of which %d hide each other", pairs, exceptions)
	}
}

// positions returns the lines and codes of findings. Messages are left out, because a
// message about a path in the graph may depend on the other fault.
func positions(ds source.Diagnostics) []string {
	var list []string
	for _, d := range ds.Sorted() {
		list = append(list, fmt.Sprintf("%d %s", d.Pos.Line, d.Code))
	}
	slices.Sort(list)
	return list
}
