package lint

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// An input is reported unless something may read it.
func TestUnusedInputs(t *testing.T) {
	for _, tt := range []struct {
		name, node, more string
		want             bool
	}{
		{"nothing reads it", `{id: a, kind: fn}`, ``, true},
		{"its name is in prose", `{id: a, kind: fn, text: "the day of {{$input.other}}: day"}`, ``, true},
		{"another input has its name and more", `{id: a, kind: fn, text: "{{$input.days}} $input.day2 {{today}}"}`, ``, true},
		{"an expression", `{id: a, kind: fn, filter: $input.day > 1}`, ``, false},
		{"an expression with a bracket", `{id: a, kind: fn, filter: "$input['day'] > 1"}`, ``, false},
		{"an expression for any input", `{id: a, kind: fn, filter: "$input[$.other]"}`, ``, false},
		{"a template", `{id: a, kind: fn, text: "on {{ lower($input.day) }}"}`, ``, false},
		{"a plain name in a template", `{id: a, kind: fn, text: "on {{day}}"}`, ``, false},
		{"its name in a setting", `{id: a, kind: fn, parts: [{input: day}]}`, ``, false},
		{"an arg", `{id: a, kind: fn, args: {x: $input.day}}`, ``, false},
		{"an arg with its field", `{id: a, kind: fn, args: {x: $.day}}`, ``, false},
		{"the reads", `{id: a, kind: fn, reads: [day]}`, ``, false},
		{"items", `{id: a, kind: fn, for_each: {source: $input.day}}`, ``, false},
		{"a condition", `{id: a, kind: fn}, {id: b, kind: fn}`, `, edges: [{from: a, to: b, when: $input.day == 1}]`, false},
	} {
		ds := check(t, `
name: w
inputs: {day: {}, goal: {}}
state: {schema: {other: {type: string, default: x}}}
graph: {nodes: [`+tt.node+`]`+tt.more+`}
`)
		got := ""
		for _, d := range ds {
			if d.Severity == source.Error || strings.HasPrefix(d.Message, "input ") {
				got += d.Error()
			}
		}
		want := ""
		if tt.want {
			want = `a.yaml:3:10: hint: input "day" is not read [UNUSED]`
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", tt.name, got, want)
		}
	}
}
