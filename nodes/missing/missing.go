package missing

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/lookup"
	"github.com/wavefold/wavefold/nodes/internal/registered"
)

// Kinds returns the kinds that documents may name without a handler behind them.
func Kinds() []core.Kind {
	return []core.Kind{CLIAgent(), Skill()}
}

// CLIAgent returns the kind "cli-agent".
func CLIAgent() core.Kind { return kind{"cli-agent", func() config { return new(cliAgent) }} }

// Skill returns the kind "skill".
func Skill() core.Kind { return kind{"skill", func() config { return new(skill) }} }

// config is the configuration of one of the kinds.
type config interface {
	// files finds the files that the configuration names, and returns what of it is a
	// template.
	files(f *lookup.Finder) []registered.Prompt
	of(subject string)
}

// named lets the findings of a configuration begin with the node's name.
type named struct{ subject string }

func (n *named) of(subject string)                        { n.subject = subject }
func (n *named) DecodeSubject(*core.Value) string         { return n.subject }
func (n *named) files(*lookup.Finder) []registered.Prompt { return nil }

type cliAgent struct {
	named
	Provider core.Text     `wavefold:"provider,required" doc:"which program"`
	Prompt   core.Text     `wavefold:"prompt,required" doc:"the prompt, or the name of a file with it"`
	Model    core.Text     `wavefold:"model" doc:"name of the model"`
	Workdir  core.Text     `wavefold:"workdir" doc:"folder it works in"`
	Output   core.Text     `wavefold:"output_format" doc:"what it prints"`
	Schema   *core.Value   `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
	Timeout  time.Duration `wavefold:"timeout_ms,ms,min=1s" doc:"limit on the call, at least 1000"`
	Extra    []core.Text   `wavefold:"extra_args" doc:"further arguments"`
}

func (c *cliAgent) files(f *lookup.Finder) []registered.Prompt {
	schema(f, c.Schema)
	return []registered.Prompt{registered.PromptOf(f, c.Prompt, "prompt")}
}

type skill struct {
	named
	Impl   core.Text    `wavefold:"impl,required" doc:"the package of prompts"`
	Inputs *core.Object `wavefold:"inputs" doc:"its inputs"`
	Model  core.Text    `wavefold:"model" doc:"name of the model"`
	Schema *core.Value  `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
}

func (c *skill) files(f *lookup.Finder) []registered.Prompt {
	schema(f, c.Schema)
	return nil
}

// kind is a kind without a handler of its own.
type kind struct {
	name string
	new  func() config
}

var _ core.Kind = kind{}

// Name returns the word documents use.
func (k kind) Name() string { return k.name }

// Keys lists the kind's own keys.
func (k kind) Keys() []string { return core.KeyNames(k.new()) }

// Compile checks the node. Its handler is the Go function that is registered under the
// name of the kind, if there is one.
func (k kind) Compile(n *core.Node, env core.Env) (core.Compiled, core.Diagnostics) {
	c := k.new()
	subject := "node " + n.ID.Value
	c.of(subject)
	ds := core.Decode(n.Config, c)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	f := &lookup.Finder{Env: env, Subject: subject}
	prompts := c.files(f)
	if ds = append(ds, f.Found...); ds.Failed(false) {
		return core.Compiled{}, ds
	}
	if made, found, ok := registered.Node(k.name, n, env, prompts); ok {
		return made, append(ds, found...)
	}
	return core.Compiled{NoHandler: `kind "` + k.name + `" has no handler in this build: register a Go function of that name with AddTool, or a kind with AddKind`}, ds
}

// schema checks the shape of a schema, and that one which is a file is there.
func schema(f *lookup.Finder, v *core.Value) {
	switch {
	case v == nil || v.Kind == core.ObjectValue:
	case v.Kind == core.StringValue:
		f.File(core.At(v.Scalar.(string), v.Pos), "schema")
	default:
		f.Found.Errorf(core.CodeWrongType, v.Pos, "%s: schema: want a mapping or the name of a file, found %s", f.Subject, v.Describe())
	}
}
