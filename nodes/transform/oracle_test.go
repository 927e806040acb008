package transform

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// A slow, simple implementation of each step is the oracle for the fast one.

// long is a string that is too long for an unhashed key.
var long = strings.Repeat("long ", maxKey/5)

// anyValue draws values from a small range, so that equal keys, adjacent values and
// mixed types are common.
func anyValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64Range(-3, 3), func(i int64) any { return i }),
		rapid.Map(rapid.SampledFrom([]int64{1<<53 - 1, 1 << 53, 1<<53 + 1, -1 << 63, 1<<63 - 1}), func(i int64) any { return i }),
		rapid.Map(rapid.SampledFrom([]float64{-1.5, -1, 0, 0.5, 1, 2, 1 << 53, -1 << 63, 1 << 63, 1e300}), func(f float64) any { return f }),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "b", "ab", "1", "é", long, long + "x"}), func(s string) any { return s }),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 2), func(l []any) any { return l }),
			rapid.Custom(func(t *rapid.T) any {
				o := &value.Object{}
				for _, k := range rapid.Permutation([]string{"x", "y"}).Draw(t, "keys")[:rapid.IntRange(0, 2).Draw(t, "members")] {
					o.Set(k, anyValue(depth-1).Draw(t, k))
				}
				return o
			}))
	}
	return rapid.OneOf(kinds...)
}

// tables draws tables of the columns a, b and n, each of which may be absent. n holds
// only integers and nulls.
func tables(t *rapid.T, label string) []any {
	rows := make([]any, rapid.IntRange(0, 12).Draw(t, label))
	for i := range rows {
		row := &value.Object{}
		for _, k := range rapid.Permutation([]string{"a", "b", "n"}).Draw(t, "order") {
			if k == "n" {
				row.Set(k, rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Int64(), func(i int64) any { return i / 16 })).Draw(t, k))
			} else if rapid.IntRange(0, 9).Draw(t, "there") > 0 {
				row.Set(k, anyValue(1).Draw(t, k))
			}
		}
		rows[i] = row
	}
	if len(rows) > 0 { // columns that no row has are an error, which other tests cover
		first := rows[0].(*value.Object)
		for _, k := range []string{"a", "b"} {
			if _, ok := first.Get(k); !ok {
				first.Set(k, nil)
			}
		}
	}
	return rows
}

func member(row any, name string) any {
	v, _ := row.(*value.Object).Get(name)
	return v
}

func transformed(t *rapid.T, tb testing.TB, steps string, in, other []any) []any {
	made, ds := Kind.Compile(nodestest.Node(tb, `{"reads": ["in"], "writes": ["out"], "steps": [`+steps+`]}`), core.Env{})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	r, err := made.Handler.Handle(tb.Context(), core.NewInput("r", "n", 1, core.Shared{
		View:  core.NewView([]string{"in"}, []any{in}),
		Extra: core.NewView([]string{"other"}, []any{other}),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return r.Writes()["out"].([]any)
}

func sameRows(t *rapid.T, got, want []any) {
	t.Helper()
	if g, w := value.JSON(got), value.JSON(want); g != w {
		t.Fatalf("got\n%s\nwant\n%s", g, w)
	}
}

func TestOrderAndKeysAgreeWithEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b"), anyValue(2).Draw(t, "c")
		equal := value.Equal(a, b)
		if got := compare(a, b) == 0; got != equal {
			t.Fatalf("compare(%s, %s) = %d, Equal %v", value.JSON(a), value.JSON(b), compare(a, b), equal)
		}
		if got := string(appendKey(nil, a)) == string(appendKey(nil, b)); got != equal {
			t.Fatalf("keys of %s and %s are the same: %v, Equal %v", value.JSON(a), value.JSON(b), got, equal)
		}
		if compare(a, b) != -compare(b, a) {
			t.Fatalf("compare(%s, %s) = %d, turned around %d", value.JSON(a), value.JSON(b), compare(a, b), compare(b, a))
		}
		if compare(a, b) <= 0 && compare(b, c) <= 0 && compare(a, c) > 0 {
			t.Fatalf("%s <= %s <= %s, but the last is before the first", value.JSON(a), value.JSON(b), value.JSON(c))
		}
	})
}

