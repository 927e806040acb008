package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// FuzzCompile compiles workflows made of random ids, edges, units, expressions and numbers, most of
// them invalid. Compile must not panic, must give the same findings when called again, and must
// return sound plans. The bytes determine the choices, so that the fuzzer can learn which of them
// matter.
func FuzzCompile(f *testing.F) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, 40+rnd.IntN(400))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, reg := randomWorkflow(data)
		p, ds := Compile(w, reg, Options{Lint: lint})
		again, more := Compile(w, reg, Options{Lint: lint})
		if !slices.Equal(ds, more) || (p == nil) != (again == nil) {
			t.Fatalf("two compilations differ:\n%v\n%v", ds, more)
		}
		if p == nil {
			if !ds.Failed(false) {
				t.Fatalf("no plan and no error: %v", ds)
			}
			return
		}
		checkPlan(t, p)
	})
}

// TestRandomWorkflows does the same with many random choices.
func TestRandomWorkflows(t *testing.T) {
	accepted := 0
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		data := make([]byte, rnd.IntN(300))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		w, reg := randomWorkflow(data)
		if p, _ := Compile(w, reg, Options{Lint: lint}); p != nil {
			accepted++
			checkPlan(t, p)
		}
	}
	t.Logf("%d accepted", accepted)
	if accepted < 100 {
		t.Errorf("only %d random workflows were accepted: the test says little", accepted)
	}
}

// checkPlan checks the properties of a plan on which the scheduler relies.
func checkPlan(t *testing.T, p *Plan) {
	checkPending(t, p)
	for i := range p.Edges {
		if e := &p.Edges[i]; p.Vertices[e.From].Level >= p.Vertices[e.To].Level {
			t.Errorf("edge %d does not lead to a higher level", i)
		}
	}
	for v := range p.Vertices {
		for _, g := range p.OutGates(int32(v)) {
			if int(g) < len(p.Vertices) && int(g) <= v {
				t.Errorf("vertex %d opens %d, which is not behind it", v, g)
			}
		}
		for _, s := range p.Vertices[v].Writes {
			if p.WriterVertex[s.Field][s.Slot] != int32(v) {
				t.Errorf("slot %+v does not belong to vertex %d", s, v)
			}
		}
	}
	for f, writers := range p.WriterVertex {
		if !slices.IsSorted(writers) || len(writers) != p.Writers[f] {
			t.Errorf("writers of field %d: %v", f, writers)
		}
	}
	p.Describe()
	if _, _, err := p.Start(nil); err != nil {
		if _, required := p.InputNames(); len(required) == 0 {
			t.Errorf("cannot start without inputs: %v", err)
		}
	}
}

// randomWorkflow returns a workflow, and a registry with the workflows nested in it.
func randomWorkflow(data []byte) (*core.Workflow, *core.Registry) {
	c := &choices{data: data, nested: nestKind{}}
	w := c.workflow(0)
	return w, core.NewRegistry(c.nested)
}

// nestKind is a kind whose nodes run the workflows in the map.
type nestKind map[*core.Node]*core.Workflow

func (nestKind) Name() string   { return "nest" }
func (nestKind) Keys() []string { return nil }

func (k nestKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Frame: &core.Frame{Workflow: k[n]}}, nil
}

// choices converts bytes into choices. When no bytes are left, every choice is 0.
type choices struct {
	data   []byte
	nested nestKind
}

