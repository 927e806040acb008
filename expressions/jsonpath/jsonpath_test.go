package jsonpath

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/PaesslerAG/jsonpath"
	"github.com/ohler55/ojg/jp"
	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

const store = `{"store":{
 "book":[
  {"category":"reference","author":"Nigel Rees","title":"Sayings of the Century","price":8.95,"tags":["old"]},
  {"category":"fiction","author":"Evelyn Waugh","title":"Sword of Honour","price":12.99,"sale":false},
  {"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99},
  {"category":"fiction","author":"J. R. R. Tolkien","title":"The Lord of the Rings","isbn":"0-395-19395-8","price":22.99,"sale":true}],
 "bicycle":{"color":"red","price":399,"price before":400},
 "z":1,"a":2,"m":{"inner":[[1,2],[3]],"price":1},"nil":null,"big":9007199254740993},
 "list":[0,1,2,3,4,5]}`

func parse(tb testing.TB, s string) any {
	tb.Helper()
	v, err := value.ParseJSON([]byte(s))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

type fataler interface{ Fatal(...any) }

func all(t fataler, p *Path, root any) []any {
	out, err := p.All(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func from(t fataler, p *Path, field any) []any {
	out, err := p.From(field, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAll(t *testing.T) {
	root := parse(t, store)
	for _, c := range []struct{ path, want string }{
		{`$.store.z`, `[1]`},
		{`$['store']['z']`, `[1]`},
		{`$.store.none`, `[]`},
		{`$.none.x`, `[]`},
		{`$.store.nil`, `[null]`},
		{`$.store.nil.x`, `[]`},
		{`$.store.book[2].title`, `["Moby Dick"]`},
		{`$.store.book[-1].title`, `["The Lord of the Rings"]`},
		{`$.store.book[4]`, `[]`},
		{`$.store.book[-5]`, `[]`},
		{`$.store['book'][0]["author"]`, `["Nigel Rees"]`},
		{`$.store.bicycle['price before']`, `[400]`},
		{`$.store.book[*].price`, `[8.95,12.99,8.99,22.99]`},
		{`$.store.bicycle.*`, `["red",399,400]`},
		{`$.store.m.*[*]`, `[[1,2],[3]]`},
		{`$.store.*.color`, `["red"]`},
		{`$.store.*.price`, `[399,1]`},
		{`$.store..price`, `[8.95,12.99,8.99,22.99,399,1]`},
		{`$.store.m..*`, `[[[1,2],[3]],[1,2],1,2,[3],3,1]`},
		{`$.store.m..[0]`, `[[1,2],1,3]`},
		{`$.store.m..[-1]`, `[2,[3],3]`},
		{`$.store.m..[1:]`, `[2,[3]]`},
		{`$.store..['z','color']`, `["red",1]`},
		{`$.store..[?(@.color)].color`, `["red"]`},
		{`$.list[1:3]`, `[1,2]`},
		{`$.list[:2]`, `[0,1]`},
		{`$.list[4:]`, `[4,5]`},
		{`$.list[-2:]`, `[4,5]`},
		{`$.list[:-4]`, `[0,1]`},
		{`$.list[::2]`, `[0,2,4]`},
		{`$.list[1::2]`, `[1,3,5]`},
		{`$.list[::-2]`, `[5,3,1]`},
		{`$.list[3:0:-1]`, `[3,2,1]`},
		{`$.list[::0]`, `[]`},
		{`$.list[10:20]`, `[]`},
		{`$.list[3:1]`, `[]`},
		{`$.list[4,0,-1,9]`, `[4,0,5]`},
		{`$.store['a','z']`, `[2,1]`},
		{`$.store.book[0,2]['title','price']`, `["Sayings of the Century",8.95,"Moby Dick",8.99]`},
		{`$.store.book[?(@.price > 10)].title`, `["Sword of Honour","The Lord of the Rings"]`},
		{`$.store.book[?@.price>10].title`, `["Sword of Honour","The Lord of the Rings"]`},
		{`$.store.book[ ?( @.price < 10 && @.category == 'fiction' ) ].title`, `["Moby Dick"]`},
		{`$.store.book[?(@.isbn)].price`, `[8.99,22.99]`},
		{`$.store.book[?(!@.isbn)].price`, `[8.95,12.99]`},
		{`$.store.book[?(!@.isbn && @.tags)].price`, `[8.95]`},
		{`$.store.book[?(@.sale)].price`, `[12.99,22.99]`},
		{`$.store.book[?(@.sale == true)].price`, `[22.99]`},
		{`$.store.book[?(@.sale != true)].price`, `[8.95,12.99,8.99]`},
		{`$.store.book[?(@.tags == @.tags && @.tags)].price`, `[8.95]`},
		{`$.store.book[?('old' in @.tags)].price`, `[8.95]`},
		{`$.store.book[?(@.title matches '^S' || @.author contains 'Tolkien')].price`, `[8.95,12.99,22.99]`},
		{`$.store.book[?(@.title contains ']')]`, `[]`},
		{`$.store.book[?(length(@.title) < 10)].title`, `["Moby Dick"]`},
		{`$.store.book[?(@['author'] == "Evelyn Waugh")].price`, `[12.99]`},
		{`$.store.book[?(@.price * 2 < 17.95)].price`, `[8.95]`},
		{`$.list[?(@ >= 4)]`, `[4,5]`},
		{`$.list[?(@ % 2 == 1)]`, `[1,3,5]`},
		{`$.store[?(@ == 9007199254740993)]`, `[9007199254740993]`},
		{`$.store[?(@ == 9007199254740992)]`, `[]`},
		{`$.store[?(@ == null)]`, `[null]`},
		{`$.store.m.inner[?(@[0] == 3)]`, `[[3]]`},
		{`$.store.book[?(@.price > 10)][?(@ == 'fiction')]`, `["fiction","fiction"]`},
	} {
		p, ds := Compile(source.Text{Value: c.path})
		if p == nil {
			t.Errorf("%s: %v", c.path, ds)
			continue
		}
		if got := value.JSON(all(t, p, root)); got != c.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", c.path, got, c.want)
		}
		field, ok := root.(*value.Object).Get(p.Root())
		if ok && value.JSON(from(t, p, field)) != c.want {
			t.Errorf("%s from its field gives %s", c.path, value.JSON(from(t, p, field)))
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		path, words string
		column      int
	}{
		{``, "empty", 1},
		{`$`, "begins with the name of a state field", 2},
		{`$..x`, "begins with the name of a state field", 2},
		{`$.*`, "begins with the name of a state field", 2},
		{`$[0]`, "begins with the name of a state field", 2},
		{`$[?(@.x)]`, "begins with the name of a state field", 2},
		{`a.b`, `begins with "$."`, 1},
		{`@.a`, `begins with "$."`, 1},
		{`$.a..`, `after ".."`, 6},
		{`$.a...b`, `"..." is not a step`, 4},
		{`$.a b`, `unexpected "`, 4},
		{`$.a-b`, `unexpected "`, 4},
		{`$.a[`, "never closed", 4},
		{`$.a[0`, "never closed", 4},
		{`$.a['x]`, "never closed", 5},
		{`$.a[x]`, `unexpected "x"`, 5},
		{`$.a[]`, `unexpected "]"`, 5},
		{`$.a[99999999999999999999]`, "does not fit", 5},
		{`$.a[(@.length-1)]`, "scripts", 1},
		{`$.a[?]`, "this is not a step of a path", 6},
		{`$.a[?(@.x >)]`, "filter: expected a value, found \")\"", 12},
		{`$.a[?(@.x = 1)]`, "write ==", 11},
		{`$.a[?(@.x == $.limit)]`, "sees the element only", 14},
		{`$.a[?($item.x == $index)]`, "sees the element only", 18},
		{`$.a[?(@.x =~ /b/)]`, "write matches", 11},
		{`$.a[?(@..x)]`, "filter: expected a name", 9},
		{`$.a[?(@.x matches '(')]`, "missing closing", 19},
		{`$.a[?(lenght(@.x) > 1)]`, `did you mean "length"`, 7},
		{`$.a[?(@.x == 'y]`, "never closed", 14},
		{strings.Repeat("$.a", 30_000), "longer than", 64<<10 + 1},
	} {
		p, ds := Compile(source.At(c.path, source.Position{Line: 1, Column: 1}))
		if p != nil || len(ds) != 1 {
			t.Errorf("%.40s: got %v, %v", c.path, p, ds)
			continue
		}
		if !strings.Contains(ds.Error(), c.words) || int(ds[0].Pos.Column) != c.column {
			t.Errorf("%.40s\n\tgot  %v\n\twant column %d, %s", c.path, ds, c.column, c.words)
		}
	}
	_, ds := Compile(source.At("$.a\n  [?(@.x ==)]", source.Position{File: "f", Line: 5, Column: 9}))
	if len(ds) != 1 || ds[0].Pos.Line < 5 {
		t.Errorf("over two lines: %v", ds)
	}
}

func TestIsSimple(t *testing.T) {
	for path, want := range map[string]bool{`$.a`: true, `$.a.b[2]['c d']`: true, `$item.x`: true, `$nodes.a.output.rows`: true, `$.a[-1]`: true,
		`$.a[*]`: false, `$.a..b`: false, `$.a[?(@.x)]`: false, `$.a[1:2]`: false, `$.a[0,1]`: false, `$.a.*`: false, `1`: false, `$.a + 1`: false, ``: false, `a`: false} {
		if IsSimple(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}

type (
	item struct {
		Name  string   `json:"name"`
		Price float64  `json:"price"`
		Tags  []string `json:"tags"`
	}
	shelf struct {
		Items []item `json:"items"`
	}
)

func TestGoValues(t *testing.T) {
	shelves := []shelf{{Items: []item{{"a", 1.5, []string{"x"}}, {"b", 20, nil}}}, {Items: []item{{Name: "c", Price: 30}}}}
	for path, want := range map[string]string{
		`$.shelves[*].items[?(@.price > 10)].name`:           `["b","c"]`,
		`$.shelves..name`:                                    `["a","b","c"]`,
		`$.shelves[0].items[0]`:                              `[{"name":"a","price":1.5,"tags":["x"]}]`,
		`$.shelves[?('x' in @.items[0].tags)].items[1].name`: `["b"]`,
	} {
		p, ds := Compile(source.Text{Value: path})
		if p == nil {
			t.Fatal(ds)
		}
		if got := value.JSON(from(t, p, shelves)); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	p, _ := Compile(source.Text{Value: `$.f[*]`})
	if got := from(t, p, func() {}); len(got) != 0 {
		t.Errorf("a function has no elements: %v", got)
	}
	if got := from(t, p, value.Missing); got == nil || len(got) != 0 {
		t.Errorf("nothing has no elements: %v", got)
	}
}

// asBag formats values in sorted order, for comparison with libraries that use Go maps.
func asBag(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		c, _ := value.Canonical(v)
		b, _ := json.Marshal(value.Plain(c)) // sorts the keys
		out[i] = string(b)
	}
	slices.SortFunc(out, cmp.Compare[string])
	return strings.Join(out, " ")
}

func drawData(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case depth > 0 && kind < 2:
		out := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			out = append(out, drawData(t, depth-1))
		}
		return out
	case depth > 0 && kind < 4:
		out := &value.Object{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			out.Set(rapid.SampledFrom([]string{"a", "b", "c", "d e"}).Draw(t, "key"), drawData(t, depth-1))
		}
		return out
	}
	return rapid.SampledFrom([]any{nil, true, false, int64(0), int64(1), int64(2), 1.5, "", "x", "y"}).Draw(t, "scalar")
}

// drawPath appends random steps to a path.
func drawPath(t *rapid.T, path string, steps []string) string {
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		path += rapid.SampledFrom(steps).Draw(t, "step")
	}
	return path
}

// TestSameAsJP compares the matches with the matches of jp, which defines the grammar.
// jp walks Go maps and returns members in any order, so the test ignores order.
func TestSameAsJP(t *testing.T) {
	// jp loses matches of a descent that follows a step with several matches
	// ($.a[0][*]..a in {"a":[[null,[],[{"a":1}]]]}), so descent comes first.
	begin := []string{"$.a", "$.a", "$.a..a", "$.a..[0]", "$.a..*"}
	steps := []string{".a", ".b", "['d e']", "[0]", "[1]", "[-1]", "[*]", ".*", "[0,1]", "['a','b']", "[1:]", "[:2]", "[0:3:2]",
		"[?(@.a == 1)]", "[?(@.a)]", "[?(@.b > 0 && @.a != 'x')]", "[?(@ == 'x' || @ == 1.5)]", "[?(@[0] == null)]", "[?(@.a < 2)]"}
	rapid.Check(t, func(t *rapid.T) {
		root := value.ObjectOf("a", drawData(t, 4))
		path := drawPath(t, rapid.SampledFrom(begin).Draw(t, "begin"), steps)
		p, ds := Compile(source.Text{Value: path})
		if p == nil {
			t.Fatalf("%s: %v", path, ds)
		}
		got, want := asBag(all(t, p, root)), asBag(jp.MustParseString(path).Get(value.Plain(root)))
		if got != want {
			t.Fatalf("%s in %s\n\tgot %s\n\tjp  %s", path, value.JSON(root), got, want)
		}
	})
}

// TestSameAsPaessler compares with a second library, on simple paths and wildcards.
// That library returns an error for a missing member, and a single value if no step can
// have several matches.
func TestSameAsPaessler(t *testing.T) {
	agreed := 0
	rapid.Check(t, func(t *rapid.T) {
		root := value.ObjectOf("a", drawData(t, 4))
		path := drawPath(t, "$.a", []string{".a", ".b", ".c", "[0]", "[1]", "[*]", ".*", `["d e"]`})
		p, ds := Compile(source.Text{Value: path})
		if p == nil {
			t.Fatalf("%s: %v", path, ds)
		}
		got := all(t, p, root)
		want, err := jsonpath.Get(path, value.Plain(root))
		if err != nil {
			if len(got) > 0 {
				t.Fatalf("%s in %s\n\tgot %s\n\tPaessler: %v", path, value.JSON(root), value.JSON(got), err)
			}
			return
		}
		list := []any{want}
		if strings.Contains(path, "*") {
			list = want.([]any)
		}
		if agreed++; asBag(got) != asBag(list) {
			t.Fatalf("%s in %s\n\tgot      %s\n\tPaessler %s", path, value.JSON(root), asBag(got), asBag(list))
		}
	})
	if agreed < 10 {
		t.Errorf("only %d paths led anywhere", agreed)
	}
}

// TestDocumentOrder checks that the matches of wildcards and descent have the order in
// which they appear in the JSON text.
func TestDocumentOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := int64(0)
		var number func(v any) any // replaces every scalar by its ordinal in the text
		number = func(v any) any {
			switch v := v.(type) {
			case []any:
				for i := range v {
					v[i] = number(v[i])
				}
				return v
			case *value.Object:
				for i := range v.Len() {
					k, e := v.At(i)
					v.Set(k, number(e))
				}
				return v
			}
			n++
			return n
		}
		root := value.ObjectOf("a", number(drawData(t, 4)))
		path := drawPath(t, "$.a", []string{".a", "[*]", ".*", "[1:]", "[?(@ != 'none')]"}) +
			rapid.SampledFrom([]string{"", "..a", "..*", "..[0]", "..['a','b']"}).Draw(t, "descent")
		p, ds := Compile(source.Text{Value: path})
		if p == nil {
			t.Fatal(ds)
		}
		last := int64(0)
		for _, v := range all(t, p, root) {
			if i, ok := v.(int64); ok {
				if i <= last {
					t.Fatalf("%s in %s gives %s", path, value.JSON(root), value.JSON(all(t, p, root)))
				}
				last = i
			}
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`$.a`, `$.a[*].b`, `$.a..b`, `$.a[?(@.x > 1 && !@.y)].z`, `$.a[1:2,3]['x',"y"]`, `$['a'][-1]`, `$.a[?(@['x]'] == ']')]`} {
		f.Add(s)
	}
	root := parse(f, store).(*value.Object)
	root.Set("a", []any{value.ObjectOf("x", int64(2), "b", []any{int64(1)}), int64(3)})
	f.Fuzz(func(t *testing.T, s string) {
		p, ds := Compile(source.At(s, source.Position{Line: 1, Column: 1}))
		if (p == nil) != ds.Failed(false) {
			t.Fatalf("%q: %v and %v", s, p, ds)
		}
		for _, d := range ds {
			if d.Pos.Line < 1 || d.Message == "" {
				t.Fatalf("%q: %v", s, d)
			}
		}
		if p == nil {
			return
		}
		if _, err := p.from(root, nil, 1000, 10_000); err != nil && !isLimit(err) {
			t.Fatalf("%q: %v", s, err)
		}
	})
}

func BenchmarkFrom(b *testing.B) {
	rows := make([]any, 100)
	for i := range rows {
		rows[i] = value.ObjectOf("id", int64(i), "price", float64(i), "name", "item")
	}
	for _, path := range []string{`$.items[*].id`, `$.items[?(@.price > 50)].id`} {
		p, _ := Compile(source.Text{Value: path})
		b.Run(fmt.Sprintf("path=%s", path), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.From(rows, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
