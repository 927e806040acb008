package cli

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// printEnvironments lists the environment variables that programs get, for nodes that do
// not inherit the environment.
func (a *app) printEnvironments(nodes []*plan.NodeDescription) {
	t := tty.NewTable([]string{"node", "program", "environment"})
	t.Spare(2)
	rows := 0
	for _, n := range nodes {
		for _, e := range n.Environments {
			t.Row(n.ID, e.Program, strings.Join(append(slices.Clone(e.Inherits), e.Sets...), ", "))
			rows++
		}
	}
	if rows > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printTable(a.Out, t)
	}
}
