package wavefold_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// A nil graph, a zero graph and a nil context are errors. They used to cause panics in
// the caller.
func TestNilAndZeroGraphs(t *testing.T) {
	var none *wavefold.Graph
	for name, g := range map[string]*wavefold.Graph{"the graph is nil": none, "the graph has no workflow": {}, "the graph has no workflow (Engine.Graph)": wavefold.NewEngine().Graph(nil)} {
		want, _, _ := strings.Cut(name, " (")
		r, err := g.Run(t.Context())
		_, planErr := g.Plan()
		_, saveErr := g.Save()
		_, allErr := g.SaveAll()
		for what, err := range map[string]error{"Run": err, "Compile": g.Compile(), "Plan": planErr, "Save": saveErr, "SaveAll": allErr,
			"Bind": wavefold.NewEngine().Bind(g), "Sub": wavefold.New("outer", wavefold.Sub("s", g)).Compile()} {
			if err == nil || !strings.Contains(err.Error(), want) && what != "Sub" || what == "Sub" && !strings.Contains(err.Error(), "Sub has no graph") {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		if r.Status != core.RunFailed || len(r.Nodes()) != 0 || g.Name() != "" || g.Workflow() != nil || len(g.Findings()) != 1 {
			t.Errorf("%s: %+v, %q, %v", name, r, g.Name(), g.Findings())
		}
	}
	var ctx context.Context
	g := wavefold.New("g", wavefold.Do("d", func(context.Context) error { return nil }))
	if r, err := g.Run(ctx); err == nil || !strings.Contains(err.Error(), "the context is nil") || r.Status != core.RunFailed {
		t.Errorf("a nil context: %v", err)
	}
}

type recursiveList []recursiveList

// model refers to itself in all the ways that generated database models do.
type model struct {
	Name   string
	Parent *model
	Kids   []model
	By     map[string]*model
	Other  *other
}

type other struct {
	Back  *model
	Again []*other
}

// Declaring a field of a recursive Go type overflowed the stack.
func TestFieldsOfRecursiveTypes(t *testing.T) {
	lists, models := wavefold.NewField[recursiveList]("lists"), wavefold.NewField[model]("model")
	g := wavefold.New("g",
		wavefold.Map("m", lists, models, func(_ context.Context, l recursiveList) (model, error) {
			return model{Name: "x", Kids: make([]model, len(l)), Other: &other{}}, nil
		}))
	r, err := g.Run(t.Context(), lists.Is(recursiveList{{}, {{}}}))
	if err != nil || len(models.Get(r).Kids) != 2 {
		t.Errorf("%v", err)
	}
	cycle := recursiveList{nil}
	cycle[0] = cycle
	if _, err := g.Run(t.Context(), lists.Is(cycle)); err == nil {
		t.Error("a value that holds itself was accepted")
	}
}

// A panic with a value that contains itself ended the process.
func TestPanicsWithCyclicValues(t *testing.T) {
	m := map[string]any{}
	m["m"] = m
	g := wavefold.New("g", wavefold.Do("d", func(context.Context) error { panic(m) }))
	if _, err := g.Run(t.Context()); err == nil || err.Error() != "node d: panic: a value of type map[string]interface {}" {
		t.Errorf("got %v", err)
	}
	loop := &loops{}
	loop.inner = []error{loop, loop}
	g = wavefold.New("g", wavefold.Do("d", func(context.Context) error { return loop }))
	if _, err := g.Run(t.Context()); err == nil || err.Error() != "node d: round and round" || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

type loops struct{ inner []error }

func (l *loops) Error() string   { return "round and round" }
func (l *loops) Unwrap() []error { return l.inner }
