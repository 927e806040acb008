package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// Findings about nested workflows have positions in their own files.
func TestNestedFindings(t *testing.T) {
	for _, tt := range []struct {
		name         string
		outer, inner string
		want         string
	}{
		{name: "fine", outer: "args: {a: 1, b: $.list}, writes: [out]", inner: `
inputs: {a: {type: integer, required: true}, b: {type: array}}
state: {schema: {out: {type: string}}}
graph: {nodes: [{id: n, kind: fn, reads: [a, b], writes: [out]}]}`},
		{name: "errors on both sides", outer: "args: {a: 1, c: 2}, writes: [out]", inner: `
inputs: {a: {type: string}, b: {required: true}}
state: {schema: {o: {type: string}}}
graph: {nodes: [{id: n, kind: fn, reads: [nope]}]}`,
			want: `inner.yaml:4:43: error: node n: reads: state field "nope" is not declared (defined: o, a, b) [UNKNOWN_FIELD]
outer.yaml:3:39: hint: state field "list" is neither read nor written [UNUSED]
outer.yaml:5:5: error: node call: workflow "x" needs the input "b" (add it to args) [INPUT]
outer.yaml:5:60: error: node call: args.a: input of workflow "x": want string, got integer 1 [INPUT]
outer.yaml:5:63: error: node call: args: workflow "x" has no input "c" (defined: a, b) [INPUT]
outer.yaml:5:79: error: node call: workflow "x" has no field "out" to fill "out" from (defined: o, a, b) [UNKNOWN_FIELD]`},
		{name: "names and types", outer: "args: {a: 1, c: 2, d: $.list, e: {x: [1, two]}}, writes: [out, list]", inner: `
inputs: {a: {type: string}, b: {required: true}, d: {type: integer}, e: {type: object, properties: {x: {type: array, items: {type: integer}}}}}
state: {schema: {ouch: {type: string}, list: {type: number}}}
graph: {nodes: [{id: n, kind: fn, reads: [a, b, d, e], writes: [ouch, list]}]}`,
			want: `outer.yaml:5:5: error: node call: workflow "x" needs the input "b" (add it to args) [INPUT]
outer.yaml:5:60: error: node call: args.a: input of workflow "x": want string, got integer 1 [INPUT]
outer.yaml:5:63: error: node call: args: workflow "x" has no input "c" (defined: a, b, d, e) [INPUT]
outer.yaml:5:72: error: node call: args.d: $.list is of type array, the input of workflow "x" of type integer [INPUT]
outer.yaml:5:83: error: node call: args.e: input of workflow "x": x[1]: want integer, got string "two" [INPUT]
outer.yaml:5:108: error: node call: workflow "x" has no field "out" to fill "out" from (defined: ouch, list, a, b, d, e) [UNKNOWN_FIELD]
outer.yaml:5:113: error: node call: writes: field "list" is of type array, but "list" of workflow "x" is of type number [WRONG_TYPE]`},
		{name: "mapped outputs", outer: "outputs: {out: ouch}, writes: [out, list]", inner: `
state: {schema: {ouch: {type: string}}}
graph: {nodes: [{id: n, kind: fn, writes: [ouch]}]}`},
		{name: "warnings inside", outer: "args: {given: 1, spare: 2}, reads: [list], writes: [out]", inner: `
state: {schema: {out: {type: string}, given: {}, spare: {}, other: {}}}
graph: {nodes: [{id: n, kind: fn, reads: [given, other], writes: [out]}]}`,
			want: `inner.yaml:3:50: warning: node n: reads: no node writes state field "other", and it is not an input, so it has no value (declare it under inputs, give it a default, or add it to the writes of a node) [NEVER_WRITTEN]`},
		{name: "nested in itself", outer: "writes: [list, out]", inner: `
state: {schema: {list: {type: array}, out: {type: string}}}
graph: {nodes: [{id: n, kind: workflow, file: inner.yaml, writes: [list, out]}, {id: m, kind: workflow, file: outer.yaml}]}`,
			want: `inner.yaml:3:17: error: node n: workflow "x" is nested in itself [CYCLE]
inner.yaml:3:81: error: node m: workflow "outer" is nested in itself [CYCLE]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := files{"inner.yaml": "name: x" + tt.inner, "outer.yaml": `
name: outer
state: {schema: {out: {type: string}, list: {type: array, default: []}}}
graph: {nodes: [
    {id: call, kind: workflow, file: inner.yaml, ` + tt.outer + `},
    {id: again, kind: workflow, file: inner.yaml, ` + tt.outer + `}], edges: [{from: call, to: again}]}`}.compile("outer.yaml", false)
			var lines []string
			for _, d := range ds {
				if !strings.HasPrefix(d.Error(), "outer.yaml:6") { // of the second node, about the same workflow
					lines = append(lines, d.Error())
				}
			}
			if got := strings.Join(lines, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A chain of files each of which includes the next one twice once took 2^n compilations. It should
// take 30.
func TestNestedTwiceEach(t *testing.T) {
	docs := files{}
	for i := range 30 {
		docs[fmt.Sprintf("f%d.yaml", i)] = fmt.Sprintf(`
name: f%d
graph: {nodes: [{id: a, kind: workflow, file: f%d.yaml}, {id: b, kind: workflow, file: f%d.yaml}]}`, i, i+1, i+1)
	}
	docs["f30.yaml"] = "{name: f30, graph: {nodes: [{id: a, kind: fn}]}}"
	p, ds := docs.compile("f0.yaml", false)
	if p == nil {
		t.Fatal(ds)
	}
	if want := int64(1)<<31 - 2; p.Nested != want || p.Describe().Nested != want {
		t.Errorf("%d nested runs, want %d", p.Nested, want)
	}
	if len(ds) != 1 || ds[0].Severity != source.Warning || ds[0].Code != source.CodeLimit || !strings.Contains(ds[0].Message, " 2,147,483,646 runs ") {
		t.Errorf("findings %v", ds)
	}
	if p, _ := docs.compile("f0.yaml", true); p != nil {
		t.Error("2,147,483,646 runs are no warning under strict")
	}
	a, b := p.Nodes[0].Frame.Plan, p.Nodes[1].Frame.Plan
	if a != b || a.Name != "f1" {
		t.Errorf("two plans of one workflow: %p %p", a, b)
	}
	if d := p.Describe(); d.Levels[0][0].Nodes[0].Inner != d.Levels[0][1].Nodes[0].Inner {
		t.Error("two descriptions of one workflow")
	}
}

func TestNestedCount(t *testing.T) {
	node := func(id string, i int) string { return fmt.Sprintf("{id: %s, kind: workflow, file: f%d.yaml}", id, i) }
	for _, tt := range []struct {
		name       string
		wide, deep int
		want       int64
		text       string
		warned     bool
	}{
		{"none", 1, 0, 0, "0", false},
		{"one", 1, 1, 1, "1", false},
		{"a chain of 31", 1, 31, 31, "31", false},
		{"999 wide", 999, 2, 999 + 999*999, "999,000", false},
		{"1,000 wide", 1000, 2, 1000 + 1000*1000, "1,001,000", true},
		{"more than an integer holds", 100, 31, MaxNested, "10^18 or more", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			docs := files{}
			for i := range tt.deep {
				var nodes []string
				for j := range tt.wide {
					nodes = append(nodes, node(fmt.Sprintf("n%d", j), i+1))
				}
				docs[fmt.Sprintf("f%d.yaml", i)] = fmt.Sprintf("{name: f%d, graph: {nodes: [%s]}}", i, strings.Join(nodes, ", "))
			}
			docs[fmt.Sprintf("f%d.yaml", tt.deep)] = "{name: last, graph: {nodes: [{id: a, kind: fn}]}}"
			p, ds := docs.compile("f0.yaml", false)
			if p == nil || p.Nested != tt.want || NestedText(tt.want) != tt.text || ds.Has(source.CodeLimit) != tt.warned {
				t.Fatalf("%d nested runs (%s), want %d (%s), findings %v", p.Nested, NestedText(p.Nested), tt.want, tt.text, ds)
			}
			d := p.Describe()
			d.Once()
			if size := jsonSize(t, d); size > 1000*tt.wide*(tt.deep+1) {
				t.Errorf("%d bytes of description", size)
			}
		})
	}
}

func jsonSize(t *testing.T, v any) int {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(b)
}

func TestNestedTooDeep(t *testing.T) {
	for _, depth := range []int{maxFrames - 1, maxFrames} {
		docs := files{}
		for i := range depth {
			docs[fmt.Sprintf("f%d.yaml", i)] = fmt.Sprintf("{name: x, graph: {nodes: [{id: a, kind: workflow, file: f%d.yaml}]}}", i+1)
		}
		docs[fmt.Sprintf("f%d.yaml", depth)] = "{name: x, graph: {nodes: [{id: a, kind: fn}]}}"
		if _, ds := docs.compile("f0.yaml", false); ds.Has(source.CodeLimit) != (depth == maxFrames) {
			t.Errorf("%d frames: %v", depth, ds)
		}
		// The result is the same if the innermost workflow was compiled before, for another node.
		docs["f.yaml"] = fmt.Sprintf("{name: x, graph: {nodes: [{id: a, kind: workflow, file: f%d.yaml}, {id: b, kind: workflow, file: f1.yaml}]}}", depth/2)
		if _, ds := docs.compile("f.yaml", false); ds.Has(source.CodeLimit) != (depth == maxFrames) {
			t.Errorf("%d frames, known: %v", depth, ds)
		}
	}
}

// Findings about a workflow that is nested twice are reported once.
func TestNestedFindingsOnce(t *testing.T) {
	_, ds := files{"inner.yaml": `
name: x
inputs: {}
state: {schema: {a: {}, b: {}}}
graph: {nodes: [{id: n, kind: fn, reads: [a, b]}]}`, "outer.yaml": `
name: outer
graph: {nodes: [{id: call, kind: workflow, file: inner.yaml}, {id: again, kind: workflow, file: inner.yaml}]}`}.compile("outer.yaml", true)
	if got := formatstest.Lines(ds); strings.Count(got, "NEVER_WRITTEN") != 2 || len(ds) != 2 {
		t.Errorf("got\n%s", got)
	}
}
