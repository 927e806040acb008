// Embed is a batch service. It prices batches of orders, several batches at a time, with
// one graph that is compiled when the service starts.
//
//	go run ./examples/embed < examples/embed/batches.jsonl
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/examples/embed/pricing"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// serve processes the batches of a stream, two at a time, and prints their results in the
// order of the batches.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s, err := NewService(&Ledger{})
	if err != nil {
		return err
	}
	slots := make(chan struct{}, 2) // limits the batches in flight
	answers := make(chan chan string, 16)
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		for answer := range answers {
			fmt.Fprintln(out, <-answer)
		}
	}()
	err = batches(ctx, in, func(orders []pricing.Order) {
		answer := make(chan string, 1)
		answers <- answer
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			answer <- s.Handle(ctx, orders)
		}()
	})
	close(answers)
	<-printed
	return err
}

// batches reads a stream of JSON arrays.
func batches(ctx context.Context, in io.Reader, handle func([]pricing.Order)) error {
	dec := json.NewDecoder(in)
	for ctx.Err() == nil {
		var orders []pricing.Order
		if err := dec.Decode(&orders); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading batches: %w", err)
		}
		handle(orders)
	}
	return ctx.Err()
}

// Service prices batches. It is safe for concurrent use.
type Service struct {
	graph    *wavefold.Graph
	orders   wavefold.Field[[]pricing.Order]
	invoices wavefold.Field[[]pricing.Invoice]
	total    wavefold.Field[float64]
}

// NewService builds and compiles the graph. An order without a tax rate is skipped; the
// rest of its batch is processed.
func NewService(ledger *Ledger) (*Service, error) {
	s := &Service{
		orders:   wavefold.NewField[[]pricing.Order]("orders"),
		invoices: wavefold.NewField[[]pricing.Invoice]("invoices", wavefold.Append, wavefold.Default([]pricing.Invoice{})),
		total:    wavefold.NewField[float64]("total"),
	}
	s.graph = wavefold.New("batch",
		wavefold.Each("price", s.orders, s.invoices, pricing.Price, wavefold.Limit(4), wavefold.OnError(wavefold.Skip)),
		wavefold.Map("total", s.invoices, s.total, sum, wavefold.From("price", wavefold.On(wavefold.Done))),
		wavefold.Sink("store", s.invoices, ledger.Store,
			wavefold.From("price", wavefold.On(wavefold.Done)), wavefold.When("length($.invoices) > 0"),
			wavefold.Retry(3, wavefold.Backoff{Base: 10 * time.Millisecond}), wavefold.Timeout(time.Minute)),
	)
	return s, s.graph.Compile()
}

// Handle prices one batch and returns a description of the result.
func (s *Service) Handle(ctx context.Context, orders []pricing.Order) string {
	r, err := s.graph.Run(ctx, s.orders.Is(orders))
	if err != nil {
		return fmt.Sprintf("the batch failed: %v", err)
	}
	answer := fmt.Sprintf("%d invoices, %.2f in all", len(s.invoices.Get(r)), s.total.Get(r))
	if price, _ := r.Node("price"); price.Failed > 0 {
		answer += fmt.Sprintf("; %d rejected, the first: %v", price.Failed, price.Failure)
	}
	return answer
}

func sum(_ context.Context, invoices []pricing.Invoice) (float64, error) {
	total := 0.0
	for _, i := range invoices {
		total += i.Total
	}
	return total, nil
}

// Ledger simulates a database. Its first write fails, as a database occasionally does.
type Ledger struct {
	mu       sync.Mutex
	tries    int
	invoices []pricing.Invoice
}

// Store adds the invoices of a batch.
func (l *Ledger) Store(_ context.Context, invoices []pricing.Invoice) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tries++; l.tries == 1 {
		return errors.New("the connection was reset")
	}
	l.invoices = append(l.invoices, invoices...)
	return nil
}
