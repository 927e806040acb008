package schedulertest

import (
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Choices are the results of a run that depend on timing: who won and who lost each race.
// With them the oracle computes the same result.
type Choices struct {
	// Won lists the nodes that joins took, by the path of the join.
	Won map[string][]string
	// Lost names the join that gave a node up, by the path of the node; both are paths.
	Lost map[string]string
	// Handled is a set of handled failures: the path of the node that failed, and the id of
	// the node whose edge handled the failure. The latter may have lost a race after that.
	Handled map[[2]string]bool
}

// ChoicesOf reads the choices of a run from its events.
func ChoicesOf(events []core.Event) Choices {
	c := Choices{Won: map[string][]string{}, Lost: map[string]string{}, Handled: map[[2]string]bool{}}
	for _, e := range events {
		switch {
		case e.Type == core.JoinDecided:
			c.Won[e.Node+e.Unit] = e.Nodes
		case e.Type == core.NodeSkipped && skipOf(e.Reason) == SkipLost:
			c.Lost[e.Node] = e.Cause
		case e.Type == core.NodeHandled && e.To != "":
			c.Handled[[2]string{e.Node + e.Unit, e.To}] = true
		}
	}
	return c
}

// void reports whether an execution belongs to a node that lost a race, or is inside such a
// node.
func (c Choices) void(e Execution) bool {
	for path := e.Node; path != ""; {
		if _, ok := c.Lost[path]; ok {
			return true
		}
		at := strings.LastIndexAny(path, "/[")
		if at < 0 {
			return false
		}
		path = path[:at]
	}
	return false
}

// RaceRun is OracleRun for a graph whose races have known results.
func RaceRun(g *Graph, c Choices) *Run {
	rec := &Recorder{}
	w, reg := g.Workflow(rec)
	o := newOracle(w, g.Values())
	o.reg, o.choices = reg, c
	o.runAll()
	out := o.outcome()
	behindCut := out.Void
	out.Void = func(e Execution) bool { return behindCut(e) || c.void(e) }
	return &Run{Outcome: out, Recorder: rec}
}
