package expressions

import (
	"math"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// sameTree compares two trees, ignoring source positions.
func sameTree(a, b Node) bool {
	switch x := a.(type) {
	case *Literal:
		y, ok := b.(*Literal)
		return ok && value.TypeName(x.Value) == value.TypeName(y.Value) && value.JSON(x.Value) == value.JSON(y.Value)
	case *Path:
		y, ok := b.(*Path)
		if !ok || x.Root != y.Root || len(x.Steps) != len(y.Steps) {
			return false
		}
		for i, s := range x.Steps {
			s.From = y.Steps[i].From
			if s != y.Steps[i] {
				return false
			}
		}
		return true
	case *Not:
		y, ok := b.(*Not)
		return ok && sameTree(x.X, y.X)
	case *Logic:
		y, ok := b.(*Logic)
		return ok && x.Op == y.Op && sameTrees(x.Terms, y.Terms)
	case *Binary:
		y, ok := b.(*Binary)
		return ok && x.Op == y.Op && sameTree(x.X, y.X) && sameTree(x.Y, y.Y)
	case *Call:
		y, ok := b.(*Call)
		return ok && x.Func == y.Func && sameTrees(x.Args, y.Args)
	}
	return false
}

func sameTrees(a, b []Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameTree(a[i], b[i]) {
			return false
		}
	}
	return true
}

// checkRoundTrip checks that the printed form of a tree parses to the same tree and is
// printed identically again.
func checkRoundTrip(t *testing.T, tree *Tree) {
	t.Helper()
	printed := tree.String()
	again, err := Parse(printed)
	if err != nil {
		t.Fatalf("%q prints as %q, which does not parse: %v", tree.Source(), printed, err)
	}
	if !sameTree(tree.Root(), again.Root()) {
		t.Fatalf("%q prints as %q, which is another tree", tree.Source(), printed)
	}
	if twice := again.String(); twice != printed {
		t.Fatalf("%q prints as %q and then as %q", tree.Source(), printed, twice)
	}
}

// checkSpans checks that every node lies inside its parent, that siblings are in order,
// and that the source of a node parses to that node.
func checkSpans(t *testing.T, tree *Tree, n Node, from, to int) {
	t.Helper()
	if n.Start() < from || n.End() > to || n.Start() >= n.End() {
		t.Fatalf("%q: a node stands at %d:%d, outside of %d:%d", tree.Source(), n.Start(), n.End(), from, to)
	}
	cut, err := Parse(tree.Source()[n.Start():n.End()])
	if err != nil || !sameTree(cut.Root(), n) {
		t.Fatalf("%q: the text %q is not the node it belongs to (%v)", tree.Source(), tree.Source()[n.Start():n.End()], err)
	}
	last := n.Start()
	for _, c := range children(n) {
		checkSpans(t, tree, c, last, n.End())
		last = c.End()
	}
}

func TestTreesOfTheCorpus(t *testing.T) {
	for _, c := range corpus(t) {
		tree, err := Parse(c.text)
		if err != nil {
			continue
		}
		checkRoundTrip(t, tree)
		checkSpans(t, tree, tree.Root(), 0, len(c.text))
	}
}

