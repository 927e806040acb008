package table

import "github.com/wavefold/wavefold/core"

// blockRows is how many rows are allocated together.
const blockRows = 512

// Builder makes rows that share one header, many at a time: two allocations for
// 512 rows instead of 1024.
type Builder struct {
	keys    *core.Keys
	left    int // rows still to come, as far as known
	objects []core.Object
	values  []any
}

// NewBuilder returns a builder for about n rows of the keys.
func NewBuilder(keys *core.Keys, n int) *Builder { return &Builder{keys: keys, left: n} }

// Row returns the next row and its values, all nil. The caller fills them before
// it shows the row to anybody.
func (b *Builder) Row() (row *core.Object, values []any) {
	width := b.keys.Len()
	if len(b.objects) == 0 {
		n := max(1, min(b.left, blockRows))
		b.left -= n
		b.objects, b.values = make([]core.Object, n), make([]any, n*width)
	}
	row, values = &b.objects[0], b.values[:width:width]
	b.objects, b.values = b.objects[1:], b.values[width:]
	core.InitRow(row, b.keys, values)
	return row, values
}
