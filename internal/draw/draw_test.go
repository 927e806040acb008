package draw_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/internal/draw"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler/plan"
)

var update = flag.Bool("update", false, "write the drawings into the golden files")

func description(t *testing.T) *plan.Description { return describe(t, "testdata/all.yaml") }

func describe(t *testing.T, file string) *plan.Description {
	t.Helper()
	e := wavefold.NewEngine(std.Kinds()...)
	w, ds := e.Read(file)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	p, ds := e.Compile(w, false)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	return p.Describe()
}

func TestDrawings(t *testing.T) { drawings(t, description(t), "all") }

// TestWalks compares drawings of edges that lead back, to a neighbour and to the node
// itself.
func TestWalks(t *testing.T) { drawings(t, describe(t, "testdata/walk.dot"), "walk-drawn") }

// TestCircles compares drawings of goal gates, branches, jumps and unreachable nodes.
func TestCircles(t *testing.T) { drawings(t, describe(t, "testdata/circles.fabro"), "circles") }

func drawings(t *testing.T, d *plan.Description, name string) {
	for _, f := range draw.Formats {
		t.Run(f.Name, func(t *testing.T) {
			got := f.Draw(d, draw.Options{})
			golden := filepath.Join("testdata", name+"."+f.Name)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// plain returns the same graph with harmless strings.
func plain(d *plan.Description) *plan.Description {
	p := *d
	p.Name = "x"
	p.Levels = [][]plan.VertexDescription{slices.Clone(d.Levels[0])}
	p.Levels[0][0].Nodes = []plan.NodeDescription{{ID: "end", Kind: "x"}}
	p.Levels[0][1].Source = "x"
	p.Edges = []plan.EdgeDescription{{From: "end", To: "b", When: "x"}}
	return &p
}

// TestQuoting checks that no string of a workflow ends a quoted label.
func TestQuoting(t *testing.T) {
	evil := "a\"]; b\\c\n end %%{init: {'theme': 'x'}}%% <script>#`|}}]]\x1b[2J\u202e"
	d := &plan.Description{Name: evil, Levels: [][]plan.VertexDescription{{
		{ID: "end", Shape: "node", Nodes: []plan.NodeDescription{{ID: "end", Kind: evil}}},
		{ID: "b", Shape: "for_each", Source: evil, Nodes: []plan.NodeDescription{{ID: "b"}}},
	}}, Edges: []plan.EdgeDescription{{From: "end", To: "b", When: evil}}}
	for _, line := range strings.Split(draw.Mermaid(d, draw.Options{}), "\n") {
		if n := strings.Count(line, `"`); n != 0 && n != 2 {
			t.Errorf("%d quotes in %s", n, line)
		}
		if strings.Contains(line, "<script>") || strings.Contains(line, "%") || strings.HasPrefix(strings.TrimSpace(line), "end") {
			t.Errorf("not escaped: %s", line)
		}
	}
	for _, f := range draw.Formats {
		if got, lines := f.Draw(d, draw.Options{}), f.Draw(plain(d), draw.Options{}); strings.ContainsAny(got, "\x1b\u202e") || strings.Count(got, "\n") != strings.Count(lines, "\n") {
			t.Errorf("%s: an escape sequence, or more lines than without:\n%s", f.Name, got)
		}
	}
	for _, line := range strings.Split(draw.DOT(d, draw.Options{}), "\n") {
		bare := strings.NewReplacer(`\\`, "", `\"`, "").Replace(line)
		if strings.Count(bare, `"`)%2 != 0 {
			t.Errorf("quotes do not pair: %s", line)
		}
	}
}
