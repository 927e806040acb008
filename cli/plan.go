package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func (a *app) planCommand() *cobra.Command {
	var strict, asJSON bool
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [FILE]",
		Short: "Show the levels of a workflow and what each node waits for",
		Long: `plan shows what run would do, without running anything: the levels, the
predecessors of each node, and the fields it waits for without an edge. Nodes of
one level may run at the same time. A node starts as soon as everything it waits
for is available; it does not wait for the rest of an earlier level.

For nodes with a cache, plan says which results the store of runs has for the given
inputs, and how old they are. What depends on nodes that run is not known before.

For a walk (.dot, .fabro) plan shows where each node may lead and what limits it.
Files, programs and Go functions may be missing: only a run needs them.`,
		Example:           examples("wavefold plan flow.yaml", "wavefold plan --json flow.yaml | jq .width", "wavefold plan -i words='[\"red\"]' score.yaml"),
		Args:              atMost(1, oneWorkflow),
		ValidArgsFunction: workflowFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.load(a.lenient(), args, strict, asJSON, false)
			if err != nil {
				return err
			}
			d := p.Describe()
			if err := a.forecastCache(cmd.Context(), p, d, args, &f); err != nil {
				return err
			}
			return a.printDescription(p, d, asJSON)
		},
	}
	a.parallelFlag(cmd)
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the plan as JSON")
	a.storeFlag(cmd.Flags(), &f.store)
	cmd.Flags().StringVar(&f.model, "model", "", "the model of nodes that name none, as for run")
	cmd.Flags().StringArrayVarP(&f.inputs, "input", "i", nil, "`NAME=VALUE` of an input, as for run: results of earlier runs are looked up for it; may be repeated")
	cmd.Flags().StringArrayVar(&f.files, "inputs", nil, "JSON or YAML `FILE` with inputs, as for run; may be repeated")
	return cmd
}

// maxNestedJSON limits the number of nested runs that JSON describes one by one. A plan with
// more describes each nested workflow once.
const maxNestedJSON = 1000

func (a *app) printPlan(p *plan.Plan, asJSON bool) error {
	return a.printDescription(p, p.Describe(), asJSON)
}

func (a *app) printDescription(p *plan.Plan, d *plan.Description, asJSON bool) error {
	if asJSON {
		if d.Nested > maxNestedJSON {
			d.Once()
		}
		return a.writeJSON(d)
	}
	switch {
	case d.Routing != nil:
		a.printWalk(d)
		return nil
	case d.Mode.Visits:
		a.printVisits(d)
		return nil
	}
	palette := a.palette(a.Out)
	nodes := len(p.Nodes)
	tty.Fprintf(a.Out, "%s: %s in %s, up to %d at the same time; %s\n\n", palette.Bold(d.Name), plural(nodes, "node"),
		plural(len(d.Levels), "level"), d.Width, limits(d))
	after := map[string][]string{}
	implied := []*plan.EdgeDescription{}
	for i := range d.Edges {
		e := &d.Edges[i]
		after[e.To] = append(after[e.To], edgeText(e))
		if e.Implied {
			implied = append(implied, e)
		}
	}
	t := tty.NewTable([]string{"level", "node", "kind", "runs", "after", "waits for"}, 0)
	t.Spare(2, 3)
	for level, vertices := range d.Levels {
		for i := range vertices {
			planRows(t, level, &vertices[i], after)
		}
	}
	a.printTable(a.Out, t)
	if len(implied) > 0 {
		tty.Fprintf(a.Out, "\nedges implied by the types of fields:\n")
		for _, e := range implied {
			tty.Fprintf(a.Out, "  %s -> %s\n", e.From, e.To)
		}
	}
	a.printAttempts(graphNodes(d), false)
	a.printCaches(graphNodes(d))
	a.printEnvironments(graphNodes(d))
	if d.Partial {
		a.hintf("the graph is too large to find every field that holds a node back")
	}
	return nil
}

