package table

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/internal/wanted"
)

// CellIndex tells where the value of a column is: at a place of the row, from 0; in
// a register, Register(i); or NoCell.
type CellIndex int32

// NoCell is the place of a column that a row does not have.
const NoCell CellIndex = math.MinInt32

// Register returns the place that is register i.
func Register(i int) CellIndex { return ^CellIndex(i) }

// Record is a row, and registers with values that stand beside it, so that a
// column can be computed without a new row being made.
type Record struct {
	Base      *value.Object
	Registers []any
}

// At returns the value at a place, nil for NoCell.
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

// Row is the environment of row expressions during one attempt. It is used by
// one goroutine.
type Row struct {
	record *Record
	places []CellIndex // of the columns, by their numbers
	number int64
	whole  func() *value.Object
	fields []any
	inputs *value.Object

	columns []string
	keys    []string // the header that places belongs to, when At found them
}

var _ expressions.Env = (*Row)(nil)

// Row returns an environment with the fields of an input. It stands on no row
// yet.
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

// At puts the environment on a row, an object which is number n from 0, and
// returns it.
func (r *Row) At(row any, n int64) *Row {
	o := row.(*value.Object)
	r.record.Base, r.number = o, n
	if keys := o.Keys(); !wanted.SameKeys(keys, r.keys) {
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

// Follow makes the environment see whatever stands in a record, in place of the
// rows of At. whole returns it as one row.
func (r *Row) Follow(record *Record, whole func() *value.Object) { r.record, r.whole = record, whole }

// Places says where the columns of a followed record are, by their numbers. It
// keeps the slice.
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

// Node is never asked for: row expressions have no $nodes.
func (r *Row) Node(int) (status, output any) { return value.Missing, value.Missing }

// Extra is never asked for: row expressions have no roots of the walk mode.
func (r *Row) Extra(expressions.Root) any { return value.Missing }