func TestPrint(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`1+2`, `1 + 2`},
		{` ( ( $.a ) ) `, `$.a`},
		{`(1+2)*3`, `(1 + 2) * 3`},
		{`1+(2*3)`, `1 + 2 * 3`},
		{`1-(2-3)`, `1 - (2 - 3)`},
		{`(1-2)-3`, `1 - 2 - 3`},
		{`1--2`, `1 - -2`},
		{`(1<2)==true`, `(1 < 2) == true`},
		{`true==(1<2)`, `true == (1 < 2)`},
		{`!(!$.a)`, `!!$.a`},
		{`!($.a&&$.b)`, `!($.a && $.b)`},
		{`(!$.a)==$.b`, `!$.a == $.b`},
		{`$.a||$.b&&$.c`, `$.a || $.b && $.c`},
		{`($.a||$.b)&&$.c`, `($.a || $.b) && $.c`},
		{`$.a||($.b||$.c)`, `$.a || ($.b || $.c)`},
		{`'x'in$.list`, `"x" in $.list`},
		{`'say "x"'`, `'say "x"'`},
		{`"it's"`, `"it's"`},
		{`length( $.a )`, `length($.a)`},
		{`max(1,2 ,$.c)`, `max(1, 2, $.c)`},
		{`$['a'].b["c d"][ 0 ]`, `$.a.b["c d"][0]`},
		{`$['say "x"']`, `$['say "x"']`},
		{`$['']`, `$[""]`},
		{`$nodes['a'].output[-1]`, `$nodes.a.output[-1]`},
		{`1e3`, `1000.0`},
		{`1e21`, `1e+21`},
		{`3.0`, `3.0`},
		{`outcome=="fail"`, `outcome == "fail"`},
		{`preferred_label=='No'`, `preferred_label == "No"`},
	} {
		tree, err := Parse(c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := tree.String(); got != c.want {
			t.Errorf("%q prints as %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := func(n int) map[string]string {
		return map[string]string{
			"parentheses": strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
			"negations":   strings.Repeat("!", n) + "1",
			"calls":       strings.Repeat("length(", n) + "1" + strings.Repeat(")", n),
			"sums":        "1" + strings.Repeat("+1", n),
			"products":    "1" + strings.Repeat("*1", n),
			"right":       strings.Repeat("1+(", n) + "1" + strings.Repeat(")", n),
			"open":        strings.Repeat("(", n),
			"mixed":       strings.Repeat("!(1&&", n) + "1" + strings.Repeat(")", n),
		}
	}
	for _, n := range []int{1000, 8000, 100_000} {
		for name, text := range deep(n) {
			_, err := Parse(text)
			e, ok := err.(*SyntaxError)
			if flat := name == "sums" || name == "products"; flat && n == 1000 {
				if err != nil {
					t.Errorf("%s of %d terms: %v", name, n, err)
				}
				continue
			}
			if !ok || e.Code != source.CodeLimit {
				t.Errorf("%s, %d deep: got %v, want a limit", name, n, err)
			}
		}
	}
	for name, text := range deep(90) {
		if _, err := Parse(text); (err != nil) != (name == "open") {
			t.Errorf("%s, 90 deep: %v", name, err)
		}
	}
	chain := "$.a" + strings.Repeat(" || $.a", 3000)
	tree, err := Parse(chain)
	if err != nil || len(tree.Root().(*Logic).Terms) != 3001 {
		t.Errorf("a flat chain: %v", err)
	}
	if _, err := Parse("1" + strings.Repeat("||1", MaxNodes)); err == nil || err.(*SyntaxError).Code != source.CodeLimit {
		t.Errorf("too many nodes: %v", err)
	}
	if _, err := Parse("$" + strings.Repeat(".a", MaxNodes)); err == nil || err.(*SyntaxError).Code != source.CodeLimit {
		t.Errorf("too many steps: %v", err)
	}
	if _, err := Parse(strings.Repeat(" ", MaxLength) + "1"); err == nil || err.(*SyntaxError).Offset != MaxLength {
		t.Errorf("too long: %v", err)
	}
}

func TestNewTreeRefusesWhatHasNoSpelling(t *testing.T) {
	for name, n := range map[string]Node{
		"both quotes":        &Literal{Value: `a"b'c`},
		"infinity":           &Literal{Value: math.Inf(1)},
		"Go int":             &Literal{Value: 1},
		"state alone":        &Path{Root: RootState},
		"index in the state": &Path{Root: RootState, Steps: []Step{{IsIndex: true}}},
		"node without part":  &Path{Root: RootNodes, Steps: []Step{{Name: "a"}}},
		"outcome with steps": &Path{Root: RootOutcome, Steps: []Step{{Name: "a"}}},
		"label with steps":   &Path{Root: RootPreferredLabel, Steps: []Step{{Name: "a"}}},
		"no arguments":       &Call{Func: FuncLength},
		"one term":           &Logic{Op: Or, Terms: []Node{&Literal{Value: true}}},
	} {
		if _, err := NewTree("", n); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	tree, err := NewTree("x=1", &Binary{Op: Equal, X: &Path{Root: RootOutcome}, Y: &Literal{Value: "fail"}})
	if err != nil || tree.String() != `outcome == "fail"` {
		t.Errorf("got %v, %v", tree, err)
	}
}
