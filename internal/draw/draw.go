// Package draw draws plans: as a Mermaid flowchart, a Graphviz graph, a text tree by
// levels, or an SVG file that needs no other program. Plain nodes, fan-outs, pipelines,
// loops, nested workflows and conditions each look different.
package draw

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/internal/printable"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Formats lists the formats.
var Formats = []Format{
	{"mermaid", Mermaid, true, false},
	{"dot", DOT, true, true},
	{"text", Text, false, false},
	{"svg", SVG, false, false},
}

// Format is a drawing format.
type Format struct {
	Name string
	Draw func(d *plan.Description, o Options) string
	// HasDirection reports whether the format supports Options.Direction, and HasPositions whether it
	// supports Options.Positions.
	HasDirection, HasPositions bool
}

// Options configure a drawing. The zero value draws a plan from top to bottom.
type Options struct {
	// Run, if not nil, is a run whose results colour the drawing.
	Run *Run
	// Direction is Directions[0], from top to bottom, or Directions[1], from left to right.
	// "" means Directions[0].
	Direction string
	// Title replaces the name of the workflow.
	Title string
	// Positions draws the nodes of a flow where its document does. Only DOT can.
	Positions bool
}

// Directions lists the values of Options.Direction: top to bottom, and left to right.
var Directions = []string{"TB", "LR"}

// title returns the heading of a drawing: Options.Title or the name of the workflow, and
// the status of the run.
func (o *Options) title(d *plan.Description) string {
	title := cmp.Or(o.Title, d.Name)
	if o.Run != nil && o.Run.Title != "" {
		title += ", " + o.Run.Title
	}
	return title
}

// ByName returns the format with the given name.
func ByName(name string) (Format, bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// safe makes a string of a document safe for a drawing: drawings are also printed on
// terminals, and no format supports control characters.
func safe(s string) string { return printable.Line(s) }

// edgeLabel returns the label of an edge: its own label, followed by its condition, as in
// "on fail and $.n > 3".
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
	if priority := priorityText(e); priority != "" {
		text = strings.TrimSpace(text + " " + priority)
	}
	if e.LoopRestart {
		text = strings.TrimSpace(text + " (starts again)")
	}
	return text
}

// runsText describes how often a vertex runs: "once", "for each of $.rows, 4 at a time".
func runsText(v *plan.VertexDescription) string {
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

// kindText returns the kind of a node, or the workflow it runs, its join if that is not the
// default, and its pause if it has one.
func kindText(n *plan.NodeDescription) string {
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
	if n.Pause != "" {
		text = strings.TrimPrefix(text+", pause "+n.Pause, ", ")
	}
	return text
}

func isUnit(v *plan.VertexDescription) bool {
	return v.Shape == plan.Pipeline.String() || v.Shape == plan.Loop.String()
}