// Each value comes before all that follow, and its key is distinct.
func TestOrder(t *testing.T) {
	ordered := []any{
		nil, false, true,
		-1e300, float64(-1 << 63), int64(-1<<63 + 1), -1.5, int64(-1), -0.5, int64(0), 0.5, int64(1), 1.5,
		int64(1<<53 - 1), float64(1 << 53), int64(1<<53 + 1), int64(1<<63 - 1), float64(1 << 63), 1e300,
		"", "1", "A", "a", "aa", "b", "é",
		[]any{}, []any{nil}, []any{int64(1)}, []any{int64(1), "a"}, []any{int64(2)},
		&value.Object{}, value.ObjectOf("x", int64(1)), value.ObjectOf("x", int64(2)), value.ObjectOf("y", int64(1)), value.ObjectOf("x", int64(1), "y", int64(1)),
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := compare(a, b), cmp.Compare(i, j); got != want {
				t.Errorf("compare(%s, %s) = %d, want %d", value.JSON(a), value.JSON(b), got, want)
			}
			if same := string(appendKey(nil, a)) == string(appendKey(nil, b)); same != (i == j) {
				t.Errorf("keys of %s and %s are the same: %v", value.JSON(a), value.JSON(b), same)
			}
		}
	}
	for _, pair := range [][2]any{
		{int64(1), 1.0}, {int64(0), math.Copysign(0, -1)}, {float64(1 << 53), int64(1 << 53)}, {int64(-1 << 63), float64(-1 << 63)},
		{value.ObjectOf("x", int64(1), "y", nil), value.ObjectOf("y", nil, "x", 1.0)}, {[]any{int64(1)}, []any{1.0}},
	} {
		if compare(pair[0], pair[1]) != 0 || string(appendKey(nil, pair[0])) != string(appendKey(nil, pair[1])) {
			t.Errorf("%s and %s are equal", value.JSON(pair[0]), value.JSON(pair[1]))
		}
	}
}

// A sequence of keys is unambiguous: (x, y) differs from (xy, "").
func TestKeysDoNotRunTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(anyValue(1), 2, 2).Draw(t, "a"), rapid.SliceOfN(anyValue(1), 2, 2).Draw(t, "b")
		ka, kb := appendKey(appendKey(nil, a[0]), a[1]), appendKey(appendKey(nil, b[0]), b[1])
		if same := string(short(ka)) == string(short(kb)); same != (value.Equal(a[0], b[0]) && value.Equal(a[1], b[1])) {
			t.Fatalf("%s and %s: keys are the same: %v", value.JSON(a), value.JSON(b), same)
		}
	})
}

// Keys with the same hash are distinguished, whatever the size of the table.
func TestIndex(t *testing.T) {
	for _, hash := range []func(int) uint32{
		func(i int) uint32 { return 7 }, func(i int) uint32 { return uint32(i % 3) }, func(i int) uint32 { return ^uint32(0) }, func(i int) uint32 { return uint32(i) },
	} {
		x := newIndex(2)
		for i := range 300 {
			key := []any{int64(i % 100), fmt.Sprint(i % 150)}
			n, added := x.hashed(key, hash(i%300))
			if n != i || !added || value.JSON(x.key(n)) != value.JSON(key) {
				t.Fatalf("key %d has number %d, added %v", i, n, added)
			}
		}
		for i := range 300 {
			if n, added := x.hashed([]any{float64(i % 100), fmt.Sprint(i % 150)}, hash(i)); n != i || added {
				t.Fatalf("key %d has number %d, added %v", i, n, added)
			}
		}
	}
}

// Equal values have equal hashes.
func TestHashAgreesWithEqual(t *testing.T) {
	x := newIndex(1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b")
		if value.Equal(a, b) && x.hash([]any{a}) != x.hash([]any{b}) {
			t.Fatalf("%s and %s are equal and have different hashes", value.JSON(a), value.JSON(b))
		}
		if sameValue(a, b) != value.Equal(a, b) {
			t.Fatalf("%s and %s: same %v", value.JSON(a), value.JSON(b), sameValue(a, b))
		}
		for _, down := range []bool{false, true} {
			ra, ea := rough(a, down)
			rb, eb := rough(b, down)
			c, r := compare(a, b), cmp.Compare(ra, rb)
			if down {
				r = -r
			}
			if r != 0 && r != c || c == 0 && r != 0 || r == 0 && ea && eb && c != 0 {
				t.Fatalf("%s and %s compare as %d, roughly (down %v) as %d, exact %v and %v", value.JSON(a), value.JSON(b), c, down, r, ea, eb)
			}
		}
	})
}

