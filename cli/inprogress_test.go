package cli

import (
	"testing"

	"github.com/wavefold/wavefold/core"
)

func TestAwaited(t *testing.T) {
	start := func(node string) core.Event { return core.Event{Type: core.NodeStarted, Node: node} }
	item := func(typ core.EventType, node string, i int) core.Event {
		return core.Event{Type: typ, Node: node, Item: core.Nth(i)}
	}
	whole := core.Event{Type: core.NodeStarted, Node: "each", Total: core.Nth(9)}
	unit := core.Event{Type: core.NodeStarted, Unit: "p", Total: core.Nth(9)}
	for _, c := range []struct {
		name   string
		events []core.Event
		want   string
	}{
		{"nothing", nil, "what runs"},
		{"one", []core.Event{start("a")}, "a"},
		{"ended", []core.Event{start("a"), start("b"), {Type: core.NodeFailed, Node: "a"}}, "b"},
		{"waits for another attempt", []core.Event{start("a"), {Type: core.NodeRetrying, Node: "a"}}, "what runs"},
		{"items", []core.Event{whole, item(core.ItemStarted, "each", 0), item(core.ItemStarted, "each", 1), item(core.ItemStarted, "each", 2), item(core.ItemFailed, "each", 1)}, "each (2 items)"},
		{"one item", []core.Event{whole, item(core.ItemStarted, "each", 0)}, "each"},
		{"rows", []core.Event{unit, item(core.ItemStarted, "parse", 0), item(core.ItemStarted, "store", 0)}, "parse, store"},
		{"many", []core.Event{start("a"), start("b"), start("c"), start("d"), start("e")}, "a, b, c and 2 more"},
		{"nested", []core.Event{start("outer"), start("outer/in"), start("out")}, "outer/in, out"},
		{"nested in a fan-out", []core.Event{item(core.ItemStarted, "many", 0), start("many[0]/in")}, "many[0]/in"},
	} {
		var a inProgress
		for i := range c.events {
			a.apply(&c.events[i])
		}
		if got := a.String(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
