package transform

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// A filter on a misspelt column dropped all rows and the run succeeded, because the
// columns of a file are not known when the workflow is loaded.

// headed is a stream that knows its columns.
type headed struct {
	*rowStream
	columns []string
}

func (h *headed) Header(context.Context) ([]string, bool, error) { return h.columns, true, nil }

// unknownColumns lists steps over rows with the columns delay and, in the last row,
// some. want is the column that is reported as missing, "" if there is none.
var unknownColumns = []struct{ steps, want, step string }{
	{`{"filter": "$item.dely > 3"}`, "dely", "steps[0]: filter"},
	{`{"filter": "$item['dely'] == null || $item.delay > 0"}`, "dely", "steps[0]: filter"},
	{`{"derive": {"x": "$item.dely"}}`, "dely", "steps[0]: derive"},
	{`{"map": {"x": "$item.dely + 1"}}`, "dely", "steps[0]: map"},
	{`{"checks": [{"name": "c", "expr": "$item.dely != 3"}], "on_bad_row": "skip"}`, "dely", "steps[0]: checks"},
	{`{"group": {"by": ["dely"], "aggregate": {"n": "count"}}}`, "dely", "steps[0]: group"},
	{`{"group": {"aggregate": {"n": "sum(dely)"}}}`, "dely", "steps[0]: group"},
	{`{"group": {"aggregate": {"n": "count_if($item.dely > 0)"}}}`, "dely", "steps[0]: group"},
	{`{"sort": ["-dely"]}`, "dely", "steps[0]: sort"},
	{`{"sort": ["dely"]}, {"limit": 1}`, "dely", "steps[0]: sort"},
	{`{"window": {"by": ["dely"], "columns": {"n": "row_number"}}}`, "dely", "steps[0]: window"},
	{`{"window": {"columns": {"n": "lag(dely)"}}}`, "dely", "steps[0]: window"},
	{`{"window": {"columns": {"n": "sum($item.dely + 1)"}}}`, "dely", "steps[0]: window"},
	{`{"dedupe": ["dely"]}`, "dely", "steps[0]: dedupe"},
	{`{"join": {"with": "other", "on": {"dely": "id"}}}`, "dely", "steps[0]: join"},
	{`{"select": ["dely"]}`, "dely", "steps[0]: select"},
	{`{"rename": {"dely": "x"}}`, "dely", "steps[0]: rename"},
	{`{"drop": ["dely"]}`, "dely", "steps[0]: drop"},
	{`{"derive": {"x": "1"}}, {"filter": "$item.dely > 3"}`, "dely", "steps[1]: filter"},
	{`{"map": {"y": "$item.delay"}}, {"sort": ["y"]}, {"filter": "$item.y > 0"}`, "", ""},
	{`{"join": {"with": "other", "on": {"delay": "id"}, "kind": "left"}}, {"filter": "$item.t != 'x'"}`, "", ""},
	{`{"window": {"columns": {"n": "row_number"}}}, {"filter": "$item.n > 0"}`, "", ""},
	{`{"group": {"by": ["delay"], "aggregate": {"n": "count"}}}, {"filter": "$item.n > 0"}`, "", ""},
	{`{"rename": {"delay": "late"}}, {"filter": "$item.late > 0"}`, "", ""},
	{`{"filter": "$item.some > 3"}`, "", ""}, // only some rows have the column
	{`{"filter": "$item['delay'] > 0 && $item.delay.deep == null"}`, "", ""},
	{`{"derive": {"x": "coalesce($item.other, $item.delay)"}}`, "", ""},
	{`{"filter": "coalesce($item.dely, 3) > 2"}`, "", ""},
	{`{"filter": "coalesce(lower($item.dely), 'x') == 'x'"}`, "dely", "steps[0]: filter"},
	{`{"filter": "$item.opt > 3"}`, "", ""}, // declared as optional
	{`{"sort": ["opt"]}, {"dedupe": ["opt"]}`, "", ""},
	{`{"rename": {"opt": "x"}}, {"filter": "$item.x == 1"}`, "", ""},
	{`{"join": {"with": "other", "on": {"delay": "id"}, "take": ["perhaps"]}}`, "", ""},
}

