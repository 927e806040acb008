package expressions

import (
	"math"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// clauseOn compiles a condition that consists of one clause on a field.
func clauseOn(tb testing.TB, field string, op Op, value string) *Program {
	tb.Helper()
	n := &Clause{Key: field, Paths: []*Path{{Root: RootState, Steps: []Step{{Name: field}}}}, Op: op, Value: value}
	tree, err := NewTree("", n)
	if err != nil {
		tb.Fatal(err)
	}
	p, ds := CompileTree(tree, source.Text{}, Scope{}, "")
	if p == nil {
		tb.Fatal(ds)
	}
	return p
}

// TestTextForms checks the string form of every kind of value, including Go types. The
// form is the same for each operator.
func TestTextForms(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, ""}, {value.Missing, ""}, {"a b", "a b"}, {true, "true"}, {false, "false"}, {int64(-12), "-12"},
		{3.0, "3"}, {2.5, "2.5"}, {math.Copysign(0, -1), "0"}, {1e20, "100000000000000000000"}, {1e21, "1e+21"}, {1e-7, "1e-07"},
		{math.NaN(), ""}, {math.Inf(1), ""}, {[]any{int64(1), "x"}, `[1,"x"]`}, {value.ObjectOf("a", 1.0), `{"a":1.0}`},
		{7, "7"}, {float32(0.5), "0.5"}, {testLevel("high"), "high"}, {testFlag(true), "true"}, {testOwnID(9), "id-9"}, {func() {}, ""},
	} {
		env := MapEnv{State: value.ObjectOf("v", c.v)}
		for _, op := range []Op{Equal, NotEqual, Matches, Contains} {
			val, want := c.want, op != NotEqual
			if op == Matches {
				val = "^" + val + "$"
				if _, ok := scalarForm(c.v); !ok {
					continue // brackets are special characters in a pattern
				}
			}
			if _, list := c.v.([]any); list && op == Contains {
				val = "x"
			}
			p := clauseOn(t, "v", op, val)
			if got := p.Test(env.Bind(p)); got != want {
				t.Errorf("%v (%T) %s %q is %t", c.v, c.v, op, val, got)
			}
		}
	}
}

// scalarForm reports whether the string form of a value can be used as a pattern
// unchanged.
func scalarForm(v any) (string, bool) {
	switch v := v.(type) {
	case []any, *value.Object:
		return "", false
	case float64:
		return "", math.Abs(v) < 1e21
	}
	return "", true
}

func TestOrdersOfTexts(t *testing.T) {
	for _, c := range []struct {
		v     any
		op    Op
		value string
		want  bool
	}{
		{int64(3), Greater, "2.5", true}, {2.5, Less, "3", true}, {"10", Greater, "9", true}, {"+1", LessEqual, "1.", true},
		{3, GreaterEqual, "3", true}, {testLevel("4"), Greater, "3", true}, {"Inf", Greater, "1e300", true}, {"1e400", Greater, "1e300", true},
		{"NaN", LessEqual, "NaN", false}, {"NaN", GreaterEqual, "1", false}, {true, GreaterEqual, "0", false}, {nil, LessEqual, "0", false},
		{"", LessEqual, "0", false}, {" 1", LessEqual, "2", false}, {"1.2.3", LessEqual, "2", false}, {[]any{}, LessEqual, "0", false},
	} {
		p := clauseOn(t, "v", c.op, c.value)
		if got := p.Test(MapEnv{State: value.ObjectOf("v", c.v)}.Bind(p)); got != c.want {
			t.Errorf("%v (%T) %s %s is %t", c.v, c.v, c.op, c.value, got)
		}
	}
	p := clauseOn(t, "v", Less, "many")
	if ds := p.ConstantFindings(); !ds.Has(source.CodeExprConstant) {
		t.Errorf("an order with no number is not reported: %v", ds)
	}
}

func TestMalformedClauses(t *testing.T) {
	path := &Path{Root: RootOutcome}
	for name, n := range map[string]Node{
		"no path":     &Clause{Key: "a", IsTruthTest: true},
		"no operator": &Clause{Key: "a", Paths: []*Path{path}},
		"arithmetic":  &Clause{Key: "a", Paths: []*Path{path}, Op: Add},
		"bad path":    &Clause{Key: "a", Paths: []*Path{{Root: RootState}}, IsTruthTest: true},
	} {
		if _, err := NewTree("", n); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	tree, err := NewTree("", &Clause{Key: "a", Paths: []*Path{path}, Op: Matches, Value: "("})
	if err != nil {
		t.Fatal(err)
	}
	if p, ds := CompileTree(tree, source.Text{}, Scope{}, ""); p != nil || !ds.Has(source.CodeExprSyntax) {
		t.Errorf("a bad pattern: %v", ds)
	}
}
