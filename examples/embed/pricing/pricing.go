// Package pricing is the business of the example: plain functions that know nothing of
// graphs, and the list of those that documents may use.
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

// Invoice is what becomes of an order.
type Invoice struct {
	Order    int64   `json:"order"`
	Customer string  `json:"customer"`
	Total    float64 `json:"total"`
}

// ErrCountry says that there is no rate for a country.
var ErrCountry = errors.New("no tax rate for the country")

var rates = map[string]float64{"DE": 0.19, "FR": 0.20, "CH": 0.081}

// Price makes the invoice of an order.
func Price(_ context.Context, o Order) (Invoice, error) {
	rate, ok := rates[o.Country]
	if !ok {
		return Invoice{}, fmt.Errorf("order %d: %w: %q", o.ID, ErrCountry, o.Country)
	}
	return Invoice{Order: o.ID, Customer: o.Customer, Total: o.Amount * (1 + rate)}, nil
}

// Register makes the functions known to documents.
func Register(e *wavefold.Engine) error {
	return e.AddTool("price", func(ctx context.Context, o Order) ([]Invoice, error) {
		in, err := Price(ctx, o)
		return []Invoice{in}, err
	})
}
