package draw_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/draw"
	_ "github.com/wavefold/wavefold/llm/jsonschema" // some examples have schemas
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// area is a rectangle of a picture and its content.
type area struct {
	left, top, right, bottom float64
	what                     string
}

func (a area) overlaps(b area) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// shrunk returns the area without a margin, so that lines may touch its outline.
func (a area) shrunk(by float64) area {
	return area{a.left + by, a.top + by, a.right - by, a.bottom - by, a.what}
}

func (a area) contains(p [2]float64) bool {
	return a.left < p[0] && p[0] < a.right && a.top < p[1] && p[1] < a.bottom
}

// shapes are the parts of a picture that must not cover each other.
type shapes struct {
	width, height float64
	nodes         []area
	labels        []area // labels of edges, and of the back edge of a loop
	edges         [][][2]float64
}

// read extracts the shapes of an SVG picture.
func read(t *testing.T, picture string) *shapes {
	t.Helper()
	s := &shapes{}
	d := xml.NewDecoder(strings.NewReader(picture))
	at := [][2]float64{{}} // the origin of each open element
	for {
		token, err := d.Token()
		if err == io.EOF {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			origin := at[len(at)-1]
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			if n := numbers(attr["transform"]); len(n) == 2 {
				origin = [2]float64{origin[0] + n[0], origin[1] + n[1]}
			}
			at = append(at, origin)
			if e.Name.Local == "text" && attr["class"] == "note" {
				if text, _ := d.Token(); string(text.(xml.CharData)) == "again" {
					attr["class"], attr["width"], attr["height"] = "pill again", "36", "11"
					attr["y"] = fmt.Sprint(number(attr["y"]) - 8.5)
				}
			}
			s.add(e.Name.Local, attr, origin)
		case xml.EndElement:
			at = at[:len(at)-1]
		}
	}
}

func (s *shapes) add(element string, attr map[string]string, origin [2]float64) {
	class := strings.Fields(attr["class"])
	x, y := origin[0]+number(attr["x"]), origin[1]+number(attr["y"])
	r := area{x, y, x + number(attr["width"]), y + number(attr["height"]), attr["class"]}
	switch {
	case element == "svg":
		s.width, s.height = number(attr["width"]), number(attr["height"])
	case slices.Contains(class, "pill"):
		s.labels = append(s.labels, r)
	case slices.Contains(class, "box") && element == "rect" && !slices.Contains(class, "sheet"):
		s.nodes = append(s.nodes, r)
	case slices.Contains(class, "box") && element == "path":
		points := trace(attr["d"], origin)
		r := area{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1), attr["class"]}
		for _, p := range points {
			r.left, r.top = min(r.left, p[0]), min(r.top, p[1])
			r.right, r.bottom = max(r.right, p[0]), max(r.bottom, p[1])
		}
		s.nodes = append(s.nodes, r)
	case slices.Contains(class, "edge"):
		s.edges = append(s.edges, trace(attr["d"], origin))
	}
}

var numeral = regexp.MustCompile(`-?\d+(\.\d+)?`)

func numbers(s string) []float64 {
	var out []float64
	for _, n := range numeral.FindAllString(s, -1) {
		out = append(out, number(n))
	}
	return out
}

func number(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64)
	return n
}

// trace returns points on a path, at most a few pixels apart.
func trace(path string, origin [2]float64) [][2]float64 {
	var out [][2]float64
	at := [2]float64{}
	curve := func(p ...[2]float64) {
		const steps = 48
		a := at
		for i := 1; i <= steps; i++ {
			u, rest := float64(i)/steps, append([][2]float64{a}, p...)
			for len(rest) > 1 { // de Casteljau's algorithm
				for k := range len(rest) - 1 {
					rest[k] = [2]float64{rest[k][0]*(1-u) + rest[k+1][0]*u, rest[k][1]*(1-u) + rest[k+1][1]*u}
				}
				rest = rest[:len(rest)-1]
			}
			at = rest[0]
			out = append(out, [2]float64{origin[0] + at[0], origin[1] + at[1]})
		}
	}
	for _, command := range regexp.MustCompile(`[A-Za-z][^A-Za-z]*`).FindAllString(path, -1) {
		n := numbers(command)
		switch command[0] {
		case 'M':
			at = [2]float64{n[0], n[1]}
			out = append(out, [2]float64{origin[0] + n[0], origin[1] + n[1]})
		case 'V':
			curve([2]float64{at[0], n[0]})
		case 'H':
			curve([2]float64{n[0], at[1]})
		default:
			var p [][2]float64
			for i := 0; i+1 < len(n); i += 2 {
				p = append(p, [2]float64{n[i], n[i+1]})
			}
			if len(p) > 0 {
				curve(p...)
			}
		}
	}
	return out
}

