package core

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// shown writes a result of a directive for comparisons.
func shown(r Result) string {
	o := value.NewObject(0)
	if r.Status != StatusNone {
		o.Set("status", r.Status.String())
	}
	if r.Note != "" {
		o.Set("note", r.Note)
	}
	if way := r.Routing; way != nil {
		if way.PreferredLabel != "" {
			o.Set("label", way.PreferredLabel)
		}
		if way.SuggestedNext != nil {
			o.Set("next", way.SuggestedNext)
		}
		if way.Context != nil {
			c := value.NewObject(0)
			for _, k := range slices.Sorted(maps.Keys(way.Context)) {
				c.Set(k, way.Context[k])
			}
			o.Set("context", c)
		}
	}
	return value.JSON(o)
}

func TestParseDirective(t *testing.T) {
	for _, c := range []struct{ name, reply, want string }{
		{"no object", "All is well.", ""},
		{"nothing", "", ""},
		{"object of another kind", `{"result": 1} {}`, ""},
		{"all members", `Done. {"outcome": "fail", "preferred_next_label": "[R] Retry", "suggested_next_ids": ["fix", "plan"], "context_updates": {"n": 1, "deep": {"a": [1.5, null]}}, "failure_reason": "no tests"} Bye.`,
			`{"status":"fail","note":"no tests","label":"[R] Retry","next":["fix","plan"],"context":{"deep":{"a":[1.5,null]},"n":1}}`},
		{"in a block of code", "Here:\n```json\n{\n  \"outcome\": \"partial_success\"\n}\n```\n", `{"status":"partial_success"}`},
		{"other names", `{"outcome": "partially_succeeded"}`, `{"status":"partial_success"}`},
		{"succeeded", `{"outcome": "succeeded"}`, `{"status":"success"}`},
		{"failed", `{"outcome":"failed","failure_reason":"x"}`, `{"status":"fail","note":"x"}`},
		{"skipped and retry", `{"outcome":"retry"} {"outcome":"skipped"}`, `{"status":"skipped"}`},
		{"last one wins", `{"outcome": "fail"} and then {"preferred_next_label": "Go"}`, `{"label":"Go"}`},
		{"last one with a known member wins", `{"outcome": "fail"} and then {"other": 1}`, `{"status":"fail"}`},
		{"nested objects do not count", `{"outcome": "fail"} {"config": {"outcome": "success"}}`, `{"status":"fail"}`},
		{"nested in an array of the object", `{"steps": [{"outcome": "fail"}]}`, ""},
		{"nested in one that counts", `{"context_updates": {"outcome": "fail"}, "outcome": "success"}`, `{"status":"success","context":{"outcome":"fail"}}`},
		{"in an array", `[{"outcome": "fail"}]`, `{"status":"fail"}`},
		{"braces in texts", `{"outcome": "fail", "failure_reason": "} { \" }{"}`, `{"status":"fail","note":"} { \" }{"}`},
		{"escaped backslash before the quote", `{"preferred_next_label": "a\\"} {"x": "}"}`, `{"label":"a\\"}`},
		{"stray braces before", `if (x) { y } { {"outcome": "fail"}`, `{"status":"fail"}`},
		{"stray braces after", `{"outcome": "fail"} } { }{`, `{"status":"fail"}`},
		{"stray brace with a quote", `set {"a, then {"outcome": "fail"}`, `{"status":"fail"}`},
		{"stray quotes", `he said "{"outcome": "fail"}`, `{"status":"fail"}`},
		{"cut off", `{"outcome": "fail"} {"outcome": "success", "context_updates": {"a": 1`, `{"status":"fail"}`},
		{"not JSON", `{outcome: fail} {'outcome': 'fail'} {"outcome": fail}`, ""},
		{"unknown word", `{"outcome": "done", "failure_reason": "x", "preferred_next_label": "A"}`, `{"label":"A"}`},
		{"reason without fail", `{"outcome": "success", "failure_reason": "x"}`, `{"status":"success"}`},
		{"reason alone", `{"failure_reason": "x"}`, `{}`},
		{"wrong types", `{"outcome": 1, "preferred_next_label": [], "suggested_next_ids": "a", "context_updates": [1], "failure_reason": {}}`, `{}`},
		{"entries that are not texts", `{"suggested_next_ids": [1, "a", null, ["b"], "c"]}`, `{"next":["a","c"]}`},
		{"null", `{"outcome": null, "preferred_next_label": null, "context_updates": null}`, `{}`},
		{"a value too large costs no other", `{"outcome": "fail", "context_updates": {"big": 123456789012345678901234567890, "n": 1}}`, `{"status":"fail","context":{"n":1}}`},
		{"a member twice", `{"outcome": "success", "outcome": "fail"}`, `{"status":"fail"}`},
		{"letters", `{"preferred_next_label": "J\u00e4", "Outcome": "fail"}`, `{"label":"Jä"}`},
		{"deep", `{"outcome": "fail"} ` + strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000), `{"status":"fail"}`},
	} {
		r, ok := ParseDirective(c.reply)
		got := shown(r)
		if !ok {
			got = ""
			if !r.Empty() {
				t.Errorf("%s: a result without a directive: %+v", c.name, r)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestParseDirectiveIsBounded holds that no reply keeps it busy for long: braces that are
// never closed make it look at the rest of the text again and again.
func TestParseDirectiveIsBounded(t *testing.T) {
	for _, piece := range []string{"{", `{"a":`, `{"`, `{"a":"{`, `{"a":[`, `{"\`} {
		reply := strings.Repeat(piece, 200<<10/len(piece))
		if _, work := lastDirective(reply); work > maxDirectiveWork+len(reply) {
			t.Errorf("%s: looked at %d bytes", piece, work)
		}
	}
}

func FuzzParseDirective(f *testing.F) {
	for _, reply := range []string{`{"outcome":"fail"}`, `x {"a":{"outcome":"fail"}} {`, `{"suggested_next_ids":["a",1]}`, `{"context_updates":{"a":"}"}}`, "{\"\\\"\":\xff}"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		r, ok := ParseDirective(reply)
		if !ok && !r.Empty() {
			t.Fatalf("%q: a result without a directive", reply)
		}
		if r.Note != "" && r.Status != Fail {
			t.Errorf("%q: a reason without fail", reply)
		}
		// An object that is the whole reply counts if it is one, and what follows it does.
		var object map[string]json.RawMessage
		if strings.HasPrefix(reply, "{") && json.Unmarshal([]byte(reply), &object) == nil && ok != isDirective(object) {
			t.Errorf("%q: %t", reply, ok)
		}
		last, _ := ParseDirective(reply + "\n" + `{"preferred_next_label": "last"}`)
		if last.Routing == nil || last.Routing.PreferredLabel != "last" {
			t.Errorf("%q: what comes last does not count: %s", reply, shown(last))
		}
	})
}
