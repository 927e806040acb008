package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/draw"
	"github.com/wavefold/wavefold/internal/story"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func (a *app) graphCommand() *cobra.Command {
	format, log := draw.Formats[0].Name, ""
	cmd := &cobra.Command{
		Use:   "graph [FILE]",
		Short: "Draw a workflow as Mermaid, Graphviz, text or SVG",
		Long: `graph draws a workflow. Fan-outs, pipelines, loops and nested workflows each have
a shape of their own, and edges with a condition are dotted or dashed with the
condition on them. A workflow can be drawn without what only running it needs:
files, programs and Go functions may be absent.

--run takes the event log of a run and colours what happened: an SVG picture of
what ended well, failed or was skipped, with durations and the conditions that
held.`,
		Example: examples(
			"wavefold graph flow.yaml                      # Mermaid, for Markdown",
			"wavefold graph --format dot flow.yaml | dot -Tsvg > flow.svg",
			"wavefold graph --format text flow.yaml",
			"wavefold graph --format svg flow.yaml > flow.svg",
			"wavefold graph --run events.ndjson flow.yaml > run.svg",
		),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: workflowFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, ok := draw.ByName(format)
			if !ok {
				return fmt.Errorf("--format is %q, want %s", format, strings.Join(formatNames(), ", "))
			}
			if log != "" && cmd.Flags().Changed("format") && format != "svg" {
				return fmt.Errorf("--run colours SVG pictures, --format is %q", format)
			}
			p, ds := check(a.lenient(), args, false)
			if p == nil {
				return a.invalid(ds, false)
			}
			picture := f.Draw
			if log != "" {
				s, err := a.readStory("--run", log)
				if err != nil {
					return err
				}
				picture = func(d *plan.Description) string { return draw.SVG(d, marks(d, s)) }
			}
			_, _ = io.WriteString(a.Out, picture(p.Describe())) // the stream keeps its error
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", format, strings.Join(formatNames(), ", "))
	cmd.Flags().StringVar(&log, "run", "", "colour what happened, from this event log; draws SVG")
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formatNames(), cobra.ShellCompDirectiveNoFileComp
	}) // it fails for a flag that does not exist only
	return cmd
}

// marks colours the nodes of a run.
func marks(d *plan.Description, s *story.Story) *draw.Run {
	nouns := map[string]string{}
	for _, v := range slices.Concat(d.Levels...) {
		noun := map[string]string{plan.Pipeline.String(): "row", plan.Loop.String(): "round"}[v.Shape]
		nouns[v.ID] = noun
		for _, n := range v.Nodes {
			nouns[n.ID] = noun
		}
	}
	r := &draw.Run{Title: s.Status, Marks: map[string]draw.Mark{}, Judged: map[[2]string]bool{}}
	if r.Title == "" {
		r.Title = "the log stops before the end of the run"
	}
	for _, id := range s.Nodes() {
		account, ok := s.Account(id)
		if !ok {
			continue
		}
		m := draw.Mark{Status: account.Status, Why: s.Brief(account)}
		var parts []string
		if account.Duration > 0 {
			parts = append(parts, story.Duration(account.Duration))
		}
		if account.Items > 0 {
			parts = append(parts, plural(account.Items, cmp.Or(nouns[id], "item")))
		}
		if n := len(account.Failed); n > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", n))
		}
		if account.Attempts > 1 && account.Items == 0 {
			parts = append(parts, fmt.Sprintf("%d attempts", account.Attempts))
		}
		m.Text = strings.Join(parts, ", ")
		r.Marks[id] = m
		for _, c := range account.Conditions {
			r.Judged[[2]string{c.From, c.To}] = c.Result
		}
	}
	return r
}

func formatNames() []string {
	var names []string
	for _, f := range draw.Formats {
		names = append(names, f.Name)
	}
	return names
}
