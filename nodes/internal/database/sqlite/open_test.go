package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// A URI is not a path, and neither is a path with parameters, unless a file has that name.
func TestCheckPath(t *testing.T) {
	place := files.Place{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(place.Dir, "there.db?mode=ro"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"x.db":                               "",
		"why?.db":                            "",
		"a?b=c/x.db":                         "",
		"there.db?mode=ro":                   "",
		"./file:x.db":                        "",
		"file:x.db":                          `"file:x.db" is a URI, and files are named by their paths: write x.db`,
		"file:../x.db?mode=rwc&cache=shared": `"file:../x.db?mode=rwc&cache=shared" is a URI, and files are named by their paths: write ../x.db`,
		"file:///tmp/x.db":                   `"file:///tmp/x.db" is a URI, and files are named by their paths: write /tmp/x.db`,
		"x.db?mode=ro":                       `"x.db?mode=ro" ends in parameters of a connection, which have no effect here: write x.db`,
		"x.db?_pragma=foreign_keys(1)":       `"x.db?_pragma=foreign_keys(1)" ends in parameters of a connection, which have no effect here: write x.db`,
	} {
		err := CheckPath(place, name)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// The message "unable to open database file" does not give the reason.
func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"none/x.db":                        "the folder of the database is not there",
		"file/x.db":                        "the database cannot be opened: not a directory",
		strings.Repeat("long", 80) + ".db": "the database cannot be opened: file name too long",
		".":                                "the database cannot be opened: is a directory",
	} {
		db, err := Open(filepath.Join(dir, path), Options{})
		if err == nil {
			err = db.Begin(t.Context())
			db.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// An empty database remained if a new one could not be filled.
func TestNothingStaysOfAFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	target := database.Table{Mode: database.Remake, Columns: []table.Field{{Name: "a", Kind: value.IntegerType}}}
	if err := store(t.Context(), path, target, rowsOf(t, `[{"a":"x"}]`)); err == nil {
		t.Fatal("no error")
	}
	if left, err := filepath.Glob(path + "*"); err != nil || left != nil {
		t.Error(left, err)
	}
	// A file that existed before is kept, and so is a file with stored rows.
	for range 2 {
		if err := store(t.Context(), path, target, rowsOf(t, `[{"a":1}]`)); err != nil {
			t.Fatal(err)
		}
		if err := store(t.Context(), path, target, rowsOf(t, `[{"a":"x"}]`)); err == nil {
			t.Fatal("no error")
		}
		if got := dump(t, path, "t"); !strings.Contains(got, "1") {
			t.Error(got)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_ = store(t.Context(), empty, target, rowsOf(t, `[{"a":"x"}]`))
	if _, err := os.Stat(empty); err != nil {
		t.Error(err)
	}
}

// A writer that waits for another one, which created the file and then fails, does not
// write to a file that has been removed.
func TestAFileThatGoesWhileAnotherWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	first, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.Rollback()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("the file is there")
	}
	to := database.Table{Name: "t", Make: true}
	if _, err := database.Load(t.Context(), second, &to, table.ArraySource(rowsOf(t, `[{"a":1}]`)), func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, path, "t"); !strings.Contains(got, "1") {
		t.Error(got)
	}
}

// A writer or reader that waits for a lock until its context ends reports the lock.
func TestLockedIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := store(t.Context(), path, database.Table{Mode: database.Remake}, rowsOf(t, `[{"a":1}]`)); err != nil {
		t.Fatal(err)
	}
	other, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	ended := errors.New("ended")
	const want = "the database is locked by another program that writes it: context canceled"
	for name, use := range map[string]func(context.Context) error{
		"a writer": func(ctx context.Context) error {
			return store(ctx, path, database.Table{}, rowsOf(t, `[{"a":1}]`))
		},
		"a reader": func(ctx context.Context) error {
			db, err := OpenReader(path)
			if err != nil {
				return err
			}
			defer db.Close()
			_, err = db.Query(ctx, database.Statement{Text: "SELECT * FROM t"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := &expiring{Context: t.Context(), looks: 2}
			if err := use(ctx); err == nil || !strings.HasSuffix(err.Error(), want) || errors.Is(err, ended) {
				t.Error(err)
			}
		})
	}
}

// expiring is a context that ends after a number of calls of Err.
type expiring struct {
	context.Context
	looks int
}

func (e *expiring) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// ATTACH and VACUUM INTO could open any file of the machine, even in a query.
func TestNoOtherFileIsOpened(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "x.db"), filepath.Join(dir, "other.db")
	if err := store(t.Context(), path, database.Table{Mode: database.Remake}, rowsOf(t, `[{"a":1}]`)); err != nil {
		t.Fatal(err)
	}
	const refused = "the statement opens another file, which allow_outside: true allows: SQL logic error: too many attached databases - max 0 (1)"
	reader, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, s := range []string{"ATTACH '" + other + "' AS z", "VACUUM INTO '" + other + "'"} {
		if _, err := reader.Query(t.Context(), database.Statement{Text: s}); err == nil || err.Error() != refused {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, attach := range []bool{false, true} {
		db, err := Open(path, Options{Attach: attach})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(t.Context(), database.Statement{Text: "ATTACH '" + other + "' AS z"})
		if ok := err == nil; ok != attach || !attach && err.Error() != refused {
			t.Errorf("attach %v: %v", attach, err)
		}
		if _, err := os.Stat(other); err == nil && !attach {
			t.Error("the file was made")
		}
		db.Rollback()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	// Functions that open files do not exist or are not allowed.
	for _, s := range []string{"SELECT load_extension('x')", "SELECT readfile('" + path + "')", "SELECT writefile('x', 'y')", "SELECT edit('x')", "SELECT * FROM fsdir('.')", "SELECT fts3_tokenizer('a', x'00')"} {
		if _, err := reader.Query(t.Context(), database.Statement{Text: s}); err == nil {
			t.Errorf("%s: no error", s)
		}
	}
}
