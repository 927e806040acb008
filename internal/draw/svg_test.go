package draw

import (
	"encoding/xml"

	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// wellFormed returns the error of a strict XML parser.
func wellFormed(picture string) error {
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Names and conditions are escaped: the picture is one XML document, and none of its
// elements comes from the workflow.
func TestSVGQuotesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`</text><script>alert(1)</script>`, `"/><a b="`, "]]>", "&lt;&", "\x1b[31m", "\u202e"}))
		node := func(id string) plan.NodeDescription {
			return plan.NodeDescription{ID: id, Kind: text.Draw(t, "kind"), Description: text.Draw(t, "description"), Writes: []string{text.Draw(t, "field")}}
		}
		d := &plan.Description{Name: text.Draw(t, "name"), Levels: [][]plan.VertexDescription{
			{{ID: "a", Shape: plan.FanOut.String(), Source: text.Draw(t, "source"), Nodes: []plan.NodeDescription{node("a")}}},
			{{ID: "p", Shape: plan.Pipeline.String(), Nodes: []plan.NodeDescription{node("b"), node("c")}}},
		}, Edges: []plan.EdgeDescription{{From: "a", To: "b", When: text.Draw(t, "when")}}}
		run := &Run{Title: text.Draw(t, "title"), Marks: map[string]Mark{"a": {Status: "fail", Text: text.Draw(t, "text"), Why: text.Draw(t, "why")}}}
		picture := SVG(d, Options{Run: run})
		if err := wellFormed(picture); err != nil {
			t.Fatalf("%v\n%s", err, picture)
		}
		if strings.Contains(picture, "<script") || strings.Contains(picture, "<a ") {
			t.Fatal(picture)
		}
	})
}

// graph draws a random layered graph. Nodes are in the even rows, labels in the odd ones.
func graph(t *rapid.T) ([]box, []span) {
	var boxes []box
	var edges []span
	first := 0
	for level := range rapid.IntRange(1, 6).Draw(t, "levels") {
		n := rapid.IntRange(1, 6).Draw(t, "width")
		for range n {
			boxes = append(boxes, box{level: 2 * level, w: float64(rapid.IntRange(20, 300).Draw(t, "w")), h: float64(rapid.IntRange(20, 90).Draw(t, "h"))})
		}
		for i := first; i < len(boxes) && first > 0; i++ {
			for range rapid.IntRange(1, 3).Draw(t, "edges") {
				edges = append(edges, span{up: rapid.IntRange(0, first-1).Draw(t, "from"), down: i, label: max(0, float64(rapid.IntRange(-100, 200).Draw(t, "label")))})
			}
			if rapid.IntRange(0, 5).Draw(t, "same row") == 0 && i > first {
				edges = append(edges, span{up: first, down: i, label: 60})
			}
		}
		first = len(boxes)
	}
	return boxes, edges
}

// No two boxes or labels overlap, no box extends into another row, no x is negative, and
// the layout of a graph is deterministic.
func TestArrange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boxes, edges := graph(t)
		l := arrange(slices.Clone(boxes), edges)
		l.assignY(func(int) float64 { return 10 })
		again := arrange(slices.Clone(boxes), edges)
		again.assignY(func(int) float64 { return 10 })
		for i := range l.boxes {
			a := &l.boxes[i]
			if *a != again.boxes[i] {
				t.Fatalf("box %d lies at %v and at %v", i, *a, again.boxes[i])
			}
			if a.x < -0.001 || a.x+a.w > l.width()+0.001 {
				t.Fatalf("box %d lies at %v", i, *a)
			}
			for j := range i {
				b := &l.boxes[j]
				if a.x < b.x+b.w-0.001 && b.x < a.x+a.w-0.001 && a.y < b.y+b.h && b.y < a.y+a.h {
					t.Fatalf("boxes %d and %d overlap: %v, %v", j, i, *b, *a)
				}
				if a.level > b.level && a.y < b.y+b.h {
					t.Fatalf("box %d of row %d is not below box %d of row %d", i, a.level, j, b.level)
				}
			}
		}
		for i, e := range edges {
			c, rows := l.chains[i], l.boxes[e.down].level-l.boxes[e.up].level
			if rows == 0 {
				rows = 2 // down and up again
			}
			if c[0] != e.up || c[len(c)-1] != e.down || len(c) != rows+1 {
				t.Fatalf("edge %v passes %v", e, c)
			}
			if b := l.boxes[c[len(c)-2]]; b.bend && b.w != e.label || !b.bend && e.label > 0 {
				t.Fatalf("edge %v has room of %v for its label", e, b.w)
			}
		}
	})
}

