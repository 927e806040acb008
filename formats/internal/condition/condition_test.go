package condition

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// visit holds what a condition can refer to: the state, and the result of the node that
// just ran.
type visit struct {
	outcome, label string
	context        *value.Object
}

func (v visit) env() expressions.MapEnv {
	return expressions.MapEnv{
		State:  value.ObjectOf(core.ContextField, v.context),
		Extras: map[expressions.Root]any{expressions.RootOutcome: v.outcome, expressions.RootPreferredLabel: v.label},
	}
}

// compiled compiles a condition. It returns nil if the condition has errors.
func compiled(tb testing.TB, text string) *expressions.Program {
	tb.Helper()
	tree, ds := Parse(source.Text{Value: text})
	if ds.Failed(false) {
		tb.Fatalf("%s: %v", text, ds)
	}
	if tree == nil {
		return nil
	}
	p, ds := expressions.CompileTree(tree, source.Text{Value: text}, expressions.Scope{}, "")
	if p == nil {
		tb.Fatalf("%s: %v", text, ds)
	}
	return p
}

func TestConditions(t *testing.T) {
	v := visit{outcome: "fail", label: "[A] Approve", context: value.ObjectOf(
		"flag", true, "off", false, "nothing", nil, "one", int64(1), "onef", 1.0, "half", 0.5, "zero", int64(0), "zerof", 0.0,
		"text", "an error occurred", "empty", "", "no", "false", "No", "False", "0", "0", "nul", "0", "decimal", "0.0",
		"version", "1.10", "neg", "-3", "tags", []any{"urgent", int64(7), "low"}, "obj", value.ObjectOf("a", int64(1)),
		"context.both", "prefixed", "both", "plain", "outcome", "success", "preferred_label", "Last", "failure_class", "transient_infra",
		"a", int64(1), "b", int64(2), "c", int64(3), "hex", "0x1p4", "path", `a\b`, "minus", math.Copysign(0, -1), "context.hidden", nil, "hidden", "seen", "contains", "x", "dotted.key-1", "y", "big", int64(9007199254740993))}
	for _, c := range []struct {
		rule, text string
		want       bool
	}{
		{"grammar", "outcome=fail", true},
		{"grammar", "outcome = fail", true},
		{"grammar", " \t\noutcome\n!=\nfail ", false},
		{"grammar", `outcome="fail"`, true},
		{"grammar", `context.text="an error occurred"`, true},
		{"grammar", `context.text = "say \"x\""`, false},
		{"grammar", "context.text contains error", true},
		{"grammar", "context.text contains Error", false},
		{"grammar", "context.tags contains urgent", true},
		{"grammar", "context.tags contains urg", false},
		{"grammar", "context.tags contains 7", true},
		{"grammar", "context.text matches ^an", true},
		{"grammar", "context.text matches r{2}", true},
		{"grammar", `context.version matches "^\d+\.\d+$"`, true},
		{"grammar", `context.text matches "(error|warning) occ"`, true},
		{"grammar", `path = "a\\b"`, true},
		{"grammar", `path matches "^a\\\\b$"`, true},
		{"grammar", "flag", true},
		{"grammar", "context.flag", true},
		{"grammar", "text", true},
		{"grammar", "contains", true},
		{"grammar", "contains=x", true},
		{"grammar", "contains contains x", true},
		{"grammar", "contains = contains", false},
		{"keys", "context.both=prefixed", true},
		{"keys", "both=plain", true},
		{"keys", "context.context.both=prefixed", true},
		{"keys", "context.dotted.key-1=y", true},
		{"keys", "missing=", true},
		{"keys", "context.missing=", true},
		{"keys", "missing!=", false},
		{"keys", "missing=x", false},
		{"keys", "missing= && outcome=fail", true},
		{"keys", "missing", false},
		{"keys", `missing=""`, true},
		{"forms", "nothing=", true},
		{"forms", "flag=true", true},
		{"forms", "off=false", true},
		{"forms", "one=1", true},
		{"forms", "onef=1", true},
		{"forms", "half=0.5", true},
		{"forms", `obj="{\"a\":1}"`, true},
		{"forms", `context.obj contains "\"a\""`, true},
		{"forms", `tags matches "^.*urgent"`, true},
		{"names", "outcome=failed", true},
		{"names", "outcome=succeeded", false},
		{"names", "outcome!=partially_succeeded", true},
		{"names", "context.outcome=success", true},
		{"names", "context.outcome=succeeded", false},
		{"names", "context.preferred_label=Last", true},
		{"names", "context.failure_class=transient_infra", true},
		{"12", "outcome=retry", false},
		{"12", "outcome!=retry", true},
		{"12", "outcome=process", false},
		{"12", "outcome!=process", true},
		{"13", "a=1 && b=0 || c=3", true},
		{"13", "a=0 && b=2 || c=0", false},
		{"13", "c=3 || a=0 && b=0", true},
		{"13", "!outcome=success", true},
		{"13", "!outcome=success && a=0", false},
		{"13", "!!a=1", true},
		{"13", "! ! !a", false},
		{"15", "one=1.0", false},
		{"15", "one >= 1.0", true},
		{"15", "one<=1", true},
		{"15", "one > 1", false},
		{"15", "half < .6", true},
		{"15", "neg > -4", true},
		{"15", "neg<0", true},
		{"15", "version > 1.9", false},
		{"15", "big >= 9007199254740992", true},
		{"15", "text > 1", false},
		{"15", "flag >= 0", false},
		{"15", "missing >= 0", false},
		{"15", "one < many", false},
		{"15", "one < 1e400", true},
		{"15", "one > 0x0p0", false},
		{"15", "hex > 0", false},
		{"forms", "minus=0", true},
		{"forms", "minus", false},
		{"keys", "context.hidden=", true},
		{"15", "0", false},
		{"15", "no", false},
		{"15", "off", false},
		{"15", "zero", false},
		{"15", "zerof", false},
		{"15", "No", true},
		{"15", "decimal", true},
		{"15", "empty", false},
		{"16", "preferred_label=Approve", false},
		{"16", `preferred_label="[A] Approve"`, true},
		{"16", "preferred_label contains Approve", true},
		{"16", "preferred_label", true},
	} {
		if got := compiled(t, c.text).Test(v.env().Bind(compiled(t, c.text))); got != c.want {
			t.Errorf("rule %s: %s is %t", c.rule, c.text, got)
		}
	}
}

