package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

func rowsOf(t testing.TB, text string) []any {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.([]any)
}

// store writes rows to the table t in the same way as an array of the state.
func store(ctx context.Context, path string, to database.Table, rows []any, pragmas ...string) error {
	return storeFrom(ctx, path, to, table.ArraySource(rows), pragmas...)
}

func storeFrom(ctx context.Context, path string, to database.Table, src *table.Source, pragmas ...string) error {
	db, err := Open(path, Options{Pragmas: pragmas})
	if err != nil {
		return err
	}
	defer db.Close()
	to.Name, to.Make = "t", true
	_, err = database.Load(ctx, db, &to, src, func(int64, int64) {})
	return err
}

// dump returns a table as text: its CREATE statement, then one line for each row with
// the storage class of each value.
func dump(t testing.TB, path, name string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b strings.Builder
	var statement string
	if err := db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = ?", name).Scan(&statement); err != nil {
		return "no table: " + err.Error()
	}
	fmt.Fprintln(&b, statement)
	columns, err := db.Query("SELECT name FROM pragma_table_info(?)", name)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for columns.Next() {
		var c string
		if err := columns.Scan(&c); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, fmt.Sprintf("typeof(%[1]s) || ' ' || coalesce(%[1]s, '')", quote(c)))
	}
	columns.Close()
	list, err := db.Query("SELECT " + strings.Join(parts, " || ', ' || ") + " FROM " + quote(name) + " ORDER BY rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var s string
		if err := list.Scan(&s); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, s)
	}
	return b.String()
}

