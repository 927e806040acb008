package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// walkSummary prints the summary of a walk: the nodes in the order of their first visits,
// the path it took, and why it ended.
func (a *app) walkSummary(out io.Writer, p *plan.Plan, r *core.Report, f *runFlags) {
	colors := a.palette(out)
	visited, unvisited := inWalkOrder(p, r)
	columns, at := spentOn(r), standingOf(r)
	t := columns.table("node", "status", "visits", "attempts", "time", "why")
	t.Spare(4, 3)
	t.Below()
	for i := range visited[:min(len(visited), maxRows)] {
		n := &visited[i]
		t.Row(columns.row(n, n.ID, colors.Status(at.status(n)), countText(n.Visits), countText(n.Attempts), timeText(n.Duration), whyText(n))...)
	}
	a.printTable(out, t)
	if n := len(visited) - maxRows; n > 0 {
		tty.Fprintf(out, "… and %s\n", plural(n, "more node"))
	}
	if len(unvisited) > 0 {
		tty.Fprintf(out, "\nnever visited: %s\n", strings.Join(firstOf(unvisited, maxUnvisited), ", "))
	}
	tty.Fprintf(out, "\npath: %s\n", pathText(r.Path))
	f.changes.print(out)
	if f.ended != nil {
		tty.Fprintf(out, "%s\n", f.ended.text(p, r))
	}
	a.printState(out, p, withContext(r.State))
	tty.Fprintf(out, "\n%s: %s%s in %s%s%s\n", colors.Bold(r.Workflow), colors.Status(string(r.Status)), classText(r), explain.Duration(r.Duration), stagesText(r, visited), warnedText(r)+usageText(r))
}

// inWalkOrder returns the nodes by their first visit, and the names of the nodes that were
// never visited. Branches follow their parallel node, including branches that were skipped.
func inWalkOrder(p *plan.Plan, r *core.Report) (visited []core.NodeReport, unvisited []string) {
	known := map[string]*core.NodeReport{}
	nodes := r.Nodes()
	for i := range nodes {
		known[nodes[i].ID] = &nodes[i]
	}
	var add func(id string)
	add = func(id string) {
		n := known[id]
		if n == nil || n.Visits == 0 && n.Status != core.Skipped {
			return
		}
		known[id] = nil
		visited = append(visited, *n)
		if at, ok := p.Node(id); ok {
			for _, b := range p.Branches(at.Index) {
				add(p.Nodes[b].ID)
			}
		}
	}
	for _, id := range r.Path {
		add(id)
	}
	called := map[string]bool{} // sub-agents are called and not visited
	for i := range p.Edges {
		if e := &p.Edges[i]; e.Delegates {
			called[p.Nodes[e.ToNode].ID] = true
		}
	}
	for i := range nodes {
		if nodes[i].Visits == 0 && nodes[i].Status != core.Skipped && !called[nodes[i].ID] {
			unvisited = append(unvisited, nodes[i].ID)
		}
	}
	return visited, unvisited
}

// withContext returns the state with each value of the context as a field of its own,
// except the counters of the engine.
func withContext(state *value.Object) *value.Object {
	out := &value.Object{}
	for name, v := range state.All() {
		context, ok := v.(*value.Object)
		if name != core.ContextField || !ok {
			out.Set(name, v)
			continue
		}
		for key, v := range context.All() {
			if key != core.ContextVisitCount && (key != core.ContextFailureClass || v != "") {
				out.Set(name+"."+key, v)
			}
		}
	}
	return out
}

// Limits of a summary: nodes that were never visited, and the first and last visits of a
// long path.
const (
	maxUnvisited = 12
	maxPath      = 20
	pathEnd      = 8
)

func firstOf(list []string, limit int) []string {
	if len(list) <= limit {
		return list
	}
	return append(slices.Clone(list[:limit]), fmt.Sprintf("and %d more", len(list)-limit))
}

// pathText formats the path of a walk; the middle of a long path is omitted.
func pathText(path []string) string {
	const arrow = " -> "
	if len(path) <= maxPath {
		return strings.Join(path, arrow)
	}
	return strings.Join(path[:pathEnd], arrow) + arrow + "… " + strconv.Itoa(len(path)-2*pathEnd) + " more …" + arrow + strings.Join(path[len(path)-pathEnd:], arrow)
}

// classText returns the class of the failure that ended a walk, in brackets: " (no_route)".
func classText(r *core.Report) string {
	if c := failureClass(r); c != "" {
		return " (" + c + ")"
	}
	return ""
}

// failureClass returns the class of the failure that ended a run, "" if none did.
func failureClass(r *core.Report) string {
	if e, ok := errors.AsType[*core.NodeError](r.Err); ok && r.Status == core.RunFailed {
		return e.Failure.Class
	}
	return ""
}

// stagesText counts the stages of a successful walk that had another status than success.
// Branches that were cancelled did not fail.
func stagesText(r *core.Report, visited []core.NodeReport) string {
	if r.Status != core.RunSuccess {
		return ""
	}
	failed, partial := 0, 0
	for i := range visited {
		switch n := &visited[i]; {
		case n.Status == core.PartialSuccess:
			partial++
		case n.Status == core.Fail && n.Failure.Class != core.ClassCanceled:
			failed++
		}
	}
	text := ""
	if failed > 0 {
		text += "; " + plural(failed, "stage") + " failed"
	}
	if partial > 0 {
		text += "; " + plural(partial, "stage") + " succeeded in part"
	}
	return text
}
