package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// Unknown is the handling of columns that the document does not declare.
type Unknown string

// The values of Unknown. The zero value means KeepUnknown.
const (
	KeepUnknown Unknown = "keep"
	DropUnknown Unknown = "drop" // rows do not have them
	FailUnknown Unknown = "fail" // the first one ends the reading with an error
)

// Absent is the index of an optional column that a file does not have.
const Absent = -1

// declares reports whether the document names a column under columns, in the state
// schema or under select.
func (o *ReadOptions) declares(name string) bool {
	_, ok := o.Types.Column(name)
	return ok || slices.Contains(o.Select, name)
}

// optional reports whether a column may be absent from a file.
func (o *ReadOptions) optional(name string) bool {
	c, _ := o.Types.Column(name)
	return c.Optional
}

// demanded lists the columns that every file must have.
func (o *ReadOptions) demanded() []string {
	var out []string
	for _, c := range o.Types {
		if !c.Optional && c.Name != o.FileColumn {
			out = append(out, c.Name)
		}
	}
	for _, name := range o.Select {
		if !o.optional(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Columns returns the columns of the rows, without FileColumn, for a table whose first
// file has the columns names. from holds the index in the file of each of them, or
// Absent for an optional column that the file lacks.
func (o *ReadOptions) Columns(names []string) (columns []string, from []int, err error) {
	for _, name := range o.demanded() {
		if !slices.Contains(names, name) {
			return nil, nil, missingColumn(name, names)
		}
	}
	if err := o.undeclared(names); err != nil {
		return nil, nil, err
	}
	if columns = slices.Clone(o.Select); columns == nil {
		for _, name := range names {
			if o.Unknown != DropUnknown || o.declares(name) {
				columns = append(columns, name)
			}
		}
		for _, c := range o.Types {
			if c.Optional && c.Name != o.FileColumn && !slices.Contains(names, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	return columns, Places(columns, names), nil
}

// Places returns the index of each column in the names of a file, or Absent if the file
// lacks it.
func Places(columns, names []string) []int {
	from := make([]int, len(columns))
	for i, c := range columns {
		from[i] = slices.Index(names, c) // -1 is Absent
	}
	return from
}

// undeclared returns an error for the first undeclared column, if undeclared columns
// are not allowed.
func (o *ReadOptions) undeclared(names []string) error {
	if o.Unknown != FailUnknown {
		return nil
	}
	for _, name := range names {
		if !o.declares(name) {
			return fmt.Errorf("the column %q is not declared (unknown: fail)", name)
		}
	}
	return nil
}

// fixed returns the columns of a file that every file of the table must have.
func (o *ReadOptions) fixed(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return o.optional(name) || o.Unknown == DropUnknown && !o.declares(name)
	})
}

func missingColumn(name string, names []string) error {
	return fmt.Errorf("the file has no column %q%s", name, Near(name, names))
}

// maxListed limits the number of columns that an error lists.
const maxListed = 10

// Near returns the rest of an error about an absent column, after its name: the most
// similar name, or a list of the existing columns.
func Near(name string, names []string) string {
	if near := source.DidYouMean(name, names); near != "" {
		return ", " + near
	}
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, 0, maxListed)
	for _, n := range names[:min(len(names), maxListed)] {
		quoted = append(quoted, fmt.Sprintf("%q", shorten([]byte(n), 40)))
	}
	more := ""
	if n := len(names) - len(quoted); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "; it has " + strings.Join(quoted, ", ") + more
}

// presence finds required columns that no row of a JSON file has.
type presence struct {
	absent []string // rows of the file so far
	rows   int64    // of the file
	keys   []string // of the last row
	seen   []string // columns seen so far, to suggest a similar name
}

// begin resets p for the next file.
func (p *presence) begin(demanded []string) {
	*p = presence{absent: demanded}
}

// look records the columns of a row.
func (p *presence) look(keys []string) {
	p.rows++
	if len(p.absent) == 0 || len(keys) > 0 && len(keys) == len(p.keys) && &keys[0] == &p.keys[0] {
		return
	}
	p.keys = keys
	p.absent = slices.DeleteFunc(slices.Clone(p.absent), func(name string) bool { return slices.Contains(keys, name) })
	for _, k := range keys {
		if len(p.seen) < maxNear && !slices.Contains(p.seen, k) {
			p.seen = append(p.seen, k)
		}
	}
}

// maxNear limits the number of names that are searched for a similar one.
const maxNear = 1000

// end returns an error if the file has rows and none of them has one of the required
// columns.
func (p *presence) end() error {
	if p.rows == 0 || len(p.absent) == 0 {
		return nil
	}
	name := p.absent[0]
	if near := source.DidYouMean(name, p.seen); near != "" {
		return fmt.Errorf("no row has the column %q, %s", name, near)
	}
	return fmt.Errorf("no row has the column %q", name)
}
