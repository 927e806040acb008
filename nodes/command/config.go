package command

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/guard"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

type config struct {
	Run       argv                         `wavefold:"run,required" doc:"the program and its arguments, one list element each"`
	Stdin     *source.Text                 `wavefold:"stdin" doc:"text for standard input, a template; json hands over the document that tools get"`
	Env       source.Members[secret.Value] `wavefold:"env" doc:"further environment variables: {NAME: template} or {NAME: {secret: VARIABLE}}"`
	PassEnv   program.Passed               `wavefold:"pass_env" doc:"the variables that the program gets of the environment, in place of all; PATH, HOME, LANG and TMPDIR in any case"`
	Dir       source.Text                  `wavefold:"dir" doc:"working folder, below the workflow's folder"`
	Output    source.Text                  `wavefold:"output,oneof=text|lines|json|jsonl|result|none" doc:"what becomes of standard output (text)"`
	Into      source.Text                  `wavefold:"into" doc:"the field that gets it; default the only declared write, else the edges"`
	MaxOutput setting.Bytes                `wavefold:"max_output" doc:"limit on standard output and standard error, each (10MB)"`
	OK        []int                        `wavefold:"ok_codes,min=0,max=255" doc:"exit codes that are no failure ([0])"`
	Options   bool                         `wavefold:"allow_options" doc:"whether a value at the beginning of an argument may be an option, such as -r (false)"`
}

// argv is a list of arguments. It rejects a single string, which only a shell would split; the
// hint is the list to write instead.
type argv []source.Text

var _ source.Unmarshaler = (*argv)(nil)

// DecodeValue reads the list.
func (a *argv) DecodeValue(v *source.Value) source.Diagnostics {
	if s, ok := v.Scalar.(string); ok {
		ds := source.WrongType(v, "a list with one element for each argument")
		if strings.ContainsAny(s, "|&;<>()$`\\\"'*?\n") {
			ds[0].WithHint("write [sh, -c, %s] for a string that a shell reads", strconv.Quote(s))
		} else {
			ds[0].WithHint("write [%s]; no shell splits the string", strings.Join(strings.Fields(s), ", "))
		}
		return ds
	}
	return source.Decode(v, (*[]source.Text)(a))
}

// builder compiles a configuration into a command.
type builder struct {
	config
	node  *core.Node
	find  files.Finder
	texts *templates.Set
	// lookup looks up secrets.
	lookup func(string) (string, bool)
}

func (b *builder) build() *command {
	c := &command{form: program.Text, maxOutput: int(b.MaxOutput), ok: b.OK}
	if b.Output.Value != "" {
		c.form = program.Form(b.Output.Value)
	}
	if !b.node.Lost.Has("run") {
		b.program(c)
		b.arguments(c)
	}
	b.input(c)
	b.environment(c)
	b.target(c)
	return c
}

// program finds the program and its working folder. It makes both paths absolute, because the
// program starts in another folder and the engine's working folder may change.
func (b *builder) program(c *command) {
	base, err := filepath.Abs(b.find.Env.Dir)
	if err != nil {
		b.find.Found.Errorf(source.CodeMissingFile, b.Run[0].Pos, "%s: run: the workflow's folder has no path: %v", b.find.Subject, err)
		return
	}
	c.dir = base
	if b.Dir.Value != "" {
		if clean, ok := b.find.Folder(b.Dir, "dir"); ok {
			c.dir = filepath.Join(base, filepath.FromSlash(clean))
		}
	}
	name := b.Run[0]
	c.name = name.Value
	switch {
	case strings.TrimSpace(name.Value) == "":
		b.find.Found.Errorf(source.CodeMissingKey, name.Pos, "%s: run: the name of the program is empty", b.find.Subject)
	case guard.HasTemplate(name.Value):
		b.find.Found.Errorf(source.CodeBadValue, name.Pos, "%s: run: the program must be fixed; only its arguments may contain templates", b.find.Subject)
	case strings.ContainsRune(name.Value, '/') && !filepath.IsAbs(name.Value):
		if clean, ok := b.find.File(name, "run"); ok && b.executable(name, clean) {
			c.path = filepath.Join(base, filepath.FromSlash(clean))
		}
	default:
		c.path, _ = b.find.Program(name.Pos, "run", name.Value)
	}
}

func (b *builder) executable(name source.Text, clean string) bool {
	info, err := fs.Stat(b.find.Env.Files, clean)
	if runtime.GOOS == "windows" || err == nil && info.Mode().Perm()&0o111 != 0 || err != nil && b.find.Env.Resumed {
		return true
	}
	b.find.Found.Errorf(source.CodeBadValue, name.Pos, "%s: run: %q is not executable", b.find.Subject, name.Value).WithHint("run chmod +x on it")
	return false
}

func (b *builder) arguments(c *command) {
	b.guard(source.Strings(b.Run))
	exposed := guard.Exposed(source.Strings(b.Run))
	if b.Options && len(exposed) == 0 {
		b.find.Found = append(b.find.Found, setting.NoEffect(b.node, "a command without arguments that could be options: none begins with a template", "allow_options")...)
	}
	if !b.Options {
		c.exposed = exposed
	}
	for i, arg := range b.Run[1:] {
		c.args = append(c.args, b.texts.Template(arg, "run["+strconv.Itoa(i+1)+"]"))
		if path := strings.TrimPrefix(arg.Value, "$."); path != arg.Value && path != "" && !strings.ContainsAny(path, " \t\n{") {
			b.find.Found.Errorf(source.CodeBadValue, arg.Pos, "%s: run[%d]: %q is passed as it is written", b.find.Subject, i+1, arg.Value).
				WithHint(`write "{{%s}}" for the value`, arg.Value).Severity = source.Hint
		}
	}
}

