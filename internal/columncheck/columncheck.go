// Package columncheck looks for expected columns in the rows of a table. If no row has a column,
// its name is probably misspelt where it is used.
package columncheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

const (
	// maxSeen limits the number of columns that are remembered in order to suggest a
	// similar name.
	maxSeen = 1024
	// wide is the maximum number of columns that a message lists.
	wide = 30
)

// Columns looks for columns in rows. The zero Columns looks for none.
type Columns struct {
	some   bool // there was a row
	absent []string
	last   []string
	seen   []string // all columns found, to suggest the most similar name
}

// New returns a Columns that looks for the given columns.
func New(columns []string) Columns { return Columns{absent: slices.Clone(columns)} }

// Look examines the next rows. It ignores elements that are not objects. Rows that share
// their keys with the previous row cost nothing.
func (w *Columns) Look(rows []any) {
	for _, r := range rows {
		if len(w.absent) == 0 {
			return
		}
		row, ok := r.(*value.Object)
		if !ok {
			continue
		}
		w.some = true
		if keys := row.Keys(); !SameKeys(keys, w.last) {
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

func (w *Columns) found(columns []string) {
	w.absent = slices.DeleteFunc(w.absent, func(name string) bool { return slices.Contains(columns, name) })
}

// Absent returns the columns that no row has had so far.
func (w *Columns) Absent() []string { return w.absent }

// Continue is called before the first row if earlier rows of the table have been examined
// elsewhere, with the columns that none of them had.
func (w *Columns) Continue(absent []string) {
	w.some = true
	w.absent = slices.DeleteFunc(w.absent, func(name string) bool { return !slices.Contains(absent, name) })
}

// Header is called with the columns that all rows have, instead of Look. It returns an
// error if a wanted column is not among them or in empty.
func (w *Columns) Header(columns, empty []string) error {
	w.found(columns)
	if missing := w.missing(empty); missing != "" {
		return fmt.Errorf("the rows have no column %q%s", missing, Hint(missing, columns))
	}
	return nil
}

// Missing returns an error if no row had a wanted column that is not in empty. It returns
// nil if there were no rows.
func (w *Columns) Missing(empty []string) error {
	missing := w.missing(empty)
	if missing == "" || !w.some {
		return nil
	}
	return fmt.Errorf("no row has the column %q%s", missing, Hint(missing, w.seen))
}

// Reads looks for the columns of a table that expressions of the workflow read. The zero
// Reads looks for none.
type Reads struct {
	wanted Columns
	reads  []source.ColumnRead
	headed []string // columns that are looked for only in headers
}

// NewReads returns a Reads that looks for the given columns.
func NewReads(reads []source.ColumnRead) Reads {
	var names, headed []string
	for _, r := range reads {
		if !slices.Contains(names, r.Column.Value) {
			names = append(names, r.Column.Value)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(reads, func(r source.ColumnRead) bool { return r.Column.Value == name && !r.HeaderOnly }) {
			headed = append(headed, name)
		}
	}
	return Reads{New(names), reads, headed}
}

// Complete reports whether all columns were found.
func (r *Reads) Complete() bool { return len(r.wanted.absent) == 0 }

// Look searches rows for the columns, see Columns.Look.
func (r *Reads) Look(rows []any) { r.wanted.Look(rows) }

// Header is Columns.Header; its error names an expression that reads the column.
func (r *Reads) Header(columns, empty []string) error {
	return r.explain(r.wanted.Header(columns, empty), empty, true)
}

// Missing is Columns.Missing; its error names an expression that reads the column. Columns that are
// looked for only in headers may be absent.
func (r *Reads) Missing(empty []string) error {
	empty = slices.Concat(empty, r.headed)
	return r.explain(r.wanted.Missing(empty), empty, false)
}

// explain adds an expression that reads the missing column to an error about it.
func (r *Reads) explain(err error, empty []string, header bool) error {
	name := r.wanted.missing(empty)
	i := slices.IndexFunc(r.reads, func(c source.ColumnRead) bool { return c.Column.Value == name && (header || !c.HeaderOnly) })
	if err == nil || i < 0 {
		return err
	}
	return readBy(err, r.reads[i])
}

// readBy adds the expression that reads a column to an error about the column.
func readBy(err error, r source.ColumnRead) error {
	place := ""
	if pos := r.Column.Pos; pos.IsValid() {
		place = " at " + pos.String()
	}
	return fmt.Errorf("%w; %s reads it%s", err, r.By, place)
}

// Anywhere returns an error if there are rows and an expression reads a member that no
// value in them has, at any depth. The error names the expression.
func Anywhere(rows []any, reads []source.ColumnRead) error {
	for _, r := range reads {
		s := search{name: r.Column.Value}
		if !s.in(rows) && s.some {
			hint := source.DidYouMean(s.name, s.seen)
			if hint != "" {
				hint = " (" + hint + ")"
			}
			return readBy(fmt.Errorf("no value in the rows has the member %q%s", s.name, hint), r)
		}
	}
	return nil
}

// search looks for a member in values and, recursively, in their elements.
type search struct {
	name string
	some bool     // there was an object
	seen []string // all members found
}

func (s *search) in(v any) bool {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return false
	case []any:
		return slices.ContainsFunc(v, s.in)
	case *value.Object:
		s.some = true
		for name, member := range v.All() {
			if name == s.name || s.in(member) {
				return true
			}
			if len(s.seen) < maxSeen && !slices.Contains(s.seen, name) {
				s.seen = append(s.seen, name)
			}
		}
		return false
	}
	return true // the members of a value of a Go type are unknown
}

func (w *Columns) missing(empty []string) string {
	for _, name := range w.absent {
		if !slices.Contains(empty, name) {
			return name
		}
	}
	return ""
}

// Hint returns the end of a message about a column that rows do not have: the most similar
// name, and the existing columns.
func Hint(name string, columns []string) string {
	hint := source.DidYouMean(name, columns)
	if n := len(columns); n > 0 && n <= wide {
		hint = strings.TrimSpace(hint + " columns: " + strings.Join(columns, ", "))
	}
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}

// SameKeys reports whether two key lists are identical, like those of rows made from one
// header. It does not compare the strings.
func SameKeys(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