// TestManualConditions executes the table of conditions in the manual.
func TestManualConditions(t *testing.T) {
	data, err := os.ReadFile("../../../docs/formats/dot.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "preferred `[A] Approve`")
	_, rest, _ = strings.Cut(rest, "```json\n")
	text, rest, _ := strings.Cut(rest, "```")
	context, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v := visit{outcome: "fail", label: "[A] Approve", context: context.(*value.Object)}
	rows := regexp.MustCompile("(?m)^\\| `(.+?)` \\| (yes|no) \\|").FindAllStringSubmatch(rest, -1)
	if len(rows) < 12 {
		t.Fatalf("found %d conditions", len(rows))
	}
	for _, row := range rows {
		p := compiled(t, strings.ReplaceAll(row[1], `\|`, "|"))
		if got := p.Test(v.env().Bind(p)); got != (row[2] == "yes") {
			t.Errorf("%s is %t", row[1], got)
		}
	}
}

func TestNoCondition(t *testing.T) {
	for _, text := range []string{"", "  ", "\n"} {
		if tree, ds := Parse(source.Text{Value: text}); tree != nil || ds != nil {
			t.Errorf("%q: %v, %v", text, tree, ds)
		}
	}
}

func TestConditionErrors(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		column     int
		message    string
	}{
		{"14", "outcome==success", 9, `write one "="`},
		{"14", "outcome = = success", 11, `expected a value after "="`},
		{"14", "a=1 & b=2", 5, `write "&&"`},
		{"14", "a=1 | b=2", 5, `write "||"`},
		{"14", "a=x&y", 4, "put the string in quotes"},
		{"14", "outcome=two words", 13, `unexpected word "words"`},
		{"14", `a="x" "y"`, 7, `unexpected "y"`},
		{"14", "a=1 &&", 7, "expected a key at the end"},
		{"14", "a=1 || ", 8, "expected a key at the end"},
		{"14", "&& a=1", 1, `expected a key before "&&"`},
		{"14", "!", 2, "expected a key"},
		{"14", "=1", 1, `expected a key before "="`},
		{"ops", "a >", 4, `expected a value after ">"`},
		{"ops", "a contains", 11, `expected a value after "contains"`},
		{"ops", "a matches && b", 11, `expected a value after "matches"`},
		{"ops", "a=>1", 3, `write ">="`},
		{"ops", "a<>1", 3, `expected a value after "<"`},
		{"ops", "a=!b", 3, `expected a value after "="`},
		{"ops", "a!b", 2, "write != to compare"},
		{"ops", "a=1 and b=2", 5, "write &&"},
		{"ops", "a=1 or b=2", 5, "write ||"},
		{"ops", "a=1=2", 4, `unexpected "="`},
		{"parentheses", "(a=1) && b=2", 1, "no parentheses"},
		{"parentheses", "!(a)", 2, "no parentheses"},
		{"quotes", `a="x`, 3, "never closed"},
		{"quotes", `a="x\"`, 3, "never closed"},
		{"quotes", `"a"=1`, 1, "write the key without quotes"},
		{"regex", "a matches [bad", 11, "missing closing ]"},
		{"regex", `a matches "("`, 11, "missing closing )"},
		{"lines", "a=1 &&\n", 0, "expected a key at the end"},
	} {
		src := source.At(c.text, source.Position{File: "f.dot", Line: 3, Column: 1})
		tree, ds := Parse(src)
		if tree != nil || len(ds) != 1 || ds[0].Code != source.CodeConditionSyntax || !strings.Contains(ds.Error(), c.message) {
			t.Errorf("rule %s: %s: %v, %v; want %q", c.rule, c.text, tree, ds, c.message)
			continue
		}
		if got := int(ds[0].Pos.Column); c.column > 0 && got != c.column {
			t.Errorf("rule %s: %s: column %d, want %d (%v)", c.rule, c.text, got, c.column, ds)
		}
	}
}

