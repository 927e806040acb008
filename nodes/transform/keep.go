package transform

import (
	"context"
	"slices"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// keeper keeps rows. Rows of a stream come in blocks of memory, which stay as long
// as one of their rows does; so when only a few rows of a batch are kept, they are
// copied.
type keeper struct {
	rows   []any
	old    int // rows before this batch
	shared int // rows of this batch that came in as they are
	stream bool
	hint   int // how many rows there are at most, 0 when that is not known
	copies headers
}

// keeper returns a keeper of rows of the attempt.
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

// roomy returns a list with room for one more. It doubles, which append does not
// do for long lists, and makes room for all that are expected once there are many.
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

// settle is called at the end of a batch of so many rows.
func (k *keeper) settle(batch int) {
	if added := k.rows[k.old:]; k.stream && k.shared == len(added) && len(added)*4 < batch {
		for i, row := range added {
			o := row.(*value.Object)
			added[i] = k.copies.of(o).row(&table.Record{Base: o}, false)
		}
	}
	k.old, k.shared = len(k.rows), 0
}

// drain returns the rows and forgets them.
func (k *keeper) drain() []any {
	rows := k.rows
	k.rows, k.old, k.shared = nil, 0, 0
	return rows
}

// output is behind the last step.
type output struct {
	*keeper
}

func (o *output) take(_ context.Context, r *record) error {
	o.add(r)
	return nil
}

func (o *output) outline(l *layout) (*layout, error) { return l, nil }

func (o *output) end(context.Context) (more bool, err error) { return false, nil }
