package state

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/gotype"
)

// mergeAgain is the definition of the strategies that columns merge in place: it merges one
// write into a copy of the value, without any knowledge about the value.
func mergeAgain(f *Field, old, new any) (any, error) {
	switch {
	case f.strategy.Name == "object_merge" && f.goType != nil:
		merged, _, err := mergeJSON(f, old, new)
		return merged, err
	case f.strategy.Name == "union" && f.goType != nil:
		return unionAgainGo(f, old, new)
	case f.strategy.Name == "union":
		list, _ := old.([]any)
		list, seen := append([]any{}, list...), map[string]bool{}
		for _, e := range list {
			seen[keyAgain(f, e)] = true
		}
		for _, e := range new.([]any) {
			if k := keyAgain(f, e); !seen[k] {
				seen[k] = true
				list = append(list, e)
			}
		}
		return list, nil
	}
	return f.strategy.merge(f, old, new, nil)
}

func unionAgainGo(f *Field, old, new any) (any, error) {
	add := reflect.ValueOf(new)
	list, seen := reflect.MakeSlice(add.Type(), 0, 0), map[string]bool{}
	if !empty(old) {
		list = reflect.ValueOf(old)
	}
	for i := range list.Len() {
		c, err := value.Canonical(list.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		seen[keyAgain(f, c)] = true
	}
	for i := range add.Len() {
		c, err := value.Canonical(add.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		if k := keyAgain(f, c); !seen[k] {
			seen[k] = true
			list = reflect.Append(list, add.Index(i))
		}
	}
	return list.Interface(), nil
}

func keyAgain(f *Field, e any) string {
	if o, ok := e.(*value.Object); ok && f.key != "" {
		if k, ok := o.Get(f.key); ok {
			e = k
		}
	}
	return value.JSON(normalize(e))
}

type leaf struct {
	N int            `json:"n,omitempty"`
	T time.Time      `json:"t"`
	M map[string]int `json:"m"`
}

type grade string

// goTypeOf is the GoType that NewField of package wavefold makes.
func goTypeOf[T any]() *value.GoType {
	c := gotype.New(reflect.TypeFor[T]())
	return &value.GoType{Type: reflect.TypeFor[T](), Check: c.Checker(), RunsUserCode: c.HasUserMethods(), KeepsIntegers: true,
		Decode: func(v any) (any, error) { return gotype.As[T](c, v) }}
}

var (
	keyNames     = rapid.SampledFrom([]string{"a", "b", "c", "ä", "\xff", "\xfe", "�", `"`, "d1", "d2"})
	anyNumber    = rapid.SampledFrom([]any{int64(0), 0.0, negativeZero, int64(1), 1.0, 1.5, int64(1<<53 + 1), float64(1 << 53), 1e20, -1e300, 7, uint8(7)})
	negativeZero = -1 / 1e400
)

// anyValue generates a value as a handler could write it.
func anyValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kind := rapid.IntRange(0, 11).Draw(t, "kind")
		if depth == 0 {
			kind = min(kind, 4)
		}
		switch kind {
		case 0:
			return nil
		case 1:
			return true
		case 2:
			return keyNames.Draw(t, "string")
		case 3, 4:
			return anyNumber.Draw(t, "number")
		case 5:
			return rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "list")
		case 6:
			return []any(nil)
		case 7:
			return map[string]any(nil)
		case 8:
			return rapid.MapOfN(keyNames, rapid.IntRange(0, 9), 0, 2).Draw(t, "map of int")
		case 9:
			return anyLeaf.Draw(t, "struct")
		}
		return rapid.MapOfN(keyNames, anyValue(depth-1), 0, 4).Draw(t, "map")
	})
}

var anyLeaf = rapid.Custom(func(t *rapid.T) leaf {
	l := leaf{N: rapid.IntRange(0, 2).Draw(t, "n"), T: time.Unix(int64(rapid.IntRange(0, 3).Draw(t, "t")), 0).UTC()}
	if rapid.Bool().Draw(t, "has map") {
		l.M = rapid.MapOfN(keyNames, rapid.IntRange(0, 9), 0, 3).Draw(t, "m")
	}
	return l
})

func asAny[T any](g *rapid.Generator[T]) *rapid.Generator[any] { return g.AsAny() }