// NaN equals itself when rows are compared, and comes before all other numbers.
func TestNaN(t *testing.T) {
	nan, other := math.NaN(), math.Float64frombits(math.Float64bits(math.NaN())^1)
	x := newIndex(1)
	for i, v := range []any{nan, other, nan, 1.0} {
		if n, _ := x.number([]any{v}); n != i/3 {
			t.Errorf("%v (%d) has number %d", v, i, n)
		}
	}
	for _, v := range []any{int64(-1 << 63), math.Inf(-1), 0.0, int64(5), "a"} {
		if compare(nan, v) >= 0 || compare(v, nan) <= 0 || roughly(nan) > roughly(v) {
			t.Errorf("NaN is not before %v", v)
		}
	}
	if compare(nan, other) != 0 || compare(nan, true) <= 0 || string(appendKey(nil, nan)) != string(appendKey(nil, other)) {
		t.Error("NaN is not equal to itself, or before true")
	}
}

func roughly(v any) roughValue {
	n, _ := rough(v, false)
	return n
}

// Long tables are sorted in runs that are merged. With a limit, the first rows are
// found without keeping the others.
func TestSortOfManyRows(t *testing.T) {
	keys, err := value.NewKeys([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]any, 2*run+17)
	for i := range rows {
		rows[i] = value.NewRow(keys, []any{int64(i) * 7919 % 1009, int64(i)})
	}
	for _, order := range []string{`"a"`, `"-a"`} {
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(x, y any) int {
			c := compare(member(x, "a"), member(y, "a"))
			if order != `"a"` {
				return -c
			}
			return c
		})
		for _, limit := range []int{1, 2000} {
			r, err := compiled(t, fmt.Sprintf(`{"sort": [%s]}, {"limit": %d}`, order, limit), "").Handler.Handle(t.Context(),
				core.NewInput("r", "n", 1, core.Shared{View: core.NewView([]string{"in"}, []any{rows})}))
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Writes()["out"].([]any); !slices.Equal(got, want[:limit]) {
				t.Errorf("%s, limit %d: other rows", order, limit)
			}
		}
		r, err := compiled(t, `{"sort": [`+order+`]}`, "").Handler.Handle(t.Context(), core.NewInput("r", "n", 1, core.Shared{View: core.NewView([]string{"in"}, []any{rows})}))
		if err != nil || !slices.Equal(r.Writes()["out"].([]any), want) {
			t.Errorf("%s: other rows, %v", order, err)
		}
	}
}

func TestSortOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := tables(rt, "rows")
		want := slices.Clone(in)
		sort.SliceStable(want, func(i, j int) bool {
			if c := compare(member(want[i], "a"), member(want[j], "a")); c != 0 {
				return c > 0
			}
			return compare(member(want[i], "b"), member(want[j], "b")) < 0
		})
		sameRows(rt, transformed(rt, t, `{"sort": ["-a", "b"]}`, in, nil), want)
	})
}

func TestDedupeOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := tables(rt, "rows")
		var want []any
		for _, r := range in {
			if !slices.ContainsFunc(want, func(w any) bool { return value.Equal(member(w, "a"), member(r, "a")) }) {
				want = append(want, r)
			}
		}
		sameRows(rt, transformed(rt, t, `{"dedupe": ["a"]}`, in, nil), want)
	})
}

func TestJoinOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in, other := tables(rt, "rows"), tables(rt, "other")
		kind := rapid.SampledFrom([]string{"inner", "left"}).Draw(rt, "kind")
		want := []any{}
		for _, l := range in {
			add := func(b, n any) {
				row := l.(*value.Object).Copy(2)
				row.Set("o_b", b)
				row.Set("o_n", n)
				want = append(want, row)
			}
			found := false
			for _, r := range other {
				if k := member(r, "a"); k != nil && value.Equal(k, member(l, "a")) {
					found = true
					add(member(r, "b"), member(r, "n"))
				}
			}
			if !found && kind == "left" {
				add(nil, nil)
			}
		}
		sameRows(rt, transformed(rt, t, `{"join": {"with": "other", "on": "a", "kind": "`+kind+`", "prefix": "o_", "take": ["b", "n"]}}`, in, other), want)
	})
}

func TestGroupOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := tables(rt, "rows")
		var groups [][]any
		for _, r := range in {
			i := slices.IndexFunc(groups, func(g []any) bool { return value.Equal(member(g[0], "a"), member(r, "a")) })
			if i < 0 {
				i, groups = len(groups), append(groups, nil)
			}
			groups[i] = append(groups[i], r)
		}
		want := []any{}
		for _, g := range groups {
			want = append(want, naiveGroup(g))
		}
		sameRows(rt, transformed(rt, t, `{"group": {"by": ["a"], "aggregate": {"rows": "count", "n": "count(n)", "s": "sum(n)", "lo": "min(n)", "hi": "max(n)",
			"mid": "p50(n)", "l": "list(b)", "f": "first(b)", "z": "last(b)", "d": "count_distinct(b)"}}}`, in, nil), want)
	})
}

