package verify_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/verify"
)

const wide = `
name: wide
state: {schema: {rows: {type: array}, hits: {type: integer, merge: count}}}
graph:
  nodes:
    - {id: many, kind: tool, impl: x, writes: [rows]}
    - {id: each, kind: tool, impl: x, writes: [hits], for_each: {source: $.rows, concurrency: 4}}
  edges: [{from: many, to: each}]
`

// BenchmarkLog measures the check of the log of a fan-out, including parsing.
func BenchmarkLog(b *testing.B) {
	handlers := map[string]core.HandlerFunc{"many": wrote("rows", make([]any, 30_000)), "each": wrote("hits", int64(1))}
	p := compiledWith(b, wide, handlers)
	var text bytes.Buffer
	enc, events := json.NewEncoder(&text), 0
	_, err := scheduler.Run(b.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) {
		events++
		if err := enc.Encode(e); err != nil {
			b.Error(err)
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := verify.Log(p, bytes.NewReader(text.Bytes()))
		if err != nil || r.Events != events || len(r.Violations) > 0 {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
}
