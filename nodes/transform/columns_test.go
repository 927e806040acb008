package transform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/transform"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const (
	loads    = "{id: load, kind: dataset, source: a.csv, check: false, columns: {id: integer, at: string}, writes: [a]}"
	selects  = "{id: load, kind: dataset, source: a.csv, check: false, columns: {id: integer, at: string}, select: [id, at, price], writes: [a]}"
	filters  = "{id: t, kind: transform, from: a, writes: [b], filter: %s}"
	noPrise  = `t: filter: the rows have no column "prise" here (did you mean "price"? known keys: id, at, price) [EXPR_NAME]`
	noOrder  = `t: filter: ">" has no order for string and integer [EXPR_TYPE]`
	otherSet = "{id: other, kind: dataset, source: c.csv, check: false, columns: {k: string}, select: [k, name], writes: [c]}"
)

// The columns that a node declares for its rows apply to every reader of those rows, if
// the rows come from this node alone.
func TestColumnsOfAField(t *testing.T) {
	prise, order := fmt.Sprintf(filters, "$item.prise > 1"), fmt.Sprintf(filters, "$item.at > 1")
	for _, c := range []struct {
		name, fields, nodes, rest string
		want                      string // the error without its position, "" if there is none
	}{
		{"all columns of a file", "", loads + prise, "", ""},
		{"selected columns", "", selects + prise, "", noPrise},
		{"a selected column", "", selects + fmt.Sprintf(filters, "$item.price > 1 && $item.id > 1"), "", ""},
		{"a field of any type", "a: {}", selects + prise, "", noPrise},
		{"the header is given", "", "{id: load, kind: dataset, source: a.csv, check: false, header: [id, at, price], file_column: f, writes: [a]}" +
			fmt.Sprintf(filters, "$item.f == 'x' && $item.prise > 1"), "", strings.Replace(noPrise, "price)", "price, f)", 1)},
		{"declared, not selected", "a: {type: array, items: {type: object, properties: {cost: {type: number}}}}",
			selects + fmt.Sprintf(filters, "$item.cost > 1"), "", `t: filter: the rows have no column "cost" here (known keys: id, at, price) [EXPR_NAME]`},
		{"beside another error", "", selects + fmt.Sprintf(filters, "$item.prise > 1 && $item.at > 1"), "", noPrise + "; " + noOrder},
		{"a stream", "", strings.Replace(selects, "writes", "stream: true, writes", 1) + prise, "", noPrise},
		{"a check of the dataset", "", strings.Replace(selects, "writes", "checks: [{name: c, expr: $item.prise > 1}], writes", 1), "",
			strings.Replace(noPrise, "t: filter", "load: check c", 1)},
		{"the reader stands before the writer", "", prise + selects, "", noPrise},
		{"an expression that is the field", "", selects + strings.Replace(prise, "from: a", "from: $.a", 1), "", noPrise},
		{"from transform to transform", "", "{id: t, kind: transform, from: c, writes: [b], filter: $item.idd > 1 || $item.m > 'x'}" + selects +
			"{id: sum_up, kind: transform, from: a, writes: [c], group: {by: [id], aggregate: {m: mean(price)}}}", "",
			`t: filter: the rows have no column "idd" here (did you mean "id"? known keys: id, m) [EXPR_NAME]; t: filter: ">" has no order for number and string [EXPR_TYPE]`},

		{"types of the dataset", "", loads + order, "", noOrder},
		{"types of the schema", "a: {type: array, items: {type: object, properties: {at: {type: string}}}}", order, "", noOrder},
		{"an inferred type", "", strings.Replace(loads, "columns: {id: integer, at: string}, ", "", 1) + order, "", ""},
		{"a check", "", loads + "{id: t, kind: transform, from: a, writes: [b], checks: [{name: c, expr: $item.at > 1}]}", "", strings.Replace(noOrder, "filter", "check c", 1)},
		{"a group", "", loads + "{id: t, kind: transform, from: a, writes: [b], group: {aggregate: {n: count_if($item.at > 1)}}}", "", strings.Replace(noOrder, "filter", "group.n", 1)},
		{"a window", "", loads + "{id: t, kind: transform, from: a, writes: [b], window: {columns: {n: sum(at)}}}", "", "t: window.n: want numbers, at is string [EXPR_TYPE]"},

		{"a join", "", selects + otherSet + "{id: t, kind: transform, from: a, writes: [b], steps: [{join: {with: c, on: {id: k}}}]}", "",
			`t: steps[0]: join.on: "id" is integer and "k" of c is string, so no row matches [WRONG_TYPE]`},
		{"what another table cannot have", "", selects + otherSet + "{id: t, kind: transform, from: a, writes: [b], steps: [{join: {with: c, on: {at: k}, take: [nam]}}]}", "",
			`t: steps[0]: join.take: the rows have no column "nam" here (did you mean "name"? known keys: k, name) [UNKNOWN_FIELD]`},
		{"behind a join", "", selects + otherSet + "{id: t, kind: transform, from: a, writes: [b], steps: [{join: {with: c, on: {at: k}, prefix: c_}}, {filter: $item.c_nam == 'x'}]}", "",
			`t: steps[1]: filter: the rows have no column "c_nam" here (did you mean "c_name"? known keys: id, at, price, c_name) [EXPR_NAME]`},
		{"behind a join with an open table", "", selects + keepsAll("c") + "{id: t, kind: transform, from: a, writes: [b], steps: [{join: {with: c, on: id}}, {filter: $item.prise == 'x'}]}", "", ""},

		{"two writers", "", selects + "{id: more, kind: transform, from: c, writes: [a], limit: 1}" + prise, "", ""},
		{"an input", "", selects + prise, "inputs: {a: {type: array}}", ""},
		{"a default", "a: {type: array, default: [{prise: 1}]}", selects + prise, "", ""},
		{"a default without rows", "a: {type: array, default: []}", selects + prise, "", noPrise},
		{"a merge", "a: {type: array, merge: array_append}", selects + prise, "", ""},
		{"a fan-out", "", strings.Replace(selects, "writes", "for_each: {source: $.c}, writes", 1) + prise, "", ""},
		{"a circle", "", "{id: more, kind: transform, from: b, writes: [a], filter: $item.x > 1}" + prise, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := loadErrors(t, c.fields, c.nodes, c.rest)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// keepsAll is a dataset that keeps all columns of its file.
func keepsAll(field string) string {
	return strings.NewReplacer("[a]", "["+field+"]", "id: load,", "id: "+field+"2,").Replace(loads)
}

// A long chain of readers that precede their writers must not cause deep recursion.
func TestColumnsOfALongChain(t *testing.T) {
	var nodes, fields strings.Builder
	for i := range 300 {
		fmt.Fprintf(&fields, "f%d: {type: array}, ", i)
		fmt.Fprintf(&nodes, "{id: n%d, kind: transform, from: f%d, writes: [f%d], select: [x]}", i, i+1, i)
	}
	fields.WriteString("f300: {type: array}")
	nodes.WriteString("{id: t, kind: transform, from: f0, writes: [b], filter: $item.y > 1}")
	want := `t: filter: the rows have no column "y" here (known keys: x) [EXPR_NAME]`
	if got := loadErrors(t, fields.String(), nodes.String(), ""); got != want {
		t.Errorf("got %s", got)
	}
}

// loadErrors returns the errors of a workflow with these nodes in sequence and the
// fields a, b and c.
func loadErrors(t *testing.T, fields, nodes, rest string) string {
	t.Helper()
	for _, f := range []string{"a", "b", "c"} {
		if !strings.HasPrefix(fields, f+":") {
			fields = strings.TrimPrefix(fields+", "+f+": {type: array}", ", ")
		}
	}
	reg := core.NewRegistry(transform.Kind, dataset.Kind)
	text := fmt.Sprintf("name: w\n%s\nstate: {schema: {%s}}\ngraph: {nodes: [%s], edges: []}\n", rest, fields, strings.ReplaceAll(nodes, "}{", "}, {"))
	w, ds := native.Parse("main.yaml", []byte(text), native.OptionsFor(reg))
	if ds.Failed(false) {
		t.Fatal(text, ds)
	}
	_, ds = plan.Compile(w, reg, plan.Options{Lint: lint.Check})
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(nodestest.Findings(ds)), "\n") {
		if _, message, ok := strings.Cut(line, " error: node "); ok {
			out = append(out, message)
		}
	}
	return strings.Join(out, "; ")
}
