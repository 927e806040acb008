package template

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

type order struct {
	ID    string  `json:"id"`
	Price float64 `json:"price"`
}

func values() Values {
	return Values{
		MapEnv: expressions.MapEnv{
			State: value.ObjectOf(
				"name", "state", "who", "Ada", "n", int64(3), "f", 0.5, "yes", true, "nil", nil, "empty", "",
				"list", []any{int64(1), "x"}, "summary", value.ObjectOf("tldr", "short", "deep", value.ObjectOf("x", int64(1))),
				"inject", "{{who}} {{$.n}}", "html", "<b>&\"ü", "order", order{"o-1", 2.5}, "outcome", "a field"),
			Item:   value.ObjectOf("key", "k-7", "tags", []any{"a", "b"}),
			Index:  int64(2),
			Inputs: value.ObjectOf("region", "eu"),
			Nodes: func(id string) (status, output any, ok bool) {
				return "success", value.ObjectOf("rows", int64(9)), id == "fetch"
			},
		},
		EdgeInputs: value.ObjectOf("name", "edge", "fetch", value.ObjectOf("rows", int64(4)), "both", "edge"),
		Args:       value.ObjectOf("both", "args", "style", "terse"),
	}
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, ``},
		{`no places`, `no places`},
		{`{{who}}`, `Ada`},
		{`{{ who }}`, `Ada`},
		{`Hello {{who}}, {{who}}!`, `Hello Ada, Ada!`},
		{`{{who}}{{n}}`, `Ada3`},
		{`{{n}} {{f}} {{yes}} {{nil}}`, `3 0.5 true null`},
		{`[{{empty}}]`, `[]`},
		{`{{list}} {{summary}}`, `[1,"x"] {"tldr":"short","deep":{"x":1}}`},
		{`{{summary.tldr}} {{summary.deep.x}}`, `short 1`},
		{`{{html}}`, `<b>&"ü`},
		{`{{order}} {{order.price}} {{$.order.id}}`, `{"id":"o-1","price":2.5} 2.5 o-1`},
		{`{{name}}`, `edge`},
		{`{{$.name}}`, `state`},
		{`{{both}} {{style}}`, `args terse`},
		{`{{fetch.rows}} {{$nodes.fetch.output.rows}}`, `4 9`},
		{`{{$item.key}} {{$item['tags'][1]}} {{$index}}`, `k-7 b 2`},
		{`{{$item}}`, `{"key":"k-7","tags":["a","b"]}`},
		{`{{$input.region}}`, `eu`},
		{`{{$.n + 1}} {{length($.list)}} {{upper($.who)}} {{$.n > 2}}`, `4 2 ADA true`},
		{`{{inject}}`, `{{who}} {{$.n}}`},
		{`{{'{{'}}who}} and {{"}}"}}`, `{{who}} and }}`},
		{`a }} b } c { d`, `a }} b } c { d`},
		{`{"a":{"b":{{n}}}}`, `{"a":{"b":3}}`},
		{"{{who}}\n  {{n}}\n", "Ada\n  3\n"},
		{`{{$.summary['tl' ]}}` + "{{'x'}}", `-`},
		{`{{outcome}}`, `a field`},
		{`{{true}}`, `-`},
		{`{{unknown}}`, `-`},
		{`{{summary.none}}`, `-`},
		{`{{who.part}}`, `-`},
		{`{{$.none}}`, `-`},
		{`{{$nodes.later.status}}`, `-`},
	} {
		tmpl, ds := Compile(source.Text{Value: c.in}, expressions.Scope{}, "")
		if tmpl == nil {
			t.Errorf("%s: %v", c.in, ds)
			continue
		}
		got, err := tmpl.Render(values().On(tmpl))
		if err != nil {
			got = "-"
		}
		if got != c.want {
			t.Errorf("%s\n\tgot  %q\n\twant %q (%v)", c.in, got, c.want, err)
		}
		if err == nil && tmpl.RenderLenient(values().On(tmpl)) != got {
			t.Errorf("%s: leniently %q", c.in, tmpl.RenderLenient(values().On(tmpl)))
		}
		if tmpl.Constant() != !strings.Contains(c.in, "{{") {
			t.Errorf("%s: constant %t", c.in, tmpl.Constant())
		}
	}
}

