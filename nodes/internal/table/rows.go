package table

import (
	"fmt"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// Rows returns a state value as a list of rows. name is the name in messages. Values of
// Go types are converted to their JSON form.
func Rows(name string, v any) ([]any, error) {
	if value.IsMissing(v) {
		return nil, fmt.Errorf("%s has no value", name)
	}
	c, err := value.Canonical(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	list, ok := c.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: want an array of objects, got %s", name, value.TypeName(c))
	}
	for i, e := range list {
		if _, ok := e.(*value.Object); !ok {
			return nil, fmt.Errorf("%s[%d]: want an object, got %s", name, i, value.TypeName(e))
		}
	}
	return list, nil
}

// Count formats a number of things, such as "1 row" or "2 rows".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Columns returns all keys of the rows: the keys of the first row in order, then others
// in the order in which they first appear.
func Columns(rows []any) []string {
	var (
		names []string
		known map[string]bool
		last  []string
	)
	for _, r := range rows {
		keys := r.(*value.Object).Keys()
		if columncheck.SameKeys(keys, last) {
			continue
		}
		last = keys
		if known == nil {
			known = make(map[string]bool, len(keys))
		}
		for _, k := range keys {
			if !known[k] {
				known[k] = true
				names = append(names, k)
			}
		}
	}
	return names
}

// Column reads one column of many rows. It caches the index of the column as long as
// the rows share their keys. Its zero value reads the column "".
type Column struct {
	Name string
	keys []string
	at   int
}

// Of returns the row's value in the column and whether the row has the column.
func (c *Column) Of(row *value.Object) (any, bool) {
	keys := row.Keys()
	if len(keys) == 0 {
		return nil, false
	}
	if !columncheck.SameKeys(keys, c.keys) {
		c.keys, c.at = keys, -1
		for i, k := range keys {
			if k == c.Name {
				c.at = i
				break
			}
		}
	}
	if c.at < 0 {
		return nil, false
	}
	_, v := row.At(c.at)
	return v, true
}

// Value returns the row's value in the column, or nil if the row does not have it.
func (c *Column) Value(row *value.Object) any {
	v, _ := c.Of(row)
	return v
}

// Guard finds columns that the first rows of a file or table did not have.
type Guard struct {
	names []string
	known map[string]bool
	last  []string
}

// NewGuard returns a guard that accepts these columns.
func NewGuard(names []string) *Guard { return &Guard{names: names} }

// Check returns an error for the first column of the row that is not accepted. It costs
// nothing for rows that share their keys with the previous row.
func (g *Guard) Check(row *value.Object) error {
	keys := row.Keys()
	if columncheck.SameKeys(keys, g.last) {
		return nil
	}
	if g.known == nil {
		g.known = make(map[string]bool, len(g.names))
		for _, n := range g.names {
			g.known[n] = true
		}
	}
	for _, k := range keys {
		if !g.known[k] {
			return core.Permanent(fmt.Errorf("unknown column %q: the first rows have no such column; list the columns", k))
		}
	}
	g.last = keys
	return nil
}