// A column gives the same values as merging each write into a copy of the value before it,
// whatever it merges in place: for single writes and several at once, in any order, with
// readers at any prefix, and after a snapshot. No value that a reader got changes later, and
// neither does a write.
func TestMergesInPlace(t *testing.T) {
	keyed := field("x", "union")
	keyed.Key.Value = "a"
	lists := rapid.SliceOfN(anyValue(2), 0, 4)
	floats := rapid.SampledFrom([]float64{0, negativeZero, 1, 1.5, 1e19, 1e20, 1e-9, -3})
	for name, c := range map[string]struct {
		decl  core.FieldDecl
		write *rapid.Generator[any]
	}{
		"union":              {field("x", "union"), asAny(lists)},
		"union by key":       {keyed, asAny(lists)},
		"union of int":       {typed("union", goTypeOf[[]int]()), asAny(rapid.SliceOfN(rapid.IntRange(-9, 9), 0, 4))},
		"union of strings":   {typed("union", goTypeOf[[]grade]()), asAny(rapid.SliceOfN(rapid.Map(keyNames, func(s string) grade { return grade(s) }), 0, 4))},
		"union of structs":   {typed("union", goTypeOf[[]leaf]()), asAny(rapid.SliceOfN(anyLeaf, 0, 4))},
		"object":             {field("x", "object_merge"), asAny(rapid.MapOfN(keyNames, anyValue(3), 0, 3))},
		"map of any":         {typed("object_merge", goTypeOf[map[string]any]()), asAny(rapid.MapOfN(keyNames, anyValue(3), 0, 3))},
		"map of any, JSON":   {typed("object_merge", value.GoTypeFor[map[string]any]()), asAny(rapid.MapOfN(keyNames, anyValue(3), 0, 3))},
		"map of maps of any": {typed("object_merge", goTypeOf[map[string]map[string]any]()), asAny(rapid.MapOfN(keyNames, rapid.MapOfN(keyNames, anyValue(2), 0, 3), 0, 3))},
		"map of maps":        {typed("object_merge", goTypeOf[map[string]map[grade]float64]()), asAny(rapid.MapOfN(keyNames, rapid.MapOfN(rapid.Map(keyNames, func(s string) grade { return grade(s) }), floats, 0, 3), 0, 3))},
		"map of structs":     {typed("object_merge", goTypeOf[map[string]leaf]()), asAny(rapid.MapOfN(keyNames, anyLeaf, 0, 3))},
		"map by int":         {typed("object_merge", goTypeOf[map[int]map[string]string]()), asAny(rapid.MapOfN(rapid.IntRange(-2, 2), rapid.MapOfN(keyNames, keyNames, 0, 3), 0, 3))},
		"struct":             {typed("object_merge", goTypeOf[leaf]()), asAny(anyLeaf)},
		"union, snapshots":   {field("x", "union"), asAny(rapid.SliceOfN(rapid.IntRange(0, 9).AsAny(), 0, 4))},
		"object, snapshots":  {field("x", "object_merge"), asAny(rapid.MapOfN(rapid.StringN(1, 1, 1), rapid.MapOfN(rapid.StringN(1, 1, 1), rapid.IntRange(0, 9), 0, 3), 0, 3))},
		"context":            {field("x", ""), asAny(rapid.MapOfN(keyNames, anyValue(3), 0, 3))},
	} {
		t.Run(name, func(t *testing.T) {
			f := &schemaOf(t, c.decl).Fields[0]
			if name == "context" {
				f.MakeContext()
			}
			rapid.Check(t, func(t *rapid.T) { checkInPlace(t, f, c.write, strings.HasSuffix(name, "snapshots")) })
		})
	}
}

// Failed does not count as a read: the next merge still changes the value in place.
func TestFailedIsNoRead(t *testing.T) {
	f := &schemaOf(t, field("x", "")).Fields[0]
	f.MakeContext()
	c := NewColumn(f, value.NewObject(0), nil)
	c.SetReads(func(int) bool { return false })
	write := func(k int) any {
		c.Resolve(k, value.ObjectOf(fmt.Sprint(k), k), nil)
		return c.folded[len(c.folded)-1]
	}
	first := write(0)
	if c.Failed() || write(1) != first {
		t.Error("the second write was merged into a copy")
	}
	if c.Last(); write(2) == first {
		t.Error("a write changed a value that a reader has")
	}
}

