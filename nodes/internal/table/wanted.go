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

// Reads looks for the columns that expressions of the workflow read of a table. The zero Reads
// looks for none.
type Reads struct {
	wanted Wanted
	reads  []core.ColumnRead
}

// NewReads returns a Reads that looks for the columns.
func NewReads(reads []core.ColumnRead) Reads {
	var names []string
	for _, r := range reads {
		if !slices.Contains(names, r.Column.Value) {
			names = append(names, r.Column.Value)
		}
	}
	return Reads{NewWanted(names), reads}
}

// Look is Wanted.Look.
func (r *Reads) Look(rows []any) { r.wanted.Look(rows) }

// Header is Wanted.Header; its error names an expression that reads the column.
func (r *Reads) Header(columns, empty []string) error {
	return r.explain(r.wanted.Header(columns, empty), empty)
}

// Missing is Wanted.Missing; its error names an expression that reads the column.
func (r *Reads) Missing(empty []string) error { return r.explain(r.wanted.Missing(empty), empty) }

func (r *Reads) explain(err error, empty []string) error {
	name := r.wanted.lost(empty)
	i := slices.IndexFunc(r.reads, func(c core.ColumnRead) bool { return c.Column.Value == name })
	if err == nil || i < 0 {
		return err
	}
	place := ""
	if pos := r.reads[i].Column.Pos; pos.IsValid() {
		place = " at " + pos.String()
	}
	return fmt.Errorf("%w; %s reads it%s", err, r.reads[i].By, place)
}

func (w *Wanted) lost(empty []string) string {
	for _, name := range w.absent {
		if !slices.Contains(empty, name) {
			return name
		}
	}
	return ""
}
