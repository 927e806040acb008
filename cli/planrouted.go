package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// printRouted prints the plan of a walk that a model routes: the edges out of each node,
// the decisions that a model makes, and the limits.
func (a *app) printRouted(d *plan.Description) {
	w, out := d.Routing, map[string][]*plan.EdgeDescription{}
	for i := range d.Edges {
		out[d.Edges[i].From] = append(out[d.Edges[i].From], &d.Edges[i])
	}
	tty.Fprintf(a.Out, "%s: a walk of %s and %s that a model routes, from %s\n\n", a.palette(a.Out).Bold(d.Name),
		plural(len(w.Nodes), "node"), plural(len(d.Edges), "edge"), w.Start)
	known := map[string]*plan.NodeDescription{}
	for _, n := range graphNodes(d) {
		known[n.ID] = n
	}
	t := tty.NewTable([]string{"node", "kind", "visits", "model calls", "to", "when"}, 2, 3)
	t.Spare(2, 1, 3)
	for _, n := range walkOrder(d) {
		first := []any{n.ID, kindText(known[n.ID]), limitText(n.Visits), limitText(n.Decisions)}
		edges := out[n.ID]
		if len(edges) == 0 {
			t.Row(append(first, "", "the walk ends here")...)
		}
		for _, e := range edges {
			t.Row(append(first, e.To, choiceText(e, len(edges)))...)
			first = []any{"", "", "", ""}
		}
		if text := endText(edges); text != "" {
			t.Row(append(first, core.End, text)...)
		}
	}
	a.printTable(a.Out, t)
	a.printAttempts(graphNodes(d), true)
	a.printCaches(graphNodes(d))
	a.printEnvironments(graphNodes(d))
	tty.Fprintf(a.Out, "\n")
	for _, line := range routedLimits(w) {
		tty.Fprintf(a.Out, "%s\n", line)
	}
}

// limitText formats an upper limit; it returns "" for 0, no limit.
func limitText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("≤ %d", n)
}

// choiceText describes when a walk that a model routes takes an edge; edges is the number
// of edges out of its node.
func choiceText(e *plan.EdgeDescription, edges int) string {
	text := e.When
	switch {
	case text != "":
	case edges == 1:
		text = "always"
	default:
		text = "none of the others fits, or they are used up"
	}
	if n := e.MaxIterations; n > 0 {
		text += ", at most " + plural(n, "time")
	}
	return text
}

// endText describes when a walk ends at a node that has edges, "" if it never does.
func endText(edges []*plan.EdgeDescription) string {
	plain := func(e *plan.EdgeDescription) bool { return e.When == "" }
	free := func(e *plan.EdgeDescription) bool { return e.MaxIterations == 0 }
	switch {
	case len(edges) == 0, slices.ContainsFunc(edges, func(e *plan.EdgeDescription) bool { return plain(e) && free(e) }):
		return ""
	case !slices.ContainsFunc(edges, func(e *plan.EdgeDescription) bool { return !plain(e) }):
		return "used up"
	case !slices.ContainsFunc(edges, plain) && slices.ContainsFunc(edges, free):
		return "no condition fits"
	}
	return "no condition fits, or all are used up"
}

// routedLimits describes the maximum number of model calls, and the other limits of the
// walk.
func routedLimits(w *plan.WalkDescription) []string {
	var deciding, runs []string
	free, visits := 0, 0 // free counts nodes after which no model is called
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if n.Decisions > 0 {
			deciding = append(deciding, fmt.Sprintf("%s (%d)", n.ID, n.Decisions))
		} else {
			free++
		}
		if n.Models {
			runs, visits = append(runs, n.ID), visits+n.Visits
		}
	}
	if w.MaxSteps > 0 {
		visits = min(visits, w.MaxSteps)
	}
	lines := []string{"No model is needed to find the way."}
	if len(deciding) > 0 {
		model := ""
		if w.Model != "" {
			model = ", " + w.Model + ","
		}
		lines[0] = fmt.Sprintf("To find the way a model%s is asked at most %s: after %s.", model, plural(w.Calls, "time"), strings.Join(firstOf(deciding, maxUnvisited), ", "))
		if free > 0 {
			lines = append(lines, fmt.Sprintf("After the other %s it is clear what comes next.", plural(free, "node")))
		}
	}
	if len(runs) > 0 {
		lines = append(lines, fmt.Sprintf("Nodes that run a model themselves: %s; at most %s together, in which each attempt and each turn of a conversation is a call.",
			strings.Join(firstOf(runs, maxUnvisited), ", "), plural(visits, "visit")))
	}
	if w.MaxSteps > 0 {
		lines = append(lines, fmt.Sprintf("A run that makes more than %s fails.", plural(w.MaxSteps, "visit")))
	}
	return lines
}
