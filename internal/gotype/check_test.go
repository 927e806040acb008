package gotype

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// picky encodes itself unless its value is odd; shy has the method on its pointer only.
type (
	picky int
	shy   int
	key   int
)

func (p picky) MarshalJSON() ([]byte, error) { return oddly(int(p)) }
func (s *shy) MarshalJSON() ([]byte, error)  { return oddly(int(*s)) }
func (k key) MarshalText() ([]byte, error)   { return oddly(int(k)) }

func oddly(n int) ([]byte, error) {
	if n%2 != 0 {
		return nil, errors.New("odd")
	}
	return json.Marshal(n)
}

// hazards has values without a JSON form in all positions.
type hazards struct {
	F      float64
	Fs     []float64
	F32    []float32
	U      uint64
	Us     map[string]uint
	Any    any
	Anys   map[string]any
	When   time.Time
	Whens  []*time.Time
	Picky  picky
	Shy    shy
	Shies  []shy
	ShyPtr *shy
	Keys   map[key]int
	Tree   *hazards
	Fn     func() `json:"-"`
	hidden float64
	Inner  struct{ Ch []chan int }
}

// Generate returns a value that is mostly harmless.
func (hazards) Generate(r *rand.Rand, depth int) hazards {
	rare := func(bad, good float64) float64 {
		if r.IntN(25) == 0 {
			return bad
		}
		return good
	}
	n := func() int { return 2*r.IntN(9) + int(rare(1, 0)) }
	h := hazards{F: rare(math.NaN(), 1), Fs: []float64{1, rare(math.Inf(1), 2)}, F32: []float32{float32(rare(math.NaN(), 1))},
		U: uint64(rare(1<<63, 7)), Us: map[string]uint{"a": uint(rare(1<<63, 1)), "b": uint(rare(1<<63, 2))},
		When:  time.Date(int(rare(12000, 2020)), 1, 1, 0, 0, 0, 0, time.FixedZone("", int(rare(90000, 3600)))),
		Picky: picky(n()), Shy: shy(n()), Shies: []shy{shy(n()), 4}, Keys: map[key]int{key(n()): 1}, hidden: math.NaN(), Fn: func() {}}
	later := h.When
	h.Whens = []*time.Time{nil, &later}
	if s := shy(n()); s < 8 {
		h.ShyPtr = &s
	}
	held := []any{nil, true, "a", 1, int64(2), 2.5, rare(math.NaN(), 0), []any{1, rare(math.Inf(-1), 0)}, map[string]any{"x": rare(math.NaN(), 3)},
		picky(n()), []float64{rare(math.NaN(), 0)}, value.ObjectOf("a", rare(math.NaN(), 1)), struct{ A any }{rare(math.NaN(), 1)}, map[string]picky{"k": picky(n())}}
	h.Any, h.Anys = held[r.IntN(len(held))], map[string]any{"k": held[r.IntN(len(held))], "l": nil}
	if r.IntN(25) == 0 {
		h.Inner.Ch = make([]chan int, r.IntN(2))
	}
	if depth > 0 && r.IntN(3) == 0 {
		t := h.Generate(r, depth-1)
		h.Tree = &t
	}
	return h
}

// A checker finds every value without a JSON form, and no other.
func TestCheckFindsWhatCannotBeWritten(t *testing.T) {
	check := New(reflect.TypeFor[hazards]()).Checker()
	bad := 0
	for seed := range uint64(4000) {
		h := hazards{}.Generate(rand.New(rand.NewPCG(seed, 3)), 3)
		_, want := value.Canonical(h)
		got := check(h)
		if (got == nil) != (want == nil) {
			t.Fatalf("seed %d: got %v, the JSON form says %v", seed, got, want)
		}
		if want != nil {
			bad++
		}
	}
	if bad < 400 || bad > 3600 {
		t.Errorf("%d of 4000 values have no JSON form: that proves little", bad)
	}
	whole := New(reflect.TypeFor[everyType]()).Checker()
	if err := quick.Check(func(v everyType) bool {
		_, err := value.Canonical(v)
		return (whole(v) == nil) == (err == nil)
	}, nil); err != nil {
		t.Error(err)
	}
}

// Types all of whose values have a JSON form need no checker.
func TestCheckOfHarmlessTypes(t *testing.T) {
	type row struct {
		ID   int64
		Name string
		Tags []string
		By   map[string]*[]int32
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[[]row](), reflect.TypeFor[map[string]row](), reflect.TypeFor[int8](), reflect.TypeFor[time.Duration]()} {
		if New(typ).Checker() != nil {
			t.Errorf("%s is checked", typ)
		}
	}
}

func TestForeign(t *testing.T) {
	type plain struct {
		ID   int
		When time.Time
		Next *plain
		By   map[string][]float64
	}
	type open struct{ Rows []map[string]any }
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[[]plain]():          false,
		reflect.TypeFor[time.Duration]():    false,
		reflect.TypeFor[*value.Object]():    false,
		reflect.TypeFor[open]():             true,
		reflect.TypeFor[[]shy]():            true,
		reflect.TypeFor[map[key]int]():      true,
		reflect.TypeFor[map[string]picky](): true,
	} {
		if New(typ).HasUserMethods() != want {
			t.Errorf("%s: want %t", typ, want)
		}
	}
}

func TestCheckErrors(t *testing.T) {
	type order struct {
		Lines []struct{ Price float64 }
		Next  *order
		Any   any
	}
	o := &order{Lines: make([]struct{ Price float64 }, 3)}
	o.Lines[2].Price = math.Inf(1)
	ring := &order{}
	ring.Next = ring
	held := &order{}
	held.Any = held
	long := func(n int) *order {
		o := &order{}
		for range n {
			o = &order{Next: o}
		}
		return o
	}
	type loop *loop
	var self loop
	self = &self
	list := []any{nil}
	list[0] = list
	for _, c := range []struct {
		v    any
		want string
	}{
		{order{Next: o}, "Next: Lines: [2]: Price: +Inf has no JSON form"},
		{map[string]float64{"b": math.NaN(), "a": math.NaN(), "c": 1}, "a: NaN has no JSON form"},
		{[]any{1, list}, "a value of type []interface {} nests deeper than 1000: does it refer to itself?"},
		{order{Any: func() {}}, "Any: func() has no JSON form"},
		{long(900), ""},
		{long(1100), "a value of type *gotype.order nests deeper than 1000: does it refer to itself?"},
		{ring, "a value of type *gotype.order nests deeper than 1000: does it refer to itself?"},
		{held, "a value of type *gotype.order nests deeper than 1000: does it refer to itself?"},
		{self, "a value of type gotype.loop nests deeper than 1000: does it refer to itself?"},
		{uint64(math.MaxUint64), "18446744073709551615 is above the largest 64-bit integer"},
	} {
		err := New(reflect.TypeOf(c.v)).Checker()(c.v)
		if got := errText(err); got != c.want {
			t.Errorf("%T: got %s, want %s", c.v, got, c.want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func BenchmarkCheck(b *testing.B) {
	type flat struct {
		ID    int
		Price float64
		Name  string
		Qty   float64
	}
	for _, v := range []any{make([]flat, 10_000), make([]float64, 10_000), make([]map[string]any, 1000)} {
		check := New(reflect.TypeOf(v)).Checker()
		b.Run(reflect.TypeOf(v).String(), func(b *testing.B) {
			for b.Loop() {
				if err := check(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
