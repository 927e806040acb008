package expressions

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"pgregory.net/rapid"
)

// checkEval checks that the compiled form of an expression gives the same result as a
// tree walk.
func checkEval(t interface {
	Helper()
	Fatalf(string, ...any)
}, p *Program, env MapEnv) {
	t.Helper()
	want := newNaive(env).eval(p.Tree().Root())
	bound := env.Bind(p)
	got := canonical(p.Value(bound))
	if show(got) != show(want) {
		t.Fatalf("%s\n\tcompiled %s\n\tnaive    %s", p.Source(), show(got), show(want))
	}
	if p.Test(bound) != naiveTruth(want) {
		t.Fatalf("%s\n\tcompiled %t\n\tnaive    %s", p.Source(), p.Test(bound), show(want))
	}
	if v, ok := p.Constant(); ok && show(v) != show(want) {
		t.Fatalf("%s\n\tconstant %s\n\tnaive    %s", p.Source(), show(v), show(want))
	}
}

// Types of Go values that a state may hold.
type (
	testLevel string
	testScore float64
	testFlag  bool
	testOrder struct {
		A     *testOrder `json:"a,omitempty"`
		K     string     `json:"k"`
		Price float64    `json:"price"`
		Count int        `json:"count"`
		Tags  []string   `json:"tags"`
	}
	testOwn   struct{ n int }
	testOwnID int
)

func (o testOwn) MarshalJSON() ([]byte, error)   { return fmt.Appendf(nil, `{"k":%d}`, o.n), nil }
func (o testOwnID) MarshalJSON() ([]byte, error) { return json.Marshal(fmt.Sprintf("id-%d", int(o))) }

// goEnv returns an environment in which the fields used by the corpus have Go types.
func goEnv() MapEnv {
	order := testOrder{K: "v", Price: 2.5, Count: 3, Tags: []string{"x", "y"}, A: &testOrder{K: "inner"}}
	return MapEnv{
		State: value.ObjectOf(
			"n", 3, "f", float32(0.5), "z", int8(0), "zf", testScore(0), "s", testLevel("abc"), "e", testLevel(""),
			"t", testFlag(true), "b", testFlag(false), "nil", (*testOrder)(nil),
			"list", []any{1, testLevel("x"), order}, "empty", []testOrder{}, "none", map[string]int{},
			"obj", &order, "big", uint32(7), "max", int64(math.MaxInt64), "min", uint64(math.MaxUint64),
			"neg", int16(-2), "nums", []int{3, 1, 2}, "floats", []float64{0.5, 0.25}, "mixed", [2]float32{1, 2.5},
			"texts", []testLevel{"a", "b"}, "tags", []string(nil), "pad", []byte("12"), "numeral", testLevel("10"),
			"nine", testOwnID(9), "hugef", math.NaN(), "half", testOwn{5}, "u", netip.MustParseAddr("10.0.0.1"),
			"length", []testOrder{order, order}, "_u", func() {}, "true", map[string]any{"k": 1.0}),
		Item:   order,
		Index:  int64(1),
		Inputs: value.ObjectOf("limit", testScore(2), "deep", map[string]any{"x": []int{1}}),
	}
}

// envs returns each environment of the corpus once, and the one with Go values.
func envs(tb testing.TB) []MapEnv {
	list := []MapEnv{{}, goEnv()}
	seen := map[string]bool{}
	for _, c := range corpus(tb) {
		key := fmt.Sprintf("%p %v %v", c.env.State, c.env.Item, c.env.Index)
		if !seen[key] {
			seen[key] = true
			list = append(list, c.env)
		}
	}
	return list
}

func TestCompiledIsNaiveOnTheCorpus(t *testing.T) {
	all := envs(t)
	for _, c := range corpus(t) {
		tree, err := Parse(c.text)
		if err != nil {
			continue
		}
		p, ds := CompileTree(tree, source.Text{Value: c.text}, Scope{}, "")
		if p == nil {
			if !ds.Has(source.CodeExprSyntax) {
				t.Errorf("%s: without a schema: %v", c.name(), ds)
			}
			continue
		}
		if len(ds) > 0 {
			t.Errorf("%s: without a schema there is nothing to say: %v", c.name(), ds)
		}
		for _, env := range all {
			checkEval(t, p, env)
		}
		if c.scope.Fields == nil {
			continue
		}
		if p, _ := Compile(source.Text{Value: c.text}, c.scope, ""); p != nil {
			for _, env := range all {
				checkEval(t, p, env)
			}
		}
	}
}

// TestTypesDoNotChangeResults compiles with correct and incorrect schemas. What is
// known about types must affect only the choice of closures, never the result.
func TestTypesDoNotChangeResults(t *testing.T) {
	all := envs(t)
	fields := []string{"n", "f", "s", "t", "nil", "list", "obj", "nothing", "nums", "texts", "empty"}
	rapid.Check(t, func(rt *rapid.T) {
		schema := &testSchema{names: fields}
		for range fields {
			schema.types = append(schema.types, drawType(rt, 2))
		}
		root := drawNode(rt, 4)
		tree, err := NewTree("", root)
		if err != nil {
			return
		}
		text := tree.String()
		p, _ := Compile(source.Text{Value: text}, Scope{Fields: schema, Roots: allRoots, Nodes: []string{"build", "skip"}}, "")
		if p == nil {
			return
		}
		for _, env := range all {
			checkEval(rt, p, env)
		}
	})
}

