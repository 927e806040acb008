package sink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
)

func rowsOf(t testing.TB, text string) []any {
	t.Helper()
	v, err := core.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.([]any)
}

// dump returns a table as text: its statement, then one row on a line with the
// type SQLite stores each value as.
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
		columns    []column
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
		{"given columns and types", `[{"a":1,"b":2,"c":3}]`, []column{{"c", core.NumberType}, {"a", core.AnyType}, {"z", core.StringType}},
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
			target := tableTarget{name: "t", mode: modeReplace, columns: c.columns}
			if err := target.write(t.Context(), path, rowsOf(t, c.rows)); err != nil {
				t.Fatal(err)
			}
			if got := dump(t, copyOf(t, path), "t"); got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// copyOf puts a database where its path needs no escaping; that the file is
// found at all proves that the escaping works.
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
		mode string
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
			[]step{{modeReplace, nil, `[{"a":1}]`, ""}, {modeReplace, nil, `[{"b":"x"}]`, ""}},
			"CREATE TABLE \"t\" (\"b\" TEXT)\ntext x\n"},
		{"replace by nothing empties",
			[]step{{modeReplace, nil, `[{"a":1}]`, ""}, {modeReplace, nil, `[]`, ""}},
			"CREATE TABLE \"t\" (\"a\" INTEGER)\n"},
		{"append",
			[]step{{modeAppend, nil, `[{"a":1}]`, ""}, {modeAppend, nil, `[{"A":2}]`, ""}, {modeAppend, nil, `[]`, ""}},
			"CREATE TABLE \"t\" (\"a\" INTEGER)\ninteger 1\ninteger 2\n"},
		{"append to other columns",
			[]step{{modeAppend, nil, `[{"delay":1}]`, ""}, {modeAppend, nil, `[{"dely":2}]`, `table "t" has no column "dely", did you mean "delay"?`}},
			"CREATE TABLE \"t\" (\"delay\" INTEGER)\ninteger 1\n"},
		{"append a long integer to floats",
			[]step{{modeAppend, nil, `[{"a":1.5}]`, ""}, {modeAppend, nil, `[{"a":9007199254740993}]`, "would change integers beyond 2^53"}},
			"CREATE TABLE \"t\" (\"a\" REAL)\nreal 1.5\n"},
		{"upsert",
			[]step{{modeUpsert, []string{"id"}, `[{"id":1,"v":"a"},{"id":2,"v":"b"}]`, ""}, {modeUpsert, []string{"id"}, `[{"id":2,"v":"c"},{"id":3,"v":"d"},{"id":3,"v":"e"}]`, ""}},
			"CREATE TABLE \"t\" (\"id\" INTEGER, \"v\" TEXT, PRIMARY KEY (\"id\"))\ninteger 1, text a\ninteger 2, text c\ninteger 3, text e\n"},
		{"upsert by two columns, nothing else to set",
			[]step{{modeUpsert, []string{"a", "b"}, `[{"a":1,"b":"x"},{"a":1,"b":"x"},{"a":1,"b":"y"}]`, ""}},
			"CREATE TABLE \"t\" (\"a\" INTEGER, \"b\" TEXT, PRIMARY KEY (\"a\", \"b\"))\ninteger 1, text x\ninteger 1, text y\n"},
		{"upsert needs a unique key in the table",
			[]step{{modeAppend, nil, `[{"id":1}]`, ""}, {modeUpsert, []string{"id"}, `[{"id":1}]`, "no primary key or unique index on (id)"}},
			"CREATE TABLE \"t\" (\"id\" INTEGER)\ninteger 1\n"},
		{"a key stands twice",
			[]step{{modeReplace, []string{"id"}, `[{"id":1}]`, ""}, {modeReplace, []string{"id"}, `[{"id":7},{"id":8},{"id":7}]`, "row 3: "}},
			"CREATE TABLE \"t\" (\"id\" INTEGER, PRIMARY KEY (\"id\"))\ninteger 1\n"},
		{"a key is null",
			[]step{{modeUpsert, []string{"id"}, `[{"id":1}]`, ""}, {modeUpsert, []string{"id"}, `[{"id":2},{"id":null}]`, `row 2 has no value in the key column "id"`}},
			"CREATE TABLE \"t\" (\"id\" INTEGER, PRIMARY KEY (\"id\"))\ninteger 1\n"},
		{"no key column",
			[]step{{modeUpsert, []string{"id"}, `[{"x":1}]`, `no row has the key column "id"`}}, "no table: sql: no rows in result set"},
		{"names that differ in case",
			[]step{{modeReplace, nil, `[{"Id":1,"id":2}]`, `columns "Id" and "id" are the same to SQLite`}}, "no table: sql: no rows in result set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			for i, s := range c.steps {
				err := tableTarget{name: "t", mode: s.mode, key: s.key}.write(t.Context(), path, rowsOf(t, s.rows))
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

// A table is replaced whole or not at all: when the disk is full or the run is
// cancelled in the middle, the old table is still there.
func TestTableFailsWhole(t *testing.T) {
	old, large := `[{"a":"old"}]`, make([]any, 2000)
	for i := range large {
		large[i] = core.ObjectOf("a", strings.Repeat("x", 500))
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
			if err := (tableTarget{name: "t", mode: modeReplace}).write(t.Context(), path, rowsOf(t, old)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancel {
				ctx = &cancelAfter{ctx, 5}
			}
			err := tableTarget{name: "t", mode: modeReplace, pragmas: c.pragmas}.write(ctx, path, large)
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

// cancelAfter is a context that is cancelled at the n-th look at it, which is in
// the middle of the work at any speed.
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

// While another connection writes, the sink waits for it, and a cancelled run
// does not.
func TestTableWaitsForOtherWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	target := tableTarget{name: "t", mode: modeReplace}
	if err := target.write(t.Context(), path, rowsOf(t, `[{"a":1}]`)); err != nil {
		t.Fatal(err)
	}
	other, err := target.open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := begin(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	if err := target.write(&cancelAfter{t.Context(), 2}, path, rowsOf(t, `[{"a":2}]`)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want a cancellation", err)
	}
	done := make(chan error, 1)
	go func() { done <- target.write(context.Background(), path, rowsOf(t, `[{"a":3}]`)) }()
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := dump(t, path, "t"); !strings.HasSuffix(got, "integer 3\n") {
		t.Fatalf("got\n%s", got)
	}
}

func BenchmarkTable(b *testing.B) {
	keys, err := core.NewKeys([]string{"date", "delay", "distance", "origin", "destination"})
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]any, 10_000)
	for i := range rows {
		rows[i] = core.NewRow(keys, []any{"2001/02/14 15:12", int64(i % 90), int64(342 + i), "SJC", "SNA"})
	}
	path := filepath.Join(b.TempDir(), "x.db")
	b.ReportAllocs()
	for b.Loop() {
		if err := (tableTarget{name: "t", mode: modeReplace}).write(b.Context(), path, rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
}
