package fanin

import (
	"cmp"
	"context"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Keys that the node sets in the context of a walk.
const (
	ContextBestID      = "parallel.fan_in.best_id"
	ContextBestOutcome = "parallel.fan_in.best_outcome"
)

// Kind is the kind "fan_in".
var Kind = core.NewKind(core.KindOf[struct{}]{
	Name:   "fan_in",
	Doc:    "Picks the best of the branches of a walk.",
	Before: inWalk,
	Compile: func(n *core.Node, _ core.Env, _ *struct{}) (core.Compiled, source.Diagnostics) {
		ds := append(setting.UnusedWrites(n, "a fan_in writes no state"), setting.UnusedArgs(n, setting.NoArgs)...)
		return core.Compiled{Handler: core.HandlerFunc(handle), Bookkeeping: true}, ds
	},
})

// inWalk rejects nodes that are not in a walk.
func inWalk(n *core.Node, env core.Env) (made core.Compiled, done bool, ds source.Diagnostics) {
	if !env.Branches {
		pos := n.Kind.Pos
		if !pos.IsValid() {
			pos = n.Pos
		}
		ds.Errorf(source.CodeBadValue, pos, "%s: kind fan_in exists in walks only", n.Subject())
	}
	return core.Compiled{}, false, ds
}

func handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, context.Cause(ctx)
	}
	list := results(in)
	if len(list) == 0 {
		return core.Result{Status: core.Fail, Note: "there are no results of branches to pick from"}, nil
	}
	best, failed := list[0], true
	for _, b := range list {
		failed = failed && b.status == core.Fail.String()
		if b.before(best) {
			best = b
		}
	}
	if failed {
		return core.Result{Status: core.Fail, Note: "all branches failed"}, nil
	}
	return core.Result{Note: best.id + " is the best branch", Routing: &core.Routing{
		Context: map[string]any{ContextBestID: best.id, ContextBestOutcome: best.status}}}, nil
}

// branch is the result of a branch.
type branch struct {
	id, status string
	score      float64
}

// results returns the results of the last parallel node. Entries without an id are ignored.
func results(in core.Input) []branch {
	v, _ := in.Shared().View.Get(core.ContextField)
	left, _ := v.(*value.Object)
	v, _ = left.Get(core.ContextParallelResults)
	items, _ := v.([]any)
	var list []branch
	for _, item := range items {
		o, _ := item.(*value.Object)
		b := branch{id: text(o, "id"), status: text(o, "status")}
		if b.id == "" {
			continue
		}
		if b.status == "" {
			b.status = core.Fail.String()
		} else if s, ok := core.StatusOf(b.status); ok {
			b.status = s.String()
		}
		switch score, _ := o.Get("score"); score := score.(type) {
		case int64:
			b.score = float64(score)
		case float64:
			b.score = score
		}
		list = append(list, b)
	}
	return list
}

func text(o *value.Object, key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// before reports whether b is better than c.
func (b branch) before(c branch) bool {
	return cmp.Or(cmp.Compare(b.rank(), c.rank()), cmp.Compare(c.score, b.score), cmp.Compare(b.id, c.id)) < 0
}

// rank returns the rank of the status; 0 is the best.
func (b branch) rank() int {
	switch b.status {
	case core.Success.String():
		return 0
	case core.PartialSuccess.String():
		return 1
	case core.Retry.String():
		return 2
	case core.Fail.String():
		return 3
	}
	return 4
}
