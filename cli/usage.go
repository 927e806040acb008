package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wavefold/wavefold/core"
)

// This file words what is wrong with a command line, where cobra's own words are
// not for people or do not propose anything.

// count is the value of a flag that takes a whole number of 1 or more; 0 means that
// it was not given.
type count struct {
	n    *int
	name string // as messages call the flag
}

var _ pflag.Value = count{}

// String is the value, "" for none.
func (c count) String() string {
	if c.n == nil || *c.n == 0 {
		return ""
	}
	return strconv.Itoa(*c.n)
}

// Type is what help calls the value.
func (count) Type() string { return "N" }

// Set reads the value.
func (c count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return &badFlag{fmt.Sprintf("%s wants a whole number of 1 or more, not %q", c.name, text)}
	}
	*c.n = n
	return nil
}

// badFlag is an error about a flag that says all there is to say.
type badFlag struct{ text string }

// Error returns the text.
func (e *badFlag) Error() string { return e.text }

// flagError words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*badFlag](err); ok {
		return bad
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if n := core.Nearest(name, names); n != "" {
		return fmt.Errorf("unknown flag --%s (did you mean --%s?)", name, n)
	}
	return fmt.Errorf("unknown flag --%s", name)
}

// noSuchCommand is the error about the first argument of a command that has only
// subcommands.
func (a *app) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Root().Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s", args[0], near(args[0], names))
}

// near proposes the name that is most like a wrong one, in brackets; "" for none.
func near(name string, names []string) string {
	if s := core.DidYouMean(name, names); s != "" {
		return " (" + s + ")"
	}
	return ""
}
