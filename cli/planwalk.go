package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// printWalk prints the plan of a walk: the edges out of each node, and the limits.
func (a *app) printWalk(d *plan.Description) {
	if d.Routing.Router == core.RouterSteps {
		a.printStepWalk(d)
		return
	}
	if d.Routing.Router != "" {
		a.printRouted(d)
		return
	}
	w, out := d.Routing, map[string][]*plan.EdgeDescription{}
	for i := range d.Edges {
		out[d.Edges[i].From] = append(out[d.Edges[i].From], &d.Edges[i])
	}
	limit := ""
	if d.MaxInFlight > 0 {
		limit = fmt.Sprintf("; max_in_flight %d", d.MaxInFlight)
	}
	for _, nested := range nestedText(d) {
		limit += "; " + nested
	}
	tty.Fprintf(a.Out, "%s: a walk of %s and %s, from %s to %s%s\n\n", a.palette(a.Out).Bold(d.Name), plural(len(w.Nodes), "node"),
		plural(len(d.Edges), "edge"), w.Start, w.Exit, limit)
	known := map[string]*plan.NodeDescription{}
	for _, n := range graphNodes(d) {
		known[n.ID] = n
	}
	common := commonTargets(w)
	t := tty.NewTable([]string{"node", "kind", "to", "when"})
	t.Spare(1, 0)
	for _, n := range walkOrder(d) {
		name, kind := n.ID, kindText(known[n.ID])
		row := func(to, when string) {
			t.Row(name, kind, to, when)
			name, kind = "", ""
		}
		for _, e := range out[n.ID] {
			row(e.To, walkEdgeText(e))
		}
		if p := n.Parallel; p != nil && p.Meet != "" {
			row(p.Meet, "where the branches meet, "+joinPolicyText(p))
		}
		if common == nil && mayNeedTarget(n, out[n.ID]) {
			row(strings.Join(n.Targets, ", "), targetText(n))
		}
		if name != "" {
			row("", "")
		}
	}
	a.printTable(a.Out, t)
	a.printSettings(d)
	a.printFidelity(d)
	a.printAttempts(graphNodes(d), false)
	a.printCaches(graphNodes(d))
	a.printEnvironments(graphNodes(d))
	tty.Fprintf(a.Out, "\n")
	for _, line := range walkLimits(w, common) {
		tty.Fprintf(a.Out, "%s\n", line)
	}
}

// printVisits prints the plan of a mode that visits nodes and is not a walk: the edges out
// of each node.
func (a *app) printVisits(d *plan.Description) {
	from := ""
	if d.Mode.Start != "" {
		from = ", from " + d.Mode.Start
	}
	tty.Fprintf(a.Out, "%s: a %s of %s and %s%s; %s\n\n", a.palette(a.Out).Bold(d.Name), d.Mode.Graph, plural(len(graphNodes(d)), "node"),
		plural(len(d.Edges), "edge"), from, limits(d))
	t := tty.NewTable([]string{"node", "kind", "to", "when"})
	t.Spare(1, 0)
	for _, n := range graphNodes(d) {
		name, kind := n.ID, kindText(n)
		for i := range d.Edges {
			if e := &d.Edges[i]; e.From == n.ID {
				t.Row(name, kind, e.To, walkEdgeText(e))
				name, kind = "", ""
			}
		}
		if name != "" {
			t.Row(name, kind, "", "")
		}
	}
	a.printTable(a.Out, t)
	a.printAttempts(graphNodes(d), false)
	a.printCaches(graphNodes(d))
	a.printEnvironments(graphNodes(d))
}

// walkOrder returns the nodes of a walk by their distance from its start, with the exit
// last.
func walkOrder(d *plan.Description) []*plan.WalkNodeDescription {
	exit, known := d.Routing.Exit, map[string]*plan.WalkNodeDescription{}
	for i := range d.Routing.Nodes {
		known[d.Routing.Nodes[i].ID] = &d.Routing.Nodes[i]
	}
	var list []*plan.WalkNodeDescription
	for _, n := range graphNodes(d) {
		if n.ID != exit {
			list = append(list, known[n.ID])
		}
	}
	if exit != "" {
		list = append(list, known[exit])
	}
	return list
}

