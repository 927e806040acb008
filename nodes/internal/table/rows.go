package table

import (
	"fmt"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/wanted"
)

// Rows returns a state value as a list of rows. name is how messages call it.
// Values of Go types are brought into their JSON form.
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

// Count writes a number of things, such as "1 row" or "2 rows".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Columns returns all keys of the rows: those of the first row in its order,
// then others as they first appear.
func Columns(rows []any) []string {
	var (
		names []string
		known map[string]bool
		last  []string
	)
	for _, r := range rows {
		keys := r.(*value.Object).Keys()
		if wanted.SameKeys(keys, last) {
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

// Column reads one column of many rows; it remembers where the column stands
// as long as the rows share their keys. Its zero value reads the column "".
type Column struct {
	Name string
	keys []string
	at   int
}

// Of returns the row's value in the column and whether the row has it.
func (c *Column) Of(row *value.Object) (any, bool) {
	keys := row.Keys()
	if len(keys) == 0 {
		return nil, false
	}
	if !wanted.SameKeys(keys, c.keys) {
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

// Value returns the row's value in the column, nil when it has none.
func (c *Column) Value(row *value.Object) any {
	v, _ := c.Of(row)
	return v
}

// Guard looks for columns beyond those that a file or table was begun with.
type Guard struct {
	names []string
	known map[string]bool
	last  []string
}

// NewGuard returns a guard of the columns.
func NewGuard(names []string) *Guard { return &Guard{names: names} }

// Check returns an error that names the first column of the row that is not
// among them. Rows that share their keys with the one before cost nothing.
func (g *Guard) Check(row *value.Object) error {
	keys := row.Keys()
	if wanted.SameKeys(keys, g.last) {
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