func TestMissing(t *testing.T) {
	src := source.At("Dear {{who}},\n  about {{ topic.name }}\n{{$.none}}", source.Position{File: "prompt.md", Line: 4, Column: 3})
	tmpl, ds := Compile(src, expressions.Scope{}, "")
	if tmpl == nil {
		t.Fatal(ds)
	}
	_, err := tmpl.Render(values().On(tmpl))
	m, ok := errors.AsType[*MissingError](err)
	if !ok || err.Error() != "prompt.md:5:11: {{ topic.name }} has no value" || m.Placeholder != "{{ topic.name }}" {
		t.Errorf("got %v", err)
	}
	if got, want := tmpl.RenderLenient(values().On(tmpl)), "Dear Ada,\n  about {{ topic.name }}\n{{$.none}}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (&MissingError{Placeholder: "{{x}}"}).Error(); got != "{{x}} has no value" {
		t.Error(got)
	}
}

// schema is a list of fields of any type, except n, which is a number.
type schema []string

func (s schema) FieldNames() []string { return s }

func (s schema) FieldType(name string) (*value.Type, bool) {
	for _, f := range s {
		if f == name {
			if f == "n" {
				return &value.Type{Kind: value.IntegerType}, true
			}
			return nil, true
		}
	}
	return nil, false
}

func TestCompileErrors(t *testing.T) {
	scope := expressions.Scope{Fields: schema{"a", "n"}, Roots: expressions.RootItem | expressions.RootNodes, Nodes: []string{"fetch"}}
	for _, c := range []struct {
		in, words    string
		line, column int32
	}{
		{`x {{`, `"{{" is never closed`, 1, 3},
		{`x {{who`, `never closed`, 1, 3},
		{`x {{who}`, `never closed`, 1, 3},
		{`x {{}}`, `nothing is between`, 1, 3},
		{`x {{  }}`, `nothing is between`, 1, 3},
		{`{{a +}}`, `unknown word "a"`, 1, 3},
		{`{{#if a}}`, `unexpected character "#"`, 1, 3},
		{`{{ it's }}`, `never closed`, 1, 6},
		{`{{ 'it }}`, `never closed`, 1, 4},
		{`{{{a}}}`, `unexpected character "{"`, 1, 3},
		{`{{a}} {{$.b}}`, `unknown field "b"`, 1, 11},
		{"{{a}}\n  {{ $.n > 'x' }}", `no order`, 2, 10},
		{`{{$index}}`, `$index does not exist here`, 1, 3},
		{`{{$nodes.fetsh.output}}`, `did you mean "fetch"`, 1, 10},
		{`{{a[0]}}`, `write $.a`, 1, 3},
		{`{{a-b}}`, `unknown word "a"`, 1, 3},
		{`{{a..b}}`, `unknown word "a"`, 1, 3},
	} {
		tmpl, ds := Compile(source.At(c.in, source.Position{Line: 1, Column: 1}), scope, "node x: prompt")
		if tmpl != nil || len(ds) != 1 {
			t.Errorf("%s: got %v, %v", c.in, tmpl, ds)
			continue
		}
		d := ds[0]
		if !strings.HasPrefix(d.Message, "node x: prompt: ") || !strings.Contains(d.Error(), c.words) || d.Pos.Line != c.line || d.Pos.Column != c.column {
			t.Errorf("%s\n\tgot  %v\n\twant %d:%d %s", c.in, d, c.line, c.column, c.words)
		}
	}
	_, ds := Compile(source.Text{Value: "{{$.x}} {{ ) }} {{$.y}} {{"}, scope, "")
	if len(ds) != 4 {
		t.Errorf("all findings are reported together, got %v", ds)
	}
}

// TestCompilePart tests that placeholders without errors are known although others have errors.
func TestCompilePart(t *testing.T) {
	src := source.Text{Value: "{{$.a}} {{$.nope}} {{b}} {{ ) }} {{$nodes.x.status}} {{$nodes.y.output | tabel}} {{$.n"}
	scope := expressions.Scope{Fields: schema{"a", "b", "n"}, Roots: expressions.RootNodes, Nodes: []string{"x", "y"}}
	tmpl, ds := CompilePart(src, scope, "")
	if got := fmt.Sprint(tmpl.Fields(), tmpl.Names(), tmpl.Nodes(), len(ds)); got != "[a b] [b] [0] 4" {
		t.Errorf("got %s: %v", got, ds)
	}
	if tmpl, _ := Compile(src, scope, ""); tmpl != nil {
		t.Error("Compile returns a template with errors")
	}
}