// walkEdgeText describes when a walk takes an edge.
func walkEdgeText(e *plan.EdgeDescription) string {
	var parts []string
	switch {
	case e.Branch:
		parts = append(parts, "a branch")
	case e.When != "":
		parts = append(parts, e.When)
	}
	if e.MaxIterations > 0 {
		parts = append(parts, "at most "+plural(e.MaxIterations, "time"))
	}
	switch {
	case e.Freeform:
		parts = append(parts, "any other answer")
	case e.Label != "":
		parts = append(parts, strconv.Quote(e.Label))
	}
	if e.Weight != 0 {
		parts = append(parts, "weight "+strconv.Itoa(e.Weight))
	}
	if e.LoopRestart {
		parts = append(parts, "starts again (loop_restart)")
	}
	return strings.Join(parts, "; ")
}

// joinPolicyText describes the condition under which a parallel node succeeds.
func joinPolicyText(p *plan.ParallelDescription) string {
	s := p.Join
	if p.Join != core.JoinWaitAll {
		s += fmt.Sprintf(" = %d of %d", p.Need, len(p.Branches))
	}
	s += fmt.Sprintf(", %d at a time", p.MaxParallel)
	if p.FailFast {
		s += ", fail_fast"
	}
	if p.Ignore {
		s += ", failures ignored"
	}
	return s
}

// mayNeedTarget reports whether a node can send the walk to its retry targets.
func mayNeedTarget(n *plan.WalkNodeDescription, out []*plan.EdgeDescription) bool {
	if len(n.Targets) == 0 {
		return false
	}
	return n.GoalGate || n.Role == core.RoleHuman.String() || n.Parallel != nil ||
		!slices.ContainsFunc(out, func(e *plan.EdgeDescription) bool { return e.When == "" })
}

func targetText(n *plan.WalkNodeDescription) string {
	if n.GoalGate {
		return "retry target: it failed and no edge fits, or its goal gate is not satisfied"
	}
	return "retry target: it failed and no edge fits"
}

// commonTargets returns the targets that all nodes share, nil if they differ.
func commonTargets(w *plan.WalkDescription) []string {
	var common []string
	for i := range w.Nodes {
		switch n := &w.Nodes[i]; {
		case n.Role == core.RoleStart.String(), n.Role == core.RoleExit.String(), n.Role == core.RoleConditional.String():
		case common == nil:
			common = n.Targets
		case !slices.Equal(common, n.Targets):
			return nil
		}
	}
	return common
}

// printSettings lists the settings of nodes other than their edges.
func (a *app) printSettings(d *plan.Description) {
	t := tty.NewTable([]string{"node", "settings"})
	t.Spare(1)
	rows, visits := 0, commonVisits(d.Routing)
	for _, n := range walkOrder(d) {
		var parts []string
		if n.Label != "" && n.Label != n.ID {
			parts = append(parts, strconv.Quote(n.Label))
		}
		if n.GoalGate {
			parts = append(parts, "goal gate")
		}
		if n.MaxVisits > 0 && n.MaxVisits != visits {
			parts = append(parts, "at most "+plural(n.MaxVisits, "visit"))
		}
		if n.Random {
			parts = append(parts, "draws its edge by weight")
		}
		if len(parts) > 0 {
			t.Row(n.ID, strings.Join(parts, ", "))
			rows++
		}
	}
	if rows > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printTable(a.Out, t)
	}
}

// commonVisits returns the limit of visits that the graph sets, which applies to its start
// node unless that sets its own; 0 if there is none.
func commonVisits(w *plan.WalkDescription) int {
	at := slices.IndexFunc(w.Nodes, func(n plan.WalkNodeDescription) bool { return n.ID == w.Start })
	return w.Nodes[at].MaxVisits
}

// walkLimits describes the limits that end a walk that does not reach its exit.
func walkLimits(w *plan.WalkDescription, common []string) []string {
	var lines []string
	if len(common) > 0 {
		lines = append(lines, "After a failure that no edge handles, the walk continues at "+strings.Join(common, ", ")+".")
	}
	if n := commonVisits(w); n > 0 {
		lines = append(lines, fmt.Sprintf("A node is visited at most %s, if it says nothing else.", plural(n, "time")))
	}
	if slices.ContainsFunc(w.Nodes, func(n plan.WalkNodeDescription) bool { return n.GoalGate }) {
		lines = append(lines, fmt.Sprintf("A goal gate that is not satisfied sends the walk back at most %s.", plural(w.MaxJumps, "time")))
	}
	last := "It fails"
	if w.RepeatLimit > 0 {
		last += fmt.Sprintf(" when the same failure has come %s", plural(w.RepeatLimit, "time"))
	}
	if w.StallTimeout > 0 {
		if w.RepeatLimit > 0 {
			last += ", or"
		}
		last += fmt.Sprintf(" after %s without a sign of life", explain.Duration(w.StallTimeout))
	}
	if last != "It fails" {
		lines = append(lines, last+".")
	}
	return lines
}
