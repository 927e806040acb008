package expressions

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// makesString reports whether an expression calls a function that creates a string. Only
// such expressions may allocate.
func makesString(n Node) bool {
	if c, ok := n.(*Call); ok {
		switch c.Func {
		case FuncLower, FuncUpper, FuncString, FuncReplace, FuncConcat:
			return true
		}
	}
	return slices.ContainsFunc(children(n), makesString)
}

func TestTestAllocatesNothing(t *testing.T) {
	checked := 0
	for _, c := range corpus(t) {
		p, _ := Compile(source.Text{Value: c.text}, c.scope, "")
		if p == nil || makesString(p.Tree().Root()) {
			continue
		}
		if strings.Contains(c.text, "matches") {
			continue // regexp keeps its machines in a sync.Pool, which the race detector empties at random
		}
		checked++
		env := c.env.Bind(p)
		if n := testing.AllocsPerRun(10, func() { p.Test(env) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name(), n)
		}
	}
	for _, c := range conditions {
		p, env, _ := loadCondition(t, c.text)
		if n := testing.AllocsPerRun(10, func() { p.Test(env) }); n != 0 {
			t.Errorf("%s: %v allocations", c.text, n)
		}
	}
	if checked < 300 {
		t.Errorf("only %d texts were checked", checked)
	}
}

