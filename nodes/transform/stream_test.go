package transform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// rowStream is a stream of rows. It cycles through a list of batch sizes.
type rowStream struct {
	rows   []any
	sizes  []int
	turn   int
	fail   error // returned instead of io.EOF
	closed int
	pulled int
}

func (s *rowStream) Next(ctx context.Context) ([]any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(s.rows) == 0 {
		if s.fail != nil {
			return nil, s.fail
		}
		return nil, io.EOF
	}
	n := min(s.sizes[s.turn%len(s.sizes)], len(s.rows))
	s.turn++
	batch := slices.Clone(s.rows[:n])
	s.rows = s.rows[n:]
	s.pulled += n
	return batch, nil
}

func (s *rowStream) Summary() *value.Object { return value.ObjectOf(core.RowCount, int64(s.pulled)) }

func (s *rowStream) Close() error {
	s.closed++
	return nil
}

// streamed returns an input whose field "in" is the stream.
func streamed(s *rowStream, other []any) core.Input {
	return core.NewInput("r", "n", 1, core.Shared{
		Extra: core.NewView([]string{"other"}, []any{other}),
		Open: func(_ context.Context, field string, _ *value.Object) (core.Stream, bool, error) {
			return s, field == "in", nil
		},
	})
}

// outcome is the result of a node as strings.
type outcome struct{ rows, edge, bad, err string }

// drained runs a node. If the node makes a stream, drained reads it to its end.
func drained(tb testing.TB, made core.Compiled, in core.Input) outcome {
	r, err := made.Handler.Handle(tb.Context(), in)
	var result any
	for field, v := range r.Writes() {
		if field != "bad" {
			result = v
		}
	}
	source, ok := made.Handler.(core.StreamSource)
	if err != nil || !ok {
		return outcomeOf(r, result, err)
	}
	s, err := source.Open(tb.Context(), in, result.(*value.Object))
	if err != nil {
		return outcomeOf(r, result, err)
	}
	rows := []any{}
	for {
		batch, err := s.Next(tb.Context())
		if err != nil {
			err = errors.Join(err, s.Close())
			if !errors.Is(err, io.EOF) {
				return outcome{err: err.Error()}
			}
			return outcome{rows: value.JSON(rows), edge: value.JSON(s.Summary())}
		}
		if len(batch) == 0 {
			tb.Fatal("an empty batch")
		}
		rows = append(rows, batch...)
	}
}

// Rows runs a node and returns its rows as JSON. It is exported for tests outside of
// the package.
func Rows(tb testing.TB, made core.Compiled, in core.Input) string {
	o := drained(tb, made, in)
	if o.err != "" {
		return o.err
	}
	return o.rows
}

func outcomeOf(r core.Result, rows any, err error) outcome {
	if err != nil {
		return outcome{err: err.Error()}
	}
	return outcome{rows: value.JSON(rows), edge: value.JSON(r.EdgeOutput), bad: value.JSON(r.Writes()["bad"])}
}

// drawSteps draws steps and returns them as JSON, with the result of the naive
// implementation, which is nil if there is none.
func drawSteps(t *rapid.T) (text string, naive []naiveStep) {
	list := make([]string, rapid.IntRange(1, 5).Draw(t, "steps"))
	for i := range list {
		s := rapid.SampledFrom(naiveSteps).Draw(t, "step")
		list[i], naive = s.text, append(naive, s)
	}
	return strings.Join(list, ", "), naive
}

