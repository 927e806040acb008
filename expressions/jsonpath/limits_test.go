package jsonpath

import (
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// nest returns objects and arrays nested to the given depth, each with one member,
// around a number.
func nest(depth int) any {
	v := any(int64(1))
	for i := range depth {
		if i%2 == 0 {
			v = []any{v}
		}
		v = value.ObjectOf("a", v)
	}
	return v
}

// TestLimits checks the limits of paths with several "..", each of which starts again
// from all matches of the previous one. Without limits, a path over a value of 100
// levels has more matches than fit in memory, and a path without matches does not end.
func TestLimits(t *testing.T) {
	descents := strings.Repeat("..a", 12)
	union := "[" + strings.Repeat("0,", 99) + "0]"
	zeros := make([]any, 1000)
	deep := any(int64(1))
	for range 8 {
		deep = []any{deep}
	}
	for _, tt := range []struct {
		name, path string
		field      any
		want       string
	}{
		{"matches", "$.x" + descents, nest(100), "gives more than 10000 values"},
		{"work without matches", "$.x" + descents + "..b", nest(100), "looks at too many values: gave up after 1000000 steps with 0 matches"},
		{"work below few matches", "$.x..a[0]" + descents + "..b", nest(100), "looks at too many values"},
		{"wildcards after descents", "$.x" + strings.Repeat("..*", 12), nest(100), "gives more than 10000 values"},
		{"unions that repeat an index", "$.x" + strings.Repeat(union, 8), deep, "gives more than 10000 values"},
		{"unions that lead nowhere", "$.x" + strings.Repeat(union, 7) + ".b", deep, "looks at too many values"},
		{"slices", "$.x" + strings.Repeat("..[0:]", 12), nest(100), "gives more than 10000 values"},
		{"filters", "$.x" + strings.Repeat("..[?(@.a)]", 12), nest(100), "gives more than 10000 values"},
		{"long filters", "$.x..[?(" + strings.Repeat("!@.b && ", 1500) + "@.b)]", zeros, "looks at too many values"},
		{"long unions", "$.x..[" + strings.Repeat("7000,", 5000) + "7000]", zeros, "looks at too many values"},
		{"as many as there may be", "$.x[*]", make([]any, 10_000), ""},
		{"one more", "$.x[*]", make([]any, 10_001), "gives more than 10000 values"},
		{"one descent", "$.x..a", nest(900), ""},
	} {
		p, ds := Compile(source.Text{Value: tt.path})
		if p == nil {
			t.Fatal(tt.name, ds)
		}
		got, err := p.from(tt.field, nil, 10_000, 1_000_000)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want == "":
		case err == nil || got != nil || !strings.Contains(err.Error(), tt.path) || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %d values and %v, want %q", tt.name, len(got), err, tt.want)
		case !isLimit(err):
			t.Errorf("%s: %T is not a LimitError", tt.name, err)
		}
	}
}

func isLimit(err error) bool {
	_, ok := errors.AsType[*LimitError](err)
	return ok
}

// TestStop checks that an evaluation calls stop regularly and ends soon after stop
// returns true.
func TestStop(t *testing.T) {
	p, _ := Compile(source.Text{Value: "$.x" + strings.Repeat("..a", 12) + "..b"})
	asked := 0
	out, err := p.From(nest(100), func() bool { asked++; return asked == 5 })
	if !errors.Is(err, ErrStopped) || out != nil || asked != 5 || !strings.Contains(err.Error(), p.String()) {
		t.Errorf("asked %d times: %v, %v", asked, out, err)
	}
	asked = 0
	p, _ = Compile(source.Text{Value: "$.x[*].a"})
	rows := make([]any, 100_000)
	for i := range rows {
		rows[i] = value.ObjectOf("a", int64(i))
	}
	if out, err := p.From(rows, func() bool { asked++; return false }); err != nil || len(out) != len(rows) || asked < len(rows)/checkInterval {
		t.Errorf("asked %d times for %d rows: %d, %v", asked, len(rows), len(out), err)
	}
}
