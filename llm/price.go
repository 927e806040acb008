package llm

import (
	"context"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Price is what a million tokens cost.
type Price struct {
	Input, Output float64
	// CachedInput is the price of input that the model had seen before; 0 means that of Input.
	CachedInput float64
}

// Prices are those of models by name. A name stands for all models whose names begin with
// it, such as gpt-5.4-mini for gpt-5.4-mini-2026-03-17; of several the longest counts.
type Prices map[string]Price

// Cost returns what calls to a model cost, and whether its price is known.
func (p Prices) Cost(model string, u core.Usage) (float64, bool) {
	longest, found := "", false
	for name := range p {
		if strings.HasPrefix(model, name) && (!found || len(name) > len(longest)) {
			longest, found = name, true
		}
	}
	if !found {
		return 0, false
	}
	price := p[longest]
	if price.CachedInput == 0 {
		price.CachedInput = price.Input
	}
	cached := min(u.CachedInput, u.Input)
	return (float64(u.Input-cached)*price.Input + float64(cached)*price.CachedInput + float64(u.Output)*price.Output) / 1e6, true
}

// WithPrices returns a model that says what its calls cost (core.Usage.Cost), by the name
// of the model that answered, or the one that was asked for. Calls whose model has no price
// cost what the model itself says, nothing as a rule.
func WithPrices(m Model, p Prices) Model {
	if len(p) == 0 {
		return m
	}
	return &wrapper{m, func(ctx context.Context, r *Request) (*Response, error) {
		res, err := m.Complete(ctx, r)
		if res == nil || err != nil {
			return res, err
		}
		for _, name := range []string{res.Model, r.Model} {
			if cost, ok := p.Cost(name, res.Usage); ok {
				res.Usage.Cost = cost
				break
			}
		}
		return res, nil
	}}
}
