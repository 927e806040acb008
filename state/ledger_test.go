package state

import (
	"math/rand/v2"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

func schemaOf(t *testing.T, decls ...core.FieldDecl) *Schema {
	t.Helper()
	s, ds := NewSchema(decls, nil)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return s
}

func field(name, merge string) core.FieldDecl {
	return core.FieldDecl{Name: source.Text{Value: name}, Merge: source.Text{Value: merge}, Default: value.Missing}
}

// Writes that arrive in any order fold to the same value as in canonical order, and
// every prefix equals the sequential fold of that prefix.
func TestLedgerFoldsInCanonicalOrder(t *testing.T) {
	for _, st := range Strategies() {
		t.Run(st.Name, func(t *testing.T) {
			s := schemaOf(t, field("x", st.Name))
			for seed := range uint64(50) {
				r := rand.New(rand.NewPCG(seed, 1))
				n := 1 + r.IntN(12)
				writes := make([]any, n)
				want := []any{value.Missing}
				for i := range writes {
					writes[i] = randomWrite(r, st.Name)
					v := want[i]
					if !value.IsMissing(writes[i]) {
						m, err := s.Fields[0].merge(v, writes[i], nil, nil)
						if err == nil {
							v = m
						} else { // a rejected writer contributes nothing
							writes[i] = value.Missing
						}
					}
					want = append(want, v)
				}
				l := NewLedger(s, []int{n}, []any{value.Missing}, nil)
				for _, k := range r.Perm(n) {
					l.Column(0).Resolve(k, writes[k], nil)
				}
				for k := range want {
					if got := l.At(0, k); !value.Equal(got, want[k]) {
						t.Fatalf("seed %d: after %d writers of %s: got %s, want %s", seed, k, value.JSON(writes), value.JSON(got), value.JSON(want[k]))
					}
				}
			}
		})
	}
}

func randomWrite(r *rand.Rand, strategy string) any {
	if r.IntN(4) == 0 {
		return value.Missing
	}
	n := r.Int64N(5)
	switch strategy {
	case "array_append", "union":
		return []any{n, n + 1}
	case "object_merge":
		return value.ObjectOf("a", n, "b", value.ObjectOf("c", n))
	}
	return n
}

// A prefix given to a reader does not change while later writers append.
func TestLedgerPrefixesDoNotChange(t *testing.T) {
	start := make([]any, 1, 10)
	start[0] = "start"
	s := schemaOf(t, field("x", "array_append"))
	a, b := NewLedger(s, []int{3}, []any{start}, nil), NewLedger(s, []int{3}, []any{start}, nil)
	for k := range 3 {
		a.Column(0).Resolve(k, []any{"a"}, nil)
		b.Column(0).Resolve(k, nil, []any{[]any{"b"}, []any{}})
	}
	for _, c := range []struct {
		got  any
		want string
	}{{a.At(0, 1), `["start","a"]`}, {a.At(0, 3), `["start","a","a","a"]`}, {b.At(0, 2), `["start","b","b"]`}} {
		if value.JSON(c.got) != c.want {
			t.Errorf("got %s, want %s", value.JSON(c.got), c.want)
		}
	}
}

// Ten thousand appends copy a linear number of elements.
func TestLedgerAppendIsLinear(t *testing.T) {
	s := schemaOf(t, field("x", "array_append"))
	per := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			l := NewLedger(s, []int{n}, []any{value.Missing}, nil)
			for k := range n {
				l.Column(0).Resolve(k, []any{nil}, nil)
			}
		}) / float64(n)
	}
	if small, big := per(100), per(10_000); big > 2*small+1 {
		t.Errorf("allocations per append grow from %.2f to %.2f", small, big)
	}
}

func TestSetOnceRefuses(t *testing.T) {
	s := schemaOf(t, field("x", "set_once"))
	l := NewLedger(s, []int{2}, []any{value.Missing}, nil)
	l.Column(0).Resolve(0, int64(1), nil)
	if err := l.Column(0).Try(int64(1)); err == nil {
		t.Error("a second write of an equal value was accepted")
	}
}

func TestReducerPanicIsARefusal(t *testing.T) {
	d := field("x", "")
	d.Reduce = func(_, _ any) (any, error) { panic("boom") }
	s := schemaOf(t, d)
	l := NewLedger(s, []int{1}, []any{value.Missing}, nil)
	if err := l.Column(0).Try(int64(1)); err == nil {
		t.Error("the panic of a reducer is not reported")
	}
}

// object_merge merges values of a Go map type. Previously, it kept only the last
// write.
func TestObjectMergeOfGoTypes(t *testing.T) {
	type rates = map[string]map[string]int64
	d := field("x", "object_merge")
	d.Go = value.GoTypeFor[rates]()
	s := schemaOf(t, d)
	l := NewLedger(s, []int{3}, []any{value.Missing}, nil)
	first := rates{"eur": {"usd": 1 << 60, "gbp": 2}}
	l.Column(0).Resolve(0, first, nil)
	l.Column(0).Resolve(1, rates{"eur": {"gbp": 3}, "chf": {"eur": 4}}, nil)
	l.Column(0).Resolve(2, nil, nil)
	if got, want := value.JSON(l.At(0, 2)), `{"chf":{"eur":4},"eur":{"gbp":3,"usd":1152921504606846976}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, ok := l.At(0, 2).(rates); !ok || first["eur"]["gbp"] != 2 {
		t.Errorf("got %T, first write is now %v", l.At(0, 2), first)
	}
	if l.At(0, 3) != nil {
		t.Errorf("got %v after a null", l.At(0, 3))
	}
}

// Numeric strategies accept numbers for fields of type uint64. Previously, they
// rejected every number.
func TestSumOfGoNumbers(t *testing.T) {
	for _, g := range []struct {
		typ  *value.GoType
		a, b any
		want string
	}{
		{value.GoTypeFor[uint](), uint(1), uint(2), "3"},
		{value.GoTypeFor[uint64](), uint64(1 << 60), uint64(1), "1152921504606846977"},
		{value.GoTypeFor[int32](), int32(-1), int32(2), "1"},
		{value.GoTypeFor[float32](), float32(0.5), float32(0.25), "0.75"},
	} {
		d := field("x", "sum")
		d.Go = g.typ
		f := &schemaOf(t, d).Fields[0]
		var sum any = value.Missing
		for _, v := range []any{g.a, g.b} {
			w, err := f.Accept(v)
			if err != nil {
				t.Fatalf("%T: %v", v, err)
			}
			if sum, err = f.merge(sum, w, nil, nil); err != nil {
				t.Fatalf("%T: %v", v, err)
			}
		}
		if got := value.JSON(sum); got != g.want || !g.typ.Holds(sum) {
			t.Errorf("%s: got %s (%T), want %s", g.typ.Type, got, sum, g.want)
		}
	}
}
