package std_test

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/std"
)

func TestKinds(t *testing.T) {
	want := []string{"agent", "cli-agent", "command", "conditional", "dataset", "exit", "experience", "fan_in", "guard", "http", "human", "parallel", "prompt", "route", "router", "script", "sink", "skill", "sql", "start", "template", "tool", "transform", "wait", "workflow"}
	if got := core.NewRegistry(std.Kinds()...).KindNames(); !slices.Equal(got, want) {
		t.Errorf("kinds %q, want %q", got, want)
	}
}

// flow runs nodes one after the other over one state, as the engine would.
type flow struct {
	t     *testing.T
	dir   string
	kinds *core.Registry
	state map[string]any
}

func (f *flow) run(kind, node string) core.Result {
	f.t.Helper()
	k, ok := f.kinds.Kind(kind)
	if !ok {
		f.t.Fatalf("no kind %q", kind)
	}
	n := nodestest.Node(f.t, node)
	made, ds := k.Compile(n, core.Env{Dir: f.dir, Files: os.DirFS(f.dir), Schema: nodestest.Schema(f.t, `{"flights": {}, "airports": {}, "strikes": {}, "bad": {}, "result": {}}`)})
	if ds.Failed(false) {
		f.t.Fatal(ds)
	}
	view := func(names []source.Text) core.View {
		values := make([]any, len(names))
		for i, name := range names {
			if values[i] = value.Missing; f.state[name.Value] != nil {
				values[i] = f.state[name.Value]
			}
		}
		return core.NewView(source.Strings(names), values)
	}
	r, err := made.Handler.Handle(f.t.Context(), core.NewInput("run", "n", 1, core.Shared{Dir: f.dir, View: view(n.Reads), Extra: view(made.Reads)}))
	if err != nil {
		f.t.Fatal(err)
	}
	for field, v := range r.Writes() {
		f.state[field] = v
	}
	return r
}

func newFlow(t *testing.T) *flow {
	f := &flow{t: t, dir: t.TempDir(), kinds: core.NewRegistry(std.Kinds()...), state: map[string]any{}}
	if err := os.CopyFS(filepath.Join(f.dir, "data"), os.DirFS("../testdata")); err != nil {
		t.Fatal(err)
	}
	return f
}

func records(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	list, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDelays loads flights and airports, computes the average delay by state, and writes it to a file
// and a database. The expected numbers are computed by plain Go from the same files.
func TestDelays(t *testing.T) {
	f := newFlow(t)
	f.run("dataset", `{"source": "data/flights.csv", "writes": ["flights"]}`)
	f.run("dataset", `{"source": "data/airports.csv", "writes": ["airports"]}`)
	f.run("transform", `{"reads": ["flights"], "writes": ["result"], "steps": [
		{"filter": "$item.distance > 500"},
		{"join": {"with": "airports", "on": {"origin": "iata"}, "take": ["state"]}},
		{"group": {"by": ["state"], "aggregate": {"flights": "count", "mean": "mean(delay)", "worst": "max(delay)"}}},
		{"sort": ["-flights", "state"]}]}`)
	f.run("sink", `{"reads": ["result"], "to": "out/delays.csv"}`)
	f.run("sink", `{"reads": ["result"], "to": "out/delays.db", "table": "delays", "key": ["state"]}`)

	want := delaysByState(t, f.dir)
	got := records(t, filepath.Join(f.dir, "out/delays.csv"))
	if len(want) < 10 || !slices.EqualFunc(got[1:], want, slices.Equal[[]string]) {
		t.Errorf("file\n%v\nwant\n%v", got[1:], want)
	}
	db, err := sql.Open("sqlite", filepath.Join(f.dir, "out/delays.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, w := range want {
		var n, worst int
		var mean float64
		if err := db.QueryRow("SELECT flights, mean, worst FROM delays WHERE state = ?", w[0]).Scan(&n, &mean, &worst); err != nil {
			t.Fatal(err)
		}
		if got := []string{w[0], fmt.Sprint(n), value.JSON(mean), fmt.Sprint(worst)}; !slices.Equal(got, w) {
			t.Errorf("table %v, want %v", got, w)
		}
	}
}

func delaysByState(t *testing.T, dir string) [][]string {
	states := map[string]string{}
	for _, a := range records(t, filepath.Join(dir, "data/airports.csv"))[1:] {
		states[a[0]] = a[3]
	}
	delays := map[string][]int{}
	for _, r := range records(t, filepath.Join(dir, "data/flights.csv"))[1:] {
		if distance, _ := strconv.Atoi(r[2]); distance > 500 {
			delay, _ := strconv.Atoi(r[1])
			delays[states[r[3]]] = append(delays[states[r[3]]], delay)
		}
	}
	var out [][]string
	for state, list := range delays {
		total := 0
		for _, d := range list {
			total += d
		}
		out = append(out, []string{state, strconv.Itoa(len(list)), value.JSON(float64(total) / float64(len(list))), strconv.Itoa(slices.Max(list))})
	}
	slices.SortFunc(out, func(a, b []string) int {
		x, _ := strconv.Atoi(a[1])
		y, _ := strconv.Atoi(b[1])
		if x != y {
			return y - x
		}
		return strings.Compare(a[0], b[0])
	})
	return out
}

// TestDirtyRows rejects the bird strikes without a speed to a file with the numbers of the rows.
func TestDirtyRows(t *testing.T) {
	f := newFlow(t)
	r := f.run("dataset", `{"source": "data/birdstrikes.csv", "writes": ["strikes"], "rejects": "out/rejects.csv",
		"checks": [{"name": "has_speed", "expr": "$item['Speed IAS in knots'] != null"}]}`)
	bad := 0
	var lines []string
	for i, row := range records(t, "../testdata/birdstrikes.csv")[1:] {
		if row[13] == "" {
			bad++
			lines = append(lines, strconv.Itoa(i+2))
		}
	}
	rejects := records(t, filepath.Join(f.dir, "out/rejects.csv"))[1:]
	if got := len(f.state["strikes"].([]any)); bad == 0 || got != 200-bad || len(rejects) != bad || r.Status != core.PartialSuccess {
		t.Fatalf("%d rows, %d rejects, %s; want %d bad of 200", got, len(rejects), r.Status, bad)
	}
	for i, reject := range rejects {
		if reject[1] != lines[i] || reject[3] != "has_speed" {
			t.Errorf("reject %v, want line %s", reject, lines[i])
		}
	}
}
