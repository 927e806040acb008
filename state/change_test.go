package state

import (
	"errors"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

func changedColumn(t *testing.T, at int) *Column {
	c := NewColumn(&schemaOf(t, field("xs", "array_append")).Fields[0], []any{"start"}, nil)
	for level, v := range []any{[]any{"low"}, []any{"high"}} {
		c.Change(&Change{At: at, Level: int32(level + 3), Apply: func(any) (any, error) { return v, nil }})
	}
	c.Begin()
	return c
}

// Readers of lower levels do not see a change, although no writer is between them and the change, and
// writes after it are merged with the new value. A restored column has the same values.
func TestChange(t *testing.T) {
	for at := range 3 {
		for forget := range 4 {
			c := changedColumn(t, at)
			for k := range 3 {
				c.Resolve(k, []any{fmt.Sprint("w", k)}, nil)
			}
			c.Forget(forget, false)
			d, err := c.Dump()
			if err != nil {
				t.Fatal(err)
			}
			restored := changedColumn(t, at)
			if err := restored.Load(d); err != nil {
				t.Fatal(err)
			}
			want := []string{"start", "w0", "w1"}[:at+1]
			for i, c := range []*Column{c, restored} {
				what := fmt.Sprintf("change at %d, %d forgotten, restored %d", at, forget, i)
				if at >= forget || at == 0 {
					if got := c.AtLevel(at, 2); value.JSON(got) != value.JSON(anys(want)) {
						t.Errorf("%s: on level 2 %s, want %v", what, value.JSON(got), want)
					}
					if got := value.JSON(c.AtLevel(at, 3)); got != `["low"]` {
						t.Errorf("%s: on level 3 %s", what, got)
					}
					if got := value.JSON(c.At(at)); got != `["high"]` {
						t.Errorf("%s: %s", what, got)
					}
				}
				last := []any{"high"}
				for k := at; k < 3; k++ {
					last = append(last, fmt.Sprint("w", k))
				}
				if got := value.JSON(c.Last()); got != value.JSON(last) {
					t.Errorf("%s: at the end %s, want %s", what, got, value.JSON(last))
				}
			}
		}
	}
}

func anys(list []string) (out []any) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

func TestChangeThatFails(t *testing.T) {
	c := NewColumn(&schemaOf(t, field("n", "sum")).Fields[0], int64(1), nil)
	c.Change(&Change{At: 1, Apply: func(any) (any, error) { return nil, errors.New("no") }})
	c.Resolve(0, int64(2), nil)
	c.Resolve(1, int64(3), nil)
	if f, ok := c.Last().(*FailedMerge); !ok || f.Slot != -1 || f.Err.Error() != "no" {
		t.Errorf("the value is %v", c.Last())
	}
}
