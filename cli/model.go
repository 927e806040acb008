package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	_ "github.com/wavefold/wavefold/llm/jsonschema" // every command checks schemas
	"github.com/wavefold/wavefold/scheduler/plan"
)

// useModel makes the engine use one model for all calls, also where a workflow names another
// one, and adds prices to the known ones. With name "" the models of the workflow are used.
func (a *app) useModel(name string, prices []string) error {
	list, err := llm.ParsePrices(strings.Join(prices, " "))
	if err != nil {
		return fmt.Errorf("--prices is %w", err)
	}
	m := a.engine.Model()
	if name == "" && len(list) == 0 || m == nil {
		return nil
	}
	if name != "" {
		m = llm.Named(m, name)
	}
	e := a.engine.WithRegistry(a.engine.Registry().Clone()) // do not change the caller's engine
	e.UseModel(llm.WithPrices(m, list))
	a.engine = e
	return nil
}

// checkModel returns an error if the run needs a model and none is available. It is called
// before anything runs.
func (a *app) checkModel(p *plan.Plan, inputs map[string]any) error {
	what := needsModel(p, inputs[core.InputDryRun] == true)
	if what == "" {
		return nil
	}
	m := a.engine.Model()
	if m == nil {
		if a.engine.Router() != nil {
			return nil
		}
		return fmt.Errorf("%s, and this program has no model", what)
	}
	if err := llm.Check(m); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// needsModel describes the first part of a plan that may call a model, "" if there is none. In a
// dry run no model picks the edges.
func needsModel(p *plan.Plan, dry bool) string {
	if _, ok := p.Router(); ok && !dry {
		b := p.Bounds()
		for i, n := range b.Decisions {
			if n > 0 {
				return fmt.Sprintf("%s: a model chooses the next node after %s", p.Name, p.Nodes[i].ID)
			}
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Models {
			return fmt.Sprintf("%s: node %s asks a model", p.Name, n.ID)
		}
		if n.Frame != nil {
			if what := needsModel(n.Frame.Plan, dry); what != "" {
				return what
			}
		}
	}
	return ""
}

// checkRouted rejects the flags for walks that a model routes if the plan is not such a walk.
func (f *runFlags) checkRouted(p *plan.Plan) error {
	if _, ok := p.Router(); ok {
		return nil
	}
	switch {
	case f.failFast:
		return fmt.Errorf("--fail-fast is for walks that a model routes, and %s is none", p.Name)
	case f.maxVisits > 0 && !p.LimitsVisits():
		return fmt.Errorf("--max-visits is for walks and flows, and %s is neither", p.Name)
	}
	return nil
}

// budgetFlags are the flags that limit the calls to models, their tokens and their cost.
type budgetFlags struct {
	core.Budget
	prices []string
}

func (b *budgetFlags) add(flags *pflag.FlagSet) {
	flags.Var(amount{&b.Calls}, "budget-calls", "maximum number of calls to models; the next call fails the run")
	flags.Var(amount{&b.Tokens}, "budget-tokens", "maximum number of tokens, input and output, of all calls to models")
	flags.Var(cost{&b.Cost}, "budget-cost", "maximum cost of all calls to models, in US dollars; needs the prices of all models that the run may ask")
	flags.StringArrayVar(&b.prices, "prices", nil, "`prices` of models in addition to WAVEFOLD_MODEL_PRICES: model=INPUT,OUTPUT in US dollars per million tokens, unknown=free for all others; may be repeated")
}

// amount is a flag value, an integer of at least 1.
type amount struct{ n *int64 }

func (a amount) String() string {
	if a.n == nil || *a.n == 0 {
		return ""
	}
	return strconv.FormatInt(*a.n, 10)
}

func (amount) Type() string { return "n" }

// Set parses the number.
func (a amount) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return errors.New("want a whole number of at least 1")
	}
	*a.n = n
	return nil
}

// cost is a flag value, an amount of US dollars.
type cost struct{ c *float64 }

func (c cost) String() string {
	if c.c == nil || *c.c == 0 {
		return ""
	}
	return strconv.FormatFloat(*c.c, 'g', -1, 64)
}

func (cost) Type() string { return "dollars" }

// Set parses the amount.
func (c cost) Set(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0) || n > 1e12 {
		return errors.New("want an amount such as 0.50")
	}
	*c.c = n
	return nil
}