func graphNodes(d *plan.Description) []*plan.NodeDescription {
	var list []*plan.NodeDescription
	for _, vertices := range d.Levels {
		for i := range vertices {
			for j := range vertices[i].Nodes {
				list = append(list, &vertices[i].Nodes[j])
			}
		}
	}
	return list
}

// printCaches lists the nodes whose results are kept for later runs.
func (a *app) printCaches(nodes []*plan.NodeDescription) {
	t := tty.NewTable([]string{"node", "cache", "now"})
	t.Spare(1)
	rows := 0
	for _, n := range nodes {
		if n.Cache != nil {
			t.Row(n.ID, cacheText(n.Cache), forecastText(n.Cache.Now))
			rows++
		}
	}
	if rows > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printTable(a.Out, t)
	}
}

func cacheText(c *plan.CacheDescription) string {
	s := "for equal inputs"
	if c.Key != "" {
		s = "for equal " + c.Key
	}
	if c.TTL > 0 {
		s += ", for " + c.TTL.String()
	}
	if c.Version != "" {
		s += ", version " + c.Version
	}
	return s
}

// printAttempts lists the nodes with retries, allow_partial, auto_status or a pause.
func (a *app) printAttempts(nodes []*plan.NodeDescription, routed bool) {
	t := tty.NewTable([]string{"node", "attempts"})
	t.Spare(1)
	rows := 0
	for _, n := range nodes {
		if n.Retry != nil || n.AllowPartial || n.AutoStatus || n.Pause != "" {
			t.Row(n.ID, attemptsText(n, routed))
			rows++
		}
	}
	if rows > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printTable(a.Out, t)
	}
}

// attemptsText describes the retries of a node and the settings that can change its status. In a
// routed walk, a node is tried again only if its answer does not pass the checks.
func attemptsText(n *plan.NodeDescription, routed bool) string {
	s := "one"
	if r := n.Retry; r != nil {
		s = fmt.Sprintf("up to %d", r.Attempts)
		if r.Preset != "" {
			s += " (" + r.Preset + ")"
		}
		switch {
		case routed: // any other failure ends the run
			s += " while answers do not pass the checks"
		case r.Transient:
			s += " while the failure is transient"
		}
		waits := make([]string, min(len(r.Waits), maxWaits))
		for i := range waits {
			waits[i] = r.Waits[i].String()
		}
		if len(r.Waits) > maxWaits {
			waits = append(waits, "…", r.Waits[len(r.Waits)-1].String())
		}
		s += ", after " + strings.Join(waits, ", ")
		if r.Jitter {
			s += ", each times 0.5 to 1.5"
		}
	}
	if n.AllowPartial {
		s += "; allow_partial"
	}
	if n.AutoStatus {
		s += "; auto_status"
	}
	if n.Pause != "" {
		s += "; pause " + n.Pause
	}
	return s
}

// maxWaits limits the waits between attempts that a line lists.
const maxWaits = 5

// printTable prints a table with faint headings. On a terminal it fits the table to the
// width.
func (a *app) printTable(out io.Writer, t *tty.Table) {
	for i, line := range t.Lines(widthOf(out)) {
		if i == 0 {
			line = a.palette(out).Dim(string(line))
		}
		tty.Fprintf(out, "%s\n", line)
	}
}

// planRows adds the rows of a node, or of a unit and its members.
func planRows(t *tty.Table, level int, v *plan.VertexDescription, after map[string][]string) {
	first := &v.Nodes[0]
	from := after[first.ID]
	if v.Shape == plan.Plain.String() || v.Shape == plan.FanOut.String() {
		t.Row(fmt.Sprint(level), first.ID, kindText(first), runsText(v), strings.Join(from, ", "), waitsText(v, first, from))
		return
	}
	t.Row(fmt.Sprint(level), v.ID, v.Shape, runsText(v), "", waitsText(v, nil, nil))
	for i := range v.Nodes {
		n := &v.Nodes[i]
		t.Row("", "  "+n.ID, kindText(n), "", strings.Join(after[n.ID], ", "), "")
	}
}

