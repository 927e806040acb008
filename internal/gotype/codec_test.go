package gotype

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

type level int

type Named struct {
	ID    int64  `json:"id"`
	Title string `json:"title,omitempty"`
}

// everyType has a field of every kind of type.
type everyType struct {
	Named
	*Embedded
	Bool    bool
	Int     int
	Int8    int8
	Int64   int64
	Uint    uint
	Uint16  uint16
	F32     float32
	F64     float64
	Text    string `json:"text"`
	Level   level
	Wait    time.Duration
	Ptr     *int
	Deep    **Named
	List    []Named
	Array   [2]int
	Bytes   []byte
	Map     map[string]*Named
	ByLevel map[level]string
	Tree    *everyType
	Quoted  int64 `json:",string"`
	Skipped int   `json:"-"`
	Nested  struct {
		A []map[string][]int
	}
}

type Embedded struct{ Inner string }

// simple is everyType without the types that only decodeJSON can read.
type simple struct {
	Named
	B  bool
	I  int8
	U  uint32
	F  float64
	S  string
	P  *int64
	L  []Named
	A  [3]string
	M  map[string]int
	N  *simple
	LL [][]int
}

func TestDecodeIsTheInverseOfJSON(t *testing.T) {
	roundTrip[simple](t)
	roundTrip[everyType](t)
	roundTrip[[]Named](t)
	roundTrip[map[string]map[level]string](t)
	roundTrip[*Named](t)
	roundTrip[time.Duration](t)
}

// roundTrip checks for random values of a type that encoding and decoding preserve the
// value, that its declared type accepts it, and that a copy is equal.
func roundTrip[T any](t *testing.T) {
	t.Helper()
	c, declared := New(reflect.TypeFor[T]()), Of(reflect.TypeFor[T]())
	check := func(v T) bool {
		runtimeValue, err := value.Canonical(v)
		if err != nil {
			return true // an integer above int64
		}
		if err := declared.Check(runtimeValue); err != nil {
			t.Errorf("%T: the declared type refuses %s: %v", v, value.JSON(runtimeValue), err)
		}
		encoded, err := c.Encode(reflect.ValueOf(&v).Elem())
		if err != nil || !value.Equal(encoded, runtimeValue) || value.JSON(encoded) != value.JSON(runtimeValue) && !strings.Contains(value.JSON(encoded), ".0") {
			t.Errorf("%T: encoded %s, %v\nwant %s", v, value.JSON(encoded), err, value.JSON(runtimeValue))
		}
		got, err := As[T](c, runtimeValue)
		if err != nil || value.JSON(got) != value.JSON(v) {
			t.Errorf("%T: got %s, %v\nwant %s", v, value.JSON(got), err, value.JSON(v))
			return false
		}
		if !c.Flat() {
			var dup T
			if err := c.Copy(reflect.ValueOf(&dup).Elem(), reflect.ValueOf(v)); err != nil || !reflect.DeepEqual(dup, v) {
				t.Errorf("%T: copy %s, %v\nwant %s", v, value.JSON(dup), err, value.JSON(v))
				return false
			}
		}
		return true
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}

// A copy shares no memory with the original that is reachable through exported fields.
func TestCopySharesNothing(t *testing.T) {
	n := 5
	inner := &Named{1, "x"}
	type base struct{ Lent []string }
	type order struct{ base }
	o := order{base{[]string{"a"}}}
	var odup order
	if err := New(reflect.TypeFor[order]()).Copy(reflect.ValueOf(&odup).Elem(), reflect.ValueOf(o)); err != nil {
		t.Fatal(err)
	}
	if odup.Lent[0] = "changed"; o.Lent[0] != "a" {
		t.Error("an embedded struct lends what the copy shares")
	}
	v := everyType{Ptr: &n, Deep: &inner, List: []Named{{1, "a"}}, Bytes: []byte("abc"), Map: map[string]*Named{"k": {2, "b"}},
		Tree: &everyType{Text: "t"}, Embedded: &Embedded{"e"}}
	c := New(reflect.TypeFor[everyType]())
	var dup everyType
	if err := c.Copy(reflect.ValueOf(&dup).Elem(), reflect.ValueOf(v)); err != nil {
		t.Fatal(err)
	}
	before := value.JSON(v)
	*dup.Ptr, (*dup.Deep).Title, dup.List[0].Title, dup.Bytes[0], dup.Map["k"].Title, dup.Tree.Text = 6, "y", "y", 'y', "y", "y"
	dup.Map["new"] = nil
	if after := value.JSON(v); after != before {
		t.Errorf("the original is now\n%s\nwas\n%s", after, before)
	}
}

// Typed and untyped readers get copies by the same rule: the copies are equal, share
// nothing that is reachable through exported fields, and share what only unexported fields
// refer to.
func TestCopyIsClone(t *testing.T) {
	type lent struct{ List []int }
	type val struct {
		lent
		Any    any
		Array  [2]*int
		Object *value.Object
		hidden *int
		Tree   *everyType
	}
	c := New(reflect.TypeFor[val]())
	n := 1
	check := func(tree everyType, list []int, m map[string][]string) bool {
		v := val{lent{list}, m, [2]*int{&n, nil}, value.ObjectOf("a", []any{int64(1)}), &n, &tree}
		var dup val
		if err := c.Copy(reflect.ValueOf(&dup).Elem(), reflect.ValueOf(v)); err != nil {
			t.Fatal(err)
		}
		clone := value.Clone(v).(val)
		for _, w := range []val{dup, clone} {
			apart := w.Array[0] != &n && w.Object != v.Object && w.Tree != &tree && w.hidden == &n
			if !apart || len(list) > 0 && &w.List[0] == &list[0] || len(m) > 0 && reflect.ValueOf(w.Any).Pointer() == reflect.ValueOf(m).Pointer() {
				return false
			}
		}
		return reflect.DeepEqual(dup, clone) && reflect.DeepEqual(dup, v)
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 50}); err != nil {
		t.Error(err)
	}
}

