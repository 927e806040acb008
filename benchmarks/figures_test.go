package benchmarks

import (
	"os"
	"slices"
	"testing"
)

// tables returns the tables of docs/performance.md that this package measures. The table
// peers is measured by the module in the folder peers.
func tables() []Table {
	return []Table{shapeTable(), growthTable(), nodeTable(), itemTable(), mergeTable(), walkTable(), eventTable(), commandTable(), storedTable(), lookBackTable(), streamTable(), buildTable(), importTable()}
}

const page, readme = "../docs/performance.md", "../README.md"

// TestFigures runs each case of each table once, except slow ones. With UPDATE=1 it measures all cases instead and
// writes the tables into docs/performance.md.
func TestFigures(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		if err := Update(page, t, tables()...); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, table := range tables() {
		for _, f := range table.Figures {
			t.Run(table.ID+"/"+f.Name, func(t *testing.T) {
				if f.Slow {
					t.Skip("it takes seconds; set UPDATE=1")
				}
				if raceDetector && f.Subject.Units >= 100_000 {
					t.Skip("it takes minutes with the race detector")
				}
				for _, c := range []Case{f.Subject, f.Reference} {
					if c.Start != nil { // TestImportCost takes the samples
						c.Start(t)()
					}
				}
			})
		}
	}
}

// BenchmarkFigures has each figure as a benchmark, as
//
//	go test -bench 'Figures/items/Each,_10,000_items,_limit_8' -run XXX ./benchmarks
func BenchmarkFigures(b *testing.B) {
	for _, table := range tables() {
		b.Run(table.ID, func(b *testing.B) {
			for _, f := range table.Figures {
				b.Run(f.Name, func(b *testing.B) { f.Bench(b, table.Unit) })
			}
		})
	}
}

// Every row of docs/performance.md is measured here, under a name of its own, so that each
// claim has a benchmark.
func TestRowsAreMeasured(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	ids := Page(text).IDs()
	for _, table := range tables() {
		if !slices.Contains(ids, table.ID) {
			t.Errorf("docs/performance.md has no place for the table %s", table.ID)
		}
		var names []string
		for _, f := range table.Figures {
			if slices.Contains(names, f.Name) {
				t.Errorf("table %s has two rows %q", table.ID, f.Name)
			}
			names = append(names, f.Name)
		}
		for name := range Page(text).Lines(table.ID) {
			if !slices.Contains(names, name) {
				t.Errorf("table %s of docs/performance.md has a row %q that is not measured", table.ID, name)
			}
		}
	}
}

// The table in README.md is the summary of docs/performance.md. With UPDATE=1 it is written.
func TestReadmeAgrees(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		if err := UpdateReadme(page, readme); err != nil {
			t.Fatal(err)
		}
	}
	performance, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	front, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Summary(Page(performance))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := Page(front).Block("summary"); got != want {
		t.Errorf("README.md has\n%s\nand docs/performance.md\n%s\nrun make figures", got, want)
	}
}
