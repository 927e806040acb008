package script

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Keys that a script sets in the context of a walk.
const (
	ContextOutput = "command.output"
	ContextStderr = "command.stderr"
)

const (
	maxScript  = 100 << 10 // bytes; systems accept a little more as one argument
	maxContext = 64 << 10  // bytes of each output that are stored in the context
)

// Kind is the kind "script".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    "script",
	Doc:     "Runs a program whose text is in the document, in the shell or Python.",
	Compile: compile,
	Partial: true,
})

type config struct {
	Script    source.Text    `wavefold:"script" doc:"the text of the program"`
	From      source.Text    `wavefold:"script_from,fixed" doc:"in place of script: the input, or the key in the context of the walk, that contains the program"`
	Language  source.Text    `wavefold:"language,oneof=shell|python" doc:"shell or python (shell)"`
	Stdin     source.Text    `wavefold:"stdin,oneof=json" doc:"json hands over the document that tools get"`
	Output    source.Text    `wavefold:"output,oneof=text|lines|json|jsonl|result|none" doc:"what becomes of standard output (text)"`
	Into      source.Text    `wavefold:"into" doc:"the field that gets it; default the only declared write, else the edges of a dag"`
	PassEnv   program.Passed `wavefold:"pass_env" doc:"the variables that the program gets of the environment, in place of all; PATH, HOME, LANG and TMPDIR in any case"`
	MaxOutput setting.Bytes  `wavefold:"max_output" doc:"limit on standard output and standard error, each (10MB)"`
}

// compile finds the interpreter. In a mode in which nodes may lack settings, a node without a
// script compiles and fails when it is visited; the format of the document reports it.
func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	f := &files.Finder{Env: env, Subject: n.Subject()}
	switch {
	case n.Lost.Any("script", "script_from"):
	case c.From.Value != "" && c.Script.Value != "":
		f.Found.Errorf(source.CodeBadValue, c.From.Pos, "%s: script and script_from exclude each other", f.Subject)
		return core.Compiled{}, f.Found
	case c.From.Value == "" && strings.TrimSpace(c.Script.Value) == "":
		if env.Late {
			return core.Compiled{Lacks: "there is no script"}, nil
		}
		if c.Script.Pos.IsValid() {
			f.Found.Errorf(source.CodeMissingKey, c.Script.Pos, `%s: key "script" is empty`, f.Subject)
		} else {
			f.Found.Errorf(source.CodeMissingKey, n.Config.Pos, `%s: key "script" is missing`, f.Subject)
		}
		return core.Compiled{}, f.Found
	}
	s := &script{from: c.From.Value, form: program.Text, stdin: c.Stdin.Value != "", maxOutput: int(c.MaxOutput), context: env.Context && !env.Steps}
	if c.Output.Value != "" {
		s.form = program.Form(c.Output.Value)
	}
	c.interpreter(s, f)
	c.target(s, n, f)
	inherit, found := c.PassEnv.Inherit(f.Subject, env, program.Owner{})
	s.inherit, f.Found = inherit, append(f.Found, found...)
	if s.stdin {
		f.Found = append(f.Found, program.CheckArgs(n, f.Subject)...)
	}
	if f.Found.Failed(false) {
		return core.Compiled{}, f.Found
	}
	if !s.stdin {
		f.Found = append(f.Found, setting.UnusedArgs(n, "stdin: json passes the args to the script")...)
	}
	return core.Compiled{Handler: s, Effects: true, Environments: s.inherit.Described(""), Results: s.to.Type(s.form.Type())}, f.Found
}

// placeholder matches the placeholders of templates that begin with $, as in {{$.name}}.
var placeholder = lazyregexp.New(`\{\{\s*\$[.a-z][^{}]*\}\}`)

// interpreter finds the interpreter of the text and its working folder.
func (c *config) interpreter(s *script, f *files.Finder) {
	if len(c.Script.Value) > maxScript {
		f.Found.Errorf(source.CodeLimit, c.Script.Pos, "%s: script: it has %d bytes, more than the limit of %d", f.Subject, len(c.Script.Value), maxScript).
			WithHint("put it into a file and run that")
	}
	if at := strings.IndexByte(c.Script.Value, 0); at >= 0 {
		f.Found.Errorf(source.CodeBadValue, source.Inside(c.Script, at), "%s: script: it contains a NUL byte", f.Subject)
	}
	if m := placeholder.FindStringIndex(c.Script.Value); m != nil {
		f.Found.Warnf(source.CodeIgnored, source.Inside(c.Script, m[0]), "%s: nothing is put into a script, so %s stays as it is written", f.Subject, c.Script.Value[m[0]:m[1]]).
			WithHint("stdin: json passes the values that the node reads and its args to the script")
	}
	dir, err := filepath.Abs(f.Env.Dir)
	if err != nil {
		f.Found.Errorf(source.CodeMissingFile, c.Script.Pos, "%s: the workflow's folder has no path: %v", f.Subject, err)
	}
	pos := c.Language.Pos
	if !pos.IsValid() {
		pos = c.Script.Pos
	}
	s.dir, s.args = dir, []string{"-c", c.Script.Value}
	if s.name = "sh"; c.Language.Value == "python" {
		s.name = "python3"
	}
	s.path, _ = f.Program(pos, "language", s.name)
}