// The rows and errors are the same whether the table is an array or a stream with
// batches of any size, and whether the result is an array or a stream. They equal the
// results of the naive implementation.
func TestStreamsAreArrays(t *testing.T) {
	runs, failed, lacking, limited, many := 0, 0, 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		in, other := tables(rt, "rows"), tables(rt, "other")
		in = slices.Repeat(in, rapid.SampledFrom([]int{1, 1, 1, 5, 200}).Draw(rt, "times"))
		text, naive := drawSteps(rt)
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 7, 100, 5000}), 1, 4).Draw(rt, "sizes")
		compiled := func(more string) core.Compiled {
			made, ds := Kind.Compile(nodestest.Node(t, `{"reads": ["in"], "writes": ["out"`+more+`, "steps": [`+text+`]}`), core.Env{})
			if ds.Failed(false) {
				rt.Skip(ds)
			}
			return made
		}
		array := core.NewInput("r", "n", 1, core.Shared{View: core.NewView([]string{"in"}, []any{in}), Extra: core.NewView([]string{"other"}, []any{other})})
		stream := func() core.Input { return streamed(&rowStream{rows: in, sizes: sizes}, other) }
		want := drained(t, compiled(`]`), array)
		runs++
		for _, c := range []struct {
			name string
			got  outcome
		}{
			{"from a stream", drained(t, compiled(`]`), stream())},
			{"to a stream", drained(t, compiled(`], "stream": true`), array)},
			{"from a stream to a stream", drained(t, compiled(`], "stream": true`), stream())},
		} {
			if c.got.rows != want.rows || c.got.err != want.err {
				rt.Fatalf("%s: %s\n got %s %s\nwant %s %s", text, c.name, c.got.rows, c.got.err, want.rows, want.err)
			}
		}
		absent := strings.Contains(want.err, "no row has the column")
		if absent {
			lacking++
		} else if want.err != "" {
			failed++
			return
		}
		if len(in) > 100 {
			many++
		}
		if strings.Contains(text, "limit") {
			limited++
		}
		rows := in
		for _, s := range naive {
			if name := s.lacks(rows); name != "" {
				if !absent && !strings.Contains(text, "limit") {
					rt.Fatalf("%s\n got %s\nwant an error, no row has %q at %s", text, want.rows, name, s.text)
				}
				return
			}
			rows = s.run(rows, other)
		}
		if absent && !strings.Contains(text, "limit") { // after a limit a step sees only some rows
			rt.Fatalf("%s: %s, and some row has it", text, want.err)
		}
		if absent {
			return
		}
		if g := value.JSON(rows); g != want.rows {
			rt.Fatalf("%s\n got %s\nwant %s", text, want.rows, g)
		}
	})
	if failed > runs/3 || lacking < runs/20 || lacking > runs/2 || limited < runs/20 || many < runs/20 {
		t.Errorf("of %d runs %d failed, %d lacked a column, %d had a limit, %d many rows", runs, failed, lacking, limited, many)
	}
}

// compiled compiles a node with these steps.
func compiled(tb testing.TB, steps, more string) core.Compiled {
	tb.Helper()
	made, ds := Kind.Compile(nodestest.Node(tb, `{"reads": ["in"], "writes": ["out", "bad"], "into": "out", "steps": [`+steps+`]`+more+`}`), core.Env{})
	if ds.Failed(false) {
		tb.Fatal(ds)
	}
	return made
}

func numbers(n int) []any {
	keys, err := value.NewKeys([]string{"n", "t"})
	if err != nil {
		panic(err)
	}
	rows := make([]any, n)
	for i := range rows {
		rows[i] = value.NewRow(keys, []any{int64(i), fmt.Sprint("t", i%7)})
	}
	return rows
}

// A limit ends the reading, unless checks precede it, because checks evaluate the whole
// table.
func TestLimitStopsReading(t *testing.T) {
	const check = `{"checks": [{"name": "c", "expr": "$item.n < 90"}], "rejects": "bad"}`
	for _, c := range []struct {
		steps          string
		pulled, closed int
		edge           string
	}{
		{`{"limit": 7}`, 10, 1, `{"rows":7,"from":7}`},
		{`{"limit": 0}`, 0, 1, `{"rows":0,"from":0}`},
		{`{"filter": "$item.n % 10 == 9"}, {"limit": 3}`, 30, 1, `{"rows":3,"from":30}`},
		{`{"limit": 7}, ` + check, 10, 1, `{"rows":7,"from":7,"rejected":0}`},
		{check + `, {"limit": 7}`, 100, 1, `{"rows":7,"from":100,"rejected":10}`},
		{`{"sort": ["-n"]}, {"limit": 7}`, 100, 1, `{"rows":7,"from":100}`},
		{`{"limit": 30}, {"sort": ["-n"]}, {"limit": 7}`, 30, 1, `{"rows":7,"from":30}`},
		{`{"group": {"by": ["n"], "aggregate": {"m": "count"}}}, {"limit": 7}`, 100, 1, `{"rows":7,"from":100}`},
	} {
		s := &rowStream{rows: numbers(100), sizes: []int{10}}
		got := drained(t, compiled(t, c.steps, ""), streamed(s, nil))
		if got.err != "" || got.edge != c.edge || s.pulled != c.pulled || s.closed != c.closed {
			t.Errorf("%s: %d rows pulled, closed %d times, %s %s", c.steps, s.pulled, s.closed, got.edge, got.err)
		}
	}
}

