package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/pflag"
)

// forceFlag adds --force to a command that does not replace a file without it.
func forceFlag(flags *pflag.FlagSet, to *bool) {
	flags.BoolVar(to, "force", false, "replace the file if it exists")
}

// mayWrite returns an error if a file exists and is not to be replaced.
func mayWrite(name string, force bool) error {
	if _, err := os.Lstat(name); force || errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return &exitError{exitUsage, err}
	}
	return fail(exitUsage, "%s exists already; --force replaces it", name)
}