func TestDecodeAnyKeepsDigits(t *testing.T) {
	type open struct {
		V any
		L []any
		M map[string]any
	}
	runtimeValue, err := value.ParseJSON([]byte(`{"V":{"id":9007199254740993,"f":1.5},"L":[9007199254740993,[null]],"M":{"x":[{"y":9007199254740993}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := As[open](New(reflect.TypeFor[open]()), runtimeValue)
	want := open{
		V: map[string]any{"id": int64(9007199254740993), "f": 1.5},
		L: []any{int64(9007199254740993), []any{nil}},
		M: map[string]any{"x": []any{map[string]any{"y": int64(9007199254740993)}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
}

func TestEncode(t *testing.T) {
	type inner struct{ A []int }
	type all struct {
		F     float64
		Empty string `json:"empty,omitempty"`
		List  []int  `json:",omitempty"`
		Any   any
		Nil   *int
		N     json.Number
		inner
		When time.Time
	}
	v := all{F: 119, Any: map[string]any{"b": 2.0, "a": []any{1, nil, inner{[]int{3}}}}, N: "12", inner: inner{[]int{1}}}
	want := `{"F":119.0,"Any":{"a":[1,null,{"A":[3]}],"b":2.0},"Nil":null,"N":12,"A":[1],"When":"0001-01-01T00:00:00Z"}`
	got, err := New(reflect.TypeFor[all]()).Encode(reflect.ValueOf(v))
	if err != nil || value.JSON(got) != want {
		t.Errorf("got %s, %v\nwant %s", value.JSON(got), err, want)
	}
	for _, bad := range []any{math.NaN(), uint64(math.MaxUint64), []any{make(chan int)}, map[string]any{"f": func() {}}} {
		if got, err := New(reflect.TypeOf(bad)).Encode(reflect.ValueOf(bad)); err == nil {
			t.Errorf("%T: got %v", bad, got)
		}
	}
	type ring struct{ Next any }
	r := &ring{}
	r.Next = r
	if _, err := New(reflect.TypeFor[*ring]()).Encode(reflect.ValueOf(r)); err == nil {
		t.Error("a value that refers to itself was encoded")
	}
	var dup *ring
	if err := New(reflect.TypeFor[*ring]()).Copy(reflect.ValueOf(&dup).Elem(), reflect.ValueOf(r)); err == nil {
		t.Error("a value that refers to itself was copied")
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct {
		into any
		json string
		want string
	}{
		{new(int8), `300`, "integer 300 does not fit int8"},
		{new(uint), `-1`, "integer -1 does not fit uint"},
		{new(int), `1.5`, "number 1.5 does not fit int"},
		{new(int), `3.0`, ""},
		{new(float32), `1e300`, "does not fit float32"},
		{new(string), `1`, "integer 1 does not fit string"},
		{new(bool), `"true"`, `string "true" does not fit bool`},
		{new([]int), `[1,"x"]`, `[1]: string "x" does not fit int`},
		{new([2]int), `[1]`, "array [1] does not fit [2]int"},
		{new(map[string]int), `{"a":{"b":1}}`, `a: object {"b":1} does not fit int`},
		{new(simple), `{"L":[{"id":"x"}]}`, `L: [0]: id: string "x" does not fit int64`},
		{new(simple), `[]`, "array [] does not fit gotype.simple"},
		{new(simple), `{"l":[{"ID":3}],"unknown":1}`, ""},
		{new(time.Time), `"yesterday"`, "does not fit time.Time"},
		{new(any), `null`, ""},
	} {
		runtimeValue, err := value.ParseJSON([]byte(tt.json))
		if err != nil {
			t.Fatal(err)
		}
		dst := reflect.ValueOf(tt.into).Elem()
		err = New(dst.Type()).Decode(dst, runtimeValue)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s into %s: got error %v, want %q", tt.json, dst.Type(), err, tt.want)
		}
	}
}

// FuzzDecode compares with encoding/json: inputs that both accept have the same result, and
// nothing panics. By design, the decoder accepts more (a float without a fraction as an
// integer) or less (an array of another length).
func FuzzDecode(f *testing.F) {
	f.Add(`{"id":1,"title":"x","B":true,"I":-3,"U":7,"F":1.5,"S":"s","P":null,"L":[{"id":2}],"A":["a","b","c"],"M":{"k":1},"N":{"id":3},"LL":[[1],[]]}`)
	f.Add(`{"ID":1,"n":{"N":{}}}`)
	f.Add(`[1,2]`)
	f.Fuzz(func(t *testing.T, text string) {
		runtimeValue, err := value.ParseJSON([]byte(text))
		if err != nil {
			return
		}
		mine, mineErr := As[simple](New(reflect.TypeFor[simple]()), runtimeValue)
		var theirs simple
		theirsErr := json.Unmarshal([]byte(text), &theirs)
		if mineErr == nil && theirsErr == nil && value.JSON(mine) != value.JSON(theirs) && !ambiguous(runtimeValue) {
			t.Errorf("%s\ngot  %s\njson %s", text, value.JSON(mine), value.JSON(theirs))
		}
	})
}

// ambiguous reports whether an object has keys that differ in case only, or arrays that
// encoding/json would truncate or pad.
func ambiguous(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if ambiguous(e) {
				return true
			}
		}
	case *value.Object:
		seen := map[string]bool{}
		for k, e := range v.All() {
			if seen[strings.ToLower(k)] || ambiguous(e) {
				return true
			}
			seen[strings.ToLower(k)] = true
		}
	}
	return false
}

// BenchmarkRows measures the conversion of structs to objects and of objects to structs.
func BenchmarkRows(b *testing.B) {
	type row struct {
		ID  int64
		V   float64
		Tag string
	}
	list := make([]row, 1024)
	for i := range list {
		list[i] = row{int64(i) << 20, float64(i) / 3, "tag"}
	}
	one, many := New(reflect.TypeFor[row]()), New(reflect.TypeFor[[]row]())
	made, err := many.Encode(reflect.ValueOf(list))
	if err != nil {
		b.Fatal(err)
	}
	perRow := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/row")
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			many.Encode(reflect.ValueOf(list))
		}
		perRow(b)
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		back := make([]row, len(list))
		for b.Loop() {
			clear(back)
			to := reflect.ValueOf(back)
			for i, o := range made.([]any) {
				if err := one.Decode(to.Index(i), o); err != nil {
					b.Fatal(err)
				}
			}
		}
		perRow(b)
	})
}