func TestValueOfAPathAllocatesNothing(t *testing.T) {
	env := MapEnv{State: value.ObjectOf("a", value.ObjectOf("b", []any{int64(1), "x"}), "n", int64(1000)),
		Nodes: func(string) (status, output any, ok bool) { return "fail", int64(7000), true }}
	for _, text := range []string{`$.a`, `$.n`, `$.a.b[1]`, `$.none`, `$nodes.x.status`, `$nodes.x.output`} {
		p := MustCompile(text, Scope{})
		bound := env.Bind(p)
		if n := testing.AllocsPerRun(10, func() { p.Value(bound) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// Values of Go scalar types and the length of a Go slice are read in place.
func TestGoValuesAreReadInPlace(t *testing.T) {
	type score float64
	env := MapEnv{State: value.ObjectOf("i", 1000, "u", uint16(3), "s", score(0.7), "l", testLevel("high"), "b", testFlag(true),
		"rows", make([]testOrder, 5))}
	for _, text := range []string{`$.i > 999 && $.u == 3 && $.s > 0.5 && $.l == "high" && $.b`, `length($.rows) > 4`, `$.i + $.u == 1003`, `!!$.rows`} {
		p := MustCompile(text, Scope{})
		bound := env.Bind(p)
		if !p.Test(bound) {
			t.Errorf("%s is false", text)
		}
		if n := testing.AllocsPerRun(10, func() { p.Test(bound) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
	p := MustCompile(`$.rows`, Scope{})
	if _, ok := p.Value(env.Bind(p)).([]testOrder); !ok {
		t.Errorf("a path to a Go value gives %T, not the value itself", p.Value(env.Bind(p)))
	}
}

func typedScope() Scope {
	return Scope{
		Fields: &testSchema{
			names: []string{"a", "n", "level", "list", "flag", "s"},
			types: []*value.Type{nil, {Kind: value.IntegerType}, {Kind: value.StringType, Enum: []any{"low", "high"}}, {Kind: value.ArrayType}, {Kind: value.BooleanType}, {Kind: value.StringType}},
		},
		Roots:  RootNodes | RootItem | RootIndex | RootInput,
		Nodes:  []string{"fetch", "build"},
		Inputs: []value.Property{{Name: "limit", Type: &value.Type{Kind: value.IntegerType}}},
	}
}

func TestProgramTellsWhatItReads(t *testing.T) {
	p := MustCompile(`$.list[0] == $.n || $.n > 2 && $nodes.build.status == "fail" || $nodes.build.output.x in $item || $.a`, typedScope())
	if got := fmt.Sprint(p.Fields(), p.FieldSlots(), p.Nodes(), p.NodeNames()); got != "[list n a] [3 1 0] [1] [fetch build]" {
		t.Errorf("with a schema: %s", got)
	}
	if p.Roots() != RootState|RootNodes|RootItem {
		t.Errorf("roots: %b", p.Roots())
	}
	p = MustCompile(`$.b || $.a || $.b || $nodes.y.status || $nodes.x.status`, Scope{Nodes: []string{"x"}})
	if got := fmt.Sprint(p.Fields(), p.FieldSlots(), p.SlotNames(), p.Nodes(), p.NodeNames()); got != "[b a] [0 1] [b a] [1 0] [x y]" {
		t.Errorf("without a schema: %s", got)
	}
	open := &Open{}
	MustCompile(`$.a + $.b`, Scope{Fields: open})
	p = MustCompile(`$.c > $.b`, Scope{Fields: open})
	if got := fmt.Sprint(p.Fields(), p.FieldSlots(), open.FieldNames()); got != "[c b] [2 1] [a b c]" {
		t.Errorf("with shared slots: %s", got)
	}
}

func TestTypesAndConstants(t *testing.T) {
	for text, want := range map[string]value.TypeKind{
		`$.a`: value.AnyType, `$.n`: value.IntegerType, `$.s`: value.StringType, `$.list`: value.ArrayType,
		`$.n + 1`: value.IntegerType, `$.n / 2`: value.NumberType, `$.n * 0.5`: value.NumberType, `$.n > 1`: value.BooleanType,
		`!$.a`: value.BooleanType, `length($.a)`: value.IntegerType, `lower($.s)`: value.StringType, `sum($.list)`: value.NumberType,
		`max($.n, 1)`: value.IntegerType, `round(1.5)`: value.IntegerType, `$index`: value.IntegerType, `$input.limit`: value.IntegerType,
		`$nodes.build.status`: value.StringType, `$nodes.build.output`: value.AnyType, `number($.s)`: value.NumberType, `null`: value.NullType,
	} {
		if got := MustCompile(text, typedScope()).Type(); got != want {
			t.Errorf("%s: type %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{`1 + 2`: "3", `1 / 0`: "missing", `null`: "null", `length("ab") > 1`: "true", `max(1, 2.5)`: "2.5",
		`"a" in "abc" && !false`: "true", `lower("A")`: `"a"`, `"x" matches "y"`: "false"} {
		if v, ok := MustCompile(text, Scope{}).Constant(); !ok || show(v) != want {
			t.Errorf("%s: constant %s %t, want %s", text, show(v), ok, want)
		}
	}
	for _, text := range []string{`$.a`, `false && $.a`, `length($.a) * 0`} {
		if v, ok := MustCompile(text, Scope{}).Constant(); ok {
			t.Errorf("%s reads a field and is not the constant %s", text, show(v))
		}
	}
}

func TestConstantFindings(t *testing.T) {
	for text, want := range map[string]string{
		`true`:                         `1 the condition is always true`,
		`''`:                           `1 the condition is always false`,
		`1 > 2`:                        `1 the condition is always false`,
		`$.a || true`:                  `1 the condition is always true`,
		`$.a && 0`:                     `1 the condition is always false`,
		`$.n == "x"`:                   `1 the condition is always false (the other side is an integer)`,
		`$.n != "x"`:                   `1 the condition is always true (the other side is an integer)`,
		`"x" == $.n`:                   `1 the condition is always false (the other side is an integer)`,
		`$.level == "hihg"`:            `1 the condition is always false (did you mean "high"?)`,
		`$.level == "medium"`:          `1 the condition is always false (the values are ["low","high"])`,
		`$.level != "medium"`:          `1 the condition is always true (the values are ["low","high"])`,
		`$nodes.build.status == "ok"`:  `1 the condition is always false (the values are ["success","partial_success","fail","skipped"])`,
		`$.a && $.n == "x"`:            `1 the condition is always false`,
		`$.a || $.n == "x"`:            `8 "$.n == \"x\"" is always false (the other side is an integer)`,
		`$.a || !($.n == "x")`:         `1 the condition is always true`,
		`$.a && ($.s || $.level < !1)`: ``,
		`$.flag == 1`:                  `1 the condition is always false (the other side is a boolean)`,
		`$.n + 1 == $.s`:               `1 the condition is always false`,
		`$.n`:                          ``,
		`$.n == null`:                  ``,
		`$.n == 3.5`:                   ``,
		`$.n == $.s`:                   ``,
		`$.level == $.s`:               ``,
		`$.level == "high"`:            ``,
		`$.a == "x"`:                   ``,
		`length($.list) > 0`:           ``,
		`$.flag == true && $.a`:        ``,
	} {
		scope := typedScope()
		p, ds := Compile(source.At(text, source.Position{Line: 1, Column: 1}), scope, "")
		if p == nil {
			if want != "" {
				t.Errorf("%s: %v", text, ds)
			}
			continue
		}
		var got []string
		for _, d := range p.ConstantFindings() {
			s := fmt.Sprintf("%d %s", d.Pos.Column, d.Message)
			if d.Hint != "" {
				s += " (" + d.Hint + ")"
			}
			if d.Severity != source.Warning || d.Code != source.CodeExprConstant {
				t.Errorf("%s: %v", text, d)
			}
			got = append(got, s)
		}
		want := strings.ReplaceAll(want, `"$.n == \"x\""`, `'$.n == "x"'`)
		if strings.Join(got, "; ") != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, strings.Join(got, "; "), want)
		}
	}
}

func TestExplain(t *testing.T) {
	env := MapEnv{
		State: value.ObjectOf("risk", 0.4, "findings", []any{int64(1), int64(2)}, "order", testOrder{K: "v"}, "nil", nil),
		Item:  value.ObjectOf("id", int64(7)),
		Nodes: nodesOf(value.ObjectOf("build", value.ObjectOf("status", "fail"))),
	}
	p := MustCompile(`length($.findings) > 0 && !($.risk + 1 > 0.5) || $item['id'] == 1 || $nodes.build.status == "x" || $.none || $.risk || $.nil || $.order.k in "v"`, Scope{})
	want := `{"length($.findings)":2,"$.risk":0.4,"$item.id":7,"$nodes.build.status":"fail","$.none":null,"$.nil":null,"$.order.k":"v"}`
	got := p.Explain(env.Bind(p))
	if value.JSON(got) != want {
		t.Errorf("got  %s\nwant %s", value.JSON(got), want)
	}
	if v, _ := got.Get("$.none"); !value.IsMissing(v) {
		t.Errorf("a missing value is explained as %v", v)
	}
	if v, _ := MustCompile(`$.order`, Scope{}).Explain(env.Bind(MustCompile(`$.order`, Scope{}))).Get("$.order"); value.TypeName(v) != "object" {
		t.Errorf("a value of a Go type is explained as %T", v)
	}
}

func TestSubjectsAndPositions(t *testing.T) {
	src := source.At("$.n > 1 &&\n  $.nn > 1", source.Position{File: "flow.yaml", Line: 10, Column: 15})
	_, ds := Compile(src, typedScope(), "edge build -> test: when")
	if want := `flow.yaml:11:19: error: edge build -> test: when: unknown field "nn" (did you mean "n"?) [EXPR_NAME]`; ds.Error() != want {
		t.Errorf("got  %s\nwant %s", ds.Error(), want)
	}
	_, ds = Compile(source.At("$.n >", source.Position{File: "flow.yaml", Line: 3, Column: 7}), typedScope(), "loop l: until")
	if want := `flow.yaml:3:12: error: loop l: until: expected a value at the end [EXPR_SYNTAX]`; ds.Error() != want {
		t.Errorf("got  %s\nwant %s", ds.Error(), want)
	}
	_, ds = Compile(source.Text{Value: "$.n == 1 && $.zzz"}, typedScope(), "")
	if want := `error: unknown field "zzz" [EXPR_NAME]`; ds.Error() != want {
		t.Errorf("got  %s\nwant %s", ds.Error(), want)
	}
	_, ds = Compile(source.Text{Value: `$.x + $.y > "a" && $nodes.z.status`}, typedScope(), "")
	if len(ds) != 4 {
		t.Errorf("all findings are reported together, got %v", ds)
	}
}

func TestRootsOfAScope(t *testing.T) {
	for _, c := range []struct {
		text  string
		scope Scope
		ok    bool
	}{
		{`$item`, Scope{}, true},
		{`$.a && $item`, Scope{Roots: RootItem}, true},
		{`$index`, Scope{Roots: RootItem}, false},
		{`$.a`, Scope{Fields: &testSchema{names: []string{"a"}, types: []*value.Type{nil}}}, true},
		{`$item`, Scope{Fields: &testSchema{}}, false},
		{`$input.any`, Scope{Fields: &testSchema{}, Roots: RootInput}, true},
		{`$input.any`, Scope{Fields: &testSchema{}, Roots: RootInput, Inputs: []value.Property{}}, false},
		{`$iter > 0 && $loop == "l"`, Scope{Fields: &testSchema{}, Roots: RootIter | RootLoop}, true},
		{`outcome == "fail"`, Scope{Fields: &testSchema{}, Roots: RootOutcome}, true},
		{`preferred_label == "No"`, Scope{Fields: &testSchema{}, Roots: RootPreferredLabel}, true},
		{`preferred_label == "No"`, Scope{Fields: &testSchema{}, Roots: RootOutcome}, false},
	} {
		p, ds := Compile(source.Text{Value: c.text}, c.scope, "")
		if (p != nil) != c.ok || !c.ok && !ds.Has(source.CodeExprName) {
			t.Errorf("%s: %v", c.text, ds)
		}
	}
}

// indexed is a schema that implements SlotSchema.
type indexed struct {
	testSchema
	asked int
}

func (s *indexed) Index(name string) (int, bool) {
	s.asked++
	i := slices.Index(s.names, name)
	return i, i >= 0
}

func TestSlotsOfASchema(t *testing.T) {
	s := &indexed{testSchema: testSchema{names: []string{"x", "y"}, types: []*value.Type{nil, nil}}}
	if p := MustCompile(`$.y + 1`, Scope{Fields: s}); s.asked != 1 || p.FieldSlots()[0] != 1 {
		t.Errorf("asked %d times, slot %d", s.asked, p.FieldSlots()[0])
	}
	open := &Open{}
	p := MustCompile(`$nodes.b.status`, Scope{Fields: open, Nodes: []string{"a"}})
	if got := fmt.Sprint(p.Nodes(), open.NodeNames(), p.Source()); got != "[1] [a b]$nodes.b.status" {
		t.Error(got)
	}
}

func TestHintsOfRoots(t *testing.T) {
	for text, words := range map[string]string{`$item`: "for_each", `$loop`: "loop bodies", `$visits`: "walk mode", `$input.a`: "does not exist here [EXPR_NAME]"} {
		if _, ds := Compile(source.Text{Value: text}, Scope{Fields: &testSchema{}}, ""); !strings.Contains(ds.Error(), words) {
			t.Errorf("%s: %v", text, ds)
		}
	}
	if _, err := Parse(`$.a = 1`); err.Error() != `unknown operator "=" (write ==)` {
		t.Error(err)
	}
	if _, err := Parse(`$.a ? 1`); err.Error() != `unexpected character "?"` {
		t.Error(err)
	}
	tree, _ := Parse(`$.a.b`)
	if path, ok := tree.Path(); !ok || len(path.Steps) != 2 {
		t.Error(path, ok)
	}
}

func TestForInput(t *testing.T) {
	shared := core.Shared{
		View:   core.NewView([]string{"a", "b"}, []any{int64(1), value.Missing}),
		Extra:  core.NewView([]string{"c"}, []any{int64(3)}),
		Item:   "x",
		Index:  core.Nth(4),
		Inputs: value.ObjectOf("limit", int64(9)),
		Nodes: func(id string) (core.Status, any, bool) {
			return core.Skipped, value.Missing, id == "build"
		},
	}
	for text, want := range map[string]string{
		`$.a + $.c`: "4", `$.b`: "missing", `$.d`: "missing", `$item`: `"x"`, `$index`: "4", `$input.limit`: "9", `$input.no`: "missing",
		`$nodes.build.status`: `"skipped"`, `$nodes.later.status`: "missing", `$output`: "missing",
	} {
		p := MustCompile(text, Scope{})
		if got := show(p.Value(ForInput(shared.Values(), p.SlotNames(), p.NodeNames()))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	each := MustCompile(`$item + $index`, Scope{})
	in := core.NewInput("run", "n", 1, shared).ForItem(int64(30), core.Nth(7))
	if got := each.Value(ForInput(in.Values(), nil, nil)); got != int64(37) {
		t.Errorf("an item of a fan-out: %v, want 37", got)
	}
	p := MustCompile(`$item == null && $index == null`, Scope{})
	if p.Test(ForInput(core.Shared{Item: 3}.Values(), nil, nil)) {
		t.Error("there is no item outside of a fan-out")
	}
}

func TestProgramsAreSafeForConcurrentUse(t *testing.T) {
	p := MustCompile(`$.s matches "^a" && sum($.list) > 2 && $.s contains lower("B")`, Scope{})
	env := MapEnv{State: value.ObjectOf("s", "abc", "list", []any{int64(1), int64(2)})}.Bind(p)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if !p.Test(env) {
					t.Error("false")
				}
				p.Explain(env)
				p.ConstantFindings()
			}
		})
	}
	wg.Wait()
}

func TestMustCompilePanicsOnAnError(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustCompile(`1 +`, Scope{})
}

// A value without a JSON form is missing. Previously, a uint64 beyond int64 was
// true as a condition and missing everywhere else.
func TestWhatHasNoJSONFormIsMissing(t *testing.T) {
	env := MapEnv{State: value.ObjectOf("huge", uint64(math.MaxUint64), "nan", math.NaN(), "inf", testScore(math.Inf(1)), "f", func() {})}
	for _, name := range env.State.Keys() {
		for text, want := range map[string]bool{`$.x`: false, `!$.x`: true, `$.x == $.x`: false, `$.x != $.x`: false, `$.x != 1`: true,
			`$.x != $.none`: false, `$.x + 1 == $.x + 1`: false, `string($.x) == ""`: false, `$.x > 0 || $.x <= 0`: false} {
			p := MustCompile(strings.ReplaceAll(text, "$.x", "$."+name), Scope{})
			if got := p.Test(env.Bind(p)); got != want {
				t.Errorf("%s: %t, want %t", p.Source(), got, want)
			}
		}
	}
}

// A scope may supply its own lookup of nodes; ids that the lookup does not find are
// errors.
func TestScopeFindsNodesItself(t *testing.T) {
	scope := typedScope()
	scope.NodeSlot = func(id string) (int, bool) { return 1, id == "build" }
	p, ds := Compile(source.Text{Value: `$nodes.build.status`}, scope, "")
	if p == nil || !slices.Equal(p.Nodes(), []int{1}) {
		t.Errorf("got %v, %v", p, ds)
	}
	if _, ds = Compile(source.Text{Value: `$nodes.biuld.status`}, scope, ""); !ds.Has(source.CodeExprName) || !strings.Contains(ds.Error(), `did you mean "build"?`) {
		t.Errorf("got %v", ds)
	}
}