// guard rejects templates whose values a program would run as code.
func (b *builder) guard(argv []string) {
	place := func(i int) source.Position { return source.Inside(b.Run[i], strings.Index(argv[i], "{{")) }
	for _, text := range guard.ProgramTexts(argv) {
		b.find.Found.Errorf(source.CodeBadValue, place(text.At), "%s: run[%d]: a template inside the program text of %s would let data become code", b.find.Subject, text.At, text.Program).
			WithHint("%s", text.Instead)
	}
	for _, i := range guard.Suspects(argv) {
		b.find.Found.Warnf(source.CodeBadValue, place(i), "%s: run[%d]: if %s runs this text, the template lets data become code", b.find.Subject, i, argv[0]).
			WithHint("pass the value as an argument of its own or by env; if the text is not run, use a template node")
	}
	b.options(argv, place)
	if b.Stdin == nil || b.Stdin.Value != "json" && !guard.HasTemplate(b.Stdin.Value) {
		return
	}
	if name, instead, ok := guard.ReadsProgram(argv); ok {
		b.find.Found.Errorf(source.CodeBadValue, b.Stdin.Pos, "%s: stdin: it is the program text of %s, so a value in it would let data become code", b.find.Subject, name).
			WithHint("%s", instead)
	} else if name := guard.MaybeReadsProgram(argv); name != "" {
		b.find.Found.Warnf(source.CodeBadValue, b.Stdin.Pos, "%s: stdin: if %s starts %s, this is its program text, and a value in it lets data become code", b.find.Subject, argv[0], name).
			WithHint("give %s a program in a file or in an option", name)
	}
}

// options reports values that a program would not treat as data, because of their place among
// the arguments.
func (b *builder) options(argv []string, place func(int) source.Position) {
	if i, ok := guard.Nameless(argv); ok {
		b.find.Found.Warnf(source.CodeBadValue, place(i), `%s: run[%d]: the argument after the program text of %s is "$0", the name of the program`, b.find.Subject, i, argv[0]).
			WithHint(`put a word between the two, so that the value is "$1": [%s, -c, '... "$1"', %s, "{{...}}"]`, argv[0], argv[0])
	}
	for _, i := range guard.Executed(argv) {
		b.find.Found.Errorf(source.CodeBadValue, place(i), "%s: run[%d]: %s runs what this argument says, so a value in it would let data become code", b.find.Subject, i, guard.ProgramName(argv[0])).
			WithHint("keep the argument fixed")
	}
}

func (b *builder) input(c *command) {
	switch {
	case b.Stdin == nil:
	case b.Stdin.Value == "json":
		c.stdinJSON = true
		b.find.Found = append(b.find.Found, program.CheckArgs(b.node, b.find.Subject)...)
	default:
		c.stdin = b.texts.Template(*b.Stdin, "stdin")
	}
}

func (b *builder) environment(c *command) {
	inherit, ds := b.PassEnv.Inherit(b.find.Subject, b.find.Env, program.Owner{HasEnv: true})
	c.inherit, b.find.Found = inherit, append(b.find.Found, ds...)
	for _, m := range b.Env {
		if m.Key.Value == "" || strings.ContainsAny(m.Key.Value, "=\x00") {
			b.find.Found.Errorf(source.CodeBadValue, m.Key.Pos, "%s: env: %q cannot be the name of a variable", b.find.Subject, m.Key.Value)
			continue
		}
		for _, d := range source.Fixed(m.Key) {
			b.find.Found.Errorf(d.Code, d.Pos, "%s: env: %s", b.find.Subject, d.Message)
		}
		v := variable{name: m.Key.Value, secret: m.Value}
		if !m.Value.IsSecret() && guard.HasTemplate(m.Value.Text.Value) && guard.CodeVariable(m.Key.Value) {
			b.find.Found.Errorf(source.CodeBadValue, m.Value.Text.Pos, "%s: env.%s: programs run or load what this variable names, so a value in it would let data become code", b.find.Subject, m.Key.Value).
				WithHint("keep it fixed, and pass the value in a variable of another name")
		}
		m.Value.CheckSet(&b.find.Found, b.lookup, b.find.Subject+": env."+m.Key.Value, "the node fails without it")
		if !m.Value.IsSecret() {
			v.text = b.texts.Template(m.Value.Text, "env."+m.Key.Value)
		}
		c.env = append(c.env, v)
	}
}

func (b *builder) target(c *command) {
	if c.form.HasTarget() {
		to, ds := setting.TargetOf(b.node, b.Into, b.find.Subject)
		c.to = to
		b.find.Found = append(b.find.Found, ds...)
		return
	}
	if b.Into.Value != "" {
		b.find.Found.Errorf(source.CodeBadValue, b.Into.Pos, "%s: into: output: %s has nothing to put into a field", b.find.Subject, c.form)
	} else if c.form == program.None {
		b.find.Found = append(b.find.Found, setting.UnusedWrites(b.node, "a command with output: none writes no state")...)
	}
}