func checkInPlace(t *rapid.T, f *Field, write *rapid.Generator[any], snapshots bool) {
	accepted := rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 15).Draw(t, "null") == 0 && f.strategy.Name == "object_merge" {
			return nil
		}
		v, err := f.Accept(write.Draw(t, "write"))
		if err != nil {
			return value.Missing
		}
		return v
	})
	n := rapid.IntRange(1, 12).Draw(t, "slots")
	slots, want := make([][]any, n), make([]any, n+1)
	start := rapid.Custom(func(t *rapid.T) any { return accepted.Draw(t, "start") }).Draw(t, "start")
	want[0] = start
	for k := range slots {
		v := want[k]
		for _, w := range rapid.SliceOfN(accepted, 0, 3).Draw(t, "writes") {
			if value.IsMissing(w) {
				continue
			}
			slots[k] = append(slots[k], w)
			if _, failed := v.(*FailedMerge); failed {
				continue
			}
			var err error
			if v, err = mergeAgain(f, v, w); err != nil {
				v = &FailedMerge{Slot: k, Err: err}
			}
		}
		want[k+1] = v
	}
	writes := show(slots)
	reads := rapid.SliceOfN(rapid.Bool(), n+1, n+1).Draw(t, "reads")
	guard := func(_ string, call func()) error { call(); return nil }
	newColumn := func() *Column {
		var c *Column
		if rapid.Bool().Draw(t, "ledger") {
			c = NewLedger(&Schema{Fields: []Field{*f}}, []int{n}, []any{start}, guard).Column(0)
		} else {
			c = NewColumn(f, start, guard)
		}
		if !slices.Contains(reads, false) {
			return c // every prefix
		}
		c.SetReads(func(k int) bool { return reads[k] })
		return c
	}
	c := newColumn()
	type got struct {
		k    int
		v    any
		text string
	}
	var seen []got
	look := func(k int, v any) {
		if g, w := show(v), show(want[k]); g != w {
			t.Fatalf("%s of %s: after %d of %s: got %s, want %s", f.strategy.Name, show(start), k, writes, g, w)
		}
		seen = append(seen, got{k, v, show(v)})
	}
	floor := 0
	for _, k := range rapid.Permutation(indexes(n)).Draw(t, "order") {
		switch len(slots[k]) {
		case 0:
			c.Resolve(k, value.Missing, nil)
		case 1:
			c.Resolve(k, slots[k][0], nil)
		default:
			c.Resolve(k, nil, slots[k])
		}
		if _, failed := want[c.Cursor()].(*FailedMerge); c.Failed() != failed {
			t.Fatalf("%s of %s: after %d of %s: Failed is %v", f.strategy.Name, show(start), c.Cursor(), writes, !failed)
		}
		for p := floor; p <= c.Cursor(); p++ {
			if reads[p] && rapid.Bool().Draw(t, "looks") {
				look(p, c.At(p))
			}
		}
		if rapid.Bool().Draw(t, "looks at the last") {
			look(c.Cursor(), c.Last())
		}
		// What no reader can look at any more is forgotten, as in a run.
		for floor < c.Cursor() && (!reads[floor] || rapid.Bool().Draw(t, "done")) {
			floor++
		}
		c.Forget(floor, false)
		if snapshots && rapid.Bool().Draw(t, "snapshot") {
			d, err := c.Dump()
			if err != nil {
				t.Fatal(err)
			}
			o, err := value.ParseJSON([]byte(value.JSON(d)))
			if err != nil {
				t.Fatal(err)
			}
			c = newColumn()
			if err := c.Load(o.(*value.Object)); err != nil {
				t.Fatal(err)
			}
		}
	}
	look(n, c.Last())
	for _, s := range seen {
		if got := show(s.v); got != s.text {
			t.Fatalf("the value that a reader got after %d writes changed from %s to %s", s.k, s.text, got)
		}
	}
	if got := show(slots); got != writes {
		t.Fatalf("the writes changed from %s to %s", writes, got)
	}
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// show describes a value with its types.
func show(v any) string {
	switch v := v.(type) {
	case *FailedMerge:
		return fmt.Sprintf("failed at %d: %v", v.Slot, v.Err)
	case *value.Object:
		s := "{"
		for k, e := range v.All() {
			s += fmt.Sprintf("%q: %s, ", k, show(e))
		}
		return s + "}"
	case []any:
		s := fmt.Sprintf("[%t ", v == nil)
		for _, e := range v {
			s += show(e) + ", "
		}
		return s + "]"
	case [][]any:
		s := ""
		for _, e := range v {
			s += show(e)
		}
		return s
	case map[string]any:
		s := fmt.Sprintf("map[%t ", v == nil)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			s += fmt.Sprintf("%q: %s, ", k, show(v[k]))
		}
		return s + "]"
	}
	return fmt.Sprintf("%#v", v)
}

