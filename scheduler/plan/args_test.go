package plan

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// fakeEnv gives each field its own index as its value, and returns a fixed value for everything
// else.
type fakeEnv struct{ fields []any }

func (e fakeEnv) Field(i int) any               { return e.fields[i] }
func (e fakeEnv) Node(int) (status, output any) { return "success", "output" }
func (e fakeEnv) Input(name string) any         { return "input " + name }
func (e fakeEnv) Item() any                     { return value.ObjectOf("x", int64(1)) }
func (e fakeEnv) Index() any                    { return int64(4) }
func (e fakeEnv) Extra(expressions.Root) any    { return value.Missing }

func TestArgs(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"none", "", "null"},
		{"literals", "{a: 1, b: text, c: [true, null, {d: 1.5}], e: {}}", `{"a":1,"b":"text","c":[true,null,{"d":1.5}],"e":{}}`},
		{"paths", "{a: $.obj.k, b: [$.rows, $item.x, $index], c: {d: $nodes.other.status, e: $input.obj}}",
			`{"a":"v","b":[[1,2],1,4],"c":{"d":"success","e":"input obj"}}`},
		{"the whole value is shared, the index works", "{a: '$.rows[1]', b: \"$.obj['k']\"}", `{"a":2,"b":"v"}`},
		{"a path to nothing is left out, or null in a list", "{a: $.none, b: $.obj.x.y, c: [$.none], d: 1}", `{"c":[null],"d":1}`},
		{"JSONPath gives a list", "{a: '$.rows[*]', b: '$.rows[0,1]', c: '$.none[*]', d: '$.obj..k'}", `{"a":[1,2],"b":[1,2],"d":["v"]}`},
		{"blanks in brackets", "{a: '$.rows[0, 1]', b: '$.rows[ 1 ]', c: '$.rows[0: 1]', d: '$.rows[?(@ > 1)]', e: \"$.obj[ 'k' ]\"}",
			`{"a":[1,2],"b":2,"c":[1],"d":[2],"e":"v"}`},
		{"sentences stay as they are", "{a: \"$.rows isn't\", b: '$.rows (in EUR)', c: '$.rows [see 3]', d: '$.rows[0] and more'}",
			`{"a":"$.rows isn't","b":"$.rows (in EUR)","c":"$.rows [see 3]","d":"$.rows[0] and more"}`},
		{"longer texts stay as they are", "{a: 'see $.rows', b: '$.rows and more', c: '$item is it', d: $items, e: $, f: $5}",
			`{"a":"see $.rows","b":"$.rows and more","c":"$item is it","d":"$items","e":"$","f":"$5"}`},
		{"so do expressions", "{a: $.rows==$.rows, b: $index+1}", `{"a":"$.rows==$.rows","b":"$index+1"}`},
		{"two dollars stand for one where a path could stand", "{a: $$.rows, b: $$item.x, c: '$$.no path', d: $$5, e: $$}",
			`{"a":"$.rows","b":"$item.x","c":"$.no path","d":"$$5","e":"$$"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := ""
			if tt.args != "" {
				args = ", args: " + tt.args
			}
			p := mustCompile(t, `
name: x
state: {schema: {rows: {type: array, default: []}, obj: {type: object, default: {}}, none: {default: 1}}}
graph: {nodes: [{id: other, kind: fn}, {id: n, kind: fn, for_each: {source: $.rows}`+args+`}], edges: [{from: other, to: n}]}`)
			n, _ := p.Node("n")
			env := fakeEnv{[]any{[]any{int64(1), int64(2)}, value.ObjectOf("k", "v"), value.Missing}}
			o, err := n.Args.Resolve(env, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := "null"
			if o != nil {
				got = value.JSON(o)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestReadsOfArgs(t *testing.T) {
	p := mustCompile(t, `
name: x
state: {schema: {a: {default: 1}, b: {default: 1}, c: {default: 1}, d: {type: array, default: []}}}
graph: {nodes: [{id: n, kind: fn, reads: [b, a], args: {x: $.c, y: [$.a]}, for_each: {source: $.d}, see: [a, c]}]}`)
	n := &p.Nodes[0]
	extra, places := n.Extra()
	var names []string
	for _, r := range n.Reads {
		names = append(names, p.Schema.Fields[r.Field].Name)
	}
	got := value.JSON([]any{value.JSON(names), value.JSON(n.View), value.JSON(extra)})
	if want := value.JSON([]any{`["b","a","d","c"]`, `["b","a"]`, `["a","c"]`}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, at := range places {
		if names[at] != extra[i] {
			t.Errorf("extra %s is at %d of %v", extra[i], at, names)
		}
	}
}

// A string that begins like a path and has a bracket is reported if it does not parse.
func TestArgsThatBeginLikeAPath(t *testing.T) {
	for arg, want := range map[string]string{
		"$.rows[0, 1": "warning", "$.note[see below]": "warning", "$.rows[?(@ > )]": "error", "$.rows[0,]": "error", "$.rows[0": "warning",
		"$$.note[see below]": "", "$.rows [0": "", "see $.rows[0": "", "$.rows[0]": "", "$.rows[0, 1]": "", "$5[a b]": "",
	} {
		_, ds := files{"a.yaml": "name: w\nstate: {schema: {rows: {type: array, default: []}, note: {default: x}}}\n" +
			"graph: {nodes: [{id: n, kind: fn, reads: [rows, note], args: {v: '" + arg + "'}}]}"}.compile("a.yaml", false)
		got := ""
		if len(ds) > 0 {
			got = ds[0].Severity.String()
		}
		if got != want || len(ds) > 0 && ds[0].Code != source.CodeExprSyntax {
			t.Errorf("%s: got %q, want %q: %v", arg, got, want, ds)
		}
	}
}
