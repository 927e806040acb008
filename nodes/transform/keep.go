package transform

import (
	"context"
	"slices"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// keeper collects rows. Rows of a stream are allocated in blocks, and a block stays in
// memory as long as one of its rows does. So if only a few rows of a batch are kept,
// keeper copies them.
type keeper struct {
	rows   []any
	old    int // number of rows from earlier batches
	shared int // number of rows of this batch that are input rows, unchanged
	stream bool
	hint   int // upper limit of the number of rows, 0 if it is not known
	copies headers
}

// keeper returns a new keeper and registers it with the attempt.
func (a *attempt) keeper() *keeper {
	_, isArray := a.source.(*array)
	k := &keeper{stream: !isArray, hint: int(a.total)}
	a.keepers = append(a.keepers, k)
	return k
}

func (k *keeper) add(r *record) {
	if r.layout.same {
		k.shared++
	}
	k.rows = append(roomy(k.rows, k.hint), r.object())
}

// roomy returns list with room for at least one more element. It doubles the capacity,
// which append does not do for long lists. Once the list is long, it makes room for
// hint elements in total.
func roomy[T any](list []T, hint int) []T {
	n := len(list)
	if n < cap(list) {
		return list
	}
	more := max(n, 64)
	if n >= endRows && n < hint {
		more = hint - n
	}
	return slices.Grow(list, more)
}

// settle is called at the end of a batch; batch is the number of its rows.
func (k *keeper) settle(batch int) {
	if added := k.rows[k.old:]; k.stream && k.shared == len(added) && len(added)*4 < batch {
		for i, row := range added {
			o := row.(*value.Object)
			added[i] = k.copies.of(o).row(&table.Record{Base: o}, false)
		}
	}
	k.old, k.shared = len(k.rows), 0
}

// drain returns the rows and removes them from the keeper.
func (k *keeper) drain() []any {
	rows := k.rows
	k.rows, k.old, k.shared = nil, 0, 0
	return rows
}

// output is the last stage, which collects the rows of the result.
type output struct {
	*keeper
}

func (o *output) take(_ context.Context, r *record) error {
	o.add(r)
	return nil
}

func (o *output) outline(l *layout) (*layout, error) { return l, nil }

func (o *output) end(context.Context) (more bool, err error) { return false, nil }
