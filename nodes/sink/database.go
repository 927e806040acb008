package sink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite" // registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Modes of writing a table.
const (
	modeReplace = "replace"
	modeAppend  = "append"
	modeUpsert  = "upsert"
)

// tableTarget is a table of an SQLite database.
type tableTarget struct {
	name string
	mode string
	// key holds the primary key of a table that is made, and what upsert
	// recognises rows by.
	key []string
	// columns are the columns in order, nil for all that the rows have.
	columns []column
	// pragmas are set on the connection; tests make the disk small with them.
	pragmas []string
}

// lockTries is how many seconds a sink waits for other writers of a database.
const lockTries = 60

// write stores the rows in one transaction: afterwards the table holds all of
// them, or the database is what it was.
func (t tableTarget) write(ctx context.Context, path string, rows []any) (err error) {
	if err := t.check(rows); err != nil {
		return core.Permanent(err)
	}
	db, err := t.open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := begin(ctx, db)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tx.Rollback()
		}
	}()
	names, err := t.prepare(tx, rows)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		if err := t.insert(ctx, tx, names, rows); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return tx.Commit()
}

// check refuses rows that no table can hold, before the database is touched.
func (t tableTarget) check(rows []any) error {
	names := t.names(rows)
	if a, b, ok := clash(names); ok {
		return fmt.Errorf("columns %q and %q are the same to SQLite, which ignores case; rename one", a, b)
	}
	for _, n := range names {
		switch {
		case n == "":
			return errors.New(`a column has the empty name; rename it`)
		case strings.Contains(n, "\x00"):
			return fmt.Errorf("the name of column %q contains a NUL byte; rename it", n)
		}
	}
	for _, k := range t.key {
		if len(rows) > 0 && !slices.Contains(names, k) {
			return fmt.Errorf("no row has the key column %q", k)
		}
		col := table.Column{Name: k}
		for i, r := range rows {
			if col.Value(r.(*core.Object)) == nil {
				return fmt.Errorf("row %d has no value in the key column %q", i+1, k)
			}
		}
	}
	return nil
}

func (t tableTarget) names(rows []any) []string {
	if t.columns != nil {
		return columnNames(t.columns)
	}
	return table.Columns(rows)
}

func (t tableTarget) open(path string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	q := url.Values{"_txlock": {"immediate"}, "_dqs": {"0"}, "_pragma": append([]string{"busy_timeout(1000)"}, t.pragmas...)}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// begin starts the transaction as a writer. While another one writes it waits a
// second at a time, so that a cancelled run does not wait for it.
func begin(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	var err error
	for range lockTries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var tx *sql.Tx
		// The transaction is not bound to ctx: statements of a bound one cost
		// a goroutine each. The loop over the rows looks at ctx itself.
		if tx, err = db.BeginTx(context.Background(), nil); err == nil {
			return tx, nil
		}
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY {
			return nil, err
		}
	}
	return nil, fmt.Errorf("another program has been writing the database for %d seconds: %w", lockTries, err)
}

// prepare makes the table ready and returns the columns to fill; none means
// that there is nothing to store.
func (t tableTarget) prepare(tx *sql.Tx, rows []any) ([]string, error) {
	names := t.names(rows)
	have, err := tableColumns(tx, t.name)
	if err != nil {
		return nil, err
	}
	if t.mode == modeReplace && len(names) == 0 {
		if len(have) == 0 {
			return nil, nil
		}
		_, err := tx.Exec("DELETE FROM " + quote(t.name)) // the old rows go, the layout stays
		return nil, err
	}
	if len(names) == 0 {
		return nil, nil
	}
	if t.mode == modeReplace {
		if _, err := tx.Exec("DROP TABLE IF EXISTS " + quote(t.name)); err != nil {
			return nil, err
		}
		have = nil
	}
	if len(have) > 0 {
		return names, fitsTable(t.name, have, names, rows)
	}
	_, err = tx.Exec(t.createStatement(names, rows))
	return names, err
}

// tableColumns returns the declared type of each column of a table; none when
// the table does not exist.
func tableColumns(tx *sql.Tx, name string) ([]existing, error) {
	list, err := tx.Query("SELECT name, type FROM pragma_table_info(?)", name)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	var out []existing
	for list.Next() {
		var c existing
		if err := list.Scan(&c.name, &c.declared); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, list.Err()
}

// existing is a column of a table that is there already.
type existing struct{ name, declared string }

// fitsTable reports why rows cannot go into a table that is there.
func fitsTable(name string, have []existing, names []string, rows []any) error {
	haveNames := make([]string, len(have))
	for i, c := range have {
		haveNames[i] = c.name
	}
	for _, n := range names {
		i := slices.IndexFunc(haveNames, func(h string) bool { return strings.EqualFold(h, n) })
		if i < 0 {
			err := fmt.Errorf("table %q has no column %q", name, n)
			if near := core.DidYouMean(n, haveNames); near != "" {
				err = fmt.Errorf("%w, %s", err, near)
			}
			return core.Permanent(err)
		}
		if isReal(have[i].declared) && look(rows, n)&seenLong != 0 {
			return core.Permanent(fmt.Errorf("column %q of table %q is %s, which would change integers beyond 2^53", n, name, have[i].declared))
		}
	}
	return nil
}

func (t tableTarget) createStatement(names []string, rows []any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", quote(t.name))
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		kind := core.AnyType
		if t.columns != nil {
			kind = t.columns[i].kind
		}
		b.WriteString(quote(n))
		if declared := sqlType(kind, look(rows, n)); declared != "" {
			b.WriteString(" " + declared)
		}
	}
	if len(t.key) > 0 {
		fmt.Fprintf(&b, ", PRIMARY KEY (%s)", quoteAll(t.key))
	}
	b.WriteString(")")
	return b.String()
}

func (t tableTarget) insertStatement(names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (?%s)", quote(t.name), quoteAll(names), strings.Repeat(", ?", len(names)-1))
	if t.mode != modeUpsert {
		return b.String()
	}
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO ", quoteAll(t.key))
	var sets []string
	for _, n := range names {
		if !slices.Contains(t.key, n) {
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

func (t tableTarget) insert(ctx context.Context, tx *sql.Tx, names []string, rows []any) error {
	statement, err := tx.Prepare(t.insertStatement(names))
	if err != nil {
		return t.explain(err)
	}
	defer statement.Close()
	columns := make([]table.Column, len(names))
	for i, n := range names {
		columns[i].Name = n
	}
	args := make([]any, len(names))
	for i, r := range rows {
		if err := table.Tick(ctx, i); err != nil {
			return err
		}
		for j := range columns {
			if args[j], err = argument(columns[j].Value(r.(*core.Object))); err != nil {
				return core.Permanent(fmt.Errorf("row %d, column %s: %w", i+1, names[j], err))
			}
		}
		if _, err := statement.Exec(args...); err != nil {
			return fmt.Errorf("row %d: %w", i+1, t.explain(err))
		}
	}
	return nil
}

// explain adds to SQLite's message what it means here, and marks errors that
// another attempt meets again.
func (t tableTarget) explain(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch {
	case strings.Contains(e.Error(), "ON CONFLICT clause does not match"):
		return core.Permanent(fmt.Errorf("table %q has no primary key or unique index on (%s), which upsert needs: %w", t.name, strings.Join(t.key, ", "), err))
	case e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT:
		return core.Permanent(err)
	}
	return err
}

// argument turns a value into one that SQLite stores; arrays and objects become
// JSON text.
func argument(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v, nil
	}
	b, err := core.AppendJSON(nil, v)
	return string(b), err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}
