package benchmarks

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// summary lists the rows of the table in README.md: each one is the range of some rows of a
// table in docs/performance.md.
var summary = []struct{ what, table, rows, unit string }{
	{"1,000 empty nodes, five shapes", "shapes", `1,000 nodes, limit 8$`, "node"},
	{"1,000 nodes with a typed field each", "nodes", `^chain of Map, a field each$`, "node"},
	{"1,000,000 items with results", "items", `^Each, 1,000,000 items, limit 8$`, "item"},
	{"declare and compile 1,000 nodes", "build", `^New and Compile, .* 1,000 nodes$`, "node"},
	{"1,000 empty nodes, another engine", "peers", ``, "node"},
}

// Summary returns the table in README.md, from the tables of docs/performance.md.
func Summary(performance Page) (string, error) {
	var b strings.Builder
	b.WriteString("| | time | memory | time compared with |\n|---|---|---|---|\n")
	for _, s := range summary {
		var times, sizes, ratios []string
		reference := ""
		for name, cells := range performance.Lines(s.table) {
			if !regexp.MustCompile(s.rows).MatchString(name) || len(cells) < 7 {
				continue
			}
			times, sizes = append(times, cells[1]), append(sizes, cells[3])
			if cells[4] != "" {
				ratio, _, _ := strings.Cut(cells[6], " (")
				reference, ratios = cells[4], append(ratios, ratio)
			}
		}
		if len(times) == 0 {
			return "", fmt.Errorf("docs/performance.md has no row for %q", s.what)
		}
		compared := ""
		if reference != "" {
			compared = fmt.Sprintf("%s × %s", between(ratios), reference)
		}
		fmt.Fprintf(&b, "| %s | %s / %s | %s / %s | %s |\n", s.what, between(times), s.unit, between(sizes), s.unit, compared)
	}
	return b.String(), nil
}

// between formats the range of some figures.
func between(list []string) string {
	low, high := list[0], list[0]
	for _, s := range list {
		if amount(s) < amount(low) {
			low = s
		}
		if amount(s) > amount(high) {
			high = s
		}
	}
	if low == high {
		return low
	}
	_, unit, _ := strings.Cut(high, " ")
	if n, u, ok := strings.Cut(low, " "); ok && u == unit {
		low = n
	}
	return low + " to " + high
}

// factors are the units of figures.
var factors = map[string]float64{"": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}

func amount(s string) float64 {
	n, unit, _ := strings.Cut(strings.TrimPrefix(s, "< "), " ")
	v, _ := strconv.ParseFloat(n, 64)
	return v * factors[unit]
}

// Update measures tables and writes each one into docs/performance.md.
func Update(path string, tb testing.TB, tables ...Table) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p := Page(text).With("machine", Machine())
	for _, t := range tables {
		list := make([]Measure, len(t.Figures))
		for i, f := range t.Figures {
			list[i] = f.Take(tb)
		}
		table := t.Markdown(list)
		tb.Logf("%s\n%s", t.ID, table)
		p = p.With(t.ID, table)
		if err := os.WriteFile(path, []byte(p), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// UpdateReadme writes the summary of docs/performance.md into README.md.
func UpdateReadme(performance, readme string) error {
	text, err := os.ReadFile(performance)
	if err != nil {
		return err
	}
	table, err := Summary(Page(text))
	if err != nil {
		return err
	}
	if text, err = os.ReadFile(readme); err != nil {
		return err
	}
	return os.WriteFile(readme, []byte(Page(text).With("summary", table)), 0o666)
}
