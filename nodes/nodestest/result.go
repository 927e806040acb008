package nodestest

import (
	"maps"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Text formats a result for comparisons: the delta as JSON with sorted fields and, after an arrow,
// the edge output.
func Text(r core.Result) string {
	delta := value.NewObject(len(r.Delta))
	for _, field := range slices.Sorted(maps.Keys(r.Delta)) {
		delta.Set(field, r.Delta[field])
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

// spoil changes every mutable part of a value.
func spoil(v any) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			spoil(e)
			v[i] = "spoilt"
		}
	case *value.Object:
		for _, k := range slices.Clone(v.Keys()) {
			e, _ := v.Get(k)
			spoil(e)
			v.Set(k, "spoilt")
		}
		if v != nil {
			v.Set("spoilt", true)
		}
	}
}

func spoilResult(r core.Result) {
	for field, v := range r.Delta {
		spoil(v)
		r.Delta[field] = "spoilt"
	}
	spoil(r.EdgeOutput)
}
