package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/archive"
)

// archiveSuffix is the end of the default name of an archive.
const archiveSuffix = ".tar.zst"

func (a *app) exportCommand() *cobra.Command {
	var at, out string
	var force bool
	cmd := &cobra.Command{
		Use:   "export [RUN]",
		Short: "Write a stored run to one file",
		Long: `export writes a stored run to one file: its journal, its large values, its documents
and the answers that were posted to it. import reads the file into another store,
where the run can be inspected and resumed. The file has no values of secrets.

` + whereRuns + newestRun + ` Of a run in progress the file has what is
recorded so far. A file that exists is replaced only with --force.`,
		Example: examples(
			"wavefold export 4kqz7w                       # writes 4kqz7w2mdjcu.tar.zst",
			"wavefold export 4kqz7w -o broken.tar.zst",
			"wavefold export 4kqz7w -o - | ssh build wavefold import -",
		),
		Args:              atMost(1, "one run"),
		ValidArgsFunction: a.completeRuns(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.export(cmd.Context(), at, first(args), out, force)
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `file` to write, - for standard output (default: RUN"+archiveSuffix+")")
	forceFlag(cmd.Flags(), &force)
	return cmd
}

func (a *app) export(ctx context.Context, flag, id, out string, force bool) error {
	found, err := a.findRun(ctx, flag, id, nil)
	if err != nil {
		return err
	}
	defer found.store.Close()
	if out == "-" {
		if _, err := archive.Write(ctx, a.Out, found.store, found.Run); err != nil {
			return storedError(err)
		}
		return nil
	}
	if out == "" {
		out = found.Run + archiveSuffix
	}
	if err := mayWrite(out, force); err != nil {
		return err
	}
	m, err := writeArchive(ctx, out, found)
	if err != nil {
		return storedError(err)
	}
	if found.Status == store.StatusRunning {
		a.hintf("run %s is still running: the file has what is recorded so far, and a copy that is resumed elsewhere runs the rest once more", found.Run)
	}
	tty.Fprintf(a.Out, "%s: run %s of %s (%s), %s\n", out, m.Run, m.Workflow, m.Status, plural(int(m.Records), "record"))
	return nil
}

// writeArchive writes an archive to a file, which is there whole or not at all.
func writeArchive(ctx context.Context, name string, found *storedRun) (m *archive.Manifest, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".wavefold-export-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	b := bufio.NewWriter(f)
	m, err = archive.Write(ctx, b, found.store, found.Run)
	if err = errors.Join(err, b.Flush(), f.Close()); err != nil {
		return nil, err
	}
	return m, os.Rename(f.Name(), name)
}

func (a *app) importCommand() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Add an exported run to a store",
		Long: `import adds a run that export has written to a store: the one that --store or
$WAVEFOLD_STORE names, or else .wavefold in this folder, or in the nearest one above
that has it. FILE may be - for standard input.

The whole file is checked first. A run that the store has already, with the same
records, is left as it is. If it has other records, import fails. A run that had not
ended can be resumed; its workflow comes from the file.`,
		Example: examples(
			"wavefold import broken.tar.zst",
			"wavefold import broken.tar.zst --store file:/tmp/look",
		),
		Args: exactly(1, "a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importRun(cmd.Context(), at, args[0])
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	return cmd
}

func (a *app) importRun(ctx context.Context, flag, name string) error {
	var in io.Reader = a.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		defer f.Close()
		in = f
	}
	dir, err := a.importStore(flag)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, dir, false)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if isDatabase(dir) {
		dir = s.String() // without a password
	}
	m, added, err := archive.Read(ctx, bufio.NewReader(in), s)
	if err = errors.Join(err, s.Close()); err != nil {
		if name != "-" {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return storedError(err)
	}
	if !added {
		tty.Fprintf(a.Out, "run %s is in %s already, with the same records\n", m.Run, dir)
		return nil
	}
	tty.Fprintf(a.Out, "run %s of %s (%s) is added to %s\n", m.Run, m.Workflow, m.Status, dir)
	if m.Status == store.StatusInterrupted || m.Status == store.StatusPaused {
		tty.Fprintf(a.Err, "resume with: %s\n", resumeCommand(m.Run))
	}
	if m.Status == store.StatusInterrupted {
		a.hintf("the run had not ended when it was exported: if it goes on where it came from, resuming it here does its work twice")
	}
	return nil
}

// importStore returns the place of the store to which a run is added.
func (a *app) importStore(flag string) (string, error) {
	dir, none, err := a.storeSetting(flag)
	switch {
	case err != nil:
		return "", err
	case none:
		return "", errNeedsStore
	case dir != "":
		return dir, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if above := storeAbove(here); above != "" {
		return above, nil
	}
	return filepath.Join(here, storeName), nil
}
