package scheduler

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// unpriced returns an error for each model that a run may ask and whose price is not known, because
// a budget of money would not limit its use.
func unpriced(p *plan.Plan, router core.Router, dry bool) source.Diagnostics {
	u := prices{router: router, dry: dry, seen: map[*plan.Plan]bool{}}
	u.look(p)
	return u.found
}

type prices struct {
	router core.Router
	dry    bool // no model picks edges
	seen   map[*plan.Plan]bool
	found  source.Diagnostics
	names  []string
}

func (u *prices) look(p *plan.Plan) {
	if u.seen[p] {
		return
	}
	u.seen[p] = true
	if model, ok := p.Router(); ok && !u.dry {
		if b := p.Bounds(); slices.ContainsFunc(b.Decisions, func(n int) bool { return n > 0 }) {
			u.routes(p.Workflow.Pos, "the way is picked", model)
		}
	}
	visited := p.Visited()
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if visited != nil && !visited[i] {
			continue
		}
		prices := n.Prices()
		for _, name := range prices.Unpriced {
			u.add(n.Decl.ID.Pos, "node "+n.ID, name)
		}
		if prices.AsksRouter && !u.dry {
			u.routes(n.Decl.ID.Pos, "node "+n.ID, prices.RouterModel)
		}
		if n.Frame != nil {
			u.look(n.Frame.Plan)
		}
	}
}

func (u *prices) routes(pos source.Position, who, model string) {
	if r, ok := u.router.(core.PricedRouter); ok {
		if name, yes := r.Unpriced(model); yes {
			u.add(pos, who, name)
		}
	}
}

// add reports a model once.
func (u *prices) add(pos source.Position, who, model string) {
	if slices.Contains(u.names, model) {
		return
	}
	u.names = append(u.names, model)
	what := fmt.Sprintf("model %q", model)
	if model == "" {
		what = "default model of the server"
	}
	u.found.Errorf(source.CodeNoPrice, pos, "%s: no price is known of the %s, so the budget of money would not bound it", who, what).
		WithHint("set its price: WAVEFOLD_MODEL_PRICES or --prices, in Go llm.WithPrices; unknown=free there lets unknown models cost nothing")
}
