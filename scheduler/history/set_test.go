package history

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// A replay sets a field between two writers. What was written before counts no more, except for the parts of
// the value that are not set, and later writes are merged with the value.
func TestBlameOfSetFields(t *testing.T) {
	o := value.ObjectOf
	list := func(v ...any) []any { return v }
	for name, c := range map[string]struct {
		merge  string
		start  any
		writes []any // of w1 and w2, between which the field is set
		path   string
		set    any
		want   string
		state  string
	}{
		"the last one wins":     {merge: "last_wins", writes: list(1, 2), path: "x", set: int64(9), want: "w2", state: "2"},
		"nothing later":         {merge: "last_wins", writes: list(1), path: "x", set: int64(9), want: "set", state: "9"},
		"a null":                {merge: "last_wins", writes: list(1), path: "x", set: nil, want: "set", state: "null"},
		"a member":              {merge: "last_wins", writes: list(o("a", 1, "b", 2)), path: "x.a", set: int64(9), want: ".a:set .b:w1", state: `{"a":9,"b":2}`},
		"a new member":          {merge: "last_wins", writes: list(o("a", 1)), path: "x.b", set: int64(9), want: ".a:w1 .b:set", state: `{"a":1,"b":9}`},
		"an element":            {merge: "last_wins", writes: list(list("p", "q")), path: "x[1]", set: "r", want: "[0]:w1 [1]:set", state: `["p","r"]`},
		"elements":              {merge: "array_append", start: list("a"), writes: list(list("b"), list("c")), path: "x", set: list("d", "e"), want: "[0]:set [1]:set [2]:w2", state: `["d","e","c"]`},
		"one element":           {merge: "array_append", start: list("a"), writes: list(list("b"), list("c")), path: "x[1]", set: "d", want: "[0]:start [1]:set [2]:w2", state: `["a","d","c"]`},
		"the first element":     {merge: "union", start: list("a"), writes: list(list("b"), list("c", "d")), path: "x", set: list("c"), want: "[0]:set [1]:w2", state: `["c","d"]`},
		"members":               {merge: "object_merge", writes: list(o("a", 1, "b", 1), o("b", 2)), path: "x", set: o("b", int64(5), "c", int64(5)), want: ".b:w2 .c:set", state: `{"b":2,"c":5}`},
		"a member of a member":  {merge: "object_merge", start: o("z", 0), writes: list(o("a", o("p", 1, "q", 1)), o("b", 2)), path: "x.a.q", set: int64(9), want: ".z:start .a.p:w1 .a.q:set .b:w2", state: `{"z":0,"a":{"p":1,"q":9},"b":2}`},
		"sum":                   {merge: "sum", start: 5, writes: list(1, 2), path: "x", set: int64(100), want: "set+w2", state: "102"},
		"a maximum that stays":  {merge: "max", writes: list(50, 2), path: "x", set: int64(7), want: "set", state: "7"},
		"a maximum that is met": {merge: "max", writes: list(50, 9), path: "x", set: int64(7), want: "w2", state: "9"},
		"once":                  {merge: "set_once", writes: list(5), path: "x", set: int64(6), want: "set", state: "6"},
	} {
		t.Run(name, func(t *testing.T) {
			d := core.FieldDecl{Merge: text(c.merge), Default: value.Missing}
			if c.start != nil {
				d.Default = canonical(c.start)
			}
			if len(c.writes) == 1 {
				c.writes = append(c.writes, value.Missing) // a node that writes nothing
			}
			p := chain(t, d, c.writes...)
			s := stored(t, p)
			st, err := scheduler.ReadStored(t.Context(), s, "r")
			if err != nil {
				t.Fatal(err)
			}
			fork := scheduler.Fork{From: "w2", Set: []machine.Assignment{{Path: c.path, Value: c.set}}}
			report, err := scheduler.Replay(t.Context(), st, p, fork, scheduler.Options{Run: "q", Recording: &scheduler.Recording{Store: s}})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := report.State.Get("x"); value.JSON(got) != c.state {
				t.Errorf("the state is %s, want %s", value.JSON(got), c.state)
			}
			r, err := Read(t.Context(), s, "q", "", func(*journal.Head) (*plan.Plan, error) { return p, nil })
			if err != nil {
				t.Fatal(err)
			}
			blame, err := r.State().Blame("x")
			if err != nil {
				t.Fatal(err)
			}
			if got := names(blame[0].Blame); got != c.want {
				t.Errorf("blame is %s, want %s", got, c.want)
			}
			if got := value.JSON(canonical(r.fold(0, len(r.fields[0]), nil))); got != c.state {
				t.Errorf("merged again %s, want %s", got, c.state)
			}
			before, err := r.After("w1")
			if err != nil {
				t.Fatal(err)
			}
			blame, err = before.Blame("x")
			if err != nil || strings.Contains(names(blame[0].Blame), "set") {
				t.Errorf("before it was set, blame is %s, error %v", names(blame[0].Blame), err)
			}
		})
	}
}