func TestWhatATemplateReads(t *testing.T) {
	src := source.Text{Value: "{{style}} {{n}} {{$.b}} {{a.x}} {{$.b + $.n}} {{$nodes.y.status}} {{$nodes.x.output}} {{style}} {{$item.k}}"}
	scope := expressions.Scope{Fields: schema{"a", "b", "n"}, Roots: expressions.RootNodes | expressions.RootItem, Nodes: []string{"x", "y"}}
	tmpl, ds := Compile(src, scope, "")
	if tmpl == nil {
		t.Fatal(ds)
	}
	if got := fmt.Sprint(tmpl.Fields(), tmpl.Names(), tmpl.Nodes(), tmpl.SlotNames(), tmpl.NodeNames()); got != "[n b a] [style n a] [1 0] [a b n] [x y]" {
		t.Errorf("with a schema: %s", got)
	}
	if tmpl.Roots() != expressions.RootState|expressions.RootNodes|expressions.RootItem {
		t.Errorf("roots %b", tmpl.Roots())
	}
	tmpl, _ = Compile(src, expressions.Scope{}, "")
	if got := fmt.Sprint(tmpl.Fields(), tmpl.Names(), tmpl.Nodes(), tmpl.SlotNames(), tmpl.NodeNames()); got != "[b n] [style n a] [0 1] [b n] [y x]" {
		t.Errorf("without a schema: %s", got)
	}
	if tmpl.Source() != src.Value {
		t.Error(tmpl.Source())
	}
}

func TestWordsAreRootsOnlyInTheWalkMode(t *testing.T) {
	roots := expressions.RootOutcome | expressions.RootPreferredLabel
	tmpl, ds := Compile(source.Text{Value: "{{outcome}} {{preferred_label}}"}, expressions.Scope{Roots: roots}, "")
	if tmpl == nil {
		t.Fatal(ds)
	}
	v := values()
	v.Extras = map[expressions.Root]any{expressions.RootOutcome: "fail", expressions.RootPreferredLabel: "No"}
	if got, err := tmpl.Render(v.On(tmpl)); got != "fail No" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestForInput(t *testing.T) {
	shared := core.Shared{
		Args:  value.ObjectOf("both", "args"),
		Edges: value.ObjectOf("both", "edge", "up", "edge"),
		View:  core.NewView([]string{"both", "up", "viewed"}, []any{"view", "view", "view"}),
		Extra: core.NewView([]string{"viewed", "asked"}, []any{"extra", "extra"}),
		Item:  value.ObjectOf("k", "v"),
		Index: core.Nth(0),
	}
	tmpl, ds := Compile(source.Text{Value: "{{both}} {{up}} {{viewed}} {{asked}} {{$.asked}} {{$.both}} {{$item.k}} {{$index}}"}, expressions.Scope{}, "")
	if tmpl == nil {
		t.Fatal(ds)
	}
	got, err := tmpl.Render(tmpl.ForInput(shared.Values()))
	if want := "args edge view extra extra view v 0"; got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := tmpl.Render(tmpl.ForInput(core.Shared{}.Values())); err == nil {
		t.Error("nothing is there, and nothing is wrong")
	}
}

// FuzzCompile checks that inserted values are not expanded again: a value that looks
// like a placeholder stays unchanged, and a template whose placeholders are all missing
// is its own lenient result.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{"", "{{", "{{a}}", "{{ $.a }} }} {{'{{'}}", "{{$item['}}'].x}}\n{{length($.a)}}", "{{a.b.c}} {{$nodes.x.output}}", "{{'", "{{ $.a | table }}{{a|json}}", "{{\"\n\"}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tmpl, ds := Compile(source.At(s, source.Position{Line: 1, Column: 1}), expressions.Scope{}, "")
		if (tmpl == nil) != ds.Failed(false) {
			t.Fatalf("%q: %v", s, ds)
		}
		if tmpl == nil {
			return
		}
		whole := ""
		for _, p := range tmpl.parts {
			whole += p.literal + p.source
		}
		if whole != s {
			t.Fatalf("%q is cut into %q", s, whole)
		}
		var none Values
		if strict, err := tmpl.Render(none.On(tmpl)); err == nil && strict != tmpl.RenderLenient(none.On(tmpl)) {
			t.Fatalf("%q gives %q, leniently %q", s, strict, tmpl.RenderLenient(none.On(tmpl)))
		}
	})
}
