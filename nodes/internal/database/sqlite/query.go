package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
)

// Query runs a statement that reads.
func (d *DB) Query(ctx context.Context, s database.Statement) (database.Rows, error) {
	args, err := arguments(s.Args)
	if err != nil {
		return nil, err
	}
	rows, err := d.read(ctx, s.Text, args)
	if err != nil {
		return nil, d.place(err, s.Text)
	}
	r := &result{db: d, rows: rows}
	if err := r.describe(); err != nil {
		rows.Close()
		return nil, d.place(err, s.Text)
	}
	return r, nil
}

// Describe compiles a statement without running it.
func (d *DB) Describe(ctx context.Context, s database.Statement) error {
	args, err := arguments(s.Args)
	if err != nil {
		return err
	}
	rows, err := d.read(ctx, "EXPLAIN "+s.Text, args)
	if err != nil {
		return d.place(err, s.Text)
	}
	return rows.Close()
}

// read runs a statement, and waits while the database is locked.
func (d *DB) read(ctx context.Context, statement string, args []any) (rows *sql.Rows, err error) {
	err = d.patiently(ctx, func() (err error) {
		rows, err = d.conn.QueryContext(ctx, statement, args...)
		return err
	})
	return rows, err
}

// Exec runs a statement in the open transaction.
func (d *DB) Exec(ctx context.Context, s database.Statement) (int64, error) {
	args, err := arguments(s.Args)
	if err != nil {
		return 0, err
	}
	before, err := d.changes()
	if err != nil {
		return 0, err
	}
	done, err := d.tx.ExecContext(ctx, s.Text, args...)
	if err != nil {
		return 0, d.place(err, s.Text)
	}
	after, err := d.changes()
	if err != nil || after == before { // a statement that changes no row does not reset the count of the last one that did
		return 0, err
	}
	return done.RowsAffected()
}

func (d *DB) changes() (n int64, err error) {
	err = d.tx.QueryRow("SELECT total_changes()").Scan(&n)
	return n, err
}

// arguments converts values to the driver's types. Arrays and objects become JSON,
// which json_each can read.
func arguments(values []any) ([]any, error) {
	out := make([]any, len(values))
	for i, v := range values {
		var err error
		if out[i], err = argument(v); err != nil {
			return nil, core.Permanent(err)
		}
	}
	return out, nil
}

func argument(v any) (any, error) {
	switch v.(type) {
	case nil, bool, int64, float64, string:
		return v, nil
	}
	text, err := value.AppendJSON(nil, v)
	return string(text), err
}

// result is a result that is being read.
type result struct {
	db    *DB
	rows  *sql.Rows
	names []string
	types []string // the declared types, "" for computed columns
	into  []any    // the values of a row as types of the driver
	ptrs  []any
}

func (r *result) describe() error {
	types, err := r.rows.ColumnTypes()
	if err != nil {
		return err
	}
	r.into, r.ptrs = make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		r.names = append(r.names, t.Name())
		r.types = append(r.types, strings.ToUpper(t.DatabaseTypeName()))
		r.ptrs[i] = &r.into[i]
	}
	return nil
}

func (r *result) Columns() []string { return r.names }

// Exact is false for the columns whose text the driver converts to times, see moment.
func (r *result) Exact(column int) bool {
	return !slices.Contains([]string{"DATE", "DATETIME", "TIMESTAMP"}, r.types[column])
}

func (r *result) Row(ctx context.Context, values []any) error {
	if !r.rows.Next() {
		err := r.rows.Err()
		switch {
		case err == nil:
			return io.EOF
		case ctx.Err() != nil:
			return ctx.Err()
		}
		return r.db.explain(err)
	}
	if err := r.rows.Scan(r.ptrs...); err != nil {
		return err
	}
	for i, v := range r.into {
		var err error
		if values[i], err = columnValue(v, r.types[i]); err != nil {
			return core.Permanent(fmt.Errorf("column %s: %w", r.names[i], err))
		}
	}
	return nil
}

func (r *result) Close() error { return r.rows.Close() }

var errInfinite = errors.New("an infinite number, which a state cannot hold; turn it into null or text in the query")

var errBlob = errors.New("a BLOB; turn it into text in the query, with hex() or CAST(... AS TEXT)")

// columnValue converts a value of the driver to a value of the state.
func columnValue(v any, declared string) (any, error) {
	switch v := v.(type) {
	case int64:
		if declared == "BOOLEAN" && (v == 0 || v == 1) {
			return v == 1, nil
		}
	case float64:
		if math.IsInf(v, 0) {
			return nil, errInfinite
		}
	case time.Time:
		return moment(v, declared), nil
	case []byte:
		return nil, errBlob
	}
	return v, nil
}

// moment formats a time as SQLite does. The driver converts the text of date and time
// columns to times, and their original format is lost.
func moment(t time.Time, declared string) string {
	if declared == "DATE" && t.Equal(t.Truncate(24*time.Hour)) && t.Location() == time.UTC {
		return t.Format(time.DateOnly)
	}
	if t.Location() == time.UTC {
		return t.Format("2006-01-02 15:04:05.999999999")
	}
	return t.Format("2006-01-02 15:04:05.999999999-07:00")
}