// The floats are sums of powers of two, so that adding them in any order needs no
// rounding.
func TestWindowOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := make([]any, rapid.IntRange(0, 20).Draw(rt, "rows"))
		for i := range in {
			x := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Int64Range(-1<<58, 1<<58), func(i int64) any { return i }),
				rapid.Map(rapid.Int64Range(-3, 3), func(i int64) any { return i }),
				rapid.Map(rapid.IntRange(-8, 8), func(i int) any { return float64(i) / 4 })).Draw(rt, "x")
			in[i] = value.ObjectOf("k", rapid.SampledFrom([]any{nil, "a", int64(1), 1.0}).Draw(rt, "k"), "x", x)
		}
		rows := rapid.IntRange(1, 4).Draw(rt, "window")
		text := strings.ReplaceAll(`{"window": {"by": ["k"], "columns": {"i": "row_number", "l": "lag(x, N)", "lo": "min(x, N)", "hi": "max(x)", "s": "sum(x, N)", "all": "sum(x)", "m": "mean(x, N)"}}}`, "N", fmt.Sprint(rows))
		var want []any
		for i, r := range in {
			var part []any // of the row, so far
			for _, o := range in[:i+1] {
				if value.Equal(member(o, "k"), member(r, "k")) {
					part = append(part, member(o, "x"))
				}
			}
			recent := part[max(0, len(part)-rows):]
			var lag any
			if len(part) > rows {
				lag = part[len(part)-1-rows]
			}
			var sorted []any
			for _, x := range recent {
				if x != nil {
					sorted = append(sorted, x)
				}
			}
			slices.SortStableFunc(sorted, compare)
			greatest := slices.Clone(part)
			slices.SortStableFunc(greatest, compare)
			var lo, mean any
			s, all := naiveSum(recent), naiveSum(part)
			if len(sorted) > 0 {
				lo, mean = sorted[0], naiveMean(sorted)
			}
			want = append(want, set(r.(*value.Object), "i", int64(len(part)), "l", lag, "lo", lo, "hi", greatest[len(greatest)-1], "s", s, "all", all, "m", mean))
		}
		if len(want) == 0 {
			want = []any{}
		}
		got := transformed(rt, t, text, in, nil)
		if !value.Equal(got, want) {
			rt.Fatalf("%s\ngot\n%s\nwant\n%s", text, value.JSON(got), value.JSON(want))
		}
	})
}

// naiveSum adds integers exactly, and floats separately.
func naiveSum(list []any) any {
	whole, part, float := new(big.Int), 0.0, false
	for _, x := range list {
		switch n := x.(type) {
		case int64:
			whole.Add(whole, big.NewInt(n))
		case float64:
			part += n
			float = true
		}
	}
	if !float {
		return whole.Int64()
	}
	f, _ := new(big.Float).SetInt(whole).Float64()
	return f + part
}

func naiveMean(list []any) any {
	switch s := naiveSum(list).(type) {
	case int64:
		return float64(s) / float64(len(list))
	default:
		return s.(float64) / float64(len(list))
	}
}

func naiveGroup(rows []any) *value.Object {
	total := new(big.Int)
	var numbers []int64
	bs, distinct := []any{}, []any{}
	for _, r := range rows {
		if n, ok := member(r, "n").(int64); ok {
			total.Add(total, big.NewInt(n))
			numbers = append(numbers, n)
		}
		b := member(r, "b")
		bs = append(bs, b)
		if b != nil && !slices.ContainsFunc(distinct, func(d any) bool { return value.Equal(d, b) }) {
			distinct = append(distinct, b)
		}
	}
	slices.Sort(numbers)
	var lo, hi, mid any
	if n := len(numbers); n > 0 {
		lo, hi, mid = numbers[0], numbers[n-1], numbers[(n+1)/2-1]
	}
	return value.ObjectOf("a", member(rows[0], "a"), "rows", int64(len(rows)), "n", int64(len(numbers)), "s", total.Int64(), "lo", lo, "hi", hi,
		"mid", mid, "l", bs, "f", bs[0], "z", bs[len(bs)-1], "d", int64(len(distinct)))
}

func TestWideSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w wide
		total := new(big.Int)
		for _, n := range rapid.SliceOf(rapid.Int64()).Draw(t, "numbers") {
			w.add(n)
			total.Add(total, big.NewInt(n))
		}
		n, ok := w.int64()
		if ok != total.IsInt64() || ok && n != total.Int64() {
			t.Fatalf("%d, %v, want %v", n, ok, total)
		}
		want, _ := new(big.Float).SetInt(total).Float64()
		if got := w.float(); math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
