package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wavefold/wavefold/core/source"
)

// count is the value of a flag that accepts an integer of at least 1; 0 means that the flag
// is not set.
type count struct {
	n    *int
	name string // for messages
}

var _ pflag.Value = count{}

// String returns the value, "" if it is not set.
func (c count) String() string {
	if c.n == nil || *c.n == 0 {
		return ""
	}
	return strconv.Itoa(*c.n)
}

// Type returns the placeholder for the value in the help.
func (count) Type() string { return "N" }

// Set parses the value.
func (c count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return &badFlag{fmt.Sprintf("%s wants a whole number of 1 or more, not %q", c.name, text)}
	}
	*c.n = n
	return nil
}

// badFlag is an error about a flag whose message is complete.
type badFlag struct{ text string }

// Error returns the message.
func (e *badFlag) Error() string { return e.text }

// flagError formats an error about a flag.
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
	if len(short) > 1 { // -x in -xyz; a long name with one dash is parsed like that
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

// flagName returns a flag as it appears on the command line; shorthands is "" if it was set
// by its long name.
func flagName(name, shorthands string) string {
	if shorthands != "" {
		return "-" + shorthands[:1]
	}
	return "--" + name
}

// maxSimilar limits the names that a message proposes for an abbreviation.
const maxSimilar = 3

// similar returns the names that word probably means: the name itself, the few names that
// begin with it, or the most similar one.
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
	if n := source.Nearest(word, names); n != "" {
		return []string{n}
	}
	return nil
}

// atMost returns the argument check of a command that accepts at most n arguments; what
// describes them.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		text := fmt.Sprintf("%s takes %s, but got %s: %s", cmd.Name(), what, plural(len(args), "argument"), source.Named(args))
		pair := slices.IndexFunc(args, func(arg string) bool { return strings.Contains(arg, "=") })
		if pair >= 0 && cmd.Flags().Lookup("input") != nil {
			text += fmt.Sprintf(" (did you mean --input %s?)", args[pair])
		}
		return errors.New(text)
	}
}

// exactly returns the argument check of a command that needs n arguments; what describes them.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return fmt.Errorf("%s needs %s: %s", cmd.Name(), what, cmd.Use)
		}
		return atMost(n, what)(cmd, args)
	}
}

// Arguments of the commands that accept at most one.
const (
	noArguments = "no arguments"
	oneWorkflow = "at most one workflow file"
)

// noSuchCommand returns the error about the first argument of a command that has only
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

// suggest proposes, in brackets, the name that is most similar to a wrong one, "" if none is
// similar.
func suggest(name string, names []string) string {
	if s := source.DidYouMean(name, names); s != "" {
		return " (" + s + ")"
	}
	return ""
}
