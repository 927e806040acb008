package history

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

func text(s string) source.Text { return source.Text{Value: s} }

// chain returns the plan of nodes w1, w2, ... that run one after the other and write the values to the
// field x.
func chain(t testing.TB, d core.FieldDecl, writes ...any) *plan.Plan {
	t.Helper()
	d.Name = text("x")
	w := &core.Workflow{Name: text("chain"), Fields: []core.FieldDecl{d}}
	for i, v := range writes {
		handler := func(context.Context, core.Input) (core.Result, error) {
			if value.IsMissing(v) {
				return core.Result{}, nil
			}
			return core.Write("x", v), nil
		}
		w.Nodes = append(w.Nodes, &core.Node{ID: text(fmt.Sprint("w", i+1)), Handler: core.HandlerFunc(handler), Writes: []source.Text{d.Name}, HasWrites: true})
		if i > 0 {
			w.Edges = append(w.Edges, &core.Edge{From: text(fmt.Sprint("w", i)), To: text(fmt.Sprint("w", i+1))})
		}
	}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// stored runs a plan with a store.
func stored(t testing.TB, p *plan.Plan) store.Store {
	t.Helper()
	s := memory.New(nil)
	if _, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, s store.Store, p *plan.Plan) *Run {
	t.Helper()
	r, err := Read(t.Context(), s, "r", "", func(*journal.Head) (*plan.Plan, error) { return p, nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names returns the authors of a value and of its parts: "w2", "w1+w2" if both contributed,
// "[0]:w1 [1]:w2" for parts.
func names(b Blame) string {
	if b.Parts != nil {
		var list []string
		for _, p := range b.Parts {
			list = append(list, p.Path+":"+names(p.Blame))
		}
		return strings.Join(list, " ")
	}
	if b.All == nil {
		b.All = []Author{b.By}
	}
	var list []string
	for _, a := range b.All {
		if a.Start {
			a.Path = "start"
		}
		if a.Set {
			a.Path = "set"
		}
		list = append(list, a.Path)
	}
	return strings.Join(list, "+")
}

// The author of a value depends on the merge strategy of the field.
func TestBlameByStrategy(t *testing.T) {
	o := value.ObjectOf
	list := func(v ...any) []any { return v }
	add := func(old, v any) (any, error) {
		n, _ := old.(int64)
		return n + v.(int64), nil
	}
	for name, c := range map[string]struct {
		merge  string
		reduce func(old, v any) (any, error)
		start  any
		writes []any
		want   string
		state  string
	}{
		"the last one wins":         {merge: "last_wins", start: 7, writes: list(1, 2), want: "w2", state: "2"},
		"a null wins":               {merge: "last_wins", writes: list(1, nil), want: "w2", state: "null"},
		"once":                      {merge: "set_once", writes: list(nil, 5), want: "w2", state: "5"},
		"elements":                  {merge: "array_append", start: list("a"), writes: list(list("b", "c"), list(), list("d")), want: "[0]:start [1]:w1 [2]:w1 [3]:w3", state: `["a","b","c","d"]`},
		"elements of one node":      {merge: "array_append", writes: list(list("b", "c"), list()), want: "w1", state: `["b","c"]`},
		"the first element":         {merge: "union", start: list("a"), writes: list(list("a", "b"), list("b", "c")), want: "[0]:start [1]:w1 [2]:w2", state: `["a","b","c"]`},
		"members":                   {merge: "object_merge", start: o("z", 0), writes: list(o("a", o("p", 1, "q", 1)), o("a", o("q", 2), "b", 2)), want: ".z:start .a.p:w1 .a.q:w2 .b:w2", state: `{"z":0,"a":{"p":1,"q":2},"b":2}`},
		"a member replaces objects": {merge: "object_merge", writes: list(o("a", o("p", 1)), o("a", 2), o("a", o("q", 3))), want: "w3", state: `{"a":{"q":3}}`},
		"null replaces members":     {merge: "object_merge", writes: list(o("a", 1, "b", 1), o("a", nil)), want: ".a:w2 .b:w1", state: `{"a":null,"b":1}`},
		"sum":                       {merge: "sum", writes: list(1, 2, 3), want: "w1+w2+w3", state: "6"},
		"sum of one":                {merge: "sum", start: 0, writes: list(1), want: "w1", state: "1"},
		"sum with a start":          {merge: "sum", start: 5, writes: list(1), want: "start+w1", state: "6"},
		"count":                     {merge: "count", writes: list("a", "b"), want: "w1+w2", state: "2"},
		"maximum":                   {merge: "max", writes: list(2, 9, 9, 4), want: "w2", state: "9"},
		"minimum":                   {merge: "min", start: 1, writes: list(2, 3), want: "start", state: "1"},
		"reducer":                   {reduce: add, writes: list(int64(2), int64(3)), want: "w1+w2", state: "5"},
	} {
		t.Run(name, func(t *testing.T) {
			d := core.FieldDecl{Merge: text(c.merge), Default: value.Missing, Reduce: c.reduce}
			if c.start != nil {
				d.Default = canonical(c.start)
			}
			p := chain(t, d, c.writes...)
			s := read(t, stored(t, p), p).State()
			if got, _ := s.Lookup("x"); value.JSON(got) != c.state {
				t.Errorf("the state is %s, want %s", value.JSON(got), c.state)
			}
			blame, err := s.Blame("")
			if err != nil {
				t.Fatal(err)
			}
			if got := names(blame[0].Blame); got != c.want {
				t.Errorf("blame is %s, want %s", got, c.want)
			}
			writes, err := s.Writes("x")
			if err != nil || len(writes) != len(c.writes) {
				t.Fatalf("%d writes, want %d, error %v", len(writes), len(c.writes), err)
			}
			if n := len(writes); n > 0 && value.JSON(writes[n-1].After) != c.state {
				t.Errorf("the value after the last write is %s, want %s", value.JSON(writes[n-1].After), c.state)
			}
		})
	}
}

// Paths lead into values, and errors say what is wrong with them.
func TestPaths(t *testing.T) {
	d := core.FieldDecl{Merge: text("object_merge"), Default: value.Missing}
	p := chain(t, d, value.ObjectOf("a.b", []any{int64(1), value.ObjectOf("c", true)}), value.ObjectOf("d", "e"))
	s := read(t, stored(t, p), p).State()
	for path, want := range map[string]string{
		`x["a.b"][1].c`: `true w1`,
		`x.d`:           `"e" w2`,
		`x["d"]`:        `"e" w2`,
		`x.a`:           "x.a has no value: a is not in the object, which has [\"a.b\"]",
		`x["a.b"][2]`:   `x["a.b"][2] has no value: [2] is not in an array of 2`,
		`x.d.e`:         "x.d.e has no value: e is not in string",
		`x.`:            `"x." is not a path: a field, then .member, ["member"] or [index]`,
		`x[-1]`:         `"x[-1]" is not a path: a field, then .member, ["member"] or [index]`,
		`x[1`:           `"x[1" is not a path: a field, then .member, ["member"] or [index]`,
		`y`:             `the state has no field "y"`,
	} {
		blame, err := s.Blame(path)
		got := fmt.Sprint(err)
		if err == nil {
			got = value.JSON(blame[0].Value) + " " + names(blame[0].Blame)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// Reading a run, with who wrote what, costs linear time and memory.
func BenchmarkBlame(b *testing.B) {
	for _, merge := range []string{"last_wins", "array_append", "union", "object_merge", "max"} {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("merge=%s/nodes=%d", merge, n), func(b *testing.B) {
				writes := make([]any, n)
				for i := range writes {
					switch writes[i] = int64(i); merge {
					case "array_append", "union":
						writes[i] = []any{int64(i)}
					case "object_merge":
						writes[i] = value.ObjectOf(fmt.Sprint(i%1000), value.ObjectOf(fmt.Sprint(i/1000), int64(i)))
					}
				}
				p := chain(b, core.FieldDecl{Merge: text(merge), Default: value.Missing}, writes...)
				s := stored(b, p)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := read(b, s, p).State().Blame(""); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