// Rows that were held back are not passed on if no later step needs them.
func TestEnoughIsEnough(t *testing.T) {
	h := compiled(t, `{"group": {"by": ["n"], "aggregate": {"m": "count"}}}, {"sort": ["n", "m"]}, {"derive": {"x": "1"}}, {"limit": 3}`, "").Handler.(*handler)
	a, err := h.start(t.Context(), streamed(&rowStream{rows: numbers(5000), sizes: []int{999}}, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := a.advance(t.Context(), 5000); !done || err != nil || len(a.out.rows) != 3 {
		t.Fatalf("%d rows, done %v, %v", len(a.out.rows), done, err)
	}
	if g, s := a.stages[0].(*grouping).emitted, a.stages[1].(*sorter).emitted; g != 5000 || s != 3 {
		t.Errorf("%d groups and %d rows in order were let go, want 5000 and 3", g, s)
	}
}

// A stream's rows are allocated in blocks. Keeping a few rows does not keep the blocks
// in memory.
func TestFewRowsAreCopied(t *testing.T) {
	for _, c := range []struct {
		filter string
		copied bool
	}{{"$item.n % 10 == 0", true}, {"$item.n % 2 == 0", false}} {
		in := numbers(1000)
		for _, steps := range []string{`{"filter": "` + c.filter + `"}`, `{"filter": "` + c.filter + `"}, {"sort": ["n"]}`} {
			r, err := compiled(t, steps, "").Handler.Handle(t.Context(), streamed(&rowStream{rows: in, sizes: []int{100}}, nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Writes()["out"].([]any) {
				n := member(row, "n").(int64)
				if same := row == in[n]; same == c.copied || value.JSON(row) != value.JSON(in[n]) {
					t.Fatalf("%s: row %d is the same object: %v, %s", steps, n, same, value.JSON(row))
				}
			}
		}
	}
}

func TestStreamFails(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name, steps string
		s           *rowStream
		want        string
	}{
		{"in the middle", `{"filter": "true"}`, &rowStream{rows: numbers(10), sizes: []int{3}, fail: broken}, "broken"},
		{"no object", `{"filter": "true"}`, &rowStream{rows: []any{value.ObjectOf(), int64(7)}, sizes: []int{3}}, "in: row 2: want an object, got integer"},
		{"null", `{"filter": "true"}`, &rowStream{rows: []any{nil}, sizes: []int{3}}, "in: row 1: want an object, got null"},
		{"NaN", `{"limit": 1}`, &rowStream{rows: []any{value.ObjectOf("n", math.NaN())}, sizes: []int{3}}, "in: row 1: n: NaN has no JSON form"},
		{"a Go value", `{"filter": "$item.n == 3"}`, &rowStream{rows: []any{value.ObjectOf("n", 3)}, sizes: []int{3}}, ""},
		{"no such column", `{"filter": "true"}, {"drop": ["m"]}`, &rowStream{rows: numbers(3), sizes: []int{3}}, `steps[1]: drop: no row has the column "m" (columns: n, t)`},
		{"a check", `{"checks": [{"name": "c", "expr": "$item.n < 7"}]}`, &rowStream{rows: numbers(30), sizes: []int{3}}, `steps[0]: checks: row 8: check "c": $item.n < 7 is false, $item.n = 7`},
	} {
		for _, more := range []string{``, `, "stream": true`} {
			s := *c.s
			if got := drained(t, compiled(t, c.steps, more), streamed(&s, nil)); got.err != c.want || s.closed != 1 {
				t.Errorf("%s%s: %q, closed %d times, want %q", c.name, more, got.err, s.closed, c.want)
			}
		}
	}
}

// After an error or the end of the stream, Next returns the same error again.
func TestStreamEnds(t *testing.T) {
	source := compiled(t, `{"limit": 3}`, `, "stream": true`).Handler.(core.StreamSource)
	up := &rowStream{rows: numbers(10), sizes: []int{2}}
	s, err := source.Open(t.Context(), streamed(up, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
	if s.Close() != nil || up.closed != 1 {
		t.Errorf("closed %d times", up.closed)
	}
	if s, err = source.Open(t.Context(), streamed(&rowStream{rows: numbers(10), sizes: []int{2}}, nil), nil); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Next(t.Context())
	_, end := s.Next(t.Context())
	_, again := s.Next(t.Context())
	if len(rows) != 3 || err != nil || end != io.EOF || again != io.EOF {
		t.Errorf("%d rows, %v, %v, %v", len(rows), err, end, again)
	}
	if got := value.JSON(s.Summary()); got != `{"source":"in","rows":3,"from":3}` {
		t.Errorf("summary %s", got)
	}
}

// naiveStep is a step with a slow, simple implementation.
type naiveStep struct {
	text string
	run  func(rows, other []any) []any
}

// needs returns the input columns that at least one row must have.
func (s naiveStep) needs() []string {
	for text, columns := range map[string]string{
		"$item.a != null": "a", `"b": "$item.a"`: "a", `"a": "$item.b", "b"`: "a b", "select": "a b", "rename": "a b", "drop": "c", "$item.b != 1": "b",
		"-a": "a b", `"sort": ["b"]`: "b", `"dedupe": ["a"]`: "a", "join": "a", "window": "a b", "group": "a b", "$item.c == 1000": "c",
	} {
		if strings.Contains(s.text, text) {
			return strings.Fields(columns)
		}
	}
	return nil
}

// lacks returns a column that the step needs and no row has, or "" if there is none.
func (s naiveStep) lacks(rows []any) string {
	for _, name := range s.needs() {
		if len(rows) > 0 && !slices.Contains(table.Columns(rows), name) {
			return name
		}
	}
	return ""
}

// each makes a new row from each row.
func each(f func(i int, row *value.Object) *value.Object) func(rows, other []any) []any {
	return func(rows, _ []any) []any {
		out := []any{}
		for i, r := range rows {
			if made := f(i, r.(*value.Object)); made != nil {
				out = append(out, made)
			}
		}
		return out
	}
}

// set returns a copy of a row with more columns.
func set(row *value.Object, pairs ...any) *value.Object {
	out := row.Copy(2)
	for k, v := range value.ObjectOf(pairs...).All() {
		out.Set(k, v)
	}
	return out
}

var naiveSteps = []naiveStep{
	{`{"filter": "$item.a != null && $index % 3 != 1"}`, each(func(i int, row *value.Object) *value.Object {
		if a, ok := row.Get("a"); ok && a == nil || i%3 == 1 {
			return nil // an absent column is not null
		}
		return row
	})},
	{`{"derive": {"a": "$item.b", "b": "$item.a", "c": "$index * 1000"}}`, each(func(i int, row *value.Object) *value.Object {
		return set(row, "a", member(row, "b"), "b", member(row, "a"), "c", int64(i)*1000)
	})},
	{`{"derive": {"c": "length(string($item)) >= 2"}}`, each(func(_ int, row *value.Object) *value.Object { return set(row, "c", true) })},
	{`{"filter": "$item.c == 1000"}`, each(func(_ int, row *value.Object) *value.Object {
		if value.Equal(member(row, "c"), int64(1000)) {
			return row
		}
		return nil
	})},
	{`{"derive": {"d": "coalesce($item.none, $item.c, 7)"}}`, each(func(_ int, row *value.Object) *value.Object {
		if c := member(row, "c"); c != nil {
			return set(row, "d", c)
		}
		return set(row, "d", int64(7))
	})},
	{`{"map": {"b": "$item.a", "a": "concat('x', $index)"}}`, each(func(i int, row *value.Object) *value.Object {
		return value.ObjectOf("b", member(row, "a"), "a", fmt.Sprint("x", i))
	})},
	{`{"select": ["b", "a"]}`, each(func(_ int, row *value.Object) *value.Object {
		return value.ObjectOf("b", member(row, "b"), "a", member(row, "a"))
	})},
	{`{"rename": {"a": "b", "b": "a"}}`, each(func(_ int, row *value.Object) *value.Object {
		out := &value.Object{}
		for k, v := range row.All() {
			switch k {
			case "a":
				k = "b"
			case "b":
				k = "a"
			}
			out.Set(k, v)
		}
		return out
	})},
	{`{"drop": ["c"]}`, each(func(_ int, row *value.Object) *value.Object {
		out := row.Copy(0)
		out.Delete("c")
		return out
	})},
	{`{"checks": [{"name": "c", "expr": "$item.b != 1"}], "on_bad_row": "skip"}`, each(func(_ int, row *value.Object) *value.Object {
		if value.Equal(member(row, "b"), int64(1)) {
			return nil
		}
		return row
	})},
	{`{"limit": 4}`, func(rows, _ []any) []any { return rows[:min(4, len(rows))] }},
	{`{"limit": 0}`, func(rows, _ []any) []any { return []any{} }},
	{`{"sort": ["-a", "b"]}`, func(rows, _ []any) []any {
		out := slices.Clone(rows)
		slices.SortStableFunc(out, func(x, y any) int {
			if c := compare(member(x, "a"), member(y, "a")); c != 0 {
				return -c
			}
			return compare(member(x, "b"), member(y, "b"))
		})
		return out
	}},
	{`{"sort": ["b"]}, {"limit": 3}`, func(rows, _ []any) []any {
		out := slices.Clone(rows)
		slices.SortStableFunc(out, func(x, y any) int { return compare(member(x, "b"), member(y, "b")) })
		return out[:min(3, len(out))]
	}},
	{`{"dedupe": ["a"]}`, func(rows, _ []any) []any {
		return naiveDedupe(rows, func(x, y any) bool { return value.Equal(member(x, "a"), member(y, "a")) })
	}},
	{`{"dedupe": []}`, func(rows, _ []any) []any {
		return naiveDedupe(rows, func(x, y any) bool { return value.Equal(bare(x), bare(y)) })
	}},
	{`{"join": {"with": "other", "on": "a", "kind": "left", "prefix": "o_", "take": ["b"]}}`, func(rows, other []any) []any {
		out := []any{}
		for _, l := range rows {
			found := false
			for _, r := range other {
				if k := member(r, "a"); k != nil && value.Equal(k, member(l, "a")) {
					out, found = append(out, set(l.(*value.Object), "o_b", member(r, "b"))), true
				}
			}
			if !found {
				out = append(out, set(l.(*value.Object), "o_b", nil))
			}
		}
		return out
	}},
	{`{"window": {"by": ["b"], "columns": {"c": "lag(a)", "d": "row_number", "n": "lag($index, 3)"}}}`, func(rows, _ []any) []any {
		out := []any{}
		for i, r := range rows {
			var last, third any
			n := int64(1)
			for j := i - 1; j >= 0; j-- {
				if !value.Equal(member(rows[j], "b"), member(r, "b")) {
					continue
				}
				if n++; n == 2 {
					last = member(rows[j], "a")
				}
				if n == 4 {
					third = int64(j)
				}
			}
			out = append(out, set(r.(*value.Object), "c", last, "d", n, "n", third))
		}
		return out
	}},
	{`{"group": {"by": ["b"], "aggregate": {"a": "count", "c": "last($item.a)"}}}`, func(rows, _ []any) []any {
		out := []any{}
		for _, r := range rows {
			i := slices.IndexFunc(out, func(g any) bool { return value.Equal(member(g, "b"), member(r, "b")) })
			if i < 0 {
				i, out = len(out), append(out, value.ObjectOf("b", member(r, "b"), "a", int64(0), "c", nil))
			}
			g := out[i].(*value.Object)
			g.Set("a", member(g, "a").(int64)+1)
			g.Set("c", member(r, "a"))
		}
		return out
	}},
}

func naiveDedupe(rows []any, same func(x, y any) bool) []any {
	out := []any{}
	for _, r := range rows {
		if !slices.ContainsFunc(out, func(o any) bool { return same(o, r) }) {
			out = append(out, r)
		}
	}
	return out
}

// bare returns a row without its nulls.
func bare(row any) any {
	out := &value.Object{}
	for k, v := range row.(*value.Object).All() {
		if v != nil {
			out.Set(k, v)
		}
	}
	return out
}

// The node reports its progress from time to time, for arrays with the total number of
// rows.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		rows, batch int
		want        string
	}{
		{2*progressRows + 10, 0, fmt.Sprint([][2]int64{{progressRows, 2*progressRows + 10}, {2 * progressRows, 2*progressRows + 10}, {2*progressRows + 10, 2*progressRows + 10}})},
		{progressRows + 10, 1000, fmt.Sprint([][2]int64{{0, 0}, {progressRows, 0}})},
	} {
		told := [][2]int64{}
		shared := core.Shared{Reports: &core.Reports{Report: func(_ core.Input, done, of int64) { told = append(told, [2]int64{done, of}) }}, View: core.NewView([]string{"in"}, []any{numbers(c.rows)})}
		if c.batch > 0 {
			shared.Open = func(context.Context, string, *value.Object) (core.Stream, bool, error) {
				return &rowStream{rows: numbers(c.rows), sizes: []int{c.batch}}, true, nil
			}
		}
		if _, err := compiled(t, `{"filter": "false"}`, "").Handler.Handle(t.Context(), core.NewInput("r", "n", 1, shared)); err != nil || fmt.Sprint(told) != c.want {
			t.Errorf("%d rows: told %v, want %s, %v", c.rows, told, c.want, err)
		}
	}
}
