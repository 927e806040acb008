package value

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func mustKeys(t testing.TB, names ...string) *Keys {
	t.Helper()
	k, err := NewKeys(names)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNewKeysRefusesDuplicates(t *testing.T) {
	if _, err := NewKeys([]string{"a", "b", "a"}); err == nil {
		t.Fatal("a key that appears twice was accepted")
	}
}

// Rows of one header are independent objects: whatever is done to one, the
// others and the header stay as they were, and the row behaves like an object
// that was built key by key.
func TestRowsShareKeysOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2*indexFrom).Draw(t, "columns")
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprint("c", i)
		}
		keys, err := NewKeys(names)
		if err != nil {
			t.Fatal(err)
		}
		slab := make([]any, 2*n)
		for i := range slab {
			slab[i] = int64(i)
		}
		row, other := NewRow(keys, slab[:n]), NewRow(keys, slab[n:])
		want, before := row.Copy(0), JSON(other)
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			key := fmt.Sprint("c", rapid.IntRange(0, n+3).Draw(t, "key"))
			if rapid.Bool().Draw(t, "delete") {
				row.Delete(key)
				want.Delete(key)
			} else {
				row.Set(key, "new")
				want.Set(key, "new")
			}
		}
		if JSON(row) != JSON(want) {
			t.Fatalf("row %s, want %s", JSON(row), JSON(want))
		}
		for k, v := range want.All() {
			if got, ok := row.Get(k); !ok || !Equal(got, v) {
				t.Fatalf("Get(%s) = %v, %v", k, got, ok)
			}
		}
		if JSON(other) != before || len(keys.Names()) != n {
			t.Fatalf("a change of one row reached another: %s, was %s", JSON(other), before)
		}
	})
}

func TestNewRowPanicsOnWrongLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("two values for one key were accepted")
		}
	}()
	NewRow(mustKeys(t, "a"), []any{1, 2})
}

// built keeps the benchmark's objects on the heap.
var built *Object

func BenchmarkRow(b *testing.B) {
	for _, n := range []int{5, 14} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprint("column", i)
		}
		keys := mustKeys(b, names...)
		b.Run(fmt.Sprintf("build=object/columns=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				built = NewObject(n)
				for _, k := range names {
					built.Set(k, nil)
				}
			}
		})
		b.Run(fmt.Sprintf("build=row/columns=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				built = NewRow(keys, make([]any, n))
			}
		})
	}
}
