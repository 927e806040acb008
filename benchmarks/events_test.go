package benchmarks

import (
	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// eventTable has runs with a listener against the same runs without one.
func eventTable() Table {
	t := Table{ID: "events", Unit: "node or item"}
	for _, c := range []struct {
		name string
		of   func(options ...wavefold.RunOption) Case
	}{
		{"chain of Map, 1,000 nodes", func(o ...wavefold.RunOption) Case { return mapChain(1000, o...) }},
		{"ForEach, 10,000 items, limit 8", func(o ...wavefold.RunOption) Case { return forEach(10_000, 8, o...) }},
		{"Each, 10,000 items, limit 8", func(o ...wavefold.RunOption) Case { return each(10_000, 8, o...) }},
	} {
		heard := 0
		quiet := c.of()
		quiet.Name = "no listener"
		t.Figures = append(t.Figures, Figure{Name: c.name, Subject: c.of(wavefold.WithListener(func(core.Event) { heard++ })), Reference: quiet})
	}
	return t
}
