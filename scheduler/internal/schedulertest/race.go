package schedulertest

import (
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Choices are what time has decided in a run: who won the races, and who lost. With
// them the oracle comes to the same result.
type Choices struct {
	// Won are the nodes that joins took, by the path of the join.
	Won map[string][]string
	// Lost tells which join gave a node up, both by their paths.
	Lost map[string]string
	// Handled tells of failures that an edge to a node took up, by the path of the node
	// that failed and the id of the other one. It may have lost a race after that.
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

// void reports whether an execution is one of a node that lost, or inside of one.
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

// RaceRun is OracleRun for a graph with races of which the outcome is known.
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