// The cost of a write does not grow with the number of writes before it: for every strategy,
// for values in canonical form and of Go types, for one write after another and for all items
// of a fan-out. The cost is the number and the size of allocations.
func TestMergeCostIsConstant(t *testing.T) {
	ints := func(i int) any { return int64(i) }
	reduce := field("x", "")
	reduce.Reduce = func(old, v any) (any, error) {
		n, _ := old.(int64)
		return n + v.(int64), nil
	}
	context := field("x", "context")
	key := func(i int) string { return "k" + strconv.Itoa(i) }
	type cost struct {
		decl  core.FieldDecl
		write func(i int) any
	}
	cases := map[string]cost{
		"array_append, Go":        {typed("array_append", goTypeOf[[]int]()), func(i int) any { return []int{i} }},
		"union, Go":               {typed("union", goTypeOf[[]int]()), func(i int) any { return []int{i} }},
		"union, Go strings":       {typed("union", goTypeOf[[]string]()), func(i int) any { return []string{key(i)} }},
		"union, Go structs":       {typed("union", goTypeOf[[]leaf]()), func(i int) any { return []leaf{{N: i}} }},
		"union of objects":        {field("x", "union"), func(i int) any { return []any{value.ObjectOf("id", int64(i))} }},
		"union of equal elements": {field("x", "union"), func(i int) any { return []any{int64(i % 7)} }},
		"object_merge, nested":    {field("x", "object_merge"), func(i int) any { return value.ObjectOf("in", value.ObjectOf(key(i), int64(i))) }},
		"object_merge, Go any":    {typed("object_merge", goTypeOf[map[string]any]()), func(i int) any { return map[string]any{"in": map[string]any{key(i): i}} }},
		"object_merge, Go map":    {typed("object_merge", goTypeOf[map[string]map[string]int]()), func(i int) any { return map[string]map[string]int{"in": {key(i): i}} }},
		"object_merge, Go struct": {typed("object_merge", goTypeOf[map[string]leaf]()), func(i int) any { return map[string]leaf{key(i): {N: i}} }},
		"object_merge, Go object": {typed("object_merge", goTypeOf[map[string]any]()), func(i int) any { return map[string]any{key(i): leaf{N: i}} }},
		"reducer":                 {reduce, ints},
		"context":                 {context, func(i int) any { return value.ObjectOf(key(i), int64(i)) }},
	}
	for _, s := range Strategies() {
		c := cost{field("x", s.Name), ints}
		switch s.Name {
		case "array_append", "union":
			c.write = func(i int) any { return []any{int64(i)} }
		case "object_merge":
			c.write = func(i int) any { return value.ObjectOf(key(i), int64(i)) }
		}
		cases[s.Name] = c
	}
	for name, c := range cases {
		var f *Field
		if name == "context" {
			c.decl.Merge.Value = ""
			f = &schemaOf(t, c.decl).Fields[0]
			f.MakeContext()
		} else {
			f = &schemaOf(t, c.decl).Fields[0]
		}
		guard := func(_ string, call func()) error { call(); return nil }
		measure := func(n int, many bool) (allocs, bytes float64) {
			writes := make([]any, n)
			for i := range writes {
				writes[i] = c.write(i)
			}
			columns := NewLedger(&Schema{Fields: []Field{*f}}, []int{n + 1}, []any{value.Missing}, guard)
			col := columns.Column(0)
			col.SetReads(func(int) bool { return false })
			return allocated(n, func() {
				if many {
					col.Resolve(0, nil, writes)
					return
				}
				for k, w := range writes {
					col.Resolve(k, w, nil)
					col.Forget(col.Cursor(), false)
				}
			})
		}
		for _, many := range []bool{false, true} {
			if many && f.strategy.MayReject && f.reduce == nil {
				continue // the writes of a fan-out are tried one by one
			}
			a1, b1 := measure(1<<10, many)
			a2, b2 := measure(1<<14, many)
			if a2 > 1.3*a1+0.1 || b2 > 1.3*b1+16 {
				t.Errorf("%s, at once %t: %.1f allocations and %.0f B a write for 1024 writes, %.1f and %.0f B for 16384", name, many, a1, b1, a2, b2)
			}
		}
	}
}

// allocated returns the allocations and bytes of a function, divided by n.
func allocated(n int, f func()) (allocs, bytes float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}
