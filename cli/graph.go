package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/draw"
)

func (a *app) graphCommand() *cobra.Command {
	format := draw.Formats[0].Name
	cmd := &cobra.Command{
		Use:   "graph [FILE]",
		Short: "Draw a workflow as Mermaid, Graphviz or text",
		Long: `graph draws a workflow. Fan-outs, pipelines, loops and nested workflows each have
a shape of their own, and edges with a condition are dotted or dashed with the
condition on them. A workflow can be drawn without what only running it needs:
files, programs and Go functions may be absent.`,
		Example: examples(
			"wavefold graph flow.yaml                      # Mermaid, for Markdown",
			"wavefold graph --format dot flow.yaml | dot -Tsvg > flow.svg",
			"wavefold graph --format text flow.yaml",
		),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: workflowFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			f, ok := draw.ByName(format)
			if !ok {
				return fmt.Errorf("--format is %q, want %s", format, strings.Join(formatNames(), ", "))
			}
			p, ds := check(a.lenient(), args, false)
			if p == nil {
				return a.invalid(ds, false)
			}
			_, _ = io.WriteString(a.Out, f.Draw(p.Describe())) // the stream keeps its error
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", format, strings.Join(formatNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formatNames(), cobra.ShellCompDirectiveNoFileComp
	}) // it fails for a flag that does not exist only
	return cmd
}

func formatNames() []string {
	var names []string
	for _, f := range draw.Formats {
		names = append(names, f.Name)
	}
	return names
}
