// Package sqlite is the database backend for SQLite files.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite" // registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Rules are the properties of SQLite that do not need a file.
var Rules = database.Rules{Name: "SQLite", CheckName: checkName, Fold: strings.ToLower}

// Rules returns the rules of SQLite.
func (d *DB) Rules() database.Rules { return Rules }

func checkName(name string) error {
	if strings.Contains(name, "\x00") {
		return errors.New("the name contains a NUL byte")
	}
	return nil
}

// Commit commits the transaction.
func (d *DB) Commit(context.Context) error {
	d.closeRow()
	err := d.tx.Commit()
	d.stored = d.stored || err == nil
	return d.explain(err)
}

// Rollback rolls the transaction back.
func (d *DB) Rollback() {
	d.closeRow()
	if d.tx.Rollback() != nil {
		// SQLite has rolled back on its own because a write failed. What it had written
		// is undone by the next reader of the file, so read it now.
		var n int
		_ = d.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_schema").Scan(&n)
	}
}

func (d *DB) closeRow() {
	if d.row != nil {
		d.row.Close()
		d.row = nil
	}
}

// Columns lists the columns of a table.
func (d *DB) Columns(_ context.Context, t *database.Table) ([]database.Column, error) {
	list, err := d.tx.Query("SELECT name, type FROM pragma_table_info(?)", t.Name)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	var out []database.Column
	for list.Next() {
		var c database.Column
		if err := list.Scan(&c.Name, &c.Type); err != nil {
			return nil, err
		}
		c.Takes = takes(c.Type)
		out = append(out, c)
	}
	return out, list.Err()
}

// takes returns the values that a column of a declared type stores without a change.
// SQLite stores any value in any column, but converts strings that look like numbers in
// a numeric column, and integers in a column for floats.
func takes(declared string) table.Seen {
	d := strings.ToUpper(declared)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(d, w) })
	}
	switch { // in the order in which SQLite checks them
	case has("INT"):
		return table.SeenInteger | table.SeenLong | table.SeenBoolean
	case has("CHAR", "CLOB", "TEXT", "BLOB"):
	case has("REAL", "FLOA", "DOUB"):
		return table.SeenInteger | table.SeenFloat
	}
	return table.SeenAll
}

// Layout returns the column to create for a new one. A column without a type stores
// every value unchanged, so it is used for mixed values.
func (d *DB) Layout(c database.New) database.Column {
	out := database.Column{Name: c.Name, Takes: table.SeenAll}
	const (
		integers = table.SeenInteger | table.SeenLong
		texts    = table.SeenText | table.SeenNested
	)
	switch seen := c.Values(); {
	case seen == 0 && c.More:
	case seen == 0, seen.Only(texts):
		out.Type, out.Takes = "TEXT", texts
	case seen.Only(integers):
		out.Type, out.Takes = "INTEGER", integers
	case seen.Only(table.SeenInteger | table.SeenFloat):
		out.Type, out.Takes = "REAL", table.SeenInteger|table.SeenFloat
	case seen.Only(table.SeenBoolean):
		out.Type, out.Takes = "BOOLEAN", table.SeenBoolean
	}
	return out
}

// Create creates a table.
func (d *DB) Create(_ context.Context, t *database.Table, columns []database.Column) error {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = quote(c.Name)
		if c.Type != "" {
			parts[i] += " " + c.Type
		}
	}
	if len(t.Key) > 0 {
		parts = append(parts, fmt.Sprintf("PRIMARY KEY (%s)", quoteAll(t.Key)))
	}
	return d.exec("CREATE TABLE " + quote(t.Name) + " (" + strings.Join(parts, ", ") + ")")
}

// Drop removes a table.
func (d *DB) Drop(_ context.Context, t *database.Table) error {
	return d.exec("DROP TABLE " + quote(t.Name))
}

// Clear deletes all rows of a table.
func (d *DB) Clear(_ context.Context, t *database.Table) error {
	return d.exec("DELETE FROM " + quote(t.Name))
}

func (d *DB) exec(statement string) error {
	_, err := d.tx.Exec(statement)
	return err
}

// Committed returns the marker of a key.
func (d *DB) Committed(ctx context.Context, _ *database.Table, key string) (m database.Marker, ok bool, err error) {
	err = d.patiently(ctx, func() error {
		var n int
		if err := d.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = ?", database.MarkerTable).Scan(&n); err != nil || n == 0 {
			return cmp.Or(err, sql.ErrNoRows)
		}
		return d.conn.QueryRowContext(ctx, database.FindMarker(database.MarkerTable), key).Scan(&m.Rows, &m.Position, &m.Done, &m.Result)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, d.explain(err)
}

// Mark stores a marker.
func (d *DB) Mark(_ context.Context, _ *database.Table, m database.Marker, before int64) error {
	if before < 0 {
		if err := d.exec(database.CreateMarkers(database.MarkerTable)); err != nil {
			return d.explain(err)
		}
	}
	text, args := database.StoreMarker(database.MarkerTable, m, before)
	done, err := d.tx.Exec(text, args...)
	if err != nil {
		return d.explain(err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return cmp.Or(err, database.ErrMarked)
	}
	return nil
}

// Prepare compiles the statement that inserts one row.
func (d *DB) Prepare(_ context.Context, t *database.Table, columns []database.Column) (err error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	d.of, d.key, d.args = t.Name, t.Key, make([]any, len(columns))
	d.row, err = d.tx.Prepare(insertStatement(t, names))
	return d.explain(err)
}

func insertStatement(t *database.Table, names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (?%s)", quote(t.Name), quoteAll(names), strings.Repeat(", ?", len(names)-1))
	if t.Mode != database.Upsert {
		return b.String()
	}
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO ", quoteAll(t.Key))
	var sets []string
	for _, n := range names {
		if !slices.ContainsFunc(t.Key, func(k string) bool { return strings.EqualFold(k, n) }) {
			sets = append(sets, fmt.Sprintf("%s = excluded.%s", quote(n), quote(n)))
		}
	}
	if sets == nil {
		b.WriteString("NOTHING")
		return b.String()
	}
	b.WriteString("UPDATE SET " + strings.Join(sets, ", "))
	return b.String()
}

// Row stores a row. Arrays and objects are stored as JSON.
func (d *DB) Row(values []any) error {
	for i, v := range values {
		var err error
		if d.args[i], err = argument(v); err != nil {
			return core.Permanent(err)
		}
	}
	_, err := d.row.Exec(d.args...)
	return d.explain(err)
}

// Flush does nothing, because Row has stored the rows.
func (d *DB) Flush(context.Context) error { return nil }

// explain adds an explanation to an SQLite error, and marks errors as permanent that
// another attempt would repeat.
func (d *DB) explain(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	if strings.Contains(e.Error(), "ON CONFLICT clause does not match") {
		return core.Permanent(fmt.Errorf("table %q has no primary key or unique index on (%s), which upsert needs: %w", d.of, strings.Join(d.key, ", "), err))
	}
	if strings.Contains(e.Error(), "too many attached databases") {
		return core.Permanent(fmt.Errorf("the statement opens another file, which allow_outside: true allows: %w", err))
	}
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return core.Permanent(&database.DuplicateError{Err: err})
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CANTOPEN:
		return d.unopened(err)
	case sqlite3.SQLITE_READONLY:
		return core.Permanent(fmt.Errorf("the database is read-only here: %w", err))
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE:
		return core.Permanent(err)
	}
	return err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}