// The number of crossings equals a count over all pairs.
func TestCrossings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boxes, edges := graph(t)
		l := arrange(boxes, edges)
		want := 0
		for i, a := range l.links {
			for _, b := range l.links[:i] {
				if l.boxes[a.up].level != l.boxes[b.up].level {
					continue
				}
				up, down := l.boxes[a.up].column-l.boxes[b.up].column, l.boxes[a.down].column-l.boxes[b.down].column
				if up < 0 && down > 0 || up > 0 && down < 0 {
					want++
				}
			}
		}
		if got := l.crossings(); got != want {
			t.Fatalf("%d crossings, want %d", got, want)
		}
	})
}

// A graph with 1,000 nodes and long edges can be drawn.
func TestSVGOfALargeGraph(t *testing.T) {
	d := &plan.Description{Name: "large"}
	for level := range 50 {
		var row []plan.VertexDescription
		for i := range 20 {
			id := fmt.Sprintf("n%d_%d", level, i)
			row = append(row, plan.VertexDescription{ID: id, Shape: plan.Plain.String(), Nodes: []plan.NodeDescription{{ID: id, Kind: "fn"}}})
			if level > 0 {
				d.Edges = append(d.Edges, plan.EdgeDescription{From: fmt.Sprintf("n%d_%d", level-1, (i*7)%20), To: id})
			}
			if level > 9 {
				d.Edges = append(d.Edges, plan.EdgeDescription{From: fmt.Sprintf("n%d_%d", level-9, i), To: id, When: "$.x > 1"})
			}
		}
		d.Levels = append(d.Levels, row)
	}
	if err := wellFormed(SVG(d, Options{})); err != nil {
		t.Error(err)
	}
}

// The style has a colour for every status of a node.
func TestStatusesHaveColours(t *testing.T) {
	for _, status := range []string{"success", "partial_success", "fail", "skipped", "running"} {
		if !strings.Contains(svgStyle, "."+status+" ") {
			t.Errorf("%s has no colour", status)
		}
	}
}

// Renderers without support for CSS variables, such as the renderers of wikis and mail
// programs, use the plain colour that comes before each variable.
func TestColoursWithoutVariables(t *testing.T) {
	uses := regexp.MustCompile(`(fill|stroke): var\(`)
	plain := regexp.MustCompile(`(fill: #[0-9a-f]+; fill|stroke: #[0-9a-f]+; stroke): var\(`)
	style := plainFirst(svgStyle)
	if n := len(uses.FindAllString(svgStyle, -1)); n == 0 || len(plain.FindAllString(style, -1)) != n {
		t.Errorf("not all of %d uses have a colour before them:\n%s", n, style)
	}
	if !strings.Contains(style, "{ fill: #fff; fill: var(--page) }") || strings.Contains(style, "#14171d; fill") {
		t.Errorf("the colours are not those of a bright page:\n%s", style)
	}
}

// An edge is drawn as not taken if it does not accept the status of its source, or if its
// condition was false.
func TestDeadEdges(t *testing.T) {
	for _, tt := range []struct {
		on   string
		live string // statuses of the source with which the edge is taken
	}{
		{"", "success partial_success running"},
		{"fail", "fail running"},
		{"done", "success partial_success fail skipped running"},
	} {
		for _, status := range []string{"success", "partial_success", "fail", "skipped", "running", ""} {
			r := &Run{Marks: map[string]Mark{"a": {Status: status}}}
			e := plan.EdgeDescription{From: "a", To: "b", On: tt.on}
			want := status == "" || !slices.Contains(strings.Fields(tt.live), status)
			if got := r.notTaken(&e); got != want {
				t.Errorf("on %q after %q: dead %v, want %v", tt.on, status, got, want)
			}
			r.Evaluated = map[[2]string]bool{{"a", "b"}: false}
			if !r.notTaken(&e) {
				t.Errorf("on %q after %q: an edge with a false condition is taken", tt.on, status)
			}
			r.Evaluated = map[[2]string]bool{{"a", "b"}: true}
			if r.notTaken(&e) {
				t.Errorf("on %q after %q: an edge with a true condition is not taken", tt.on, status)
			}
		}
	}
}

// Text is at least as wide as it is in DejaVu Sans, which is wider than most fonts.
func TestTextWidth(t *testing.T) {
	for _, tt := range []struct {
		font  font
		text  string
		pixel float64
	}{
		{titleFont, "many", 40}, {titleFont, "WWWW", 57}, {titleFont, "iiii", 17.5}, {noteFont, "many", 30.9},
		{codeFont, "$.n > 10", 50}, {noteFont, "日本", 22}, {titleFont, "é", 8}, {titleFont, "e\u0301", 8},
	} {
		if got := tt.font.width(tt.text); got < tt.pixel || got > 1.5*tt.pixel {
			t.Errorf("%q is %.1f wide, want %.1f or a little more", tt.text, got, tt.pixel)
		}
	}
}
