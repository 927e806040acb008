package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/guard"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Grace is the time between SIGTERM and SIGKILL for a program whose run is cancelled or whose
// timeout has expired.
const Grace = program.DefaultGrace

// Options configure the kind. The zero Options are the options of Kind.
type Options struct {
	// LookupEnv looks up secrets. If it is nil, os.LookupEnv is used.
	LookupEnv func(name string) (value string, ok bool)
}

// Kind is the kind "command".
var Kind = New(Options{})

// New returns the kind "command" with options.
func New(o Options) core.Kind {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	return core.NewKind(core.KindOf[config]{
		Name:    "command",
		Doc:     "Runs a program with a list of arguments.",
		Compile: o.compile,
		Partial: true,
	})
}

// compile finds the program and compiles the templates.
func (o Options) compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	b := &builder{config: *c, node: n, texts: templates.NewSet(n, env), lookup: o.LookupEnv}
	b.find.Env, b.find.Subject = env, n.Subject()
	cmd := b.build()
	cmd.lookup = b.lookup
	ds := append(b.find.Found, b.texts.Found...)
	if ds.Failed(false) {
		return core.Compiled{Reads: b.texts.Reads, Nodes: b.texts.Nodes}, ds
	}
	if !cmd.stdinJSON {
		ds = append(ds, setting.UnusedArgs(n, "run, env and stdin are templates and may contain {{NAME}}; stdin: json passes all args", b.texts.Names...)...)
	}
	made := core.Compiled{Handler: cmd, Effects: true, Reads: b.texts.Reads, Nodes: b.texts.Nodes, Results: cmd.to.Type(cmd.form.Type())}
	var own []string
	for _, v := range cmd.env {
		own = append(own, v.name)
		if v.secret.IsSecret() {
			made.Secrets = append(made.Secrets, v.secret.Ref(cmd.lookup))
		}
	}
	made.Environments = cmd.inherit.Described("", own...)
	return made, ds
}

// command is a compiled node. It is immutable.
type command struct {
	name      string
	path      string
	args      []*templates.Template
	exposed   []guard.Argument    // arguments whose values must not be options
	stdin     *templates.Template // nil if there is none
	stdinJSON bool
	inherit   program.Inherit
	env       []variable
	dir       string
	form      program.Form
	to        setting.Target
	maxOutput int
	ok        []int
	lookup    func(string) (string, bool)
}

// variable is an environment variable: a template, or a secret.
type variable struct {
	name   string
	text   *templates.Template
	secret secret.Value
}

// Handle runs the program once.
func (c *command) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	call, mask, err := c.call(in)
	if err != nil {
		return core.Result{}, mask.Error(fmt.Errorf("%s: %w", c.name, err))
	}
	out, err := program.Run(ctx, call)
	if err != nil {
		return core.Result{}, err
	}
	r, err := c.form.Result(out.Stdout, c.to, in.Logger())
	if err != nil {
		return core.Result{}, mask.Error(fmt.Errorf("%s: %w", c.name, c.maskedError(err, out.Stdout, mask)))
	}
	if out.Code != 0 {
		r.Note = fmt.Sprintf("exit code %d", out.Code)
	}
	return r, nil
}

// maskedError returns an error about an output without the secrets in it. The error quotes the
// beginning of the output. A secret may be cut at the end of the quotation, and the mask would
// not find its first half.
func (c *command) maskedError(err error, stdout []byte, mask secret.Masker) error {
	shown := mask.Text(string(stdout))
	if shown == string(stdout) {
		return err
	}
	if _, again := c.form.Result([]byte(shown), c.to, slog.New(slog.DiscardHandler)); again != nil {
		return again
	}
	return fmt.Errorf("output: %s cannot be read from what was printed, which is not shown because a secret is in it", c.form)
}

// call renders the templates for one attempt.
func (c *command) call(in core.Input) (program.Command, secret.Masker, error) {
	call := program.Command{Path: c.path, Name: c.name, Dir: c.dir, Inherit: c.inherit, Env: program.Environment(in), Mark: program.Mark(in), Notes: program.Notes(in), Keep: program.Keep(in),
		MaxOutput: c.maxOutput, OK: c.ok, Discard: c.form == program.None, Log: in.Logger()}
	var secrets []string
	for _, v := range c.env {
		value, err := v.value(in, c.lookup)
		if err != nil {
			return call, secret.Masker{}, fmt.Errorf("env.%s: %w", v.name, err)
		}
		if v.secret.IsSecret() {
			secrets = append(secrets, value)
		}
		call.Env = append(call.Env, v.name+"="+value)
	}
	call.Mask = secret.NewMasker(secrets...)
	for i, t := range c.args {
		arg, err := t.Render(in)
		if err != nil {
			return call, call.Mask, fmt.Errorf("run[%d]: %w", i+1, err)
		}
		call.Args = append(call.Args, arg)
	}
	for _, a := range c.exposed {
		if guard.IsOption(a.Program, call.Args[a.At-1]) {
			return call, call.Mask, core.Permanent(fmt.Errorf(`run[%d]: the value %s begins with "-", so %s may take it for an option: write "--" before it, or join it to what it belongs to (--name={{...}}, ./{{...}}); allow_options: true permits it`,
				a.At, excerpt(call.Args[a.At-1]), a.Program))
		}
	}
	stdin, err := c.input(in)
	if err != nil {
		return call, call.Mask, fmt.Errorf("stdin: %w", err)
	}
	call.Stdin = stdin
	return call, call.Mask, nil
}

// excerpt quotes the beginning of a value.
func excerpt(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "..."
	}
	return strconv.Quote(s)
}

func (c *command) input(in core.Input) ([]byte, error) {
	switch {
	case c.stdinJSON:
		return program.Document(in)
	case c.stdin == nil:
		return nil, nil
	}
	s, err := c.stdin.Render(in)
	return []byte(s), err
}

func (v variable) value(in core.Input, lookup func(string) (string, bool)) (string, error) {
	if v.secret.IsSecret() {
		return v.secret.Read(lookup)
	}
	return v.text.Render(in)
}