// check reports labels that cover another label, a node or the edge of another label, edges
// that cross a node, and shapes outside the picture.
func (s *shapes) check() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	page := area{0, 0, s.width, s.height, "page"}
	for i, a := range s.labels {
		if a.left < 0 || a.top < 0 || a.right > page.right || a.bottom > page.bottom {
			fault("label %v is outside of %v", a, page)
		}
		for _, b := range s.labels[:i] {
			if a.overlaps(b) {
				fault("labels %v and %v overlap", a, b)
			}
		}
		for _, n := range s.nodes {
			if a.overlaps(n) {
				fault("label %v covers node %v", a, n)
			}
		}
		crossing, own := 0, 1
		if a.what == "pill again" { // its edge does not pass through it
			own = 0
		}
		for _, e := range s.edges {
			if slices.ContainsFunc(e, a.shrunk(1).contains) {
				crossing++
			}
		}
		if crossing > own {
			fault("label %v is on %d edges", a, crossing)
		}
	}
	for i, a := range s.nodes {
		for _, b := range s.nodes[:i] {
			if a.overlaps(b) {
				fault("nodes %v and %v overlap", a, b)
			}
		}
		for _, e := range s.edges {
			if slices.ContainsFunc(e, a.shrunk(2).contains) {
				fault("an edge from %v to %v crosses node %v", e[0], e[len(e)-1], a)
			}
		}
	}
	return faults
}

// TestLabelsCoverNothing draws generated graphs and walks, and runs of them.
func TestLabelsCoverNothing(t *testing.T) {
	labels := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		d := anyDAG(r)
		run := &draw.Run{Marks: map[string]draw.Mark{"n0": {Status: "fail", Text: "1.2s, 3 of 64 items failed"}}, Taken: map[draw.EdgeKey]int{}}
		if seed%2 == 0 {
			d = anyWalk(r)
			for range r.IntN(4) { // jumps
				run.Taken[draw.EdgeKey{From: fmt.Sprintf("n%d", r.IntN(5)), To: fmt.Sprintf("n%d", r.IntN(5))}] = r.IntN(3)
			}
		}
		for _, o := range []draw.Options{{}, {Run: run}} {
			picture := draw.SVG(d, o)
			s := read(t, picture)
			labels += len(s.labels)
			if len(s.nodes) == 0 {
				t.Fatalf("seed %d: no nodes in %s", seed, picture)
			}
			for _, fault := range s.check() {
				t.Errorf("seed %d, run %v: %s", seed, o.Run != nil, fault)
			}
			if t.Failed() {
				t.Fatal(picture)
			}
		}
	}
	if labels < 1000 {
		t.Errorf("only %d labels were drawn", labels)
	}
}

var (
	someIDs        = []string{"many", "WWW", "i", "summarize_the_results", "日本語"}
	someConditions = []string{"", "", "$.n > 10 && $.ok == true", "$.ok", "length($.rows) > 0 && $.country == \"NO\" && $.more"}
)

// anyNode returns a random node.
func anyNode(r *rand.Rand, n int) plan.NodeDescription {
	id := fmt.Sprintf("n%d", n)
	if n > 4 {
		id += someIDs[r.IntN(len(someIDs))]
	}
	return plan.NodeDescription{ID: id, Kind: []string{"command", "x"}[r.IntN(2)]}
}

