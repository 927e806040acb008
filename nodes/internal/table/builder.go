package table

import "github.com/wavefold/wavefold/core/value"

// Rows are allocated in blocks whose size doubles from firstBlock to lastBlock. So a
// header with one row costs little, and a header with many rows costs two allocations
// for 512 rows.
const (
	firstBlock = 16
	lastBlock  = 512
)

// Builder makes rows that share one header.
type Builder struct {
	keys    *value.Keys
	block   int
	objects []value.Object
	values  []any
}

// NewBuilder returns a builder of rows with these keys.
func NewBuilder(keys *value.Keys) *Builder { return &Builder{keys: keys, block: firstBlock} }

// Keys returns the header of the rows.
func (b *Builder) Keys() *value.Keys { return b.keys }

// Row returns the next row and its values, which are all nil. The caller must set the
// values before it passes the row on.
func (b *Builder) Row() (row *value.Object, values []any) {
	width := b.keys.Len()
	if len(b.objects) == 0 {
		b.objects, b.values = make([]value.Object, b.block), make([]any, b.block*width)
		b.block = min(2*b.block, lastBlock)
	}
	row, values = &b.objects[0], b.values[:width:width]
	b.objects, b.values = b.objects[1:], b.values[width:]
	value.InitRow(row, b.keys, values)
	return row, values
}
