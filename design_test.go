package wavefold_test

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold"
)

type Order struct {
	ID     int64   `json:"id"`
	Amount float64 `json:"amount"`
}

type Score struct {
	Order int64 `json:"order"`
	Value int   `json:"value"`
}

func load(context.Context) ([]Order, error) {
	return []Order{{1 << 60, 12.5}, {9007199254740993, 99}, {3, 7}}, nil
}

func score(_ context.Context, o Order) (Score, error) { return Score{o.ID, int(o.Amount * 10)}, nil }

func save(_ context.Context, scores []Score) error {
	fmt.Println("saved", scores)
	return nil
}

// The two programs below are a promise of the package: they must compile and run
// unchanged.
func ExampleNew() {
	ctx := context.Background()
	name, hi := wavefold.NewField[string]("name"), wavefold.NewField[string]("greeting")
	g := wavefold.New("hello", wavefold.Map("greet", name, hi, func(_ context.Context, n string) (string, error) { return "hello " + n, nil }))
	r, err := g.Run(ctx, name.Is("Ada"))
	fmt.Println(hi.Get(r), err)

	orders, scores := wavefold.NewField[[]Order]("orders"), wavefold.NewField[[]Score]("scores", wavefold.Append)
	etl := wavefold.New("etl", wavefold.Source("load", orders, load), // func(ctx) ([]Order, error)
		wavefold.Each("score", orders, scores, score, wavefold.Limit(8)),           // func(ctx, Order) (Score, error)
		wavefold.Sink("save", scores, save, wavefold.When("length($.scores) > 0"))) // func(ctx, []Score) error
	r, err = etl.Run(ctx)
	fmt.Println(r.Status, err)
	// Output:
	// hello Ada <nil>
	// saved [{1152921504606846976 125} {9007199254740993 990} {3 70}]
	// success <nil>
}