func limits(d *plan.Description) string {
	parts := []string{"concurrency is open"}
	if d.Concurrency > 0 {
		parts[0] = fmt.Sprintf("concurrency %d", d.Concurrency)
	}
	if d.MaxInFlight > 0 {
		parts = append(parts, fmt.Sprintf("max_in_flight %d", d.MaxInFlight))
	}
	if d.Barrier {
		parts = append(parts, "one level after the other")
	}
	return strings.Join(append(parts, nestedText(d)...), ", ")
}

// nestedText describes the number of runs of nested workflows in a run; it returns nil if
// there are none.
func nestedText(d *plan.Description) []string {
	var parts []string
	switch {
	case d.Nested == 1:
		parts = append(parts, "1 nested run")
	case d.Nested > 1:
		parts = append(parts, plan.NestedText(d.Nested)+" nested runs")
	}
	return parts
}

func kindText(n *plan.NodeDescription) string {
	if n.Inner != nil {
		s := n.Kind + " " + n.Inner.Name
		if n.Inner.Nested > 0 {
			s += fmt.Sprintf(" (%s more inside)", plan.NestedText(n.Inner.Nested))
		}
		return s
	}
	return n.Kind
}

func runsText(v *plan.VertexDescription) string {
	s := "once"
	switch v.Shape {
	case plan.FanOut.String(), plan.Pipeline.String():
		s = "each of " + v.Source
		if v.Concurrency > 1 {
			s += fmt.Sprintf(" (%d at a time)", v.Concurrency)
		}
		if v.Collect != "" {
			s += ", collected in " + v.Collect
		}
	case plan.Loop.String():
		s = fmt.Sprintf("up to %d rounds", v.MaxIters)
		if v.Until != "" {
			s += ", until " + v.Until
		}
	}
	return s
}

func edgeText(e *plan.EdgeDescription) string {
	s := e.From
	if e.On != "" {
		s += " on " + e.On
	}
	if e.Handles {
		s += " (handles)"
	}
	switch {
	case e.Else:
		s += " else"
	case e.When != "":
		s += " when " + e.When
	}
	if e.Label != "" {
		s += " (" + e.Label + ")"
	}
	return s
}

// waitsText lists what a vertex waits for in addition to its edges; after describes those
// edges.
func waitsText(v *plan.VertexDescription, n *plan.NodeDescription, after []string) string {
	var parts []string
	for _, w := range v.Waits {
		subject := strings.Join(w.Writers, ", ")
		if w.More > 0 {
			subject += fmt.Sprintf(" and %d more", w.More)
		}
		parts = append(parts, fmt.Sprintf("%s from %s", w.Field, subject))
	}
	if n != nil {
		for _, id := range n.After {
			leads := func(edge string) bool { return edge == id || strings.HasPrefix(edge, id+" ") }
			if !slices.ContainsFunc(after, leads) {
				parts = append(parts, "$nodes."+id)
			}
		}
	}
	if v.Last {
		parts = append(parts, "the whole main graph")
	}
	if j := v.Join; j != nil {
		parts = append(parts, joinText(j))
	}
	if v.AllDone {
		parts = append(parts, "all, whatever became of them")
	}
	return strings.Join(parts, "; ")
}

// joinText describes the number of predecessors that a vertex waits for.
func joinText(j *plan.JoinDescription) string {
	if j.Race {
		text := fmt.Sprintf("%d of %d, the fastest", j.Need, j.Of)
		if len(j.Losers) > 0 {
			text += " (it may give up " + strings.Join(j.Losers, ", ") + ")"
		}
		return text
	}
	text := fmt.Sprintf("%d of %d", j.Need, j.Of)
	if j.Need < j.Of && j.Need > 0 {
		text += ", the first that succeed in the order " + strings.Join(j.Order, ", ")
	}
	return text
}
