package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// whyNot explains why a walk never visited a node: for the nearest nodes that it did visit,
// it shows where the walk went instead.
func (a *app) whyNot(s *explain.Run, node string, file []string) error {
	lines := append(gateJumps(s, node), queuedTokens(s, node)...)
	if len(lines) == 0 {
		p, ds := check(a.lenient(), file, false)
		if p == nil {
			return a.invalid(ds, false)
		}
		d := p.Describe()
		switch _, ok := p.Node(node); {
		case !ok:
			return fail(exitUsage, "%s has no node %q%s", d.Name, node, hintFor(node, nodeIDs(d)))
		case !d.Mode.Visits:
			return fail(exitUsage, "node %q is not in the events: it was never reached", node)
		}
		if lines = untakenEdges(d, s, node); len(lines) == 0 {
			lines = []string{"no edge leads to it from a node that was visited"}
		}
	}
	tty.Fprintf(a.Out, "%s\n", a.palette(a.Out).Bold(node+" was never visited"))
	if s.Status == "" {
		tty.Fprintf(a.Out, "  the log stops before the end of the run\n")
	}
	for _, line := range lines {
		tty.Fprintf(a.Out, "  %s\n", line)
	}
	a.ownError(s, nil)
	return nil
}

// queuedTokens describes the tokens of a flow that have moved to a node that did not begin.
func queuedTokens(s *explain.Run, node string) []string {
	var lines []string
	for _, w := range s.Arrived(node) {
		lines = append(lines, fmt.Sprintf("a token came from %s and was queued: %s", w.From, w.Why()))
	}
	return firstOf(lines, maxAlternatives)
}

// gateJumps describes how often goal gates sent a walk back from its exit.
func gateJumps(s *explain.Run, node string) []string {
	var lines []string
	counts := map[string]int{}
	for _, w := range s.Steps {
		if w.From == node && w.Rule == core.StepGoalGate {
			line := fmt.Sprintf("the walk had reached it and went back to %s: %s", w.To, w.Why())
			if counts[line]++; counts[line] == 1 {
				lines = append(lines, line)
			}
		}
	}
	for i, line := range lines {
		if n := counts[line]; n > 1 {
			lines[i] = fmt.Sprintf("%s (%d times)", line, n)
		}
	}
	return lines
}

func nodeIDs(d *plan.Description) []string {
	var ids []string
	for _, n := range graphNodes(d) {
		ids = append(ids, n.ID)
	}
	return ids
}

// untakenEdges describes the edges nearest to a node that a walk could have taken towards it
// and did not.
func untakenEdges(d *plan.Description, s *explain.Run, node string) []string {
	into := map[string][]*plan.EdgeDescription{}
	for i := range d.Edges {
		into[d.Edges[i].To] = append(into[d.Edges[i].To], &d.Edges[i])
	}
	var lines []string
	seen := map[string]bool{node: true}
	for targets := []string{node}; len(targets) > 0 && len(lines) == 0; {
		var further []string
		for _, to := range targets {
			for _, e := range into[to] {
				if e.Delegates {
					lines = append(lines, fmt.Sprintf("%s is a sub-agent of %s, whose model may call it: such calls are in the log of the agents above it", to, e.From))
				} else if _, visited := s.Account(e.From); visited {
					lines = append(lines, alternatives(s, e)...)
				} else if !seen[e.From] {
					seen[e.From] = true
					further = append(further, e.From)
				}
			}
		}
		targets = further
	}
	return lines
}

// maxAlternatives is the maximum number of choices at one node that are listed.
const maxAlternatives = 5

// alternatives describes where a walk went from a node instead of taking an edge out of it.
func alternatives(s *explain.Run, e *plan.EdgeDescription) []string {
	head := fmt.Sprintf("the edge %s -> %s was not taken", e.From, e.To)
	if when := walkEdgeText(e); when != "" {
		head += fmt.Sprintf(" (%s)", when)
	}
	var went []string
	for _, w := range s.Steps {
		if w.From != e.From {
			continue
		}
		line := fmt.Sprintf("  %s went to %s: %s", w.From, w.To, w.Why())
		if w.Ended != "" && !strings.Contains(line, "outcome") {
			line += fmt.Sprintf("; %s had ended %s", w.From, w.Ended)
		}
		if !slices.Contains(went, line) {
			went = append(went, line)
		}
	}
	if len(went) == 0 {
		line := fmt.Sprintf("  the walk did not continue from %s", e.From)
		if a, ok := s.Account(e.From); ok && a.Status == core.Fail.String() {
			line += ", which failed: " + s.Brief(a)
		}
		return []string{head, line}
	}
	if n := len(went) - maxAlternatives; n > 0 {
		went = append(went[:maxAlternatives], fmt.Sprintf("  … and %d more", n))
	}
	return append([]string{head}, went...)
}
