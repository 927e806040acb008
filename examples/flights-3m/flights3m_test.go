//go:build unix

// Package flights3m is an example without Go code; its tests run the workflow if its data
// has been fetched.
package flights3m_test

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/parquet-go/parquet-go"
)

const (
	flightsFile  = "data/flights-3m.parquet"
	airportsFile = "../flights/data/airports.csv"
)

// data skips a test if the 13 MB of flights have not been fetched.
func data(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(flightsFile); err != nil {
		t.Skip("the 3,000,000 flights are not here: run make bench-data first")
	}
}

// command builds the command once per test.
func command(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "wavefold")
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/wavefold").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// run runs the workflow in a folder next to the data and returns its duration and its peak
// memory in bytes.
func run(t testing.TB, bin string) (time.Duration, int64) {
	t.Helper()
	cmd := exec.Command(bin, "run", "-q", "flights-3m.yaml")
	started := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(started)
	peak := int64(0)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss << 10 // kilobytes on Linux
	}
	return took, peak
}

// The table and the Parquet file equal the result of the handwritten loop, row by row.
func TestSameAsByHand(t *testing.T) {
	data(t)
	want, rejected, err := byHand(flightsFile, airportsFile)
	if err != nil || rejected != 0 || len(want) == 0 {
		t.Fatalf("%d rows, %d rejected, %v", len(want), rejected, err)
	}
	run(t, command(t))
	if got := table(t); !slices.Equal(got, lines(want)) {
		t.Errorf("the table differs: %d rows, want %d", len(got), len(want))
	}
	if got := parquetFile(t); !slices.Equal(got, lines(want)) {
		t.Errorf("the Parquet file differs: %d rows, want %d", len(got), len(want))
	}
}

// line is a row of the result for comparison.
type line struct {
	Origin  string  `parquet:"origin,optional"`
	City    string  `parquet:"city,optional"`
	State   string  `parquet:"state,optional"`
	Month   string  `parquet:"month,optional"`
	Flights int64   `parquet:"flights,optional"`
	Late    int64   `parquet:"late,optional"`
	Mean    float64 `parquet:"mean_delay,optional"`
	Miles   int64   `parquet:"miles,optional"`
}

func lines(list []summary) []line {
	out := make([]line, len(list))
	for i := range list {
		s := &list[i]
		out[i] = line{s.Origin, s.City, s.State, s.Month, s.Flights, s.Late, s.meanDelay(), s.Distance}
	}
	return out
}

func table(t *testing.T) []line {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join("out", "flights.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT origin, city, state, month, flights, late, mean_delay, miles FROM months ORDER BY origin, month")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []line
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.Origin, &l.City, &l.State, &l.Month, &l.Flights, &l.Late, &l.Mean, &l.Miles); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func parquetFile(t *testing.T) []line {
	t.Helper()
	out, err := parquet.ReadFile[line](filepath.Join("out", "months.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestScale compares the workflow with the handwritten loop and prints the time and peak
// memory of the two programs, measured in alternation.
func TestScale(t *testing.T) {
	if os.Getenv("WAVEFOLD_SCALE") == "" {
		t.Skip("measures, asserts nothing: run make bench-etl")
	}
	data(t)
	bin := command(t)
	hand := filepath.Join(t.TempDir(), "byhand")
	if out, err := exec.Command("go", "test", "-c", "-o", hand, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const rounds = 8
	var ratios, ours, theirs []float64
	var peak, handPeak int64
	for range rounds {
		cmd := exec.Command(hand, "-test.run", "^TestByHandAlone$")
		cmd.Env = append(os.Environ(), "WAVEFOLD_BYHAND=1")
		started := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		a := time.Since(started).Seconds()
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			handPeak = max(handPeak, usage.Maxrss<<10)
		}
		b, used := run(t, bin)
		peak = max(peak, used)
		theirs, ours, ratios = append(theirs, a), append(ours, b.Seconds()), append(ratios, b.Seconds()/a)
	}
	t.Logf("by hand  %s s, peak %d MB", spread(theirs), handPeak>>20)
	t.Logf("wavefold %s s, peak %d MB", spread(ours), peak>>20)
	t.Logf("ratio    %s", spread(ratios))
}

// TestByHandAlone runs the loop in a separate process, for TestScale.
func TestByHandAlone(t *testing.T) {
	if os.Getenv("WAVEFOLD_BYHAND") == "" {
		t.Skip("is run by TestScale")
	}
	if _, _, err := byHand(flightsFile, airportsFile); err != nil {
		t.Fatal(err)
	}
}

// spread formats the median, the minimum and the maximum.
func spread(list []float64) string {
	s := slices.Sorted(slices.Values(list))
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return f(s[len(s)/2]) + " [" + f(s[0]) + ".." + f(s[len(s)-1]) + "]"
}
