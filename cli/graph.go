package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/draw"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func (a *app) graphCommand() *cobra.Command {
	format, log := draw.Formats[0].Name, ""
	var o draw.Options
	cmd := &cobra.Command{
		Use:   "graph [FILE]",
		Short: "Draw a workflow as Mermaid, Graphviz, text or SVG",
		Long: `graph draws a workflow. Fan-outs, pipelines, loops and nested workflows each have
their own shape. Edges with a condition are dotted or dashed and show the
condition. Walks (.dot, .fabro) are drawn with their cycles, labels, goal gates
and branches. Flows (.json of a visual builder) are drawn with their handles, and
with edges of their own kind to sub-agents. Drawing does not need the files, programs and Go functions that a
run needs.

With --run, graph reads a run, its event log or a stored run, and shows which nodes
succeeded, failed or were skipped, and how long they took. For a walk it shows which edges
were taken and how often. The default format is then SVG, which also shows which
conditions held.`,
		Example: examples(
			"wavefold graph flow.yaml                      # Mermaid, for Markdown",
			"wavefold graph --format dot flow.yaml | dot -Tsvg > flow.svg",
			"wavefold graph --format text flow.yaml",
			"wavefold graph --format svg flow.yaml > flow.svg",
			"wavefold graph --run events.ndjson flow.yaml > run.svg",
			"wavefold graph --run 4kqz7w > run.svg          # a stored run, as it was",
			"wavefold graph --run events.ndjson --format mermaid --direction LR triage.yml",
			"wavefold graph --format svg release.dot > release.svg",
			"wavefold graph --format dot --positions trip.json | dot -Tsvg > trip.svg",
		),
		Args:              atMost(1, oneWorkflow),
		ValidArgsFunction: workflowFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, ok := draw.ByName(format)
			if !ok {
				return fmt.Errorf("--format is %q, want %s", format, strings.Join(formatNames(), ", "))
			}
			if log != "" && !cmd.Flags().Changed("format") {
				f, _ = draw.ByName("svg")
			}
			if err := fits(&f, &o); err != nil {
				return err
			}
			return a.graph(cmd.Context(), args, log, &f, &o)
		},
	}
	a.parallelFlag(cmd)
	cmd.Flags().StringVarP(&format, "format", "f", format, strings.Join(formatNames(), ", "))
	a.runFlag(cmd, &log, "show a run: a `file` with its events, or the id of a stored run; the default format is then svg")
	cmd.Flags().StringVar(&o.Direction, "direction", "", "direction of mermaid and dot drawings: "+strings.Join(draw.Directions, " (from top to bottom) or ")+" (from left to right)")
	cmd.Flags().BoolVar(&o.Positions, "positions", false, "with --format dot: draw the nodes of a flow where its document does")
	cmd.Flags().StringVar(&o.Title, "title", "", "a heading in place of the name of the workflow")
	_ = cmd.RegisterFlagCompletionFunc("direction", cobra.FixedCompletions(draw.Directions, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formatNames(), cobra.ShellCompDirectiveNoFileComp
	}) // fails only for an unknown flag
	return cmd
}

// graph draws a workflow, or a run of it.
func (a *app) graph(ctx context.Context, args []string, log string, f *draw.Format, o *draw.Options) error {
	p, err := a.planForRun(ctx, args, log)
	if err != nil {
		return err
	}
	d := p.Describe()
	if o.Positions && !placed(d) {
		return fail(exitUsage, "--positions: %s has no positions of nodes; documents of visual builders have (x and y)", d.Name)
	}
	if log != "" {
		s, err := a.readRun(ctx, log)
		if err != nil {
			return err
		}
		o.Run = nodeMarks(d, s)
	}
	_, _ = io.WriteString(a.Out, f.Draw(d, *o)) // the stream records its error
	return nil
}

// fits returns an error if a format cannot draw with the options.
func fits(f *draw.Format, o *draw.Options) error {
	switch {
	case o.Positions && !f.HasPositions:
		return fmt.Errorf("--positions is for --format dot; %s has a layout of its own", f.Name)
	case o.Positions && o.Direction != "":
		return errors.New("--positions and --direction exclude each other")
	case o.Direction == "":
	case !slices.Contains(draw.Directions, o.Direction):
		return fmt.Errorf("--direction is %q, want %s", o.Direction, strings.Join(draw.Directions, " or "))
	case !f.HasDirection:
		return fmt.Errorf("--direction is for mermaid and dot; %s is always drawn from top to bottom", f.Name)
	}
	return nil
}

// placed reports whether the document of a graph says where a node is drawn.
func placed(d *plan.Description) bool {
	return slices.ContainsFunc(d.Visited(), func(n plan.WalkNodeDescription) bool { return n.Place != nil })
}

