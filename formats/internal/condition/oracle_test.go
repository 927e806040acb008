package condition

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"pgregory.net/rapid"
)

// oracleCondition is the oracle's form of a condition: a disjunction of conjunctions of
// clauses, each with a number of negation signs. The oracle formats and evaluates it by
// a slow, independent method.
type oracleCondition [][]oracleClause

type oracleClause struct {
	nots           int
	key, op, value string
}

func (s oracleCondition) write(t *rapid.T) string {
	blank := func() string { return rapid.SampledFrom([]string{"", " ", "  "}).Draw(t, "blank") }
	var ors []string
	for _, and := range s {
		var ands []string
		for _, c := range and {
			text := blank() + strings.Repeat("!"+blank(), c.nots) + c.key
			switch c.op {
			case "":
			case "contains", "matches":
				text += " " + c.op + " " + written(t, c.value)
			default:
				text += blank() + c.op + blank() + written(t, c.value)
			}
			ands = append(ands, text+blank())
		}
		ors = append(ors, strings.Join(ands, "&&"))
	}
	return strings.Join(ors, "||")
}

// written formats a value, quoted if necessary.
func written(t *rapid.T, value string) string {
	if value != "" && !strings.ContainsAny(value, " =!<>&|\"\\") && rapid.Bool().Draw(t, "bare") {
		return value
	}
	return `"` + strings.ReplaceAll(strings.ReplaceAll(value, `\`, `\\`), `"`, `\"`) + `"`
}

func (s oracleCondition) holds(v visit) bool {
	for _, and := range s {
		all := true
		for _, c := range and {
			if c.holds(v) == (c.nots%2 == 1) {
				all = false
			}
		}
		if all {
			return true
		}
	}
	return false
}

func (c oracleClause) holds(v visit) bool {
	value := drawValue(v, c.key)
	text := drawString(value)
	switch c.op {
	case "":
		return text != "" && text != "false" && text != "0"
	case "=", "!=":
		want := c.value
		if other, ok := map[string]string{"succeeded": "success", "failed": "fail", "partially_succeeded": "partial_success"}[want]; ok && c.key == "outcome" {
			want = other
		}
		return (text == want) == (c.op == "=")
	case "contains":
		if list, ok := value.([]any); ok {
			for _, e := range list {
				if drawString(e) == c.value {
					return true
				}
			}
			return false
		}
		return strings.Contains(text, c.value)
	case "matches":
		return regexp.MustCompile(c.value).MatchString(text)
	}
	number := regexp.MustCompile(`(?i)^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$|^[-+]?(inf|infinity|nan)$`)
	if !number.MatchString(text) || !number.MatchString(c.value) {
		return false
	}
	a, _ := strconv.ParseFloat(text, 64)
	b, _ := strconv.ParseFloat(c.value, 64)
	return map[string]bool{"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[c.op]
}

func drawValue(v visit, key string) any {
	switch key {
	case "outcome":
		return v.outcome
	case "preferred_label":
		return v.label
	}
	if e, ok := v.context.Get(key); ok {
		return e
	}
	if rest, ok := strings.CutPrefix(key, "context."); ok {
		e, _ := v.context.Get(rest)
		return e
	}
	return nil
}

func drawString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strings.TrimSuffix(value.JSON(v+0), ".0")
	}
	return value.JSON(v)
}

var (
	someKeys  = []string{"outcome", "preferred_label", "context.n", "n", "context.context.n", "context.none", "tags", "context.outcome", "contains", "x-1.y"}
	someTexts = []string{"", "0", "false", "true", "1", "1.0", "0.5", "-3", "1e3", "1000", ".5", "5.", "inf", "NaN", "-", ".", "0x1", "1_0",
		"success", "succeeded", "fail", "failed", "retry", "partial_success", "Approve", "[A] Approve", `say "x" \ y`, "a&b", "two words", "ü", "9007199254740993"}
	somePatterns = []string{"", "^suc", "a.c$", `\d+`, "(?i)APPROVE", "x|1", `"`, "[^a-z]"}
)

func drawContext(t *rapid.T) *value.Object {
	o := value.NewObject(0)
	scalar := func() any {
		switch rapid.IntRange(0, 4).Draw(t, "sort") {
		case 0:
			return rapid.SampledFrom([]any{nil, true, false, int64(0), int64(1), int64(-3), int64(1000), int64(1<<53 + 1)}).Draw(t, "scalar")
		case 1:
			return rapid.SampledFrom([]any{0.0, math.Copysign(0, -1), 1.0, 0.5, 1000.0, 1e-7, 1e19, 1e21, -2.5}).Draw(t, "float")
		}
		return rapid.SampledFrom(someTexts).Draw(t, "text")
	}
	for _, key := range []string{"n", "context.n", "tags", "outcome", "contains", "x-1.y"} {
		switch rapid.IntRange(0, 4).Draw(t, key) {
		case 0:
		case 1:
			o.Set(key, []any{scalar(), scalar(), []any{scalar()}})
		case 2:
			o.Set(key, value.ObjectOf("k", scalar()))
		default:
			o.Set(key, scalar())
		}
	}
	return o
}

func drawOracleCondition(t *rapid.T) oracleCondition {
	var s oracleCondition
	for range rapid.IntRange(1, 3).Draw(t, "ors") {
		var and []oracleClause
		for range rapid.IntRange(1, 3).Draw(t, "ands") {
			c := oracleClause{nots: rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "nots"), key: rapid.SampledFrom(someKeys).Draw(t, "key")}
			c.op = rapid.SampledFrom([]string{"", "=", "!=", "<", "<=", ">", ">=", "contains", "matches"}).Draw(t, "op")
			if c.value = rapid.SampledFrom(someTexts).Draw(t, "value"); c.op == "matches" {
				c.value = rapid.SampledFrom(somePatterns).Draw(t, "pattern")
			}
			and = append(and, c)
		}
		s = append(s, and)
	}
	return s
}

// TestConditionsMatchOracle compares the parser and the compiled condition
// with an evaluator that shares no code with them. The explanation of a condition must
// be enough to evaluate it again.
func TestConditionsMatchOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawOracleCondition(rt)
		text := s.write(rt)
		tree, ds := Parse(source.Text{Value: text})
		if tree == nil {
			rt.Fatalf("%s: %v", text, ds)
		}
		p, ds := expressions.CompileTree(tree, source.Text{Value: text}, expressions.Scope{}, "")
		if p == nil {
			rt.Fatalf("%s: %v", text, ds)
		}
		replay, ok := p.Replay()
		if !ok {
			rt.Fatalf("%s: no replay", text)
		}
		for range 4 {
			v := visit{outcome: rapid.SampledFrom(outcomes).Draw(rt, "outcome"), label: rapid.SampledFrom(someTexts).Draw(rt, "label"), context: drawContext(rt)}
			env := v.env().Bind(p)
			got, want := p.Test(env), s.holds(v)
			if got != want {
				rt.Fatalf("%s is %t, the oracle says %t; context %s, outcome %s, label %s", text, got, want, value.JSON(v.context), v.outcome, v.label)
			}
			explanation, _ := value.ParseJSON([]byte(value.JSON(p.Explain(env))))
			if again, known := replay.Test(explanation.(*value.Object)); again != got || !known {
				rt.Fatalf("%s: from %s: %t, %t", text, value.JSON(explanation), again, known)
			}
		}
	})
}

