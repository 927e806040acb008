// Package pricing is the business logic of the example: plain functions that do not depend
// on graphs, and the list of the functions that documents may use.
package pricing

import (
	"context"
	"errors"
	"fmt"

	"github.com/wavefold/wavefold"
)

// Order is one line of a batch.
type Order struct {
	ID       int64   `json:"id"`
	Customer string  `json:"customer"`
	Amount   float64 `json:"amount"`
	Country  string  `json:"country"`
}

// Invoice is a priced order.
type Invoice struct {
	Order    int64   `json:"order"`
	Customer string  `json:"customer"`
	Total    float64 `json:"total"`
}

// ErrCountry reports that there is no tax rate for a country.
var ErrCountry = errors.New("no tax rate for the country")

var rates = map[string]float64{"DE": 0.19, "FR": 0.20, "CH": 0.081}

// Price returns the invoice for an order.
func Price(_ context.Context, o Order) (Invoice, error) {
	rate, ok := rates[o.Country]
	if !ok {
		return Invoice{}, fmt.Errorf("order %d: %w: %q", o.ID, ErrCountry, o.Country)
	}
	return Invoice{Order: o.ID, Customer: o.Customer, Total: o.Amount * (1 + rate)}, nil
}

// Register makes the functions available to documents.
func Register(e *wavefold.Engine) error {
	return e.AddTool("price", func(ctx context.Context, o Order) ([]Invoice, error) {
		in, err := Price(ctx, o)
		return []Invoice{in}, err
	})
}
