// Package weather is an example without Go code; its test runs it.
package weather

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/wavefold/wavefold/internal/docstest"
)

// copied copies the example into a temporary folder and changes to it.
func copied(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

// stored counts the days of the table and returns the last one.
func stored(t *testing.T) (days int, last string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join("out", "weather.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*), max(date) FROM days").Scan(&days, &last); err != nil {
		t.Fatal(err)
	}
	return days, last
}

func cursor(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("weather.progress.json")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), `"cursor": "`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// Each run adds days to the table until it holds every day exactly once, and a failed run
// leaves the cursor unchanged.
func TestEveryDayOnce(t *testing.T) {
	copied(t)
	run := func(args ...string) string {
		return docstest.Wavefold(t, append([]string{"run", "-q"}, append(args, "weather.yaml")...)...)
	}
	for _, until := range []string{"2012-12-31", "2013-12-31", "2013-12-31", "2015-12-31"} {
		run("--input", "until="+until)
		if got := cursor(t); got != until {
			t.Fatalf("the cursor is %q, want %q", got, until)
		}
	}
	if days, last := stored(t); days != 1461 || last != "2015-12-31" {
		t.Errorf("%d days up to %s", days, last)
	}
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("out", nil, 0o600); err != nil { // out is not a folder, so store fails
		t.Fatal(err)
	}
	if text := run("--since", "2014-01-01"); !strings.Contains(text, "failed") || cursor(t) != "2015-12-31" {
		t.Errorf("the cursor is %q after\n%s", cursor(t), text)
	}
	if err := os.Remove("out"); err != nil {
		t.Fatal(err)
	}
	run("--full-refresh")
	if days, _ := stored(t); days != 1461 {
		t.Errorf("%d days after a full refresh", days)
	}
}