// TestOneHoldsMatchesOracle generates conditions with few distinct tests, so that
// some sets of conditions always hold, and searches for values under which none of a
// set holds.
func TestOneHoldsMatchesOracle(t *testing.T) {
	sure := 0
	rapid.Check(t, func(rt *rapid.T) {
		tests := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) oracleClause { return drawOracleCondition(t)[0][0] }), 1, 2).Draw(rt, "tests")
		var list []*expressions.Program
		var all oracleCondition
		for range rapid.IntRange(1, 4).Draw(rt, "conditions") {
			var s oracleCondition
			for range rapid.IntRange(1, 2).Draw(rt, "ors") {
				c := rapid.SampledFrom(tests).Draw(rt, "test")
				c.nots = rapid.IntRange(0, 1).Draw(rt, "nots")
				if opposite := map[string]string{"=": "!=", "!=": "="}[c.op]; opposite != "" && rapid.Bool().Draw(rt, "turned") {
					c.op = opposite
				}
				s = append(s, []oracleClause{c})
			}
			list = append(list, compiled(t, s.write(rt)))
			all = append(all, s...)
		}
		if !expressions.OneHolds(list) {
			return
		}
		sure++
		for range 8 {
			v := visit{outcome: rapid.SampledFrom(outcomes).Draw(rt, "outcome"), label: rapid.SampledFrom(someTexts).Draw(rt, "label"), context: drawContext(rt)}
			if !all.holds(v) {
				rt.Fatalf("none of %v holds; context %s, outcome %s, label %s", all, value.JSON(v.context), v.outcome, v.label)
			}
		}
	})
	if sure == 0 {
		t.Error("no conditions hold in any case")
	}
}

func FuzzCondition(f *testing.F) {
	for _, text := range []string{"outcome=success", `a="x \" y" && !b || c contains d`, "x matches ^a{2}", "a>=1.5", "!!x", "outcome==1", "a & b", `"`, "a=\xff", "(a)", "a= "} {
		f.Add(text)
	}
	v := visit{outcome: "fail", label: "No", context: value.ObjectOf("a", "1", "b", []any{"x"})}
	f.Fuzz(func(t *testing.T, text string) {
		src := source.At(text, source.Position{File: "f.dot", Line: 1, Column: 1})
		tree, ds := Parse(src)
		for _, d := range ds {
			if !d.Pos.IsValid() || int(d.Pos.Column) > len(text)+1 || int(d.Pos.Line) > strings.Count(text, "\n")+1 {
				t.Errorf("%q: %v lies outside", text, d)
			}
		}
		if tree == nil {
			if strings.TrimSpace(text) != "" && !ds.Failed(false) {
				t.Errorf("%q: neither a condition nor an error", text)
			}
			return
		}
		p, _ := expressions.CompileTree(tree, src, expressions.Scope{}, "")
		if p == nil {
			t.Fatalf("%q parses and does not compile", text)
		}
		again, ds := Parse(source.Text{Value: tree.String()})
		if again == nil || again.String() != tree.String() {
			t.Fatalf("%q prints as %q, which is %v (%v)", text, tree, again, ds)
		}
		q, _ := expressions.CompileTree(again, source.Text{Value: tree.String()}, expressions.Scope{}, "")
		if p.Test(v.env().Bind(p)) != q.Test(v.env().Bind(q)) {
			t.Errorf("%q and %q differ", text, tree)
		}
	})
}
