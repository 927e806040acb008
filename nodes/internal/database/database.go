// Package database stores rows in tables of databases and reads them by queries.
// What differs between databases is in its subpackages, each of which links one
// driver; everything else, above all what a row must be like and what becomes of
// a table when something fails, is here and the same for all of them.
package database

import (
	"context"
	"log/slog"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Mode says what becomes of the rows that are in the table.
type Mode uint8

// Modes of storing rows.
const (
	Append  Mode = iota // they stay
	Upsert              // those with the key of a new row are updated
	Replace             // they go; the layout of the table stays
	Remake              // the table is dropped and made anew
)

// Table says where rows are stored and how.
type Table struct {
	// Schema is the namespace the table is in, "" for the default one.
	Schema string
	Name   string
	Mode   Mode
	// Key holds the primary key of a table that is made, and what Upsert
	// recognises rows by. No row may lack a value in it.
	Key []string
	// Columns are the columns in order, nil for all that the rows have.
	Columns []table.Field
	// Declared are columns that the state schema knows. A table that is made has
	// them too.
	Declared []table.Field
	// Header are the columns of a table without rows. A table that is made has them too.
	Header []table.Field
	// Make allows a table that is not there to be made.
	Make bool
	// Batch is how many rows are sent at once, 0 for at most 5,000.
	Batch int
	// Commit makes each batch a transaction of its own. Otherwise all rows are
	// one: the table holds all of them, or is what it was.
	Commit bool
	// Ready is called with the number of rows before the last commit; its error undoes
	// what is not committed. It may be nil.
	Ready func(rows int64) error
	// Upserted takes in the keys of the rows; nil if nobody asks for them.
	Upserted *core.Upserted
	// Storing is called before each commit with the keys in Upserted, which is emptied
	// afterwards; its error undoes what is not committed. It may be nil.
	Storing func(*core.Upserted) error

	unmade bool // see WarnUnmade
}

// WarnUnmade warns if Load did not make the table, because it has no rows and its columns
// are not known. It is called by Ready.
func (t *Table) WarnUnmade(log *slog.Logger) {
	if t.unmade {
		log.Warn("the table does not exist: without rows its columns are not known, so it was not made", "table", t.Name)
	}
}

// Column is a column of a table in a database.
type Column struct {
	Name string
	// Type is the declared type as the database spells it.
	Type string
	// Takes is what may be stored in it without being changed or refused.
	Takes table.Seen
}

// New is a column of a table that is about to be made: the type that was given
// for it, and what its first rows hold.
type New struct {
	table.Field
	Seen table.Seen
	// More tells that there may be rows behind the first ones.
	More bool
}

// Values returns what the column is going to hold: what its given type says or,
// without one, what its first rows hold.
func (n New) Values() table.Seen {
	switch n.Kind {
	case value.IntegerType:
		return table.SeenInteger | table.SeenLong
	case value.NumberType:
		return table.SeenFloat | n.Seen&table.SeenLong
	case value.BooleanType:
		return table.SeenBoolean
	case value.StringType:
		return table.SeenText
	case value.ArrayType, value.ObjectType:
		return table.SeenNested
	}
	return n.Seen
}

// Rules are what is known of a database without a connection.
type Rules struct {
	// Name is how messages call the database.
	Name string
	// CheckName reports why a table or column cannot have a name.
	CheckName func(name string) error
	// Fold returns what the database takes for the same name.
	Fold func(name string) string
}

// Backend is a connection to a database, for one load. All methods are called by
// one goroutine.
type Backend interface {
	Rules() Rules

	Begin(ctx context.Context) error
	Commit(ctx context.Context) error
	// Rollback undoes what was done since Begin.
	Rollback()

	// Columns lists the columns of a table, none when there is no such table.
	Columns(ctx context.Context, t *Table) ([]Column, error)
	// Layout returns the column that is made of a new one.
	Layout(c New) Column
	// Create makes a table.
	Create(ctx context.Context, t *Table, columns []Column) error
	Drop(ctx context.Context, t *Table) error
	// Clear removes all rows.
	Clear(ctx context.Context, t *Table) error

	// Prepare says which columns the rows to come fill. It is called once in each
	// transaction.
	Prepare(ctx context.Context, t *Table, columns []Column) error
	// Row takes in the values of the next row, in the order of the columns. It
	// keeps neither them nor the slice.
	Row(values []any) error
	// Flush stores the rows taken in. An error about their content is a *RowError.
	Flush(ctx context.Context) error
}

// RowError is an error of a backend about one row.
type RowError struct {
	// Row counts from 0, from the first row that was taken in after the last
	// Flush; it is -1 when the database does not say which one it is.
	Row int
	Err error
}

// Error returns the text of the cause.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RowError) Unwrap() error { return e.Err }

// DuplicateError is an error of a backend about a row with a key that another row has.
type DuplicateError struct{ Err error }

// Error returns the text of the cause.
func (e *DuplicateError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DuplicateError) Unwrap() error { return e.Err }
