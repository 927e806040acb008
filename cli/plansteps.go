package cli

import (
	"fmt"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// printStepWalk prints the plan of a walk by steps: for each node, what may lead on from it, in the order
// in which it is tried, and the limits.
func (a *app) printStepWalk(d *plan.Description) {
	w := d.Routing
	tty.Fprintf(a.Out, "%s: a walk by steps of %s and %s, from %s\n\n", a.palette(a.Out).Bold(d.Name), plural(len(w.Nodes), "node"), plural(len(d.Edges), "edge"), w.Start)
	known := map[string]*plan.NodeDescription{}
	for _, n := range graphNodes(d) {
		known[n.ID] = n
	}
	t := tty.NewTable([]string{"node", "kind", "visits", "to", "when"}, 2)
	t.Spare(1, 0)
	for _, n := range walkOrder(d) {
		first := []any{n.ID, kindText(known[n.ID]), limitText(n.Steps.Budget)}
		row := func(to, when string) {
			t.Row(append(first, endName(to), when)...)
			first = []any{"", "", ""}
		}
		for _, to := range n.Steps.Next {
			row(to, "its result names it")
		}
		for _, i := range n.Steps.Edges {
			row(d.Edges[i].To, stepEdgeText(&d.Edges[i]))
		}
		for _, tr := range n.Steps.Transitions {
			row(tr.To, "output."+tr.Key+" is set (transition)")
		}
		if n.Steps.Default != "" {
			row(n.Steps.Default, "otherwise (default_next)")
		}
		if n.Steps.Exit != "" {
			row(n.Steps.Exit, "its visits are used up")
		}
		if first[0] != "" {
			row("", "the walk ends here, unless an output or code names a node")
		}
	}
	a.printTable(a.Out, t)
	a.printAttempts(graphNodes(d), true)
	a.printCaches(graphNodes(d))
	a.printEnvironments(graphNodes(d))
	tty.Fprintf(a.Out, "\n")
	if w.MaxSteps > 0 {
		tty.Fprintf(a.Out, "A run makes at most %s.\n", plural(w.MaxSteps, "visit"))
	}
	for _, n := range w.Nodes {
		if n.Steps.Critical {
			tty.Fprintf(a.Out, "A failure of %s ends the run at once.\n", n.ID)
		}
	}
	if w.MaxMutations > 0 {
		tty.Fprintf(a.Out, "A run may change its graph at most %s.\n", plural(w.MaxMutations, "time"))
	} else {
		tty.Fprintf(a.Out, "A run cannot change its graph.\n")
	}
}

// stepEdgeText describes when a walk by steps follows an edge.
func stepEdgeText(e *plan.EdgeDescription) string {
	text := e.When
	if text == "" {
		text = "always"
	}
	if e.Label != "" {
		text += fmt.Sprintf("; %q", e.Label)
	}
	if e.Priority != 0 {
		text += fmt.Sprintf("; priority %d", e.Priority)
	}
	return text
}

// endName returns the name of a target, core.End for the end.
func endName(to string) string {
	if to == core.EndNode {
		return core.End
	}
	return to
}
