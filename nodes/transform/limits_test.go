package transform

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// What a step holds back is limited, for arrays and for streams.
func TestLimits(t *testing.T) {
	const long = `[{"derive": {"x": "concat($item.t, '` + "%s" + `')"}}]`
	text := strings.Repeat("x", 1000)
	for _, c := range []struct{ steps, more, want string }{
		{`{"group": {"by": ["n"], "aggregate": {"c": "count"}}}`, `"max_held": 99`, "steps[0]: group: more than 99 groups (max_held)"},
		{`{"group": {"by": ["n"], "aggregate": {"c": "count"}}}`, `"max_held": 100`, ""},
		{`{"group": {"by": ["t"], "aggregate": {"c": "list(n)"}}}`, `"max_held": 7`, ""},
		{`{"sort": ["-n"]}`, `"max_held": 99`, "steps[0]: sort: more than 99 rows (max_held)"},
		{`{"sort": ["-n"]}, {"limit": 3}`, `"max_held": 3`, ""},
		{`{"sort": ["-n"]}, {"limit": 3}`, `"max_held": 3, "max_memory": 20`, ""},
		{`{"filter": "$item.n < 50"}, {"sort": ["-n"]}`, `"max_held": 50`, ""},
		{`{"dedupe": ["n"]}`, `"max_held": 99`, "steps[0]: dedupe: more than 99 keys (max_held)"},
		{`{"dedupe": ["t"]}`, `"max_held": 7`, ""},
		{`{"dedupe": []}`, `"max_held": 1`, "steps[0]: dedupe: more than 1 row (max_held)"},
		{`{"window": {"by": ["n"], "columns": {"c": "row_number"}}}`, `"max_held": 99`, "steps[0]: window: more than 99 partitions (max_held)"},
		{`{"window": {"by": ["t"], "columns": {"c": "lag(n, 100)"}}}`, `"max_held": 7`, ""},
		{`{"sort": ["n"]}`, `"max_memory": "10KB"`, "steps[0]: sort: 64 rows take more than 10240 bytes of memory (max_memory)"},
		{`{"group": {"aggregate": {"l": "list(x)"}}}`, `"max_memory": "50KB"`, "steps[1]: group: row 50: l: 1 group takes more than 51200 bytes of memory (max_memory)"},
		{`{"group": {"by": ["x"], "aggregate": {"c": "count"}}}`, `"max_memory": "50KB"`, ""},
		{`{"group": {"aggregate": {"l": "count_distinct(x)", "p": "p50(n)", "m": "max(x)"}}}`, `"max_memory": "50KB"`, ""},
		{`{"group": {"aggregate": {"l": "count_distinct($item.n)"}}}`, `"max_memory": "5KB"`, "steps[0]: group: row 79: l: 1 group takes more than 5120 bytes of memory (max_memory)"},
		{`{"window": {"columns": {"l": "lag(x, 1000)"}}}`, `"max_memory": "50KB"`, "steps[1]: window: row 50: l: 1 partition takes more than 51200 bytes of memory (max_memory)"},
		{`{"window": {"columns": {"l": "min(x, 3)", "m": "max(x, 2)"}}}`, `"max_memory": "50KB"`, ""},
	} {
		steps := c.steps
		if strings.Contains(steps, "(x") || strings.Contains(steps, `["x"`) {
			steps = strings.Trim(fmt.Sprintf(long, text), "[]") + ", " + steps
		}
		for _, more := range []string{``, `, "stream": true`} {
			got := drained(t, compiled(t, steps, ", "+c.more+more), streamed(&rowStream{rows: numbers(100), sizes: []int{30}}, nil))
			if got.err != c.want {
				t.Errorf("%s, %s:\n got %q\nwant %q", c.steps, c.more, got.err, c.want)
			}
		}
	}
}

// countdown is a context that is cancelled after a number of calls of Err.
type countdown struct {
	context.Context
	looks int
}

func (c *countdown) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// Every step notices a cancellation while it works, even while it reads no rows: in
// a long sort, or in a join of one row with very many.
func TestCancelledInTheMiddle(t *testing.T) {
	many := numbers(run + 5)
	keys, err := value.NewKeys([]string{"one"})
	if err != nil {
		t.Fatal(err)
	}
	same := make([]any, 20_000)
	for i := range same {
		same[i] = value.NewRow(keys, []any{int64(1)})
	}
	for _, c := range []struct {
		name, steps string
		in, other   []any
	}{
		{"filter", `{"filter": "false"}`, many, nil},
		{"sort", `{"sort": ["t", "-n"]}`, many, nil},
		{"group", `{"group": {"by": ["n"], "aggregate": {"c": "count"}}}`, many, nil},
		{"join", `{"join": {"with": "other", "on": "one", "prefix": "o_"}}, {"filter": "false"}`, same[:1], same},
		{"a join of many rows", `{"join": {"with": "other", "on": "one", "prefix": "o_"}}, {"limit": 3}`, same[:1], many},
	} {
		handler := compiled(t, c.steps, "").Handler
		in := core.NewInput("r", "n", 1, core.Shared{View: core.NewView([]string{"in"}, []any{c.in}), Extra: core.NewView([]string{"other"}, []any{c.other})})
		looks := 0
		for ; ; looks = 2*looks + 1 {
			_, err := handler.Handle(&countdown{t.Context(), looks}, in)
			if errors.Is(err, context.Canceled) {
				continue
			}
			if err != nil && c.name != "a join of many rows" {
				t.Errorf("%s: %v", c.name, err)
			}
			break
		}
		if looks < 20 {
			t.Errorf("%s: looks at the context %d times for %d and %d rows", c.name, looks, len(c.in), len(c.other))
		}
	}
}
