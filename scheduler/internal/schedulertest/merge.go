package schedulertest

import (
	"fmt"
	"math/big"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// values is a state: the fields that have a value.
type values map[string]any

// mergeFailed replaces the value of a field whose merge failed: the field has no value, and every
// node that reads it fails.
type mergeFailed struct{}

func isMergeFailed(v any) bool { return v == mergeFailed{} }

func (s values) clone() values {
	c := make(values, len(s))
	for k, v := range s {
		c[k] = v
	}
	return c
}

// hasMergeFailure reports whether some field has lost its value.
func (s values) hasMergeFailure() bool {
	for _, v := range s {
		if isMergeFailed(v) {
			return true
		}
	}
	return false
}

func (s values) get(field string) any {
	if v, ok := s[field]; ok {
		return v
	}
	return value.Missing
}

// delta holds the writes of an execution of a node.
type delta struct {
	of     *core.Node
	writes map[string]any
}

// rejectReason returns the reason why the state rejects the writes of a node, or nil if it accepts
// them all. If it rejects several, the reason is about the one that the node declares first.
func rejectReason(fields map[string]core.FieldDecl, s values, delta map[string]any, of *core.Node) error {
	for _, w := range of.Writes {
		name := w.Value
		f := fields[name]
		v, wrote := delta[name]
		if !wrote {
			continue
		}
		if f.Reduce == nil && f.Merge.Value != "set_once" {
			continue
		}
		if _, err := merge(f, s.get(name), v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// fold stores a delta that rejectReason has accepted. A merge that still fails leaves no
// value.
func fold(fields map[string]core.FieldDecl, s values, delta map[string]any) {
	for name, v := range delta {
		merged, err := merge(fields[name], s.get(name), v)
		if err != nil || isMergeFailed(s.get(name)) {
			merged = mergeFailed{}
		}
		s[name] = merged
	}
}

// merge applies a merge strategy once.
func merge(f core.FieldDecl, old, v any) (any, error) {
	if f.Reduce != nil {
		return f.Reduce(old, v)
	}
	switch f.Merge.Value {
	case "", "last_wins":
		return v, nil
	case "array_append":
		list, _ := old.([]any)
		return append(append([]any{}, list...), v.([]any)...), nil
	case "set_once":
		if old != nil && !value.IsMissing(old) {
			return nil, fmt.Errorf("already has a value")
		}
		return v, nil
	case "sum":
		n, _ := old.(int64)
		sum := big.NewInt(0).Add(big.NewInt(n), big.NewInt(v.(int64)))
		if !sum.IsInt64() {
			return nil, fmt.Errorf("overflow")
		}
		return sum.Int64(), nil
	case "max", "min":
		n, ok := old.(int64)
		if !ok || (f.Merge.Value == "max") == (v.(int64) > n) {
			return v, nil
		}
		return n, nil
	case "union":
		return union(old, v.([]any)), nil
	case "object_merge":
		return deepMerge(old, v), nil
	}
	panic("schedulertest: the oracle has no merge strategy " + f.Merge.Value)
}

func union(old any, list []any) any {
	have, _ := old.([]any)
	out := append([]any{}, have...)
next:
	for _, e := range list {
		for _, h := range out {
			if value.Equal(e, h) {
				continue next
			}
		}
		out = append(out, e)
	}
	return out
}

// deepMerge merges v into old, recursively for members that are objects in both.
func deepMerge(old, v any) any {
	over, ok := v.(*value.Object)
	base, ok2 := old.(*value.Object)
	if !ok || !ok2 {
		return v
	}
	out := base.Copy(over.Len())
	for k, e := range over.All() {
		if below, ok := out.Get(k); ok {
			e = deepMerge(below, e)
		}
		out.Set(k, e)
	}
	return out
}