func TestConditionLimits(t *testing.T) {
	for name, text := range map[string]string{
		"long":  strings.Repeat(" ", expressions.MaxLength) + "a",
		"deep":  strings.Repeat("!", 100_000/2) + "a",
		"parts": "a" + strings.Repeat("&&a", expressions.MaxNodes),
	} {
		if tree, ds := Parse(source.Text{Value: text}); tree != nil || !ds.Has(source.CodeLimit) {
			t.Errorf("%s: %v", name, ds)
		}
	}
}

// TestUndefinedOutcomes checks that conditions with an undefined outcome, or with
// retry, load with a warning.
func TestUndefinedOutcomes(t *testing.T) {
	for text, want := range map[string]string{
		"outcome=process":                 `no outcome is "process"`,
		"a=1 && outcome!=has_dod":         `no outcome is "has_dod"`,
		"outcome=sucess":                  `did you mean "success"?`,
		"outcome=Success":                 `did you mean "success"?`,
		"outcome=":                        `no outcome is ""`,
		"outcome=retry":                   "gets one or fails before an edge is chosen",
		"outcome contains maybe":          `no outcome is one that contains "maybe"`,
		"outcome matches ^(done|skip)$":   "",
		`outcome matches "^(done|skip)$"`: `no outcome is one that matches "^(done|skip)$"`,
		"outcome > 1":                     "an outcome is a word and has no order",
		"outcome=partially_succeeded":     "",
		"outcome=skipped":                 "",
		"context.outcome=process":         "",
		`outcome matches "^(fail|skip)"`:  "",
		"outcome":                         "",
	} {
		tree, ds := Parse(source.Text{Value: text})
		switch {
		case strings.Contains(text, "^(done|skip)$") && !strings.Contains(text, `"`):
			if tree != nil { // | ends a word
				t.Errorf("%s: %v", text, ds)
			}
		case tree == nil || ds.Failed(false):
			t.Errorf("%s: %v", text, ds)
		case want == "" && ds != nil, want != "" && (!ds.Has(source.CodeOrphanOutcome) || !strings.Contains(ds.Error(), want)):
			t.Errorf("%s: %v, want %q", text, ds, want)
		}
	}
}