func TestRule78UnknownColumns(t *testing.T) {
	env := core.Env{Schema: nodestest.Schema(t, `{
		"in": {"type": "array", "items": {"type": "object", "properties": {"delay": {}, "some": {}, "opt": {"type": "integer"}}, "required": ["delay", "some"]}},
		"other": {"type": "array", "items": {"type": "object", "properties": {"id": {}, "t": {}, "perhaps": {}}, "required": ["id"]}},
		"out": {"type": "array"}}`)}
	rows := func() []any {
		return []any{value.ObjectOf("delay", int64(1)), value.ObjectOf("delay", int64(2)), value.ObjectOf("delay", int64(2), "some", int64(4))}
	}
	other := []any{value.ObjectOf("id", int64(1), "t", "a")}
	for _, c := range unknownColumns {
		for _, to := range []string{"", `, "stream": true`} {
			made, ds := Kind.Compile(nodestest.Node(t, `{"reads": ["in"], "writes": ["out"]`+to+`, "steps": [`+c.steps+`]}`), env)
			if ds.Failed(false) {
				t.Errorf("%s: %v", c.steps, ds)
				continue
			}
			array := core.NewInput("r", "n", 1, core.Shared{View: core.NewView([]string{"in"}, []any{rows()}), Extra: core.NewView([]string{"other"}, []any{other})})
			want := ""
			if c.want != "" {
				want = c.step + `: no row has the column "dely" (did you mean "delay"? columns: `
			}
			for from, in := range map[string]core.Input{"array": array, "stream": streamed(&rowStream{rows: rows(), sizes: []int{1}}, other)} {
				if got := drained(t, made, in); !strings.HasPrefix(got.err, want) || want == "" && got.err != "" {
					t.Errorf("%s%s from %s: %q, want %q", c.steps, to, from, got.err, want)
				}
			}
			if c.want != "" {
				want = c.step + `: the rows have no column "dely" (did you mean "delay"? columns: `
			}
			s := &headed{&rowStream{rows: rows()[2:], sizes: []int{1}}, []string{"delay", "some"}}
			if got := drained(t, made, openOf(s, other)); !strings.HasPrefix(got.err, want) || want == "" && got.err != "" || want != "" && s.pulled > 0 {
				t.Errorf("%s%s with a header: %q after %d rows, want %q", c.steps, to, got.err, s.pulled, want)
			}
		}
	}
}

// Without rows no column is known to be missing, unless there is a header.
func TestRule78WithoutRows(t *testing.T) {
	made := compiled(t, `{"filter": "$item.dely > 3"}`, "")
	if got := drained(t, made, streamed(&rowStream{}, nil)); got.err != "" {
		t.Error(got.err)
	}
	const want = `steps[0]: filter: the rows have no column "dely" (did you mean "delay"? columns: delay)`
	if got := drained(t, made, openOf(&headed{&rowStream{}, []string{"delay"}}, nil)); got.err != want {
		t.Error(got.err)
	}
	// No row reaches the second step.
	if got := drained(t, compiled(t, `{"filter": "false"}, {"filter": "$item.dely > 3"}`, ""), streamed(&rowStream{rows: numbers(3), sizes: []int{1}}, nil)); got.err != "" {
		t.Error(got.err)
	}
}

// The header of a stream that a node makes describes the result of the node.
func TestHeaderOfAStream(t *testing.T) {
	for steps, want := range map[string]string{
		`{"derive": {"x": "1"}}, {"drop": ["b"]}, {"rename": {"a": "c"}}`: "c x",
		`{"select": ["b"]}`: "b",
		`{"group": {"by": ["b"], "aggregate": {"n": "count"}}}, {"filter": "$item.n > 1"}`:         "b n",
		`{"join": {"with": "other", "on": {"a": "id"}}}, {"window": {"columns": {"w": "lag(t)"}}}`: "a b t w",
		`{"sort": ["a"]}, {"dedupe": []}, {"limit": 3}`:                                            "a b",
	} {
		made, ds := Kind.Compile(nodestest.Node(t, `{"reads": ["in"], "writes": ["out"], "stream": true, "steps": [`+steps+`]}`), core.Env{})
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		other := []any{value.ObjectOf("id", int64(1), "t", "a")}
		s, err := made.Handler.(core.StreamSource).Open(t.Context(), openOf(&headed{&rowStream{}, []string{"a", "b"}}, other), nil)
		if err != nil {
			t.Fatal(err)
		}
		columns, ok, err := core.HeaderOf(t.Context(), s)
		if got := strings.Join(columns, " "); got != want || !ok || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q", steps, got, ok, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A header that cannot be read fails the node.
func TestHeaderThatFails(t *testing.T) {
	broken := errors.New("the file is gone")
	if got := drained(t, compiled(t, `{"limit": 3}`, ""), openOf(&failing{&rowStream{}, broken}, nil)); got.err != broken.Error() {
		t.Error(got.err)
	}
}

type failing struct {
	*rowStream
	err error
}

func (f *failing) Header(context.Context) ([]string, bool, error) { return nil, false, f.err }

// openOf returns an input whose field "in" is the stream.
func openOf(s core.Stream, other []any) core.Input {
	return core.NewInput("r", "n", 1, core.Shared{
		Extra: core.NewView([]string{"other"}, []any{other}),
		Open: func(_ context.Context, field string, _ *value.Object) (core.Stream, bool, error) {
			return s, field == "in", nil
		},
	})
}
