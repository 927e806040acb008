package scheduler_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

func texts(names ...string) []source.Text {
	var out []source.Text
	for _, n := range names {
		out = append(out, text(n))
	}
	return out
}

// put returns a node that writes one value to one field.
func put(id, field string, v any) *core.Node {
	return &core.Node{ID: text(id), Writes: texts(field), HasWrites: true, Handler: core.HandlerFunc(
		func(context.Context, core.Input) (core.Result, error) { return core.Write(field, v), nil })}
}

// get returns a node that reads fields.
func get(id string, fields ...string) *core.Node {
	return &core.Node{ID: text(id), Reads: texts(fields...), HasWrites: true, Handler: core.HandlerFunc(noop)}
}

func total(merge string) core.FieldDecl {
	return core.FieldDecl{Name: text("total"), Merge: text(merge), Type: &value.Type{Kind: value.IntegerType}, Default: value.Missing}
}

func statusesOf(r *core.Report) string {
	var out []string
	for _, n := range r.Nodes() {
		out = append(out, n.ID+"="+n.Status.String())
	}
	return strings.Join(out, " ")
}

// TestOverflow: a sum that exceeded the range of integers kept its old value, and the run
// succeeded.
func TestOverflow(t *testing.T) {
	w := &core.Workflow{Name: text("t"), Fields: []core.FieldDecl{total("sum"), {Name: text("other"), Default: value.Missing}}}
	reader := get("reader", "total")
	reader.OnError = &core.OnError{Policy: text("skip")}
	w.Nodes = []*core.Node{put("b", "total", int64(1)), put("a", "total", int64(math.MaxInt64)), put("c", "total", int64(-5)),
		reader, get("other", "other"), get("cond"), get("last")}
	for _, e := range [][3]string{{"a", "reader"}, {"a", "other"}, {"a", "cond", "$.total > 0"}, {"reader", "last"}} {
		edge := &core.Edge{From: text(e[0]), To: text(e[1])}
		if e[2] != "" {
			when := text(e[2])
			edge.When = &when
		}
		w.Edges = append(w.Edges, edge)
	}
	r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
	if got, want := statusesOf(r), "b=success a=success c=success reader=fail other=success cond=skipped last=skipped"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const why = `1 + 9223372036854775807 does not fit a 64-bit integer`
	if n, _ := r.Node("reader"); n.Failure.Class != core.ClassMerge || n.Failure.Message != `cannot read field "total": the write of a: `+why {
		t.Errorf("failure %+v", n.Failure)
	}
	if want := `node a: the write of field "total": ` + why; err == nil || err.Error() != want || r.Status != core.RunFailed {
		t.Errorf("%s: got %v, want %s", r.Status, err, want)
	}
	if _, ok := r.State.Get("total"); ok {
		t.Errorf("the state is %s", value.JSON(r.State))
	}
}

// A field whose merge fails in a unit cannot be read by the unit's own members and conditions, nor
// by later nodes.
func TestOverflowInALoop(t *testing.T) {
	w := &core.Workflow{Name: text("t"), Fields: []core.FieldDecl{total("sum"), {Name: text("seen"), Merge: text("count"), Default: value.Missing}}}
	body := put("body", "total", int64(math.MaxInt64))
	look := get("look", "total")
	look.Writes = texts("seen")
	look.Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Write("seen", nil), nil })
	until := text("$.total < 0")
	w.Nodes = []*core.Node{body, look}
	w.Loops = []*core.Loop{{ID: text("l"), Body: texts("look", "body"), BodyIsList: true, Until: &until}}
	r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
	want := `node l: look, round 2: cannot read field "total": the write of an earlier row or round: 9223372036854775807 + 9223372036854775807 does not fit a 64-bit integer`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got := value.JSON(r.State); got != `{"seen":2}` {
		t.Errorf("state %s", got)
	}
	if !errors.As(err, new(*core.NodeError)) {
		t.Errorf("%T", err)
	}
}

// TestOverflowInAWalk: the error named the last stage instead of the stage that wrote the field,
// and a restart just before the exit could not name any.
func TestOverflowInAWalk(t *testing.T) {
	const want = `node b: the write of field "total": 9223372036854775807 + 1 does not fit a 64-bit integer`
	for name, edge := range map[string]*core.Edge{
		"to the exit":   {From: text("last"), To: text("exit")},
		"by a restart":  {From: text("last"), To: text("exit"), LoopRestart: true},
		"written again": {From: text("last"), To: text("a2")},
	} {
		t.Run(name, func(t *testing.T) {
			w := walkOf(t, "start -> a\na -> b\nb -> last\na2 -> exit")
			w.Fields = []core.FieldDecl{total("sum")}
			w.Edges = append(w.Edges, edge)
			for _, n := range w.Nodes {
				switch n.ID.Value {
				case "a", "a2":
					*n = *put(n.ID.Value, "total", int64(math.MaxInt64))
				case "b":
					*n = *put("b", "total", int64(1))
				}
			}
			r, _ := play(t, w, nil, scheduler.Options{})
			if r.Err == nil || r.Err.Error() != want || r.Status != core.RunFailed {
				t.Errorf("%s: got %v, want %s", r.Status, r.Err, want)
			}
		})
	}
}