func (c *config) target(s *script, n *core.Node, f *files.Finder) {
	switch {
	case s.form.HasTarget():
		to, ds := setting.TargetOf(n, c.Into, f.Subject)
		s.to = to
		f.Found = append(f.Found, ds...)
	case c.Into.Value != "":
		f.Found.Errorf(source.CodeBadValue, c.Into.Pos, "%s: into: output: %s has nothing to put into a field", f.Subject, s.form)
	case s.form == program.None:
		f.Found = append(f.Found, setting.UnusedWrites(n, "a script with output: none writes no state")...)
	}
}

// script is a compiled node. It is immutable.
type script struct {
	name      string // of the interpreter
	path      string
	args      []string
	from      string // the name of the value that contains the text, "" if the document does
	dir       string
	inherit   program.Inherit
	stdin     bool
	form      program.Form
	to        setting.Target
	maxOutput int
	context   bool // the run has a context
}

// Handle runs the script once.
func (s *script) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	args := s.args
	if s.from != "" {
		text, err := s.text(in)
		if err != nil {
			return core.Result{}, core.Permanent(err)
		}
		args = []string{"-c", text}
	}
	call := program.Command{Path: s.path, Name: s.name, Args: args, Dir: s.dir, Inherit: s.inherit, Env: program.Environment(in), Mark: program.Mark(in), Notes: program.Notes(in), Keep: program.Keep(in),
		MaxOutput: s.maxOutput, Log: in.Logger()}
	if goal, ok := in.Shared().Inputs.Get(core.InputGoal); ok {
		if text, ok := goal.(string); ok {
			call.Env = append(call.Env, "WAVEFOLD_GOAL="+text)
		}
	}
	if s.context {
		call.KeepStderr = maxContext
	}
	if s.stdin {
		doc, err := program.Document(in)
		if err != nil {
			return core.Result{}, fmt.Errorf("%s: %w", s.name, err)
		}
		call.Stdin = doc
	}
	out, err := program.Run(ctx, call)
	exit, failed := errors.AsType[*program.ExitError](err)
	if err != nil && (!failed || !s.context) {
		return core.Result{}, err
	}
	r, way := core.Result{}, core.Routing{}
	if failed {
		r.Status, r.Note, way.Category, way.Signature = core.Fail, exit.Error(), exit.Category(), exit.FailureSignature()
	} else if r, err = s.result(out.Stdout, in); err != nil {
		return core.Result{}, fmt.Errorf("%s: %w", s.name, err)
	}
	if s.context {
		way.Text = ending(out.Stdout, len(out.Stdout))
		way.Context = map[string]any{
			ContextOutput: way.Text,
			ContextStderr: ending(out.Stderr, out.StderrSize),
		}
	}
	if s.context || failed {
		r.Routing = &way
	}
	return r, nil
}

// text returns the program text in an input or in the context of the walk.
func (s *script) text(in core.Input) (string, error) {
	v, ok := in.Shared().Inputs.Get(s.from)
	if !ok {
		known, _ := in.Shared().View.Get(core.ContextField)
		context, _ := known.(*value.Object)
		v, ok = context.Get(s.from)
	}
	text, isText := v.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("there is no script: neither an input nor the context of the walk has %q", s.from)
	case !isText:
		return "", fmt.Errorf("the script: %s is not a string but %s", s.from, value.TypeName(v))
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("there is no script: %s is empty", s.from)
	case len(text) > maxScript:
		return "", fmt.Errorf("the script: %s has %d bytes, more than the limit of %d", s.from, len(text), maxScript)
	case strings.IndexByte(text, 0) >= 0:
		return "", fmt.Errorf("the script: %s contains a NUL byte", s.from)
	}
	return text, nil
}

// result returns the result for standard output. In a walk, an output that goes to no field is
// not sent along the edges, because the context has it.
func (s *script) result(stdout []byte, in core.Input) (core.Result, error) {
	if s.context && s.form.HasTarget() && s.to.Field == "" {
		return core.Result{}, nil
	}
	return s.form.Result(stdout, s.to, in.Logger())
}

// ending returns the end of an output as a string for the context. size is the number of bytes
// that were printed.
func ending(b []byte, size int) string {
	cut := b[max(0, len(b)-maxContext):]
	if size > maxContext {
		for len(cut) > 0 && !utf8.RuneStart(cut[0]) {
			cut = cut[1:]
		}
	}
	s := strings.ToValidUTF8(strings.TrimRight(string(cut), "\r\n"), "\uFFFD")
	if size > maxContext {
		return fmt.Sprintf("[the first %d bytes are left out]\n%s", size-len(cut), s)
	}
	return s
}
