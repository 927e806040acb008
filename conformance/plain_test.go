package conformance

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// The conditions of the archives give the same results on plain values, without a
// schema.
func TestConditionsWithoutASchema(t *testing.T) {
	for _, topic := range topics(t) {
		for _, c := range topic.cases {
			for _, r := range c.table {
				if r.want != "true" && r.want != "false" {
					continue
				}
				if got, findings := evaluate(r.text, c.inputs); findings.Failed(false) || got != (r.want == "true") {
					t.Errorf("%s/%s: %s is %v, want %s; findings: %v", topic.name, c.name, r.text, got, r.want, findings)
				}
			}
		}
	}
}

// Without a schema every type is unknown, and a name that was never written is missing.
func TestUnknownNamesAndTypesWithoutASchema(t *testing.T) {
	values := map[string]any{"n": int64(3), "s": "x", "obj": value.ObjectOf("a", int64(1))}
	for text, want := range map[string]bool{
		`$.nobody == 1`:                false,
		`$.nobody != 1`:                true,
		`$.nobody.knows != null`:       true,
		`!$.nobody`:                    true,
		`length($.nobody) == 0`:        true,
		`$.constructor`:                false,
		`$.__proto__`:                  false,
		`$.obj.constructor || $.obj.a`: true,
		`$.s > $.n`:                    false,
		`$.n > $.s || $.n <= $.s`:      false,
		`$.obj < 1`:                    false,
		`$item == 1 || $index == 1`:    false,
		`$.n == 3 && $.obj.a == 1`:     true,
		`$nodes.a.status == "success"`: false,
		`$input.day == "monday"`:       false,
	} {
		if got, findings := evaluate(text, values); findings.Failed(false) || got != want {
			t.Errorf("%s is %v, want %v; findings: %v", text, got, want, findings)
		}
	}
}

// evaluate evaluates a condition on plain values.
func evaluate(text string, values map[string]any) (bool, source.Diagnostics) {
	state := value.NewObject(len(values))
	for _, k := range sortedKeys(values) {
		state.Set(k, values[k])
	}
	p, findings := expressions.Compile(source.Text{Value: text}, expressions.Scope{}, "condition")
	if p == nil {
		return false, findings
	}
	return p.Test(expressions.MapEnv{State: state}.Bind(p)), findings
}
