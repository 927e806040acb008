package lint

import (
	"context"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// fn is a kind whose nodes do nothing. The key see lists fields that it reads; the other keys
// may have any value.
type fn struct{}

func (fn) Name() string   { return "fn" }
func (fn) Keys() []string { return []string{"see", "text", "filter", "parts"} }
func (fn) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	made := core.Compiled{Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })}
	if v := n.Config.Get("see"); v != nil {
		for _, e := range v.Items {
			made.Reads = append(made.Reads, source.At(e.Scalar.(string), e.Pos))
		}
	}
	return made, nil
}

// check compiles a document and returns all findings.
func check(t *testing.T, doc string) source.Diagnostics {
	t.Helper()
	reg := core.NewRegistry(fn{})
	w, ds := native.Parse("a.yaml", []byte(doc), native.OptionsFor(reg))
	if w == nil {
		t.Fatal(ds)
	}
	_, ds = plan.Compile(w, reg, plan.Options{Lint: Check})
	return ds
}