// anyDAG returns a random graph with vertices of every shape and edges of every kind.
func anyDAG(r *rand.Rand) *plan.Description {
	d := &plan.Description{Name: "any"}
	var before []string
	n := 0
	for level := range 1 + r.IntN(6) {
		var row []plan.VertexDescription
		var ids []string
		for i := range 1 + r.IntN(4) {
			v := plan.VertexDescription{Shape: plan.Plain.String(), Source: "$.rows"}
			members := 1
			switch r.IntN(8) {
			case 0:
				v.Shape = plan.FanOut.String()
			case 1:
				v.Shape, members = plan.Pipeline.String(), 1+r.IntN(3)
			case 2:
				v.Shape, v.MaxIters, members = plan.Loop.String(), 3, 1+r.IntN(3)
			}
			for range members {
				v.Nodes = append(v.Nodes, anyNode(r, n))
				n++
			}
			if v.ID = v.Nodes[0].ID; members > 1 || v.Shape == plan.Loop.String() || v.Shape == plan.Pipeline.String() {
				v.ID = fmt.Sprintf("unit%d_%d", level, i)
			}
			last := v.Nodes[members-1].ID
			for range r.IntN(4) {
				if len(before) == 0 {
					break
				}
				when := someConditions[r.IntN(len(someConditions))]
				d.Edges = append(d.Edges, plan.EdgeDescription{From: before[r.IntN(len(before))], To: v.Nodes[0].ID, When: when, Else: when == "" && r.IntN(3) == 0})
			}
			row, ids = append(row, v), append(ids, last)
		}
		d.Levels, before = append(d.Levels, row), append(before, ids...)
	}
	return d
}

// anyWalk returns a random walk with edges in all directions.
func anyWalk(r *rand.Rand) *plan.Description {
	d := &plan.Description{Name: "any", Levels: [][]plan.VertexDescription{nil}, Mode: plan.ModeDescription{Visits: true, Start: "n0", Exit: "n1"}, Routing: &plan.WalkDescription{Start: "n0", Exit: "n1"}}
	n := 2 + r.IntN(8)
	for i := range n {
		node := anyNode(r, i)
		d.Levels[0] = append(d.Levels[0], plan.VertexDescription{ID: node.ID, Shape: plan.Plain.String(), Nodes: []plan.NodeDescription{node}})
		role := []core.Role{core.RoleStage, core.RoleConditional, core.RoleHuman, core.RoleParallel}[r.IntN(4)]
		w := plan.WalkNodeDescription{ID: node.ID, Role: role.String()}
		if r.IntN(4) == 0 {
			w.GoalGate, w.Targets = true, []string{d.Levels[0][r.IntN(i+1)].ID}
		}
		d.Routing.Nodes = append(d.Routing.Nodes, w)
	}
	for range r.IntN(3 * n) {
		d.Edges = append(d.Edges, plan.EdgeDescription{
			From: d.Routing.Nodes[r.IntN(n)].ID, To: d.Routing.Nodes[r.IntN(n)].ID,
			Label: []string{"", "yes", "[R] Rework it first"}[r.IntN(3)], When: someConditions[r.IntN(len(someConditions))],
		})
	}
	return d
}

// TestLabelsOfExamples draws the workflows of the examples and of this package.
func TestLabelsOfExamples(t *testing.T) {
	pictures := 0
	for _, root := range []string{"../../examples", "testdata"} {
		err := filepath.WalkDir(root, func(path string, f fs.DirEntry, err error) error {
			if err != nil || f.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".dot", ".fabro"}, filepath.Ext(path)) || strings.Contains(path, ".mock.") {
				return err
			}
			e := wavefold.NewEngine(std.Kinds()...)
			w, ds := e.Read(path)
			if ds.Failed(false) {
				return nil // not a workflow, or one with custom kinds
			}
			p, ds := e.Compile(w, false)
			if ds.Failed(false) {
				return nil
			}
			pictures++
			for _, fault := range read(t, draw.SVG(p.Describe(), draw.Options{})).check() {
				t.Errorf("%s: %s", path, fault)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if pictures < 20 {
		t.Errorf("only %d pictures were drawn", pictures)
	}
}
