package unhandled

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Kinds returns the kinds of this package.
func Kinds() []core.Kind {
	return []core.Kind{CLIAgent(), Skill()}
}

// CLIAgent returns the kind "cli-agent".
func CLIAgent() core.Kind {
	return kind("cli-agent", "Passes a prompt for a coding program on the command line to a handler of yours.", (*cliAgent).files)
}

// Skill returns the kind "skill".
func Skill() core.Kind {
	return kind("skill", "Passes a package of prompts to a handler of yours.", (*skill).files)
}

type cliAgent struct {
	Provider source.Text   `wavefold:"provider,required" doc:"which program"`
	Prompt   source.Text   `wavefold:"prompt,required" doc:"the prompt, or the name of a file with it"`
	Model    source.Text   `wavefold:"model" doc:"name of the model"`
	Workdir  source.Text   `wavefold:"workdir" doc:"folder it works in"`
	Output   source.Text   `wavefold:"output_format" doc:"what it prints"`
	Schema   *source.Value `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
	Timeout  time.Duration `wavefold:"timeout_ms,ms,min=1s" doc:"limit on the call, at least 1000"`
	Extra    []source.Text `wavefold:"extra_args" doc:"further arguments"`
}

// files checks the files that the configuration names and returns its templates.
func (c *cliAgent) files(f *files.Finder) []templates.Prompt {
	schema(f, c.Schema)
	return []templates.Prompt{templates.PromptOf(f, c.Prompt, "prompt")}
}

type skill struct {
	Impl   source.Text   `wavefold:"impl,required" doc:"the package of prompts"`
	Inputs *value.Object `wavefold:"inputs" doc:"its inputs"`
	Model  source.Text   `wavefold:"model" doc:"name of the model"`
	Schema *source.Value `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
}

func (c *skill) files(f *files.Finder) []templates.Prompt {
	schema(f, c.Schema)
	return nil
}

// kind returns a kind without a built-in handler. If a Go function is registered under the name
// of the kind, it is the handler. find checks the files that a configuration names and returns
// its templates.
func kind[C any](name, doc string, find func(*C, *files.Finder) []templates.Prompt) core.Kind {
	compile := func(n *core.Node, env core.Env, c *C) (core.Compiled, source.Diagnostics) {
		f := &files.Finder{Env: env, Subject: n.Subject()}
		prompts := find(c, f)
		if f.Found.Failed(false) {
			return core.Compiled{}, f.Found
		}
		if made, found, ok := templates.Function(name, n, env, prompts); ok {
			return made, append(f.Found, found...)
		}
		return core.Compiled{NoHandler: `kind "` + name + `" has no handler in this build: register a Go function of that name with AddTool, or a kind with AddKind`}, f.Found
	}
	return core.NewKind(core.KindOf[C]{Name: name, Doc: doc, Compile: compile, Partial: true})
}

// schema checks that a schema is a mapping or the name of an existing file.
func schema(f *files.Finder, v *source.Value) {
	switch {
	case v == nil || v.Kind == source.ObjectValue:
	case v.Kind == source.StringValue:
		f.File(source.At(v.Scalar.(string), v.Pos), "schema")
	default:
		f.Found.Errorf(source.CodeWrongType, v.Pos, "%s: schema: want a mapping or the name of a file, found %s", f.Subject, v.Describe())
	}
}
