package state

import (
	"math"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

func typed(merge string, g *value.GoType) core.FieldDecl {
	d := field("x", merge)
	d.Go = g
	return d
}

func integers(merge string) core.FieldDecl {
	d := field("x", merge)
	d.Type = &value.Type{Kind: value.IntegerType}
	return d
}

type (
	cents int64
	name  string
)

// MarshalJSON encodes an amount as something other than a number.
func (c cents) MarshalJSON() ([]byte, error) { return []byte(`"some money"`), nil }

// TestNumbers folds writes one by one and checks the resulting value. The fold ends at
// the first error.
func TestNumbers(t *testing.T) {
	const big = int64(1<<53 + 1) // not representable as a float64
	for _, c := range []struct {
		field  core.FieldDecl
		writes []any
		want   any // the error message, or the value with its exact type
	}{
		{integers("sum"), []any{big, int64(1), int64(-1)}, big},
		{integers("sum"), []any{big, 1.0}, big + 1},
		{integers("sum"), []any{2.0}, int64(2)},
		{integers("sum"), []any{int64(math.MaxInt64), int64(1)}, "9223372036854775807 + 1 does not fit a 64-bit integer"},
		{integers("sum"), []any{int64(math.MinInt64), int64(-1), int64(5)}, "does not fit"},
		{integers("sum"), []any{int64(math.MinInt64), int64(math.MaxInt64), int64(1)}, int64(0)},
		{field("x", "sum"), []any{big, int64(1)}, big + 1},
		{field("x", "sum"), []any{int64(1), 0.5}, 1.5},
		{field("x", "sum"), []any{1.0, 2.0}, 3.0},
		{field("x", "sum"), []any{int64(math.MaxInt64), int64(math.MaxInt64)}, float64(1 << 64)},
		{field("x", "sum"), []any{1e308, 1e308}, "does not fit a 64-bit float"},
		{typed("sum", value.GoTypeFor[int8]()), []any{int8(100), int8(100)}, "100 + 100 does not fit int8"},
		{typed("sum", value.GoTypeFor[uint8]()), []any{uint8(1), uint8(2)}, uint8(3)},
		{typed("sum", value.GoTypeFor[uint]()), []any{uint(math.MaxInt64), uint(1)}, "does not fit uint"},
		{typed("sum", value.GoTypeFor[float64]()), []any{1e308, 1e308}, "1e+308 + 1e+308 does not fit float64"},
		{typed("sum", value.GoTypeFor[float32]()), []any{float32(3e38), float32(3e38)}, "does not fit float32"},
		{typed("sum", value.GoTypeFor[cents]()), []any{cents(big), cents(2)}, cents(big + 2)},
		{integers("count"), []any{"a", nil, int64(7)}, int64(3)},
		{typed("count", value.GoTypeFor[int8]()), []any{int8(0), int8(0)}, int8(2)},
		{field("x", "min"), []any{float64(1 << 53), big}, float64(1 << 53)},
		{field("x", "max"), []any{float64(1 << 53), big}, big},
		{field("x", "max"), []any{big, float64(1 << 53)}, big},
		{field("x", "min"), []any{big, float64(1 << 53)}, float64(1 << 53)},
		{field("x", "max"), []any{int64(math.MaxInt64), float64(1 << 63)}, float64(1 << 63)},
		{field("x", "max"), []any{1.5, int64(2), nil, 1.75}, int64(2)},
		{field("x", "min"), []any{"b", "a", int64(3)}, int64(3)},
		{field("x", "max"), []any{int64(3), "b", "a"}, "b"},
		{typed("max", value.GoTypeFor[name]()), []any{name("a"), name("b"), name("a")}, name("b")},
		{typed("min", value.GoTypeFor[float32]()), []any{float32(2), float32(1)}, float32(1)},
	} {
		f := &schemaOf(t, c.field).Fields[0]
		col := NewColumn(f, value.Missing, nil)
		for i, w := range c.writes {
			v, err := f.Accept(w)
			if err != nil {
				t.Fatalf("%s %v: %v", f.strategy.Name, c.writes, err)
			}
			col.Resolve(i, v, nil)
		}
		got, failed := col.Last().(*FailedMerge)
		text, isText := c.want.(string)
		switch {
		case failed != (isText && f.strategy.Name == "sum"):
			t.Errorf("%s %v: got %v, want %v", f.strategy.Name, c.writes, col.Last(), c.want)
		case failed && !strings.Contains(got.Err.Error(), text):
			t.Errorf("%s %v: got %v, want %s", f.strategy.Name, c.writes, got.Err, text)
		case failed && got.Slot != 1:
			t.Errorf("%s %v: slot %d is blamed", f.strategy.Name, c.writes, got.Slot)
		case !failed && col.Last() != c.want:
			t.Errorf("%s %v: got %T %v, want %T %v", f.strategy.Name, c.writes, col.Last(), col.Last(), c.want, c.want)
		}
	}
}

// Strategies check the types of writes. Previously, writes they could not merge
// were accepted and ignored.
func TestNumbersAreAsked(t *testing.T) {
	for _, c := range []struct {
		field core.FieldDecl
		v     any
		start bool
		want  string
	}{
		{field("x", "sum"), "a", true, "want a number, got string"},
		{field("x", "sum"), []any{}, false, "want a number, got array"},
		{field("x", "count"), "a", true, "want a number, got string"},
		{field("x", "min"), true, false, "want a number or a string, got boolean"},
		{field("x", "max"), value.NewObject(0), true, "want a number or a string, got object"},
		{integers("sum"), 1.5, false, "want integer, got number 1.5"},
	} {
		f := &schemaOf(t, c.field).Fields[0]
		check := f.Accept
		if c.start {
			check = f.Start
		}
		if _, err := check(c.v); err == nil || err.Error() != c.want {
			t.Errorf("%s %v: got %v, want %s", f.strategy.Name, c.v, err, c.want)
		}
	}
}
