package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/starter"
	"github.com/wavefold/wavefold/cli/internal/tty"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [" + strings.Join(starter.Names(), "|") + "] [DIR]",
		Short: "Write a first workflow with data and a test",
		Long: `init writes a small workflow and everything it needs to run: shell steps, sample
data and a mock file. It creates DIR if DIR does not exist; the default is the
current folder. It never overwrites a file.

  etl    load a table, check rows, make a call for each row, sum, write files
  hello  two nodes and a condition
  route  instructions for a model, which also chooses the path; its test needs no model`,
		Example:   examples("wavefold init etl shop && wavefold run shop", "wavefold init hello greeting"),
		Args:      atMost(2, "at most the name of a starter and a folder"),
		ValidArgs: starter.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			name, dir := starter.Names()[0], "."
			if len(args) > 0 && (len(args) == 2 || starter.Has(args[0])) {
				name, args = args[0], args[1:]
			}
			if len(args) > 0 {
				dir = args[0]
			}
			if !starter.Has(name) {
				return fmt.Errorf("there is no starter %q%s", name, hintFor(name, starter.Names()))
			}
			return a.init(name, dir)
		},
	}
}

func (a *app) init(name, dir string) error {
	taken, err := starter.Taken(name, dir)
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	if len(taken) > 0 {
		return fail(exitUsage, "%s has %s already; nothing was written", dir, strings.Join(taken, ", "))
	}
	if err := starter.Write(name, dir); err != nil {
		return fail(exitFailed, "%w", err)
	}
	list, err := starter.Files(name)
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	for _, f := range list {
		tty.Fprintf(a.Out, "%s\n", filepath.Join(dir, filepath.FromSlash(f)))
	}
	try := "run"
	if name == "route" { // running it requires a model
		try = "test"
	}
	tty.Fprintf(a.Err, "now try: wavefold %s %s\n", try, dir)
	return nil
}