func (c *choices) pick(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func oneOf[T any](c *choices, list ...T) T { return list[c.pick(len(list))] }

func (c *choices) id() source.Text {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	if c.pick(40) == 39 {
		names = []string{"", "a-b", "1", "ü"}
	}
	return source.At(oneOf(c, names...), source.Position{File: "f", Line: int32(c.pick(50)), Column: 1})
}

func (c *choices) field() source.Text {
	return oneOf(c, text("x"), text("y"), text("list"), text("once"))
}

func (c *choices) expression() source.Text {
	return text(oneOf(c, "$.x > 1", "$.list", "length($.list) > 2", "$nodes.a.status == 'fail'", "$.once == 'a' && !$.y", "true", "$nodes.b.output",
		"$input.x", "$.nope", "$.x >", "1 < 2", "$.list[*]", "$item", "", "$.x == $.y || $nodes.c.status == 'skipped'"))
}

func (c *choices) number() *source.Int {
	if c.pick(2) == 0 {
		return nil
	}
	return number(oneOf(c, 1, 2, 3, 0, -1, 1<<40))
}

func (c *choices) workflow(depth int) *core.Workflow {
	w := &core.Workflow{Name: text("w"), HasInputs: c.pick(2) == 0, Document: c.pick(2) == 0}
	w.Fields = []core.FieldDecl{
		{Name: text("x"), Default: value.Missing},
		{Name: text("y"), Type: &value.Type{Kind: value.NumberType}, Merge: oneOf(c, text(""), text("sum"), text("set_once")), Default: int64(1)},
		{Name: text("list"), Type: &value.Type{Kind: value.ArrayType}, Merge: oneOf(c, text(""), text("array_append")), Default: value.Missing},
		{Name: text("once"), Merge: oneOf(c, text("set_once"), text("array_append")), Default: value.Missing},
	}
	if c.pick(3) == 0 {
		w.Inputs = []core.InputDecl{{Name: oneOf(c, text("x"), text("new")), Required: c.pick(2) == 0, Type: &value.Type{Kind: oneOf(c, value.NumberType, value.StringType)}, Default: value.Missing}}
	}
	if c.pick(3) == 0 {
		w.Phases = []core.Phase{{ID: c.id()}, {ID: c.id()}}
	}
	for i := range 1 + c.pick(7) {
		w.Nodes = append(w.Nodes, c.node(i, depth))
	}
	for range c.pick(10) {
		w.Edges = append(w.Edges, c.edge())
	}
	for i := range c.pick(3) {
		w.Pipelines = append(w.Pipelines, &core.Pipeline{ID: text(fmt.Sprint("p", i)), Items: c.expression(), Stages: c.idsOf(), Concurrency: c.number()})
	}
	for i := range c.pick(3) {
		l := &core.Loop{ID: text(fmt.Sprint("l", i)), Body: c.idsOf(), MaxIters: c.number()}
		if c.pick(2) == 0 {
			until := c.expression()
			l.Until = &until
		}
		w.Loops = append(w.Loops, l)
	}
	return w
}

func (c *choices) idsOf() []source.Text {
	var out []source.Text
	for range 1 + c.pick(3) {
		out = append(out, c.id())
	}
	return out
}

func (c *choices) node(i, depth int) *core.Node {
	n := handled(string(rune('a' + i)))
	if c.pick(20) == 19 {
		n.ID = c.id()
	}
	for range c.pick(3) {
		n.Reads = append(n.Reads, c.field())
	}
	for range c.pick(3) {
		n.Writes = append(n.Writes, c.field())
	}
	if c.pick(8) == 7 {
		n.ForEach = &core.ForEach{Source: c.expression(), Concurrency: c.number(), MaxFailures: c.number()}
	}
	if c.pick(4) == 3 {
		n.Args = &source.Value{Kind: source.ObjectValue}
		n.Args.Set(c.field(), &source.Value{Kind: source.StringValue, Scalar: c.expression().Value})
	}
	n.Join = oneOf(c, nil, core.JoinOf(text("all")), core.JoinOf(text("all_done")))
	n.Priority.Value = c.pick(3) - 1
	if c.pick(6) == 5 {
		n.OnError = &core.OnError{Policy: oneOf(c, text("skip"), text("fail_run"), text("retry")), Attempts: c.number()}
	}
	if depth < 2 && c.pick(12) == 11 {
		n.Handler, n.Kind = nil, text("nest")
		c.nested[n] = c.workflow(depth + 1)
	}
	return n
}

func (c *choices) edge() *core.Edge {
	e := &core.Edge{From: c.id(), To: c.id(), On: oneOf(c, text(""), text("fail"), text("done"), text("success"))}
	if c.pick(4) == 3 {
		e.Handles = &source.Located[bool]{Value: c.pick(2) == 1}
	}
	switch c.pick(5) {
	case 3:
		when := c.expression()
		e.When = &when
	case 4:
		e.Else = true
	}
	return e
}