func TestExplainNamesKeysAsWritten(t *testing.T) {
	v := visit{outcome: "fail", label: "No", context: value.ObjectOf("n", int64(3), "context.m", "x")}
	for text, want := range map[string]string{
		"outcome=failed && preferred_label=No":   `{"outcome":"fail","preferred_label":"No"}`,
		"context.n > 2 || n=3 || context.none=1": `{"context.n":3,"n":3,"context.none":null}`,
		"context.m":                              `{"context.m":"x"}`,
	} {
		p := compiled(t, text)
		if got := value.JSON(p.Explain(v.env().Bind(p))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestConditionsAllocateNothing checks a promise in the documentation of
// expressions.Clause.
func TestConditionsAllocateNothing(t *testing.T) {
	v := visit{outcome: "fail", label: "No", context: value.ObjectOf("n", int64(1_000_000), "f", 0.125, "s", "a long text of words", "b", true)}
	for _, text := range []string{
		"outcome=fail && preferred_label!=Yes && context.n=1000000 && n>=5 && context.s < 3",
		"f=0.125 && b && !missing && context.s contains words && s matches ^a",
		"context.missing= && f > 0.1 && n && f",
	} {
		p := compiled(t, text)
		env := v.env().Bind(p)
		if n := testing.AllocsPerRun(100, func() { p.Test(env) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func TestOneHolds(t *testing.T) {
	for _, c := range []struct {
		conditions string // one per line
		want       bool
	}{
		{"outcome=success\noutcome!=success", true},
		{"outcome=succeeded\n!outcome=success", true},
		{"outcome=success\noutcome=fail", false},
		{"outcome=succeeded\noutcome=failed\noutcome=partially_succeeded\noutcome=skipped", true},
		{"outcome=success || outcome=fail\noutcome!=fail && outcome!=success", true},
		{"outcome=success\noutcome=success", false},
		{"outcome=has\noutcome!=has", true},
		{"outcome=has\noutcome=needs", false},
		{"outcome!=success\noutcome!=fail", true},
		{"outcome contains s\n!outcome contains s", true},
		{"outcome\n!outcome", true},
		{"tool.output contains id\n!tool.output contains id", true},
		{"tool.output contains id\n!tool.output contains no", false},
		{"n > 3\n!n > 3", true},
		{"n > 3\nn <= 3", false}, // a value that is not a number has no order
		{"context.a=1\ncontext.a!=1", true},
		{"context.a=1\na!=1", false}, // the two keys may have two values
		{"a\na=", false},
		{"outcome=success && a\noutcome=success && !a\noutcome!=success", true},
		{"outcome=success && a\noutcome!=success", false},
		{"a && b\n!a\n!b", true},
		{"a\nb\nc\nd\ne\nf\ng\nh\n!a", true},
		{"a\nb\nc\nd\ne\nf\ng\nh\ni\n!a", false}, // too many tests
		{"a", false},
	} {
		var list []*expressions.Program
		for text := range strings.SplitSeq(c.conditions, "\n") {
			list = append(list, compiled(t, text))
		}
		if got := expressions.OneHolds(list); got != c.want {
			t.Errorf("%q: got %t", c.conditions, got)
		}
	}
	if expressions.OneHolds(nil) {
		t.Error("of no conditions one holds")
	}
}

func ExampleClause() {
	tree, _ := Parse(source.Text{Value: `!outcome=succeeded&&context.score>=0.5||context.note="a b"`})
	fmt.Println(tree)
	// Output: !outcome = success && context.score >= 0.5 || context.note = "a b"
}

func BenchmarkCondition(b *testing.B) {
	v := visit{outcome: "success", context: value.ObjectOf("tests", int64(12), "log", "gave up")}
	for _, text := range []string{"outcome=success", "outcome=success && context.tests >= 10", "context.log contains up && !context.none"} {
		b.Run(text, func(b *testing.B) {
			p := compiled(b, text)
			env := v.env().Bind(p)
			b.ReportAllocs()
			for b.Loop() {
				p.Test(env)
			}
		})
	}
}
