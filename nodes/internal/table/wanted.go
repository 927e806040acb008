package table

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// maxSeen limits how many columns are remembered to suggest one of them.
const maxSeen = 1024

// Wanted looks for columns among rows. The zero Wanted looks for none.
type Wanted struct {
	some   bool // there was a row
	absent []string
	last   []string
	seen   []string // all columns there were, for the nearest name
}

// NewWanted returns a Wanted that looks for the columns.
func NewWanted(columns []string) Wanted { return Wanted{absent: slices.Clone(columns)} }

// Look looks at the next rows, which are objects unless nothing is looked for. Rows that
// share their keys with the one before cost nothing.
func (w *Wanted) Look(rows []any) {
	w.some = w.some || len(rows) > 0
	for _, r := range rows {
		if len(w.absent) == 0 {
			return
		}
		if keys := r.(*core.Object).Keys(); !SameKeys(keys, w.last) {
			w.last = keys
			for _, k := range keys {
				if len(w.seen) < maxSeen && !slices.Contains(w.seen, k) {
					w.seen = append(w.seen, k)
				}
			}
			w.found(keys)
		}
	}
}

func (w *Wanted) found(columns []string) {
	w.absent = slices.DeleteFunc(w.absent, func(name string) bool { return slices.Contains(columns, name) })
}

// Header takes the columns that all rows have. It returns an error for a wanted one that
// is not among them, except for those of empty.
func (w *Wanted) Header(columns, empty []string) error {
	w.found(columns)
	if lost := w.lost(empty); lost != "" {
		return core.Permanent(fmt.Errorf("the rows have no column %q%s", lost, ColumnHint(lost, columns)))
	}
	return nil
}

// Missing returns an error for a column that no row had, except for those of empty.
// Without rows none is missing.
func (w *Wanted) Missing(empty []string) error {
	lost := w.lost(empty)
	if lost == "" || !w.some {
		return nil
	}
	return core.Permanent(fmt.Errorf("no row has the column %q%s", lost, ColumnHint(lost, w.seen)))
}

func (w *Wanted) lost(empty []string) string {
	for _, name := range w.absent {
		if !slices.Contains(empty, name) {
			return name
		}
	}
	return ""
}
