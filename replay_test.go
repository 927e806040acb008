package wavefold_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/store/memory"
)

type rates struct {
	USD float64
	GBP float64
}

// convertingGraph returns a graph whose first part writes a field of a Go type, which the second one reads.
func convertingGraph() *wavefold.Graph {
	table, total := wavefold.NewField[rates]("rates"), wavefold.NewField[float64]("total")
	return wavefold.New("report",
		wavefold.Source("fetch", table, func(context.Context) (rates, error) { return rates{9.2, 1.16}, nil }),
		wavefold.Map("convert", table, total, func(_ context.Context, r rates) (float64, error) { return 100 * r.USD, nil }))
}

func TestReplaySetsFields(t *testing.T) {
	s := memory.New(nil)
	g := convertingGraph()
	if _, err := g.Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("first")); err != nil {
		t.Fatal(err)
	}
	for want, set := range map[string]wavefold.RunOption{
		`{"rates":{"USD":0.92,"GBP":1.16},"total":92.0}`: wavefold.SetField("rates.USD", 0.92),
		`{"rates":{"USD":0.5,"GBP":1},"total":50.0}`:     wavefold.SetField("rates", rates{0.5, 1}),
	} {
		r, err := g.Replay(t.Context(), "first", "convert", wavefold.WithStore(s), set)
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Wait()
		if got := value.JSON(canonical(t, result.State)); err != nil || got != want {
			t.Errorf("state %s, want %s, error %v", got, want, err)
		}
		h, err := g.History(t.Context(), s, r.ID(), "")
		if err != nil {
			t.Fatal(err)
		}
		if blame, err := h.State().Blame("rates.USD"); err != nil || !blame[0].By.Set {
			t.Errorf("blame %+v, error %v", blame, err)
		}
	}
	for want, set := range map[string]wavefold.RunOption{
		`cannot set rats: the state has no field "rats", did you mean "rates"`: wavefold.SetField("rats", 1),
		"cannot set rates: ":     wavefold.SetField("rates", "dear"),
		"cannot set rates.USD: ": wavefold.SetField("rates.USD", "dear"),
	} {
		if _, err := g.Replay(t.Context(), "first", "convert", wavefold.WithStore(s), set); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func canonical(t *testing.T, v any) any {
	t.Helper()
	c, err := value.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
