// Package draw shows a plan as a picture: a Mermaid flowchart, a Graphviz graph,
// a tree of text by levels, or an SVG file that needs no other program. Plain nodes, fan-outs, pipelines, loops, nested
// workflows and conditions each look different.
package draw

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/internal/printable"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Formats are the drawings by name.
var Formats = []Format{
	{"mermaid", Mermaid, true},
	{"dot", DOT, true},
	{"text", Text, false},
	{"svg", SVG, false},
}

// Format is a way to draw a plan.
type Format struct {
	Name string
	Draw func(d *plan.Description, o Options) string
	// Turns tells that it knows Options.Direction.
	Turns bool
}

// Options say how to draw. The zero value draws a plan from top to bottom.
type Options struct {
	// Run, when it is not nil, is what happened in a run, which colours the drawing.
	Run *Run
	// Direction is "" or Directions[0], from top to bottom, or Directions[1], from left to
	// right.
	Direction string
	// Title stands in place of the name of the workflow.
	Title string
}

// Directions are from top to bottom, and from left to right.
var Directions = []string{"TB", "LR"}

// title is the heading of a drawing: what was asked for or the name, and how the run ended.
func (o *Options) title(d *plan.Description) string {
	title := cmp.Or(o.Title, d.Name)
	if o.Run != nil && o.Run.Title != "" {
		title += ", " + o.Run.Title
	}
	return title
}

// ByName returns the format of that name.
func ByName(name string) (Format, bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// safe makes a text of a document fit for a drawing: drawings are printed on
// terminals too, and none of the formats knows control characters.
func safe(s string) string { return printable.Line(s) }

// edgeLabel is what stands on an edge: "on fail and $.n > 3"; its label first, and then
// the condition.
func edgeLabel(e *plan.EdgeDescription) string {
	var parts []string
	if e.On != "" {
		on := "on " + e.On
		if e.Handles {
			on += " (handles)"
		}
		parts = append(parts, on)
	}
	switch {
	case e.Else:
		parts = append(parts, "else")
	case e.When != "":
		parts = append(parts, e.When)
	}
	text := strings.Join(parts, " and ")
	switch {
	case e.Label != "" && text != "":
		text = e.Label + ": " + text
	case e.Label != "":
		text = e.Label
	case e.Freeform:
		text = "any other answer"
	}
	if n := e.MaxIterations; n > 0 {
		text = strings.TrimSpace(text + " (at most " + plural(n, "time") + ")")
	}
	if e.LoopRestart {
		text = strings.TrimSpace(text + " (starts again)")
	}
	return text
}

// runs says how often a vertex runs: "once", "for each of $.rows, 4 at a time".
func runs(v *plan.VertexDescription) string {
	switch v.Shape {
	case plan.FanOut.String():
		return "for each of " + v.Source + atATime(v.Concurrency)
	case plan.Pipeline.String():
		return "each row of " + v.Source + atATime(v.Concurrency)
	case plan.Loop.String():
		s := fmt.Sprintf("at most %d rounds", v.MaxIters)
		if v.MaxIters == 1 {
			s = "one round"
		}
		if v.Until != "" {
			s += ", until " + v.Until
		}
		return s
	}
	return "once"
}

func atATime(n int) string {
	if n > 1 {
		return ", " + strconv.Itoa(n) + " at a time"
	}
	return ""
}

// about names the kind of a node, or the workflow it runs, and how it is joined if it
// does not need all of its predecessors.
func about(n *plan.NodeDescription) string {
	text := n.Kind
	if n.Inner != nil {
		text = "workflow " + n.Inner.Name
	}
	if n.Kind == n.ID { // such as the start
		text = ""
	}
	if n.Join != "" {
		text = strings.TrimPrefix(text+", join: "+n.Join, ", ")
	}
	return text
}

func isUnit(v *plan.VertexDescription) bool {
	return v.Shape == plan.Pipeline.String() || v.Shape == plan.Loop.String()
}
