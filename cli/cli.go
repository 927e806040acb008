package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/internal/secret"
)

// Main runs the command with the arguments and streams of the process, and exits with its
// code. The first interrupt during a run cancels the run and waits for it to end; the
// second one kills running nodes. At any other time an interrupt exits at once.
func Main(e *wavefold.Engine) {
	a := newApp(e, Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv})
	ctx, stop := a.interruptible(context.Background())
	code := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// Streams are the standard streams and the environment of a command. Out and Err may be the
// same. Streams that are terminals are detected.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// Getenv returns the value of an environment variable; nil means an empty environment.
	Getenv func(name string) string
}

// Run runs the command with the given arguments, which exclude the name of the program, and
// returns its exit code. It blocks until everything has ended. The end of ctx has the same
// effect as the first interrupt.
func Run(ctx context.Context, e *wavefold.Engine, args []string, s Streams) int {
	return newApp(e, s).run(ctx, args)
}

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPaused      = 3
	exitViolated    = 4
	exitHeld        = 5   // another process executes the run
	exitSignal      = 128 // plus the number of a signal, as a shell reports a program that the signal ended
	exitInterrupted = 130
	exitBrokenPipe  = 141 // SIGPIPE
)

// app is one invocation of the command.
type app struct {
	engine *wavefold.Engine
	Streams
	out, err *output // the streams Out and Err
	color    string  // the value of --color
	// mask masks the secrets of the workflow that is run.
	mask secret.Masker
	// running is set while an interrupt must wait for a run to end.
	running atomic.Bool
	// stopped is the exit code for an end from outside, such as a signal; 0 if there was
	// none.
	stopped atomic.Int32
	// abandon restores the terminal before an immediate exit; nil if there is nothing to
	// restore.
	abandon atomic.Pointer[func()]
}

func newApp(e *wavefold.Engine, s Streams) *app {
	if s.Getenv == nil {
		s.Getenv = func(string) string { return "" }
	}
	copied := *e // the caller may continue to use its engine
	a := &app{engine: &copied, Streams: s, out: &output{to: s.Out}, err: &output{to: s.Err}}
	a.Out, a.Err = a.out, a.err
	copied.Stdout, copied.Stdin = a.Out, a.In
	return a
}

// exitError is an error with an exit code. Its message is empty if everything has been printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// fail returns the error of a command that was invoked correctly and failed.
func fail(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// reported returns an error about which everything has been printed.
func reported(code int) error { return &exitError{code: code} }

func (a *app) run(ctx context.Context, args []string) int {
	return a.written(a.execute(ctx, args))
}

func (a *app) execute(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if x, ok := errors.AsType[*exitError](err); ok {
		for _, err := range parts(x.err) {
			a.errorf("%v", err)
		}
		return x.code
	}
	if writeErr := a.out.failed(); writeErr != nil && errors.Is(err, writeErr) {
		return exitOK // cobra failed to print; written reports that
	}
	// Any other error comes from cobra: the command line is wrong.
	a.errorf("%v", err)
	tty.Fprintf(a.Err, "run '%s --help' for how it is used\n", cmd.CommandPath())
	return exitUsage
}

// parts returns the errors that were joined into one, or the error itself.
func parts(err error) []error {
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case err == nil:
		return nil
	case ok:
		return joined.Unwrap()
	}
	return []error{err}
}

// errorf prints an error with the program's name; secrets are masked.
func (a *app) errorf(format string, args ...any) {
	p := a.palette(a.Err)
	tty.Fprintf(a.Err, "%s %s\n", p.Bad("wavefold:"), a.mask.Text(fmt.Sprintf(format, args...)))
}

// hintf prints a hint.
func (a *app) hintf(format string, args ...any) {
	tty.Fprintf(a.Err, "%s %s\n", a.palette(a.Err).Accent("hint:"), tty.Sprintf(format, args...))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "wavefold",
		Short: "Run parallel workflows with typed state",
		Long: `wavefold runs workflows: graphs of nodes that run in parallel and share typed
state.

A workflow is a YAML file that lists the nodes, the edges between them, and the
fields they read and write. FILE may also be a folder that contains workflow.yaml
or exactly one workflow. Without FILE, commands use workflow.yaml in the current
folder.

Exit codes:
    0  success, also partial success unless --strict is given
    1  the run failed, or the output could not be written
    2  bad usage or an invalid file
    3  the run is paused: it waits for people (see wavefold waiting)
    4  verify found violations
    5  another process executes the run
  128  plus the number of a signal: 130 interrupted, 143 SIGTERM, 129 SIGHUP
  141  the reader of the output has gone`,
		Example: examples(
			"wavefold init etl shop      # a first workflow, with data and a test",
			"wavefold run shop",
			"wavefold validate shop",
			"wavefold test shop/workflow.mock.yaml",
		),
		SilenceErrors:         true,
		SilenceUsage:          true,
		DisableFlagsInUseLine: true,
		Args:                  a.noSuchCommand,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = buildVersion().text()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version of this program")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(a.helpCommand())
	root.PersistentFlags().StringVar(&a.color, "color", "auto", "colours: auto, always or never")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.checkColor() }
	root.AddCommand(a.commands()...)
	return root
}

// commands returns all subcommands, in the order in which they are typically used.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.runCommand(),
		a.resumeCommand(),
		a.replayCommand(),
		a.runsCommand(),
		a.waitingCommand(),
		a.answerCommand(),
		a.cancelCommand(),
		a.inspectCommand(),
		a.outputCommand(),
		a.stateCommand(),
		a.diffCommand(),
		a.eventsCommand(),
		a.pruneCommand(),
		a.exportCommand(),
		a.importCommand(),
		a.previewCommand(),
		a.validateCommand(),
		a.planCommand(),
		a.graphCommand(),
		a.convertCommand(),
		a.testCommand(),
		a.whyCommand(),
		a.verifyCommand(),
		a.schemaCommand(),
		a.initCommand(),
		a.versionCommand(),
		a.completionCommand(),
	}
}

// examples indents the lines of a command's examples.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
