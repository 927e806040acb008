package transform

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func flights(b *testing.B, n int) []any {
	keys, err := value.NewKeys([]string{"date", "delay", "distance", "origin", "destination"})
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]any, n)
	for i := range rows {
		rows[i] = value.NewRow(keys, []any{fmt.Sprintf("2001/02/%02d", i%28), int64(i*7919%240 - 60), int64(100 + i*31%2500), fmt.Sprint("A", i%59), fmt.Sprint("A", i*13%59)})
	}
	return rows
}

// BenchmarkStep measures each step on rows of five columns.
func BenchmarkStep(b *testing.B) {
	airports := make([]any, 3376)
	for i := range airports {
		airports[i] = value.ObjectOf("iata", fmt.Sprint("A", i), "city", fmt.Sprint("City ", i), "latitude", float64(i)/100)
	}
	for _, c := range []struct{ name, step string }{
		{"filter", `{"filter": "$item.delay > 15 && $item.distance > 500"}`},
		{"map", `{"map": {"origin": "$item.origin", "late": "$item.delay > 15"}}`},
		{"derive", `{"derive": {"speed": "$item.distance / ($item.delay + 100)"}}`},
		{"select", `{"select": ["origin", "delay"]}`},
		{"group", `{"group": {"by": ["origin"], "aggregate": {"n": "count", "total": "sum(delay)", "far": "max(distance)"}}}`},
		{"join", `{"join": {"with": "airports", "on": {"origin": "iata"}, "take": ["city"]}}`},
		{"checks", `{"checks": [{"name": "delay", "expr": "$item.delay > -100"}, {"name": "origin", "expr": "$item.origin != ''"}]}`},
		{"sort", `{"sort": ["origin", "-delay"]}`},
		{"sort+limit", `{"sort": ["origin", "-delay"]}, {"limit": 10}`},
		{"dedupe", `{"dedupe": ["origin", "destination"]}`},
	} {
		for _, n := range []int{10_000, 200_000} {
			b.Run(fmt.Sprintf("step=%s/rows=%d", c.name, n), func(b *testing.B) {
				made, ds := Kind.Compile(nodestest.Node(b, `{"reads": ["in"], "writes": ["out"], "steps": [`+c.step+`]}`), core.Env{})
				if ds.Failed(false) {
					b.Fatal(ds)
				}
				in := core.NewInput("r", "n", 1, core.Shared{
					View:  core.NewView([]string{"in"}, []any{flights(b, n)}),
					Extra: core.NewView([]string{"airports"}, []any{airports}),
				})
				b.ReportAllocs()
				for b.Loop() {
					if _, err := made.Handler.Handle(b.Context(), in); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
			})
		}
	}
}