// nodeMarks returns the statuses of a run that colour its nodes.
func nodeMarks(d *plan.Description, s *explain.Run) *draw.Run {
	nouns := map[string]string{}
	for _, v := range slices.Concat(d.Levels...) {
		noun := map[string]string{plan.Pipeline.String(): "row", plan.Loop.String(): "round"}[v.Shape]
		nouns[v.ID] = noun
		for _, n := range v.Nodes {
			nouns[n.ID] = noun
		}
	}
	r := &draw.Run{Title: s.Status, Marks: map[string]draw.Mark{}, Evaluated: map[[2]string]bool{}, Taken: edgeCounts(d, s)}
	if r.Title == "" {
		r.Title = "the log stops before the end of the run"
	}
	markAdded(r, d, s)
	for _, id := range s.Nodes() {
		account, ok := s.Account(id)
		if !ok {
			continue
		}
		m := draw.Mark{Status: account.Status, Why: s.Brief(account)}
		var parts []string
		if account.Duration > 0 {
			parts = append(parts, explain.Duration(account.Duration))
		}
		if account.Items > 0 {
			parts = append(parts, plural(account.Items, cmp.Or(nouns[id], "item")))
		}
		if n := len(account.Failed); n > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", n))
		}
		if n := len(account.Visits); n > 1 {
			parts = append(parts, plural(n, "visit"))
		}
		if account.Attempts > max(1, len(account.Visits)) && account.Items == 0 {
			parts = append(parts, fmt.Sprintf("%d attempts", account.Attempts))
		}
		m.Text = strings.Join(parts, ", ")
		r.Marks[id] = m
		for _, c := range account.Conditions {
			r.Evaluated[[2]string{c.From, c.To}] = c.Result
		}
	}
	return r
}

// markAdded notes what a run has added to its graph: nodes, edges, where added nodes lead by themselves, and the
// ways on which the run has come to them or left them.
func markAdded(r *draw.Run, d *plan.Description, s *explain.Run) {
	known := map[string]bool{core.EndNode: true}
	for _, n := range d.Visited() {
		known[n.ID] = true
	}
	var edges [][2]string
	for _, c := range s.Changes {
		switch {
		case c.Rejected != "" || strings.Contains(c.Node, "/"): // drawings do not show what nested runs add
		case c.Action == core.MutationAddNode:
			for _, to := range c.Next {
				edges = append(edges, [2]string{c.Subject, to})
			}
			if !known[c.Subject] { // otherwise it replaces one
				known[c.Subject], r.AddedNodes = true, append(r.AddedNodes, c.Subject)
			}
		case c.Action == core.MutationAddEdge:
			edges = append(edges, [2]string{c.From, c.To})
		}
	}
	for _, w := range s.Steps {
		e := [2]string{w.From, w.To}
		if w.To == core.End {
			e[1] = core.EndNode
		}
		if w.Rule == core.StepJump || w.Rule == core.StepToolLoop || !slices.Contains(r.AddedNodes, e[0]) && !slices.Contains(r.AddedNodes, e[1]) {
			continue
		}
		if w.To != core.End { // edgeCounts has counted the others
			r.Taken[draw.EdgeKey{From: w.From, To: w.To, Label: w.Label, When: w.When}]--
		}
		r.Taken[draw.EdgeKey{From: w.From, To: w.To}]++
		edges = append(edges, e)
	}
	for _, e := range edges {
		if known[e[0]] && known[e[1]] && !slices.Contains(r.AddedEdges, e) {
			r.AddedEdges = append(r.AddedEdges, e)
		}
	}
}

// edgeCounts counts how often a walk took each edge. Edges to and from branches count the visits
// of their parallel node.
func edgeCounts(d *plan.Description, s *explain.Run) map[draw.EdgeKey]int {
	if !d.Mode.Visits {
		return nil
	}
	counts := map[draw.EdgeKey]int{}
	forks := map[string]*plan.ParallelDescription{}
	for _, n := range d.Visited() {
		if n.Parallel != nil {
			forks[n.ID] = n.Parallel
		}
	}
	for _, w := range s.Steps {
		if w.Rule != core.StepJump && w.To != core.End {
			counts[draw.EdgeKey{From: w.From, To: w.To, Label: w.Label, When: w.When}]++
		}
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		key := draw.EdgeKey{From: e.From, To: e.To, Label: e.Label, When: e.When}
		if e.Branch {
			counts[key] = branchVisits(s, e.To, e.From)
		}
		for fork, p := range forks {
			if p.Meet == e.To && slices.Contains(p.Branches, e.From) {
				counts[key] = max(counts[key], branchVisits(s, e.From, fork))
			}
		}
	}
	return counts
}

// branchVisits counts the visits of a node as a branch of a parallel node.
func branchVisits(s *explain.Run, node, fork string) int {
	n := 0
	if a, ok := s.Account(node); ok {
		for i := range a.Visits {
			if a.Visits[i].Branch == fork {
				n++
			}
		}
	}
	return n
}

func formatNames() []string {
	var names []string
	for _, f := range draw.Formats {
		names = append(names, f.Name)
	}
	return names
}
