package cli

import (
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// printFidelity lists what the prompts of nodes that call models include about earlier nodes.
func (a *app) printFidelity(d *plan.Description) {
	t := tty.NewTable([]string{"node", "is told before its prompt"})
	t.Spare(1)
	rows, stages := 0, false
	for _, n := range walkOrder(d) {
		if n.Told == nil {
			continue
		}
		t.Row(n.ID, n.Told.Fidelity+": "+fidelityText(n.Told, n.Told.Fidelity))
		for _, e := range n.Told.Edges {
			t.Row("", "from "+e.From+" "+e.Fidelity+": "+fidelityText(n.Told, e.Fidelity))
		}
		rows++
		stages = stages || len(n.Told.Stages) > 0
	}
	if rows == 0 {
		return
	}
	tty.Fprintf(a.Out, "\n")
	a.printTable(a.Out, t)
	if stages {
		tty.Fprintf(a.Out, "\nOf a stage that is its status, its note and the last 2,000 characters of its output, if it has finished.\n")
	}
}

// fidelityText describes what a fidelity includes.
func fidelityText(t *plan.ToldDescription, fidelity string) string {
	switch fidelity {
	case core.FidelityTruncate:
		return "the goal and the id of the run"
	case core.FidelityNone:
		return "nothing"
	}
	if len(t.Stages) == 0 {
		return "the goal and the context"
	}
	s := "the goal, the context and the stages " + strings.Join(t.Stages, ", ")
	if t.More {
		s += " and more"
	}
	return s
}
