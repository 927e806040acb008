// Package flights is an example without Go code; its test runs it.
package flights

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/std"
)

// run runs a copy of the workflow in dir and returns the report.
func run(t *testing.T, dir string, inputs ...wavefold.RunOption) *wavefold.Result {
	t.Helper()
	g, err := wavefold.NewEngine(std.Kinds()...).Load(filepath.Join(dir, "flights.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Findings()) > 0 {
		t.Error(g.Findings())
	}
	r, err := g.Run(t.Context(), inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// workflow copies the workflow with its data.
func workflow(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"flights.yaml", "origin.yaml", "report.md.tmpl", "data/flights-10k.csv", "data/airports.csv"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// files returns the text files below a folder, without the database.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) == ".db" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExpectedOutput runs the workflow twice: both times the output is exactly the files of
// testdata/expected and the database that TestDatabase checks.
func TestExpectedOutput(t *testing.T) {
	want := files(t, filepath.Join("testdata", "expected"))
	dir := workflow(t)
	for _, turn := range []string{"first", "second"} {
		r := run(t, dir)
		if r.Status != core.RunPartial {
			t.Errorf("%s run: %s, want partial_success, because rows were rejected", turn, r.Status)
		}
		got := files(t, filepath.Join(dir, "out"))
		if len(got) != len(want) {
			t.Errorf("%s run: %d files, want %d", turn, len(got), len(want))
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s run: %s differs:\n%s", turn, name, got[name])
			}
		}
		if rows := airports(t, dir); !slices.Equal(rows, busiest(t)) {
			t.Errorf("%s run: the database holds\n%v\nwant\n%v", turn, rows, busiest(t))
		}
	}
}

// TestCourse checks the path of the run with the default thresholds and with others.
func TestCourse(t *testing.T) {
	status := func(r *wavefold.Result, id string) string {
		for _, n := range r.Nodes() {
			if n.ID == id {
				return n.Status.String()
			}
		}
		return "unknown"
	}
	for _, tt := range []struct {
		inputs []wavefold.RunOption
		want   map[string]string
	}{
		{nil, map[string]string{"alert": "success", "all_well": "skipped", "list_refunds": "skipped", "save_refunds": "skipped", "save_outliers": "success"}},
		{[]wavefold.RunOption{wavefold.Set("alert_share", 0.5), wavefold.Set("refund_after", 300)},
			map[string]string{"alert": "skipped", "all_well": "success", "list_refunds": "success", "save_refunds": "success", "save_outliers": "success"}},
	} {
		dir := workflow(t)
		r := run(t, dir, tt.inputs...)
		for id, want := range tt.want {
			if got := status(r, id); got != want {
				t.Errorf("%s: %s, want %s", id, got, want)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "out", "refunds.csv")); (err == nil) != (tt.inputs != nil) {
			t.Errorf("refunds.csv: %v", err)
		}
	}
}

// airport is a row of the database.
type airport struct {
	origin, city, state   string
	flights, late, worst  int
	meanDelay, percentage float64
}

// airports reads the database, in the order of the report.
func airports(t *testing.T, dir string) []airport {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "out", "flights.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT origin, city, state, flights, late, worst, mean_delay, late_percent FROM airports ORDER BY flights DESC, origin")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []airport
	for rows.Next() {
		var a airport
		if err := rows.Scan(&a.origin, &a.city, &a.state, &a.flights, &a.late, &a.worst, &a.meanDelay, &a.percentage); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
