package expressions

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// disjointCases are pairs of conditions, and whether they never hold together.
var disjointCases = []struct {
	a, b string
	want bool
}{
	{`$.k == "a"`, `$.k == "b"`, true},
	{`$.k == "a"`, `"b" == $.k`, true},
	{`$.k == "a"`, `$.k == "a"`, false},
	{`$.k == "a"`, `$.j == "b"`, false},
	{`$.k == 1`, `$.k == 1.0`, false},
	{`$.k == 1`, `$.k == 2`, true},
	{`$.k == null`, `$.k == 2`, true},
	{`$.k == "a"`, `$.k != "a"`, true},
	{`$.k != "b"`, `$.k != "a"`, false},
	{`$.k == "a"`, `!($.k == "a")`, true},
	{`$.k != "a"`, `!($.k == "b")`, false},
	{`$.k`, `!$.k`, true},
	{`$.k`, `$.k == false`, true},
	{`$.k == true`, `$.k == false`, true},
	{`!$.k`, `$.k == true`, true},
	{`$.k`, `$.k == true`, false},
	{`$.k == "a" && $.n > 1`, `$.k == "b" || $.k == "c"`, true},
	{`$.k == "a" || $.n > 1`, `$.k == "b"`, false},
	{`$.k == "a" || $.k == "b"`, `!($.k == "a" || $.k == "b")`, true},
	{`$.k in "a b"`, `$.k == "c"`, true},
	{`$.k in "a b"`, `$.k == "b"`, false},
	{`!($.k in "a b")`, `$.k == "b"`, true},
	{`$.k in "a b"`, `!($.k in "a b")`, true},
	{`$.k contains "b"`, `!($.k contains "b")`, true},
	{`"ab" contains $.k`, `$.k == "c"`, false}, // not analyzed
	{`$.n > 5`, `$.n < 3`, true},
	{`$.n > 5`, `$.n <= 5`, true},
	{`$.n >= 5`, `$.n <= 5`, false},
	{`5 < $.n`, `$.n == 3`, true},
	{`$.n > 5`, `$.n > 7`, false},
	{`$.n > 5`, `!($.n > 5)`, true},
	{`$.n > 5`, `!($.n >= 3)`, true},
	{`!($.n > 5)`, `!($.n < 7)`, false}, // $.n may not be a number
	{`length($.l) > 0`, `length($.l) == 0`, true},
	{`length($.l) > 0`, `length($.m) == 0`, false},
	{`$nodes.a.status == "fail"`, `$nodes.a.status == "success"`, true},
	{`false`, `$.k`, true},
	{`true`, `$.k`, false},
}

func TestDisjoint(t *testing.T) {
	for _, tt := range disjointCases {
		a, b := compileFree(tt.a), compileFree(tt.b)
		if got := Disjoint(a, b); got != tt.want {
			t.Errorf("%s and %s: got %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if Disjoint(a, b) != Disjoint(b, a) {
			t.Errorf("%s and %s: the order matters", tt.a, tt.b)
		}
	}
}

func compileFree(src string) *Program {
	return MustCompile(src, Scope{Fields: &Open{}, Nodes: []string{"a"}, Roots: RootNodes})
}

func TestImplies(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`$.k == "a"`, `$.k == "a"`, true},
		{`$.k == "a"`, `$.k != "b"`, true},
		{`$.k == "a" && $.go`, `$.go`, true},
		{`$.go`, `$.k == "a" && $.go`, false},
		{`$.k == "a"`, `$.k == "a" || $.go`, true},
		{`$.k == "a"`, `$.k == "b"`, false},
		{`$.ok`, `$.go`, false},
		{`$.l[0].n > 5`, `length($.l) > 0`, true},
		{`$.l[1] == "a"`, `length($.l) > 1`, true},
		{`$.l[-2].ok`, `length($.l) >= 2`, true},
		{`$.l[0].n > 5`, `length($.l) > 1`, false},
		{`$.l[0] != "a"`, `length($.l) > 0`, false},
		{`!$.l[0]`, `length($.l) > 0`, false},
		{`$.n == 1`, `$.n < 3`, true},
		{`$.n > 5`, `$.n > 3`, true},
		{`$.n > 3`, `$.n > 5`, false},
		{`$.k == "a"`, `$.k < 3`, false},
	} {
		if got := Implies(compileFree(tt.a), compileFree(tt.b)); got != tt.want {
			t.Errorf("%s implies %s: got %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestDisjointIsSound evaluates random pairs of conditions on many values and checks
// that no two disjoint conditions hold together.
func TestDisjointIsSound(t *testing.T) {
	values := []any{value.Missing, nil, true, false, int64(0), int64(1), 1.5, int64(2), "a", "b", "ab", "", []any{"a"}, value.ObjectOf("a", true)}
	rng := rand.New(rand.NewPCG(1, 2))
	test := func() string {
		subject := "$." + string("xy"[rng.IntN(2)])
		constant := []string{`"a"`, `"b"`, `"ab"`, `1`, `2`, `1.5`, `true`, `false`, `null`}[rng.IntN(9)]
		switch rng.IntN(8) {
		case 6:
			subject += "[0]"
		case 7:
			subject = "length(" + subject + ")"
		case 0:
			return subject
		case 1:
			return subject + ` in "a ab"`
		case 2:
			return subject + []string{" < ", " <= ", " > ", " >= "}[rng.IntN(4)] + []string{"1", "1.5", "2"}[rng.IntN(3)]
		}
		return subject + []string{" == ", " != "}[rng.IntN(2)] + constant
	}
	var condition func(depth int) string
	condition = func(depth int) string {
		switch k := rng.IntN(6); {
		case depth == 0 || k < 3:
			return test()
		case k == 3:
			return "!(" + condition(depth-1) + ")"
		default:
			return "(" + condition(depth-1) + []string{" && ", " || "}[k-4] + condition(depth-1) + ")"
		}
	}
	disjoint := 0
	for range 8000 {
		a, b := condition(2), condition(2)
		p, q := compileFree(a), compileFree(b)
		if !Disjoint(p, q) {
			continue
		}
		disjoint++
		for _, x := range values {
			for _, y := range values {
				if at := (fields{"x": x, "y": y}); p.Test(at.of(p)) && q.Test(at.of(q)) {
					t.Fatalf("%s and %s are called disjoint, and hold together for x = %v, y = %v", a, b, x, y)
				}
			}
		}
	}
	if disjoint < 200 {
		t.Errorf("only %d of the pairs are disjoint", disjoint)
	}
}

// fields holds the values of state fields by name.
type fields map[string]any

func (f fields) of(p *Program) Env { return fieldsOf{f, p.SlotNames()} }

type fieldsOf struct {
	values fields
	slots  []string
}

func (f fieldsOf) Field(slot int) any {
	v, ok := f.values[f.slots[slot]]
	if !ok {
		return value.Missing
	}
	return v
}
func (fieldsOf) Node(int) (status, output any) { return value.Missing, value.Missing }
func (fieldsOf) Input(string) any              { return value.Missing }
func (fieldsOf) Item() any                     { return value.Missing }
func (fieldsOf) Index() any                    { return value.Missing }
func (fieldsOf) Extra(Root) any                { return value.Missing }

// Disjoint must be fast for long conditions too.
func TestDisjointOfLongConditions(t *testing.T) {
	var terms []string
	for i := range 500 {
		terms = append(terms, `($.k == `+string(rune('0'+i%10))+` || $.j == 1)`)
	}
	p := compileFree(strings.Join(terms, " && "))
	if Disjoint(p, compileFree(`$.l == 1`)) {
		t.Error("called disjoint")
	}
}
