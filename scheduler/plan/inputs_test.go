package plan

import (
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

const withInputs = `
name: x
inputs:
  limit: {type: integer, required: true, description: how many}
  mode: {type: string, enum: [fast, exact], default: fast}
  rows: {type: array}
  free: {required: true, default: 1}
state:
  schema:
    limit: {type: number, default: 7}
    rows: {type: array, merge: array_append, default: [0]}
    other: {type: string, default: o}
graph:
  nodes: [{id: n, kind: fn, reads: [limit, rows, other]}]
`

const withoutInputs = `
name: x
state: {schema: {rows: {type: array, items: {type: integer}, default: [1]}, once: {merge: set_once}}}
graph:
  nodes: [{id: n, kind: fn, reads: [rows], writes: [once]}]
`

func TestStart(t *testing.T) {
	for _, tt := range []struct {
		name, doc string
		inputs    *value.Object
		state     string // all fields
		given     string
		err       string
	}{
		{"defaults", withInputs, value.ObjectOf("limit", int64(3)), `[3,[0],"o","fast",1]`, `{"mode":"fast","free":1,"limit":3}`, ""},
		{"all given", withInputs, value.ObjectOf("rows", []any{int64(1)}, "mode", "exact", "free", nil, "limit", int64(1)), `[1,[1],"o","exact",null]`,
			`{"rows":[1],"mode":"exact","free":null,"limit":1}`, ""},
		{"required", withInputs, nil, "", "", `flow.yaml:4:3: error: input "limit" is missing (give it a value of type integer: how many) [INPUT]`},
		{"not of the input's type, though of the field's", withInputs, value.ObjectOf("limit", 1.5), "", "",
			`flow.yaml:4:3: error: input "limit": want integer, got number 1.5 [INPUT]`},
		{"several faults", withInputs, value.ObjectOf("limti", int64(1), "mode", "slow", "rows", "x"), "", "",
			`flow.yaml:2:1: error: unknown input "limti" (did you mean "limit"?) [INPUT]
flow.yaml:4:3: error: input "limit" is missing (give it a value of type integer: how many) [INPUT]
flow.yaml:5:3: error: input "mode": want one of ["fast","exact"], got string "slow" [INPUT]
flow.yaml:6:3: error: input "rows": want array, got string "x" [INPUT]`},
		{"a field that is not an input", withInputs, value.ObjectOf("limit", int64(1), "other", "x"), "", "",
			`flow.yaml:2:1: error: unknown input "other" (defined: limit, mode, rows, free) [INPUT]`},
		{"no inputs section, nothing given", withoutInputs, value.NewObject(0), `[[1],null]`, `{}`, ""},
		{"no inputs section, starting values are not merged", withoutInputs, value.ObjectOf("rows", []any{int64(5)}, "once", "x"), `[[5],"x"]`, `{"rows":[5],"once":"x"}`, ""},
		{"no inputs section, wrong type", withoutInputs, value.ObjectOf("rows", []any{"a"}), "", "",
			`flow.yaml:2:1: error: input "rows": [0]: want integer, got string "a" [INPUT]`},
		{"no inputs section, unknown", withoutInputs, value.ObjectOf("row", nil), "", "", `flow.yaml:2:1: error: unknown input "row" (did you mean "rows"?) [INPUT]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustCompile(t, tt.doc)
			start, given, err := p.Start(tt.inputs)
			switch {
			case err != nil && err.Error() != tt.err:
				t.Errorf("got  %v\nwant %s", err, tt.err)
			case err == nil && tt.err != "":
				t.Errorf("no error, want %s", tt.err)
			case err == nil:
				for i, v := range start {
					if value.IsMissing(v) {
						start[i] = nil
					}
				}
				if got := value.JSON(start); got != tt.state {
					t.Errorf("state %s, want %s", got, tt.state)
				}
				if got := value.JSON(given); got != tt.given {
					t.Errorf("given %s, want %s", got, tt.given)
				}
			}
		})
	}
}

// Two runs of one plan must not share the result of Start.
func TestStartIsFresh(t *testing.T) {
	p := mustCompile(t, withoutInputs)
	a, _, _ := p.Start(nil)
	a[0] = "changed"
	if b, _, _ := p.Start(nil); value.JSON(b[0]) != "[1]" {
		t.Errorf("the second start begins with %v", b[0])
	}
}

func TestInputNames(t *testing.T) {
	all, required := mustCompile(t, withInputs).InputNames()
	if value.JSON(all) != `["limit","mode","rows","free"]` || value.JSON(required) != `["limit"]` {
		t.Errorf("with inputs: %v, required %v", all, required)
	}
	all, required = mustCompile(t, withoutInputs).InputNames()
	if value.JSON(all) != `["rows","once"]` || len(required) > 0 {
		t.Errorf("without inputs: %v, required %v", all, required)
	}
}
