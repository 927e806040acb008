package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// load is the state of a DB while it stores rows.
type load struct {
	columns []column
	buf     []byte // the added rows in the text format of COPY
	rows    int
	copy    string // the COPY statement
	to      string // the table of the COPY statement, as the server's messages name it
	merge   *merge // nil unless existing rows are updated
}

// column is a column that rows fill.
type column struct {
	name string
	form form
}

// form is the text format of a column's values.
type form uint8

const (
	plainForm form = iota
	jsonForm       // json and jsonb: values other than strings are written as JSON
	arrayForm      // arrays are written in the server's format
)

// Columns lists the columns of a table.
func (d *DB) Columns(ctx context.Context, t *database.Table) ([]database.Column, error) {
	// What a domain accepts depends on its base type.
	rows, err := d.conn.Query(ctx, `SELECT a.attname, format_type(a.atttypid, a.atttypmod), b.typname, b.typcategory::text
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = CASE WHEN t.typbasetype = 0 THEN t.oid ELSE t.typbasetype END
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, name(t))
	if err != nil {
		return nil, explain(err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (database.Column, error) {
		var c database.Column
		var base, category string
		err := row.Scan(&c.Name, &c.Type, &base, &category)
		c.Takes = takes(base, category)
		return c, err
	})
	return out, explain(err)
}

// name returns the quoted name of a table for a statement.
func name(t *database.Table) string {
	if t.Schema != "" {
		return pgx.Identifier{t.Schema, t.Name}.Sanitize()
	}
	return quote(t.Name)
}

// takes returns the values that a column of a type stores without a change. The type
// itself parses strings: dates, exact decimals, addresses and so on.
func takes(base, category string) table.Seen {
	switch base {
	case "int2", "int4", "int8", "oid":
		return table.SeenInteger | table.SeenLong
	case "float4", "float8":
		return table.SeenInteger | table.SeenFloat
	case "numeric":
		return table.SeenInteger | table.SeenLong | table.SeenFloat | table.SeenText
	case "bool":
		return table.SeenBoolean
	case "text", "varchar", "bpchar", "json", "jsonb":
		return table.SeenAll
	}
	if category == "A" {
		return table.SeenNested | table.SeenText
	}
	return table.SeenText
}

// Layout returns the column to create for a new one.
func (d *DB) Layout(c database.New) database.Column {
	const integers = table.SeenInteger | table.SeenLong
	out := database.Column{Name: c.Name, Type: "text", Takes: table.SeenText}
	switch seen := c.Values(); {
	case seen.Only(integers):
		out.Type, out.Takes = "bigint", integers
	case seen.Only(table.SeenInteger | table.SeenFloat):
		out.Type, out.Takes = "double precision", table.SeenInteger|table.SeenFloat
	case seen.Only(integers | table.SeenFloat):
		out.Type, out.Takes = "numeric", integers|table.SeenFloat
	case seen.Only(table.SeenBoolean):
		out.Type, out.Takes = "boolean", table.SeenBoolean
	case seen.Only(table.SeenNested):
		out.Type, out.Takes = "jsonb", table.SeenNested
	case seen != 0 && !seen.Only(table.SeenText): // a text column holds each of them, but not its type
		out.Takes = table.SeenAll
	}
	return out
}

// Create creates a table.
func (d *DB) Create(ctx context.Context, t *database.Table, columns []database.Column) error {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = quote(c.Name) + " " + c.Type
	}
	if len(t.Key) > 0 {
		parts = append(parts, "PRIMARY KEY ("+quoteAll(t.Key)+")")
	}
	return d.simple(ctx, "CREATE TABLE "+name(t)+" ("+strings.Join(parts, ", ")+")")
}

// Drop removes a table.
func (d *DB) Drop(ctx context.Context, t *database.Table) error {
	return d.simple(ctx, "DROP TABLE "+name(t))
}

// Clear deletes all rows of a table. Other transactions see them until this one ends;
// TRUNCATE would lock the table for readers.
func (d *DB) Clear(ctx context.Context, t *database.Table) error {
	return d.simple(ctx, "DELETE FROM "+name(t))
}

// Prepare sets the columns that the following rows fill.
func (d *DB) Prepare(ctx context.Context, t *database.Table, columns []database.Column) error {
	l := load{columns: make([]column, len(columns)), buf: d.load.buf[:0]}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
		l.columns[i] = column{c.Name, formOf(c.Type)}
	}
	target := name(t)
	l.to = t.Name
	if t.Mode == database.Upsert {
		l.merge = newMerge(t, names)
		if err := d.simple(ctx, l.merge.create); err != nil {
			return err
		}
		target, l.to = l.merge.table, l.merge.name
		names = append(names, l.merge.number)
	}
	l.copy = "COPY " + target + " (" + quoteAll(names) + ") FROM STDIN"
	d.load = l
	return nil
}

func formOf(declared string) form {
	switch {
	case strings.HasSuffix(declared, "[]"):
		return arrayForm
	case declared == "json", declared == "jsonb":
		return jsonForm
	}
	return plainForm
}

// Row adds a row to the COPY data.
func (d *DB) Row(values []any) error {
	l := &d.load
	start := len(l.buf)
	for i, v := range values {
		if i > 0 {
			l.buf = append(l.buf, '\t')
		}
		var err error
		if l.buf, err = appendCopy(l.buf, v, l.columns[i].form); err != nil {
			l.buf = l.buf[:start]
			return core.Permanent(fmt.Errorf("column %s: %w", l.columns[i].name, err))
		}
	}
	if l.merge != nil {
		l.buf = strconv.AppendInt(append(l.buf, '\t'), int64(l.rows), 10)
	}
	l.buf = append(l.buf, '\n')
	l.rows++
	return nil
}

// Flush stores the added rows.
func (d *DB) Flush(ctx context.Context) error {
	l := &d.load
	if l.rows == 0 {
		return nil
	}
	rows, buf := l.rows, l.buf
	l.rows, l.buf = 0, l.buf[:0]
	if _, err := d.conn.PgConn().CopyFrom(ctx, bytes.NewReader(buf), l.copy); err != nil {
		return copyError(ctx, err, l.to)
	}
	if l.merge != nil {
		return l.merge.run(ctx, d, rows)
	}
	return nil
}

// copyError adds the row and column to an error of COPY.
func copyError(ctx context.Context, err error, to string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return lost(err)
	}
	// The context of the error is in the language of the server: COPY flights, line 3,
	// column id: "x"
	where, ok := strings.CutPrefix(e.Where, "COPY "+to+", ")
	at := strings.IndexAny(where, "0123456789")
	if !ok || at < 0 {
		if strings.HasPrefix(e.Code, "23") { // a constraint that is checked at the end
			return &database.RowError{Row: -1, Err: explain(err)}
		}
		return explain(err)
	}
	line, rest := 0, where[at:]
	for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		line, rest = line*10+int(rest[0]-'0'), rest[1:]
	}
	err = explain(err)
	if rest, ok := strings.CutPrefix(rest, ", "); ok {
		column, _, _ := strings.Cut(rest, ": ")
		err = fmt.Errorf("%s: %w", column, err)
	}
	return &database.RowError{Row: line - 1, Err: err}
}

// merge updates or inserts rows. Rows are copied into a temporary table, and one
// statement for each batch moves them to the target table.
type merge struct {
	name   string // of the temporary table
	table  string // the quoted name for statements
	number string // the column that numbers the rows of a batch
	create string
	insert string // with %d for the number of rows to insert
	clear  string
	key    []string
	target string
}

func newMerge(t *database.Table, names []string) *merge {
	m := &merge{name: "wavefold_rows", number: "wavefold_row", key: t.Key, target: t.Name}
	for slices.Contains(names, m.number) {
		m.number += "_"
	}
	m.table = pgx.Identifier{"pg_temp", m.name}.Sanitize()
	number := quote(m.number)
	m.create = fmt.Sprintf("CREATE TEMPORARY TABLE %s ON COMMIT DROP AS SELECT %s, 0::bigint AS %s FROM %s WITH NO DATA",
		quote(m.name), quoteAll(names), number, name(t))
	var sets []string
	for _, n := range names {
		if !slices.Contains(t.Key, n) {
			sets = append(sets, quote(n)+" = excluded."+quote(n))
		}
	}
	action := "NOTHING"
	if sets != nil {
		action = "UPDATE SET " + strings.Join(sets, ", ")
	}
	// If two rows have the same key, the later one wins, because one statement cannot
	// update a row twice.
	m.insert = fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM (SELECT DISTINCT ON (%[3]s) * FROM %[4]s WHERE %[5]s < %%d ORDER BY %[3]s, %[5]s DESC) r ORDER BY %[5]s ON CONFLICT (%[3]s) DO %[6]s",
		escape(name(t)), escape(quoteAll(names)), escape(quoteAll(t.Key)), m.table, number, escape(action))
	m.clear = "TRUNCATE " + m.table
	return m
}

// escape escapes a string for use in a format.
func escape(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// savepoint is set before rows are merged, so that the row that caused an error can be
// found.
const savepoint = "wavefold"

// run merges the rows of a batch.
func (m *merge) run(ctx context.Context, d *DB, rows int) error {
	err := d.simple(ctx, fmt.Sprintf("SAVEPOINT %[1]s; %[2]s; RELEASE SAVEPOINT %[1]s; %[3]s", savepoint, fmt.Sprintf(m.insert, rows), m.clear))
	if err == nil || ctx.Err() != nil {
		return cmpErr(ctx.Err(), err)
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	if e.Code == "42P10" {
		return core.Permanent(fmt.Errorf("table %q has no primary key or unique index on (%s), which upsert needs", m.target, strings.Join(m.key, ", ")))
	}
	row, found := m.first(ctx, d, rows)
	if found == nil {
		return err
	}
	return &database.RowError{Row: row, Err: found}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// first returns the first row that cannot be merged, with its error. It finds the row
// by binary search: merging the rows before it succeeds, and merging them with the row
// fails.
func (m *merge) first(ctx context.Context, d *DB, rows int) (row int, err error) {
	good, bad := 0, rows
	for good < bad {
		middle := (good + bad) / 2
		if e := d.simple(ctx, "ROLLBACK TO SAVEPOINT "+savepoint); e != nil {
			return 0, nil
		}
		if e := d.simple(ctx, fmt.Sprintf(m.insert, middle+1)); e != nil {
			bad, err = middle, e
		} else {
			good = middle + 1
		}
	}
	return bad, err
}
