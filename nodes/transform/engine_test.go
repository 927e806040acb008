package transform_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/nodes/transform"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func plans(t *testing.T, text string) (*plan.Plan, source.Diagnostics) {
	t.Helper()
	reg := core.NewRegistry(transform.Kind)
	w, ds := native.Parse("main.yaml", []byte(text), native.OptionsFor(reg))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	return plan.Compile(w, reg, plan.Options{Lint: lint.Check})
}

const chained = `
name: chained
state:
  schema:
    rows: {type: array, items: {type: object, properties: {number: {type: integer}, t: {type: string}}}}
    names: {type: array}
    even: {type: array, items: {type: object, properties: {number: {type: integer}, t: {type: string}}}}
    named: {type: array}
    totals: {type: array}
graph:
  nodes:
    - {id: even, kind: transform, from: rows, writes: [even], stream: true, filter: $item.number % 2 == 0}
    - id: named
      kind: transform
      reads: [even]
      writes: [named]
      stream: true
      steps:
        - checks: [{name: small, expr: $item.number < 8}]
          on_bad_row: skip
        - join: {with: names, on: {t: id}, take: [name]}
    - id: totals
      kind: transform
      from: named
      writes: [totals]
      group: {by: [name], aggregate: {n: count, sum: sum(number)}}
  edges:
    - {from: even, to: named}
    - {from: named, to: totals}
`

// A chain of streams does its work when the last stream is read. The state shows what
// was read through each of them.
func TestChainOfStreams(t *testing.T) {
	p, ds := plans(t, chained)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	var rows []any
	for i := range 11 {
		rows = append(rows, value.ObjectOf("number", int64(i), "t", string(rune('a'+i%3))))
	}
	names := parse(t, `[{"id":"a","name":"Ann"},{"id":"b","name":"Bob"}]`)
	report, err := scheduler.Run(t.Context(), p, map[string]any{"rows": rows, "names": names}, scheduler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"even":   `{"source":"rows","rows":6,"from":11}`,
		"named":  `{"source":"even","rows":3,"from":6,"rejected":2}`,
		"totals": `[{"name":"Ann","n":2,"sum":6},{"name":"Bob","n":1,"sum":4}]`,
	} {
		if v, _ := report.State.Get(field); value.JSON(v) != want {
			t.Errorf("%s is %s, want %s", field, value.JSON(v), want)
		}
	}
	if n, _ := report.Node("totals"); n.Status != core.PartialSuccess {
		t.Errorf("totals ended %s, and rows were rejected on the way", n.Status)
	}
}

// Settings that are not valid for a stream are found when the workflow is loaded.
func TestStreamFindings(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`filter: $item.number % 2`, `filter: $item.numbr % 2`, `main.yaml:12:91: warning: node even: filter: the type of $item declares no member "numbr" (did you mean "number"?) [EXPR_NAME]`},
		{`expr: $item.number < 8`, `expr: $item.number < 'x'`, `main.yaml:19:53: error: node named: steps[0]: check small: "<" has no order for integer and string [EXPR_TYPE]`},
		{`on: {t: id}`, `on: {tt: id}`, `main.yaml:21:36: warning: node named: steps[1]: join.on: the rows have no declared column "tt" (did you mean "t"?) [UNKNOWN_FIELD]`},
		{`join: {with: names,`, `join: {with: even,`, `main.yaml:15:15: error: node named: reads: state field "even" is a stream, its rows are not in the state`},
		{`expr: $item.number < 8`, `expr: $item.number < length($.even)`, `error: node named: reads: state field "even" is a stream, its rows are not in the state`},
		{`from: named`, `from: $.named[0].rows`, `error: node totals: state field "named" is a stream, its rows are not in the state`},
		{`    - {from: even, to: named}`, ``, `error: node named: reads: the stream "even" is made by even, which does not come before`},
		{`even: {type: array, items: {type: object, properties: {number: {type: integer}, t: {type: string}}}}`, `even: {type: object}`, `field "even" is declared as an object and cannot be a stream`},
	} {
		text := strings.Replace(chained, c.old, c.new, 1)
		if text == chained {
			t.Fatalf("%s is not there", c.old)
		}
		_, ds := plans(t, text)
		if errors := strings.Count(ds.Error(), " error: "); !strings.Contains(ds.Error(), c.want) || errors > 1 {
			t.Errorf("%s:\n got %v\nwant %s", c.new, ds, c.want)
		}
	}
}
