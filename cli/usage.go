package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	if short, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		f := short.GetFlag()
		value, _ := pflag.UnquoteUsage(f)
		return fmt.Errorf("%s needs a value: %[1]s %s", flagName(short.GetSpecifiedName(), short.GetSpecifiedShortnames()), value)
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() == "bool" {
		return fmt.Errorf("--%s is true or false, not %q", bad.GetFlag().Name, bad.GetValue())
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	word := unknown.GetSpecifiedName()
	short := unknown.GetSpecifiedShortnames()
	text := "unknown flag " + flagName(word, short)
	if len(short) > 1 { // -x in -xyz; a long name with one dash looks like that
		text += " in -" + short
		word = short
	}
	var names []string
	if short == "" || len(short) > 1 {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
	}
	if found := similar(word, names); len(found) > 0 {
		text += " (did you mean --" + strings.Join(found, " or --") + "?)"
	}
	return errors.New(text)
}

// flagName returns a flag as the command line has it; shorthands is "" if it was given
// by its long name.
func flagName(name, shorthands string) string {
	if shorthands != "" {
		return "-" + shorthands[:1]
	}
	return "--" + name
}

// maxSimilar limits the names that a message proposes for one that was cut short.
const maxSimilar = 3

// similar returns the names that are probably meant by word: the name itself, the few
// names that begin with it, or the one most like it.
func similar(word string, names []string) []string {
	if slices.Contains(names, word) {
		return []string{word}
	}
	var longer []string
	for _, name := range names {
		if len(word) > 1 && strings.HasPrefix(name, word) {
			longer = append(longer, name)
		}
	}
	if n := len(longer); n > 0 && n <= maxSimilar {
		return longer
	}
	if n := core.Nearest(word, names); n != "" {
		return []string{n}
	}
	return nil
}

// atMost returns the check of a command that takes at most n arguments, which what
// describes.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		text := fmt.Sprintf("%s takes %s, but got %s: %s", cmd.Name(), what, plural(len(args), "argument"), core.Named(args))
		pair := slices.IndexFunc(args, func(arg string) bool { return strings.Contains(arg, "=") })
		if pair >= 0 && cmd.Flags().Lookup("input") != nil {
			text += fmt.Sprintf(" (did you mean --input %s?)", args[pair])
		}
		return errors.New(text)
	}
}

// What the commands with at most one argument take.
const (
	noArguments = "no arguments"
	oneWorkflow = "at most one workflow file"
)

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
	if found := similar(args[0], names); len(found) > 0 {
		return fmt.Errorf("unknown command %q (did you mean \"%s\"?)", args[0], strings.Join(found, "\" or \""))
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// near proposes the name that is most like a wrong one, in brackets; "" for none.
func near(name string, names []string) string {
	if s := core.DidYouMean(name, names); s != "" {
		return " (" + s + ")"
	}
	return ""
}
