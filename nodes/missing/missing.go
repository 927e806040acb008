package missing

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/lookup"
)

// maxPrompt is the size of the largest file with a prompt.
const maxPrompt = 1 << 20

// Kinds returns the kinds that documents may name without a handler behind them.
func Kinds() []core.Kind {
	return []core.Kind{Agent(), Prompt(), CLIAgent(), Skill(), Experience()}
}

// Agent returns the kind "agent".
func Agent() core.Kind { return kind{"agent", func() config { return new(agent) }} }

// Prompt returns the kind "prompt".
func Prompt() core.Kind { return kind{"prompt", func() config { return new(agent) }} }

// CLIAgent returns the kind "cli-agent".
func CLIAgent() core.Kind { return kind{"cli-agent", func() config { return new(cliAgent) }} }

// Skill returns the kind "skill".
func Skill() core.Kind { return kind{"skill", func() config { return new(skill) }} }

// Experience returns the kind "experience".
func Experience() core.Kind { return kind{"experience", func() config { return new(experience) }} }

// config is the configuration of one of the kinds.
type config interface {
	// files finds the files that the configuration names, and returns what of it is a
	// template.
	files(f *lookup.Finder) []prompt
	of(subject string)
}

// prompt is a text of a configuration that is a template, or the content of the file
// that it names.
type prompt struct {
	key  string
	text core.Text
}

// named lets the findings of a configuration begin with the node's name.
type named struct{ subject string }

func (n *named) of(subject string)                { n.subject = subject }
func (n *named) DecodeSubject(*core.Value) string { return n.subject }
func (n *named) files(*lookup.Finder) []prompt    { return nil }

type agent struct {
	named
	Prompt      core.Text     `wavefold:"prompt,required" doc:"the prompt, or the name of a file with it"`
	Model       core.Text     `wavefold:"model" doc:"name of the model"`
	Provider    core.Text     `wavefold:"provider" doc:"who serves the model"`
	System      core.Text     `wavefold:"system" doc:"instructions that go before the prompt"`
	Schema      *core.Value   `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
	Temperature float64       `wavefold:"temperature,min=0,max=2" doc:"from 0 to 2"`
	MaxTokens   int           `wavefold:"max_tokens,min=1" doc:"limit on the answer"`
	Effort      core.Text     `wavefold:"reasoning_effort" doc:"how long the model may think, in its own words"`
	Timeout     time.Duration `wavefold:"timeout_ms,ms" doc:"limit on the call"`
}

func (c *agent) files(f *lookup.Finder) []prompt {
	schema(f, c.Schema)
	return []prompt{promptOf(f, c.Prompt, "prompt"), promptOf(f, c.System, "system")}
}

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

func (c *cliAgent) files(f *lookup.Finder) []prompt {
	schema(f, c.Schema)
	return []prompt{promptOf(f, c.Prompt, "prompt")}
}

type skill struct {
	named
	Impl   core.Text    `wavefold:"impl,required" doc:"the package of prompts"`
	Inputs *core.Object `wavefold:"inputs" doc:"its inputs"`
	Model  core.Text    `wavefold:"model" doc:"name of the model"`
	Schema *core.Value  `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
}

func (c *skill) files(f *lookup.Finder) []prompt {
	schema(f, c.Schema)
	return nil
}

type experience struct {
	named
	Impl  core.Text `wavefold:"impl,required" doc:"the workflow"`
	Scope core.Text `wavefold:"state_scope,oneof=isolated|shared" doc:"isolated or shared"`
}

// kind is a kind without a handler of its own.
type kind struct {
	name string
	new  func() config
}

var _ core.StateWriter = kind{}

// Name returns the word documents use.
func (k kind) Name() string { return k.name }

// Keys lists the kind's own keys.
func (k kind) Keys() []string { return core.KeyNames(k.new()) }

// WritesState tells that a model is asked for what it says. The other kinds may
// work by their side effects.
func (k kind) WritesState() bool { return k.name == "agent" || k.name == "prompt" }

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
	if env.Tool != nil {
		if h, ok := env.Tool(k.name); ok {
			made, found := registered(h, n, env, prompts)
			return made, append(ds, found...)
		}
	}
	return core.Compiled{Lacks: `kind "` + k.name + `" has no handler in this build: register a Go function of that name with AddTool, or a kind with AddKind`}, ds
}

// promptOf reads a prompt which is in a file. "see notes.md" is no name of a file but a
// prompt.
func promptOf(f *lookup.Finder, text core.Text, key string) prompt {
	name := strings.TrimSpace(text.Value)
	if !slices.Contains([]string{".md", ".txt"}, path.Ext(name)) || strings.ContainsAny(name, " \t\r\n") {
		return prompt{key, text}
	}
	content, _ := f.Read(core.At(name, text.Pos), key, maxPrompt)
	return prompt{key, core.At(content, core.Position{File: name, Line: 1, Column: 1})}
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
