package llm

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Price is the price of a million tokens.
type Price struct {
	Input, Output float64
	// CachedInput is the price of input that the server has cached; 0 means the price of
	// Input.
	CachedInput float64
}

// Prices maps names of models to prices. A name applies to all models whose names begin
// with it, as gpt-5.4-mini applies to gpt-5.4-mini-2026-03-17; the longest matching name is
// used. So "" applies to all models that no other name matches; a zero Price there means
// that these models are free or report their own cost.
type Prices map[string]Price

// UnknownPrice denotes a zero Price under "" in the string form: unknown=free.
const UnknownPrice = "unknown=free"

// ParsePrices parses prices per million tokens, separated by white space:
// model=INPUT,OUTPUT or model=INPUT,OUTPUT,CACHED, or unknown=free.
func ParsePrices(text string) (Prices, error) {
	out := Prices{}
	for _, entry := range strings.Fields(text) {
		if entry == UnknownPrice {
			out[""] = Price{}
			continue
		}
		model, list, ok := strings.Cut(entry, "=")
		var p [3]float64
		parts := strings.Split(list, ",")
		ok = ok && model != "" && (len(parts) == 2 || len(parts) == 3)
		for i := 0; ok && i < len(parts); i++ {
			var err error
			p[i], err = strconv.ParseFloat(parts[i], 64)
			ok = err == nil && p[i] >= 0 && !math.IsInf(p[i], 0)
		}
		if !ok {
			return nil, fmt.Errorf("%q; want model=INPUT,OUTPUT or model=INPUT,OUTPUT,CACHED, the prices of a million tokens, or %s", entry, UnknownPrice)
		}
		out[model] = Price{Input: p[0], Output: p[1], CachedInput: p[2]}
	}
	return out, nil
}

// find returns the price of a model and the name under which it is listed.
func (p Prices) find(model string) (name string, price Price, ok bool) {
	for n := range p {
		if strings.HasPrefix(model, n) && (!ok || len(n) > len(name)) {
			name, ok = n, true
		}
	}
	return name, p[name], ok
}

// Cost returns the cost of calls to a model, and whether its price is known.
func (p Prices) Cost(model string, u core.Usage) (float64, bool) {
	_, price, ok := p.find(model)
	if !ok {
		return 0, false
	}
	return price.of(u), true
}

// of returns the cost of tokens.
func (p Price) of(u core.Usage) float64 {
	if p.CachedInput == 0 {
		p.CachedInput = p.Input
	}
	cached := min(u.CachedInput, u.Input)
	return (float64(u.Input-cached)*p.Input + float64(cached)*p.CachedInput + float64(u.Output)*p.Output) / 1e6
}

// WithPrices returns a model that reports the cost of its calls (core.Usage.Cost). The
// price is the price of the model that answered, or else of the model that was requested.
// The cost of calls to models without a price is the cost that the inner model reports,
// usually 0.
func WithPrices(m Model, p Prices) Model {
	if len(p) == 0 {
		return m
	}
	return &wrapper{inner: m, prices: p, call: func(ctx context.Context, r *Request) (*Response, error) {
		res, err := m.Complete(ctx, r)
		if res == nil || err != nil {
			return res, err
		}
		for _, name := range []string{res.Model, r.Model} {
			if _, price, ok := p.find(name); ok && price != (Price{}) {
				res.Usage.Cost = price.of(res.Usage)
				break
			}
		}
		return res, nil
	}}
}

// Defaulter is implemented by models that know which model answers a request that names
// none.
type Defaulter interface {
	DefaultModel() string
}

// Priced is implemented by models that know whether they report the cost of calls to a
// model.
type Priced interface {
	Price(model string) (Price, bool)
}

// PriceOf returns the name of the model that a request for a model goes to, "" if it is not
// known, and its price, if a WithPrices around the model or the model itself knows it.
func PriceOf(m Model, model string) (name string, p Price, ok bool) {
	var lists []Prices
	for {
		switch w := m.(type) {
		case *wrapper:
			if w.name != "" {
				model = w.name
			}
			lists = append(lists, w.prices)
			m = w.inner
			continue
		case *misconfigured:
			m = w.inner
			continue
		}
		break
	}
	if d, known := m.(Defaulter); known && model == "" {
		model = d.DefaultModel()
	}
	longest := ""
	for _, list := range lists {
		if n, price, found := list.find(model); found && (!ok || len(n) > len(longest)) {
			longest, p, ok = n, price, true
		}
	}
	if priced, is := m.(Priced); is && !ok {
		p, ok = priced.Price(model)
	}
	return model, p, ok
}
