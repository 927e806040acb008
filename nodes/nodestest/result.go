package nodestest

import (
	"maps"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Text formats a result for comparisons: the writes as JSON with sorted fields and, after an arrow,
// the edge output.
func Text(r core.Result) string {
	writes := r.Writes()
	delta := value.NewObject(len(writes))
	for _, field := range slices.Sorted(maps.Keys(writes)) {
		delta.Set(field, writes[field])
	}
	s := value.JSON(delta)
	if r.HasEdgeOutput {
		s += " -> " + value.JSON(r.EdgeOutput)
	}
	if r.Status != core.StatusNone {
		s += " " + r.Status.String()
	}
	if r.Note != "" {
		s += " (" + r.Note + ")"
	}
	return s
}

// mutate changes every mutable part of a value.
func mutate(v any) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			mutate(e)
			v[i] = "mutated"
		}
	case *value.Object:
		for _, k := range slices.Clone(v.Keys()) {
			e, _ := v.Get(k)
			mutate(e)
			v.Set(k, "mutated")
		}
		if v != nil {
			v.Set("mutated", true)
		}
	}
}

func mutateResult(r core.Result) {
	for _, v := range r.Writes() {
		mutate(v)
	}
	for field := range r.Delta {
		r.Delta[field] = "mutated"
	}
	mutate(r.EdgeOutput)
}
