package table

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// CellIndex is the place of a column's value: an index in the row, from 0; a register,
// Register(i); or NoCell.
type CellIndex int32

// NoCell is the place of a column that a row does not have.
const NoCell CellIndex = math.MinInt32

// Register returns the place of register i.
func Register(i int) CellIndex { return ^CellIndex(i) }

// Record is a row with registers for computed values, so that columns can be computed
// without making a new row.
type Record struct {
	Base      *value.Object
	Registers []any
}

// At returns the value at a place, or nil for NoCell.
func (r *Record) At(p CellIndex) any {
	if p >= 0 {
		_, v := r.Base.At(int(p))
		return v
	}
	if p == NoCell {
		return nil
	}
	return r.Registers[^p]
}

// Row is the environment of row expressions during one attempt. It is used by one
// goroutine.
type Row struct {
	record *Record
	places []CellIndex // of the columns, by number
	number int64
	whole  func() *value.Object
	fields []any
	inputs *value.Object

	columns []string
	keys    []string // the header that places belong to, if At set them
}

var _ expressions.Env = (*Row)(nil)

// Row returns an environment with the fields of an input. It has no current row yet.
func (s Slots) Row(in core.Shared) *Row {
	r := &Row{record: &Record{}, fields: make([]any, len(s.fields)), inputs: in.Inputs, columns: s.columns, places: make([]CellIndex, len(s.columns))}
	for i := range r.places {
		r.places[i] = NoCell
	}
	for i, n := range s.fields {
		r.fields[i] = value.Missing
		if n != "" {
			r.fields[i] = Value(in, n)
		}
	}
	return r
}

// At sets the current row, an object with index n, which counts from 0, and returns r.
func (r *Row) At(row any, n int64) *Row {
	o := row.(*value.Object)
	r.record.Base, r.number = o, n
	if keys := o.Keys(); !columncheck.SameKeys(keys, r.keys) {
		r.keys = keys
		for i, name := range r.columns {
			r.places[i] = NoCell
			if at := slices.Index(keys, name); at >= 0 {
				r.places[i] = CellIndex(at)
			}
		}
	}
	return r
}

// Follow makes the environment read its columns from a record instead of the rows of
// At. whole returns the record as one row.
func (r *Row) Follow(record *Record, whole func() *value.Object) { r.record, r.whole = record, whole }

// Places sets the places of the columns of a followed record, by number. It keeps the
// slice.
func (r *Row) Places(places []CellIndex) { r.places = places }

// Number sets $index for a followed record.
func (r *Row) Number(n int64) { r.number = n }

// Field returns a state field or a column of the row.
func (r *Row) Field(slot int) any {
	if slot >= 0 {
		return r.fields[slot]
	}
	p := r.places[^slot]
	if p == NoCell {
		return value.Missing
	}
	return r.record.At(p)
}

// Input returns an input of the run.
func (r *Row) Input(name string) any {
	if v, ok := r.inputs.Get(name); ok {
		return v
	}
	return value.Missing
}

// Index returns $index.
func (r *Row) Index() any { return r.number }

// Item returns $item, the row.
func (r *Row) Item() any {
	if r.whole != nil {
		return r.whole()
	}
	return r.record.Base
}

// Node is never called, because row expressions have no $nodes.
func (r *Row) Node(int) (status, output any) { return value.Missing, value.Missing }

// Extra is never called, because row expressions have no roots of the walk mode.
func (r *Row) Extra(expressions.Root) any { return value.Missing }
