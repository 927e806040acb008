// Package birdstrikes is an example without Go code; its test runs it.
package birdstrikes

import (
	"cmp"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/docstest"
)

func records(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sums is a row of the table of species.
type sums struct {
	strikes, damaging, cost, speeds int
	knots                           float64
}

// byHand computes the sums as a program written for this file would.
func byHand(t *testing.T) (lines [][]string, rejected, slow int) {
	t.Helper()
	groups := map[string]*sums{}
	for _, r := range records(t, "data/birdstrikes.csv")[1:] {
		if r[13] == "" {
			slow++
		}
		if !slices.Contains([]string{"None", "Minor", "Medium", "Substantial"}, r[2]) {
			rejected++
			continue
		}
		name := strings.ToLower(strings.TrimSpace(r[8]))
		g := groups[name]
		if g == nil {
			g = &sums{}
			groups[name] = g
		}
		cost, err := strconv.Atoi(r[12])
		if err != nil {
			t.Fatal(err)
		}
		g.strikes++
		g.cost += cost
		if r[2] != "None" {
			g.damaging++
		}
		if v, err := strconv.Atoi(r[13]); err == nil {
			g.speeds++
			g.knots += float64(v)
		}
	}
	for name, g := range groups {
		mean := ""
		if g.speeds > 0 {
			mean = strconv.Itoa(int(math.Floor(g.knots/float64(g.speeds) + 0.5)))
		}
		lines = append(lines, []string{name, strconv.Itoa(g.strikes), strconv.Itoa(g.damaging), strconv.Itoa(g.cost), strconv.Itoa(g.speeds), mean})
	}
	slices.SortFunc(lines, func(a, b []string) int {
		x, _ := strconv.Atoi(a[3])
		y, _ := strconv.Atoi(b[3])
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a[0], b[0]))
	})
	return lines, rejected, slow
}

func TestBirdstrikes(t *testing.T) {
	want, rejected, slow := byHand(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	docstest.Wavefold(t, "run", "-q", "birdstrikes.yaml")
	got := records(t, filepath.Join("out", "species.csv"))[1:]
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("the table of species is\n%v, want\n%v", got, want)
	}
	rows, err := os.ReadFile(filepath.Join("out", "rejected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(rows), "\n"); n != rejected {
		t.Errorf("%d rows are rejected, want %d", n, rejected)
	}
	data, err := os.ReadFile(filepath.Join("out", "quality.json"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := value.ParseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	checks, _ := report.(*value.Object).Get("checks")
	for _, c := range checks.([]any) {
		name, _ := c.(*value.Object).Get("name")
		failed, _ := c.(*value.Object).Get("failed")
		if want := map[any]int64{"damage_code": int64(rejected), "speed_known": int64(slow)}[name]; name != "species_known" && failed != want {
			t.Errorf("%v failed %v times, want %d", name, failed, want)
		}
	}
}