func TestTableTypes(t *testing.T) {
	for _, c := range []struct {
		name, rows string
		columns    []table.Field
		want       string
	}{
		{"one type each",
			`[{"i":9007199254740993,"f":1.5,"t":"x","b":true,"n":null,"j":[1,{"a":2}]},{"i":-1,"f":2.0,"t":"007","b":false,"n":null,"j":null}]`, nil,
			`CREATE TABLE "t" ("i" INTEGER, "f" REAL, "t" TEXT, "b" BOOLEAN, "n" TEXT, "j" TEXT)
integer 9007199254740993, real 1.5, text x, integer 1, null , text [1,{"a":2}]
integer -1, real 2.0, text 007, integer 0, null , null 
`},
		{"mixed columns keep every value", `[{"a":1,"b":"1"},{"a":2.5,"b":2},{"a":null,"b":true}]`, nil,
			`CREATE TABLE "t" ("a" REAL, "b")
real 1.0, text 1
real 2.5, integer 2
null , integer 1
`},
		{"an integer no float holds", `[{"a":9007199254740993},{"a":0.5}]`, nil,
			`CREATE TABLE "t" ("a")
integer 9007199254740993
real 0.5
`},
		{"union of keys", `[{"a":1},{"b":2,"a":3}]`, nil,
			`CREATE TABLE "t" ("a" INTEGER, "b" INTEGER)
integer 1, null 
integer 3, integer 2
`},
		{"given columns and types", `[{"a":1,"b":2,"c":3}]`, []table.Field{{Name: "c", Kind: value.NumberType}, {Name: "a"}, {Name: "z", Kind: value.StringType}},
			`CREATE TABLE "t" ("c" REAL, "a" INTEGER, "z" TEXT)
real 3.0, integer 1, null 
`},
		{"odd names", `[{"a b":1,"say \"hi\"":2,"select":3}]`, nil,
			`CREATE TABLE "t" ("a b" INTEGER, "say ""hi""" INTEGER, "select" INTEGER)
integer 1, integer 2, integer 3
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x y?#.db")
			if err := store(t.Context(), path, database.Table{Mode: database.Remake, Columns: c.columns}, rowsOf(t, c.rows)); err != nil {
				t.Fatal(err)
			}
			if got := dump(t, copyOf(t, path), "t"); got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// copyOf copies a database to a path that needs no escaping. That the file is found at
// its original path proves that escaping works.
func copyOf(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(out, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTableModes(t *testing.T) {
	type step struct {
		mode database.Mode
		key  []string
		rows string
		err  string // part of the message
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"replace takes the place of rows and layout",
			[]step{{database.Remake, nil, `[{"a":1}]`, ""}, {database.Remake, nil, `[{"b":"x"}]`, ""}},
			"CREATE TABLE \"t\" (\"b\" TEXT)\ntext x\n"},
		{"replace by nothing empties",
			[]step{{database.Remake, nil, `[{"a":1}]`, ""}, {database.Remake, nil, `[]`, ""}},
			"CREATE TABLE \"t\" (\"a\" INTEGER)\n"},
		{"append",
			[]step{{database.Append, nil, `[{"a":1}]`, ""}, {database.Append, nil, `[{"A":2}]`, ""}, {database.Append, nil, `[]`, ""}},
			"CREATE TABLE \"t\" (\"a\" INTEGER)\ninteger 1\ninteger 2\n"},
		{"append to other columns",
			[]step{{database.Append, nil, `[{"delay":1}]`, ""}, {database.Append, nil, `[{"dely":2}]`, `table "t" has no column "dely", did you mean "delay"?`}},
			"CREATE TABLE \"t\" (\"delay\" INTEGER)\ninteger 1\n"},
		{"append a long integer to floats",
			[]step{{database.Append, nil, `[{"a":1.5}]`, ""}, {database.Append, nil, `[{"a":9007199254740993}]`, "row 1: column a: the column is REAL, which would change the integer 9007199254740993"}},
			"CREATE TABLE \"t\" (\"a\" REAL)\nreal 1.5\n"},
		{"upsert",
			[]step{{database.Upsert, []string{"id"}, `[{"id":1,"v":"a"},{"id":2,"v":"b"}]`, ""}, {database.Upsert, []string{"id"}, `[{"id":2,"v":"c"},{"id":3,"v":"d"},{"id":3,"v":"e"}]`, ""}},
			"CREATE TABLE \"t\" (\"id\" INTEGER, \"v\" TEXT, PRIMARY KEY (\"id\"))\ninteger 1, text a\ninteger 2, text c\ninteger 3, text e\n"},
		{"upsert by two columns, nothing else to set",
			[]step{{database.Upsert, []string{"a", "b"}, `[{"a":1,"b":"x"},{"a":1,"b":"x"},{"a":1,"b":"y"}]`, ""}},
			"CREATE TABLE \"t\" (\"a\" INTEGER, \"b\" TEXT, PRIMARY KEY (\"a\", \"b\"))\ninteger 1, text x\ninteger 1, text y\n"},
		{"upsert needs a unique key in the table",
			[]step{{database.Append, nil, `[{"id":1}]`, ""}, {database.Upsert, []string{"id"}, `[{"id":1}]`, "no primary key or unique index on (id)"}},
			"CREATE TABLE \"t\" (\"id\" INTEGER)\ninteger 1\n"},
		{"a key appears twice",
			[]step{{database.Remake, []string{"id"}, `[{"id":1}]`, ""}, {database.Remake, []string{"id"}, `[{"id":7},{"id":8},{"id":7}]`, "row 3 (id 7): constraint failed: UNIQUE constraint failed: t.id"}},
			"CREATE TABLE \"t\" (\"id\" INTEGER, PRIMARY KEY (\"id\"))\ninteger 1\n"},
		{"a key is null",
			[]step{{database.Upsert, []string{"id"}, `[{"id":1}]`, ""}, {database.Upsert, []string{"id"}, `[{"id":2},{"id":null}]`, "row 2 (id null): column id: no value, but it is part of the key"}},
			"CREATE TABLE \"t\" (\"id\" INTEGER, PRIMARY KEY (\"id\"))\ninteger 1\n"},
		{"no key column",
			[]step{{database.Upsert, []string{"id"}, `[{"x":1}]`, `no row has the key column "id"`}}, "no table: sql: no rows in result set"},
		{"a text in a column of integers",
			[]step{{database.Append, nil, `[{"a":1}]`, ""}, {database.Append, nil, `[{"a":2},{"a":"007"}]`, `row 2: column a: want integer or boolean, got string "007" (the column is INTEGER)`}},
			"CREATE TABLE \"t\" (\"a\" INTEGER)\ninteger 1\n"},
		{"whole floats in a column of integers",
			[]step{{database.Append, nil, `[{"a":1}]`, ""}, {database.Append, nil, `[{"a":2.0}]`, ""}, {database.Append, nil, `[{"a":2.5}]`, "row 1: column a: want integer or boolean, got number 2.5"}},
			"CREATE TABLE \"t\" (\"a\" INTEGER)\ninteger 1\ninteger 2\n"},
		{"replace the rows and keep the layout",
			[]step{{database.Remake, nil, `[{"a":1,"b":2}]`, ""}, {database.Replace, nil, `[{"b":3},{"b":4}]`, ""}},
			"CREATE TABLE \"t\" (\"a\" INTEGER, \"b\" INTEGER)\nnull , integer 3\nnull , integer 4\n"},
		{"rows without columns",
			[]step{{database.Remake, nil, `[{"a":1}]`, ""}, {database.Append, nil, `[{},{}]`, "the rows have no columns"}},
			"CREATE TABLE \"t\" (\"a\" INTEGER)\ninteger 1\n"},
		{"names that differ in case",
			[]step{{database.Remake, nil, `[{"Id":1,"id":2}]`, `columns "Id" and "id" are the same to SQLite`}}, "no table: sql: no rows in result set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			for i, s := range c.steps {
				err := store(t.Context(), path, database.Table{Mode: s.mode, Key: s.key}, rowsOf(t, s.rows))
				if s.err == "" && err != nil || s.err != "" && (err == nil || !strings.Contains(err.Error(), s.err)) {
					t.Fatalf("step %d: error %v, want %q", i+1, err, s.err)
				}
				if s.err != "" && !core.FailureOf(err).Permanent {
					t.Errorf("step %d: another attempt cannot cure %v", i+1, err)
				}
			}
			if got := dump(t, path, "t"); got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A table is replaced completely or not at all: if the disk is full or the run is
// cancelled halfway, the old table is unchanged.
func TestTableFailsWhole(t *testing.T) {
	old, large := `[{"a":"old"}]`, make([]any, 2000)
	for i := range large {
		large[i] = value.ObjectOf("a", strings.Repeat("x", 500))
	}
	cases := map[string]struct {
		pragmas []string
		cancel  bool
		want    string
	}{
		"the disk is full":        {pragmas: []string{"max_page_count(20)"}, want: "full"},
		"cancelled in the middle": {cancel: true, want: context.Canceled.Error()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.db")
			if err := store(t.Context(), path, database.Table{Mode: database.Remake}, rowsOf(t, old)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancel {
				ctx = &cancelAfter{ctx, 5}
			}
			err := store(ctx, path, database.Table{Mode: database.Remake}, large, c.pragmas...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if got := dump(t, path, "t"); got != "CREATE TABLE \"t\" (\"a\" TEXT)\ntext old\n" {
				t.Fatalf("the old table became\n%.200s", got)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Fatalf("left behind: %v", entries)
			}
		})
	}
}

// stream returns batches of rows as a stream does.
type stream [][]any

func (s *stream) Next(context.Context) ([]any, error) {
	if len(*s) == 0 {
		return nil, io.EOF
	}
	rows := (*s)[0]
	*s = (*s)[1:]
	if rows == nil {
		return nil, errors.New("the source broke")
	}
	return rows, nil
}

func (*stream) Summary() *value.Object { return nil }
func (*stream) Close() error           { return nil }

// The types of a table that is created from a stream are inferred from its first batch.
// Later values must fit, and are never converted to fit.
func TestStream(t *testing.T) {
	declared := []table.Field{{Name: "n", Kind: value.NumberType}, {Name: "later", Kind: value.StringType}}
	for _, c := range []struct {
		name    string
		to      database.Table
		batches []string // "" makes the source fail
		want    string   // the table, or the error
	}{
		{"batches", database.Table{}, []string{`[{"a":1},{"a":2}]`, `[{"a":3}]`}, "CREATE TABLE \"t\" (\"a\" INTEGER)\ninteger 1\ninteger 2\ninteger 3\n"},
		{"a late text", database.Table{}, []string{`[{"a":1},{"a":2}]`, `[{"a":"007"}]`}, `row 3: column a: want integer, got string "007" (the first rows hold no such value; give the type with columns)`},
		{"a late number", database.Table{}, []string{`[{"a":"x"}]`, `[{"a":7}]`}, "row 2: column a: want string or array or object, got integer 7 (the first rows hold no such value; give the type with columns)"},
		{"a late long integer", database.Table{}, []string{`[{"a":1.5}]`, `[{"a":9007199254740993}]`}, "row 2: column a: the column is REAL, which would change the integer 9007199254740993"},
		{"null at first", database.Table{}, []string{`[{"a":null}]`, `[{"a":7},{"a":"7"}]`}, "CREATE TABLE \"t\" (\"a\")\nnull \ninteger 7\ntext 7\n"},
		{"a late column", database.Table{}, []string{`[{"a":1}]`, `[{"a":2},{"a":3,"b":4}]`}, `row 3: unknown column "b": the first rows have no such column; list the columns`},
		{"a late column that is not listed", database.Table{Columns: []table.Field{{Name: "a"}}}, []string{`[{"a":1}]`, `[{"a":2,"b":4}]`}, "CREATE TABLE \"t\" (\"a\" INTEGER)\ninteger 1\ninteger 2\n"},
		{"declared columns", database.Table{Declared: declared}, []string{`[{"n":1}]`, `[{"n":1.5}]`}, "CREATE TABLE \"t\" (\"n\" REAL, \"later\" TEXT)\nreal 1.0, null \nreal 1.5, null \n"},
		{"declared columns without rows", database.Table{Declared: declared}, nil, "CREATE TABLE \"t\" (\"n\" REAL, \"later\" TEXT)\n"},
		{"no rows", database.Table{}, nil, "no table: sql: no rows in result set"},
		{"a source that breaks", database.Table{}, []string{`[{"a":1}]`, ""}, "the source broke"},
		{"a key without value", database.Table{Key: []string{"a"}, Mode: database.Upsert}, []string{`[{"a":1}]`, `[{"a":2},{"a":null}]`}, "row 3 (a null): column a: no value, but it is part of the key"},
		{"a commit for each batch", database.Table{Commit: true, Batch: 2, Key: []string{"a"}}, []string{`[{"a":1},{"a":2},{"a":3}]`, `[{"a":4},{"a":5},{"a":1}]`},
			"row 6 (a 1): constraint failed: UNIQUE constraint failed: t.a (1555) (mode: upsert updates the row that is there); the 4 rows before are stored"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			var s stream
			for _, b := range c.batches {
				if b == "" {
					s = append(s, nil)
				} else {
					s = append(s, rowsOf(t, b))
				}
			}
			err := storeFrom(t.Context(), path, c.to, table.StreamSource(&s))
			got := dump(t, path, "t")
			if err != nil {
				if empty := "no table: sql: no rows in result set"; got != empty && !c.to.Commit {
					t.Errorf("after an error there is\n%s", got)
				}
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if c.to.Commit {
				if got := dump(t, path, "t"); !strings.HasSuffix(got, "integer 1\ninteger 2\ninteger 3\ninteger 4\n") {
					t.Errorf("the batches before the error are\n%s", got)
				}
				if !core.FailureOf(err).Permanent {
					t.Error("another attempt would store rows twice")
				}
			}
		})
	}
}

// Any names are possible, and any number of columns.
func TestNames(t *testing.T) {
	names := []string{"select", "order", "group", "Table", "a\"b", "ä 'x'", "?", "--", "rowid2"}
	for i := len(names); i < 1500; i++ {
		names = append(names, fmt.Sprint("c", i))
	}
	keys, err := value.NewKeys(names)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(names))
	for i := range values {
		values[i] = int64(i)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	for range 2 {
		if err := store(t.Context(), path, database.Table{Mode: database.Upsert, Key: []string{"select", "a\"b"}}, []any{value.NewRow(keys, values)}); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n, last, quoted int
	if err := db.QueryRow(`SELECT count(*), max(c1499), max("a""b") FROM t`).Scan(&n, &last, &quoted); err != nil || n != 1 || last != 1499 || quoted != 4 {
		t.Errorf("%d rows, %d, %d, %v", n, last, quoted, err)
	}
	for name, want := range map[string]string{"": "a column has the empty name; rename it", "a\x00b": `column "a\x00b": the name contains a NUL byte; rename it`} {
		if err := store(t.Context(), path, database.Table{}, []any{value.ObjectOf(name, int64(1))}); err == nil || err.Error() != want {
			t.Errorf("column %q: error %v, want %s", name, err, want)
		}
	}
}

// cancelAfter is a context that is cancelled at the n-th call of Err, so that the
// cancellation comes halfway at any speed.
type cancelAfter struct {
	context.Context
	looks int
}

func (c *cancelAfter) Err() error {
	if c.looks--; c.looks <= 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// While another connection writes, the sink waits for it. A cancelled run stops
// waiting.
func TestTableWaitsForOtherWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	target := database.Table{Mode: database.Remake}
	if err := store(t.Context(), path, target, rowsOf(t, `[{"a":1}]`)); err != nil {
		t.Fatal(err)
	}
	other, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := store(&cancelAfter{t.Context(), 2}, path, target, rowsOf(t, `[{"a":2}]`)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want a cancellation", err)
	}
	done := make(chan error, 1)
	go func() { done <- store(context.Background(), path, target, rowsOf(t, `[{"a":3}]`)) }()
	other.Rollback()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := dump(t, path, "t"); !strings.HasSuffix(got, "integer 3\n") {
		t.Fatalf("got\n%s", got)
	}
}

func BenchmarkTable(b *testing.B) {
	keys, err := value.NewKeys([]string{"date", "delay", "distance", "origin", "destination"})
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]any, 10_000)
	for i := range rows {
		rows[i] = value.NewRow(keys, []any{"2001/02/14 15:12", int64(i % 90), int64(342 + i), "SJC", "SNA"})
	}
	path := filepath.Join(b.TempDir(), "x.db")
	b.ReportAllocs()
	for b.Loop() {
		if err := store(b.Context(), path, database.Table{Mode: database.Remake}, rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
}
