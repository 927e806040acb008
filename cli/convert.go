package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/convert"
)

func (a *app) convertCommand() *cobra.Command {
	var to, out string
	var force bool
	cmd := &cobra.Command{
		Use:   "convert FILE --to " + strings.Join(convert.Notations(), "|"),
		Short: "Write a walk in another notation",
		Long: `convert writes a walk in another notation that has the same router: a walk by outcomes
in the native notation or in DOT, a walk by model in the native notation or in the
notation of SWEny. Walks by steps, dags and flows have one notation only.

The result says the same as FILE. If something of it has no counterpart in the other
notation, nothing is written, and everything of that kind is listed (exit code 2).
Comments and the layout are not kept, and prompts that FILE takes from other files are
in the result. Paths of other files are written as they are: keep the result in the
folder of FILE. A file that exists is replaced only with --force.`,
		Example: examples(
			"wavefold convert release.dot --to native",
			"wavefold convert release.dot --to native -o release.yaml",
			"wavefold convert triage.yaml --to sweny",
		),
		Args:              exactly(1, "a file"),
		ValidArgsFunction: workflowFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.convert(args[0], to, out, force)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the `notation` of the result: "+strings.Join(convert.Notations(), ", "))
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `file` to write, - for standard output (default: standard output)")
	forceFlag(cmd.Flags(), &force)
	if err := cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(convert.Notations(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
	return cmd
}

func (a *app) convert(file, to, out string, force bool) error {
	switch {
	case to == "":
		return fail(exitUsage, "convert needs --to: %s", strings.Join(convert.Notations(), ", "))
	case !slices.Contains(convert.Notations(), to):
		return fail(exitUsage, "--to %s: there is no such notation (notations: %s)", to, strings.Join(convert.Notations(), ", "))
	}
	c := a.lenient()
	file, ds := fileOf(c, []string{file})
	if len(ds) > 0 {
		return a.invalid(ds, false)
	}
	w, ds := c.Read(file)
	if w != nil {
		_, ds = c.Compile(w, false)
	}
	if w == nil || ds.Failed(false) {
		return a.invalid(ds, false)
	}
	name := resultName(cmp.Or(strings.TrimPrefix(out, "-"), file), file, to)
	text, left := convert.Convert(w, to, func(data []byte) (*core.Workflow, source.Diagnostics) { return a.engine.Parse(name, data) })
	if len(left) > 0 {
		return a.invalid(left, false)
	}
	if out == "" || out == "-" {
		_, _ = a.Out.Write(text) // the stream records its error
		return nil
	}
	if err := mayWrite(out, force); err != nil {
		return err
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return &exitError{exitUsage, err}
	}
	tty.Fprintf(a.Err, "%s: %s\n", out, to)
	return nil
}

// resultName returns a name for the result in the folder of the original, with the extension
// of its notation, by which it is read.
func resultName(out, file, to string) string {
	base := filepath.Base(out)
	return filepath.Join(filepath.Dir(file), strings.TrimSuffix(base, filepath.Ext(base))+convert.Extension(to))
}
