package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rehearse"
)

func (a *app) validateCommand() *cobra.Command {
	var strict, asJSON bool
	cmd := &cobra.Command{
		Use:   "validate [FILE...]",
		Short: "Check workflows and report everything that is wrong",
		Long: `validate checks workflows as run does, without running anything: keys, names,
types, expressions, cycles, the state and its writers, files and programs. It
reports all findings of all files at once, each with file, line and column. For mock
files (x.mock.yaml) it checks the structure.

Errors make a file invalid (exit code 2); warnings do so only with --strict.`,
		Example: examples(
			"wavefold validate flow.yaml",
			"wavefold validate --strict flows/*.yaml",
			"wavefold validate --json flow.yaml | jq -r '.findings[].message'",
		),
		ValidArgsFunction: workflowFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.validate(args, strict, asJSON)
		},
	}
	a.parallelFlag(cmd)
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON on standard output")
	return cmd
}

func (a *app) validate(args []string, strict, asJSON bool) error {
	targets := slices.Collect(slices.Chunk(args, 1))
	if len(targets) == 0 {
		targets = [][]string{nil} // the current folder
	}
	var all source.Diagnostics
	for _, target := range targets {
		if len(target) > 0 && isMock(target[0]) {
			_, ds := rehearse.ReadMock(target[0])
			all = append(all, ds...)
			continue
		}
		_, ds := check(a.engine, target, strict)
		all = append(all, ds...)
	}
	valid := !all.Failed(strict)
	if asJSON {
		if err := a.writeJSON(findingsJSON(all, valid)); err != nil {
			return err
		}
	} else {
		a.printFindings(all)
	}
	if !valid {
		return reported(exitUsage)
	}
	if !asJSON {
		tty.Fprintf(a.Out, "%s\n", a.palette(a.Out).Status("valid"))
	}
	return nil
}
