package machine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// itemResults are the outcomes of the items of a fan-out that are in memory. Most items have
// nothing but writes, which are kept by field. The rest of the outcomes is kept by item.
type itemResults struct {
	n      *plan.Node
	schema *state.Schema
	len    int
	writes []*state.ItemWrites // parallel to n.WriteFields; nil until an item has written
	rest   []*Outcome          // without writes; nil for an item that has nothing else
}

// IsZero reports whether all outcomes are empty.
func (r *itemResults) IsZero() bool {
	return !slices.ContainsFunc(r.rest, func(o *Outcome) bool { return o != nil }) &&
		!slices.ContainsFunc(r.writes, func(w *state.ItemWrites) bool { return w != nil && !w.Empty() })
}

// nothingElse is the outcome without its writes of most items.
var nothingElse Outcome

// outcome returns the outcome of an item without its writes. The caller must not change it.
func (r *itemResults) outcome(at int) *Outcome {
	if r.rest == nil || r.rest[at] == nil {
		return &nothingElse
	}
	return r.rest[at]
}

// set stores the outcome of an item. The writes of a failed item do not count.
func (r *itemResults) set(at int, o *Outcome) {
	if !o.OnlyWrites() {
		rest := *o
		rest.Writes = nil
		if r.rest == nil {
			r.rest = make([]*Outcome, r.len)
		}
		r.rest[at] = &rest
	}
	if o.Failure == nil {
		for _, w := range o.Writes {
			r.column(w.Field).Set(at, w.Value)
		}
	}
}

// fail replaces the outcome of an item by a failure.
func (r *itemResults) fail(at int, failure *core.Failure) {
	for _, w := range r.writes {
		if w != nil {
			w.Drop(at)
		}
	}
	r.set(at, &Outcome{Failure: failure})
}

// setWrites stores the writes of n items, which begin at an index of writes. writes is parallel to
// n.WriteFields.
func (r *itemResults) setWrites(at int, writes []*state.ItemWrites, from, n int) {
	for k, w := range writes {
		if w != nil {
			r.columnLike(k, w).Copy(at, w, from, n)
		}
	}
}

// column returns the writes to a field.
func (r *itemResults) column(field int32) *state.ItemWrites {
	k := slices.Index(r.n.WriteFields, field)
	if r.writes == nil || r.writes[k] == nil {
		return r.columnLike(k, state.NewItemWrites(&r.schema.Fields[field], 0))
	}
	return r.writes[k]
}

func (r *itemResults) columnLike(k int, w *state.ItemWrites) *state.ItemWrites {
	if r.writes == nil {
		r.writes = make([]*state.ItemWrites, len(r.n.WriteFields))
	}
	if r.writes[k] == nil {
		r.writes[k] = w.SameForm(r.len)
	}
	return r.writes[k]
}

// appendWrites appends the writes of an item to a list, in the order in which the node declares the
// fields.
func (r *itemResults) appendWrites(list []plan.Write, at int) []plan.Write {
	for k, w := range r.writes {
		if w != nil && w.Wrote(at) {
			list = append(list, plan.Write{Field: r.n.WriteFields[k], Value: w.At(at)})
		}
	}
	return list
}

// wrote reports whether an item has written one of the fields that a function selects.
func (r *itemResults) wrote(at int, is func(field int32) bool) bool {
	for k, w := range r.writes {
		if w != nil && w.Wrote(at) && is(r.n.WriteFields[k]) {
			return true
		}
	}
	return false
}

// take returns the writes of the first n items to a field, as Column.Resolve takes them, and
// forgets them.
func (r *itemResults) take(field int32, n int) (one any, many []any) {
	k := slices.Index(r.n.WriteFields, field)
	if r.writes == nil || k < 0 || r.writes[k] == nil {
		return value.Missing, nil
	}
	w := r.writes[k]
	r.writes[k] = nil
	return w.Take(n)
}

// resize removes the first items and items at the end, or adds items at the end, so that the items
// from one to another are left.
func (r *itemResults) resize(from, to int) {
	r.len = to - from
	for _, w := range r.writes {
		if w != nil {
			w.Resize(from, to)
		}
	}
	if r.rest != nil {
		r.rest = resized(r.rest, from, to)
	}
}

func resized[T any](list []T, from, to int) []T {
	clear(list[:from])
	list = list[from:]
	if more := to - from - len(list); more > 0 {
		return append(list, make([]T, more)...)
	}
	clear(list[to-from:])
	return list[:to-from]
}

// itemResultsJSON contains only outcomes that are not empty.
type itemResultsJSON struct {
	Len   int                   `json:"len"`
	Items map[int]*savedOutcome `json:"items"`
}

// MarshalJSON returns the form of snapshots.
func (r *itemResults) MarshalJSON() ([]byte, error) {
	j := itemResultsJSON{r.len, map[int]*savedOutcome{}}
	for at := range r.len {
		o := *r.outcome(at)
		if o.Writes = r.appendWrites(nil, at); !o.Empty() {
			saved := o.save()
			j.Items[at] = &saved
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON decodes the form of MarshalJSON. restore completes it.
func (r *itemResults) UnmarshalJSON(data []byte) error {
	var j itemResultsJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	r.len = j.Len
	for at, saved := range j.Items {
		if at < 0 || at >= j.Len || saved == nil {
			return fmt.Errorf("an outcome of item %d of %d", at, j.Len)
		}
		if r.rest == nil {
			r.rest = make([]*Outcome, r.len)
		}
		o := saved.outcome()
		r.rest[at] = &o
	}
	return nil
}

// restore restores the writes of a snapshot, whose Go types depend on the schema.
func (r *itemResults) restore(f *frame) error {
	saved := r.rest
	r.rest = nil
	for at, o := range saved {
		if o == nil {
			continue
		}
		if err := f.restoreWrites(o.Writes); err != nil {
			return err
		}
		r.set(at, o)
	}
	return nil
}
