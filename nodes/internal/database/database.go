// Package database stores rows in database tables and reads rows by queries. The
// differences between databases are in subpackages, each of which links one driver.
// Everything else is here and is the same for all databases, in particular the
// requirements for rows and what happens to a table after an error.
package database

import (
	"context"
	"log/slog"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Mode determines what happens to the existing rows of the table.
type Mode uint8

// Modes of storing rows.
const (
	Append  Mode = iota // existing rows are kept
	Upsert              // existing rows with the key of a new row are updated
	Replace             // existing rows are deleted; the columns of the table are kept
	Remake              // the table is dropped and created again
)

// Table describes the table in which rows are stored, and how.
type Table struct {
	// Schema is the namespace of the table, "" for the default one.
	Schema string
	Name   string
	Mode   Mode
	// Key holds the primary key of a table that is created, and the columns by which
	// Upsert finds existing rows. Every row must have a value in each of them.
	Key []string
	// Columns lists the columns in order, nil for all columns of the rows.
	Columns []table.Field
	// Declared lists the columns that the state schema declares. A table that is
	// created has them, too.
	Declared []table.Field
	// Header lists the columns of a table without rows. A table that is created has
	// them, too.
	Header []table.Field
	// Make allows the table to be created if it does not exist.
	Make bool
	// Batch is the number of rows that are sent at once, 0 for the default of at most
	// 5,000.
	Batch int
	// Commit makes each batch a separate transaction. Otherwise all rows are stored in
	// one transaction, so that the table holds all of them or is unchanged.
	Commit bool
	// Ready is called with the number of rows before the last commit. If it returns an
	// error, everything that is not committed is rolled back. Ready may be nil.
	Ready func(rows int64) error
	// MayCommit is called before each commit, like Ready. It may be nil.
	MayCommit func() error
	// Commits keeps the marker of the execution. It is nil if the run is not stored. If it
	// has rows, Load continues after them: the source must begin there.
	Commits *Commits
	// Committed is called after a commit that the rows which follow are not part of, with
	// the number of rows that are stored and the position of the source after them. An
	// error ends Load; it may be nil. It is called only if Resumes is true.
	Committed func(ctx context.Context, rows int64, position *value.Object) error
	// Upserted collects the keys of the rows; nil if they are not needed.
	Upserted *core.Upserted
	// Storing is called with Upserted before each commit. If it returns an error,
	// everything that is not committed is rolled back. The keys in Upserted are removed
	// afterwards. Storing may be nil.
	Storing func(*core.Upserted) error

	notCreated bool // see WarnNotCreated
}

// Resumes reports whether an execution that is repeated after a crash can continue after
// the last commit. Otherwise it begins again: an upsert has the same effect a second time.
func (t *Table) Resumes() bool { return t.Commit && t.Mode == Append }

// WarnNotCreated logs a warning if Load did not create the table, because there were no
// rows and the columns are not known. Ready calls it.
func (t *Table) WarnNotCreated(log *slog.Logger) {
	if t.notCreated {
		log.Warn("the table does not exist: without rows its columns are not known, so it was not made", "table", t.Name)
	}
}

// Column is a column of a table in a database.
type Column struct {
	Name string
	// Type is the declared type in the syntax of the database.
	Type string
	// Takes is the set of values that the column stores without a change.
	Takes table.Seen
}

// New is a column of a table that will be created: its declared type and the values of
// its first rows.
type New struct {
	table.Field
	Seen table.Seen
	// More reports whether there may be more rows after the first ones.
	More bool
}

// Values returns the set of values that the column must hold: the values of its
// declared type or, without one, the values of its first rows.
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

// Rules are the properties of a database that do not need a connection.
type Rules struct {
	// Name is the name of the database in messages.
	Name string
	// CheckName returns an error if a table or column cannot have this name.
	CheckName func(name string) error
	// Fold maps names that the database considers equal to the same string.
	Fold func(name string) string
}

// Backend is a connection to a database for one load. All methods are called by one
// goroutine.
type Backend interface {
	Rules() Rules

	Begin(ctx context.Context) error
	Commit(ctx context.Context) error
	// Rollback undoes all changes since Begin.
	Rollback()

	// Committed returns the marker of a key, in the schema of a table. ok is false if there
	// is none. It is called outside of transactions, and may create MarkerTable.
	Committed(ctx context.Context, t *Table, key string) (m Marker, ok bool, err error)
	// Mark stores a marker. It replaces a marker that has the number of rows before and is
	// not done; before is -1 if there is none. Otherwise the error is ErrMarked. Mark may
	// create MarkerTable.
	Mark(ctx context.Context, t *Table, m Marker, before int64) error

	// Columns lists the columns of a table. It returns none if the table does not
	// exist.
	Columns(ctx context.Context, t *Table) ([]Column, error)
	// Layout returns the column to create for a new one.
	Layout(c New) Column
	// Create creates a table.
	Create(ctx context.Context, t *Table, columns []Column) error
	Drop(ctx context.Context, t *Table) error
	// Clear deletes all rows.
	Clear(ctx context.Context, t *Table) error

	// Prepare sets the columns that the following rows fill. It is called once in each
	// transaction.
	Prepare(ctx context.Context, t *Table, columns []Column) error
	// Row adds a row with these values, in the order of the columns. It does not retain
	// the values or the slice.
	Row(values []any) error
	// Flush stores the added rows. An error about their content is a *RowError.
	Flush(ctx context.Context) error
}

// RowError is an error of a backend about one row.
type RowError struct {
	// Row is the index of the row since the last Flush, from 0. It is -1 if the
	// database does not identify the row.
	Row int
	Err error
}

// Error returns the message of the cause.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RowError) Unwrap() error { return e.Err }

// DuplicateError is an error of a backend about a row whose key another row has.
type DuplicateError struct{ Err error }

// Error returns the message of the cause.
func (e *DuplicateError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DuplicateError) Unwrap() error { return e.Err }