func TestCompiledIsNaive(t *testing.T) {
	all := envs(t)
	rapid.Check(t, func(rt *rapid.T) {
		tree, err := NewTree("", drawNode(rt, 5))
		if err != nil {
			return
		}
		text := tree.String()
		again, err := Parse(text)
		if err != nil || !sameTree(tree.Root(), again.Root()) || again.String() != text {
			rt.Fatalf("%s does not read back: %v", text, err)
		}
		p, _ := CompileTree(again, source.Text{Value: text}, Scope{}, "")
		for _, env := range all {
			checkEval(rt, p, env)
		}
	})
}

func drawType(t *rapid.T, depth int) *value.Type {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "known") == 0 {
		return nil
	}
	out := &value.Type{Kind: value.TypeKind(rapid.IntRange(0, int(value.NullType)).Draw(t, "kind"))}
	switch out.Kind {
	case value.ArrayType:
		out.Items = drawType(t, depth-1)
	case value.ObjectType:
		out.Properties = []value.Property{{Name: "a", Type: drawType(t, depth-1)}, {Name: "k", Type: drawType(t, depth-1)}}
	case value.StringType:
		if rapid.Bool().Draw(t, "enum") {
			out.Enum = []any{"abc", "x"}
		}
	}
	return out
}

func drawNode(t *rapid.T, depth int) Node {
	kinds := 6
	if depth == 0 {
		kinds = 2
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "node") {
	case 0:
		return &Literal{Value: drawLiteral(t)}
	case 1:
		return drawPath(t)
	case 2:
		return &Not{X: drawNode(t, depth-1)}
	case 3:
		n := &Logic{Op: rapid.SampledFrom([]Op{Or, And}).Draw(t, "logic")}
		for range rapid.IntRange(2, 4).Draw(t, "terms") {
			n.Terms = append(n.Terms, drawNode(t, depth-1))
		}
		return n
	case 4:
		n := &Call{Func: Func(rapid.IntRange(0, len(functions)-1).Draw(t, "func"))}
		most := functions[n.Func].maxArgs
		if most == unboundedCount {
			most = 3
		}
		for range rapid.IntRange(functions[n.Func].minArgs, most).Draw(t, "args") {
			n.Args = append(n.Args, drawNode(t, depth-1))
		}
		return n
	}
	n := &Binary{Op: Op(rapid.IntRange(int(Equal), int(Remainder)).Draw(t, "op")), X: drawNode(t, depth-1)}
	if n.Op == Matches {
		n.Y = &Literal{Value: rapid.SampledFrom([]string{"a", "^a.c$", "", `\d`}).Draw(t, "pattern")}
	} else {
		n.Y = drawNode(t, depth-1)
	}
	return n
}

func drawLiteral(t *rapid.T) any {
	return rapid.SampledFrom([]any{nil, true, false, int64(0), int64(1), int64(-1), int64(2), int64(3), int64(10), 0.0, 0.5, 2.5, 3.0, -1.5,
		math.Copysign(0, -1), int64(math.MaxInt64), int64(math.MinInt64), int64(1 << 53), int64(1<<53 + 1), float64(1 << 53), float64(1 << 63),
		1e300, -1e300, "", "a", "abc", "x", "10", " 12 ", "ü,b,,", ",", "fail", "success"}).Draw(t, "literal")
}

func drawPath(t *rapid.T) Node {
	step := func(s string) Step { return Step{Name: s} }
	p := rapid.SampledFrom([]*Path{
		{Root: RootState}, {Root: RootState}, {Root: RootState}, {Root: RootState},
		{Root: RootItem}, {Root: RootIndex}, {Root: RootInput, Steps: []Step{step("limit")}},
		{Root: RootNodes, Steps: []Step{step("build"), step("status")}},
		{Root: RootNodes, Steps: []Step{step("build"), step("output")}},
		{Root: RootVisits}, {Root: RootOutcome}, {Root: RootPreferredLabel},
	}).Draw(t, "root")
	n := &Path{Root: p.Root, Steps: append([]Step(nil), p.Steps...)}
	if n.Root == RootState {
		n.Steps = []Step{step(rapid.SampledFrom([]string{"n", "f", "s", "t", "nil", "list", "obj", "nothing", "nums", "texts", "empty"}).Draw(t, "field"))}
	}
	if n.Root == RootOutcome || n.Root == RootPreferredLabel || n.Root == RootNodes && n.Steps[1].Name == "status" {
		return n
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "steps") {
		s := step(rapid.SampledFrom([]string{"a", "k", "0", "price", "my key"}).Draw(t, "name"))
		if rapid.Bool().Draw(t, "index") {
			s = Step{Index: rapid.Int64Range(-3, 5).Draw(t, "i"), IsIndex: true}
		}
		n.Steps = append(n.Steps, s)
	}
	return n
}
