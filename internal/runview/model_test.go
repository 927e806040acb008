package runview

import (
	"testing"

	"github.com/wavefold/wavefold/internal/rehearse/rehearsetest"
)

// An item whose write is rejected used to be shown as successful: whether a set_once write
// succeeds is decided after all items have ended.
func TestRefusedItemsAreFailures(t *testing.T) {
	p, rec := rehearsetest.Run(t, `
name: once
state:
  schema:
    rows: {type: array, default: [1, 2, 3]}
    first: {merge: set_once}
graph:
  nodes: [{id: pick, kind: tool, impl: a, writes: [first], for_each: {source: $.rows}}]
`, `
nodes:
  pick: [{sleep: 1s, delta: {first: 1}}]
`)
	events := rec.Events
	m := New(p.Describe())
	for i := range events {
		m.Apply(&events[i])
		if r := m.nodes["pick"]; r.Done > 0 && r.Failed < r.Done-1 {
			t.Errorf("after %s %v: %d items are done, %d of them failed", events[i].Type, events[i].Item, r.Done, r.Failed)
		}
	}
	if r := m.nodes["pick"]; r.Done != 3 || r.Failed != 2 || r.State != Failed {
		t.Errorf("%d items are done, %d of them failed, state %d", r.Done, r.Failed, r.State)
	}
}
