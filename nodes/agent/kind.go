package agent

import (
	"cmp"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Names of the kinds.
const (
	kindAgent  = "agent"
	kindPrompt = "prompt"
)

// Defaults of a node.
const (
	DefaultMaxTurns  = 20
	DefaultMaxOutput = 100 << 10 // bytes of a tool's answer that the model is shown
)

// Kinds returns the kinds agent and prompt, whose nodes call the model m. If m is nil, such
// nodes compile, and a run with one is rejected. A Go function registered under the name of
// the kind replaces the model.
func Kinds(m llm.Model) []core.Kind {
	return []core.Kind{
		core.NewKind(core.KindOf[agentConfig]{
			Name:        kindAgent,
			Doc:         "Sends a prompt to a language model that may have tools.",
			WritesState: true,
			Partial:     true,
			Before: func(n *core.Node, env core.Env) (made core.Compiled, done bool, ds source.Diagnostics) {
				if env.Agent == nil {
					return made, false, nil
				}
				made, ds = compileInFlow(n, env, m)
				return made, true, ds
			},
			Compile: func(n *core.Node, env core.Env, c *agentConfig) (core.Compiled, source.Diagnostics) {
				return compile(kindAgent, newBuilder(n, env, m, *c))
			},
		}),
		core.NewKind(core.KindOf[common]{
			Name:        kindPrompt,
			Doc:         "Sends a prompt to a language model once.",
			WritesState: true,
			Partial:     true,
			Compile: func(n *core.Node, env core.Env, c *common) (core.Compiled, source.Diagnostics) {
				return compile(kindPrompt, newBuilder(n, env, m, agentConfig{common: *c}))
			},
		}),
	}
}

// compile checks a node with its schema, files and tools. It does not call the model.
func compile(kind string, b *builder) (core.Compiled, source.Diagnostics) {
	prompts := b.prompts()
	ds := b.find.Found
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	if made, found, ok := templates.Function(kind, b.node, b.env, prompts); ok {
		made.Briefed = b.env.Briefing
		return made, append(ds, found...)
	}
	b.find.Found = nil
	r := b.build(prompts)
	made := core.Compiled{Briefed: b.env.Briefing, Missing: b.missing, Warnings: b.warnings, Environments: b.environments, Secrets: b.secrets,
		AnyInput: b.Context || b.Requires != nil}
	made.Columns = b.rows(r)
	made.Reads, made.Nodes = b.texts.Reads, slices.Concat(b.texts.Nodes, b.Known)
	made.Checks, made.CheckRefs = b.checkNames(r), b.checkRefs()
	if ds = append(ds, b.findings()...); ds.Failed(false) {
		return made, ds
	}
	if b.model == nil {
		made.NoModel = `kind "` + kind + `" has no model to ask: give the engine one (Engine.UseModel), or register a Go function of that name`
		return made, ds
	}
	ds = append(ds, setting.UnusedArgs(b.node, "prompt and system are templates and may contain {{NAME}}", b.texts.Names...)...)
	made.Handler, made.Models, made.Effects = r, true, len(b.Commands) > 0
	made.Unpriced = r.unpriced()
	return made, ds
}

// prompts returns the templates of the configuration. Templates in files are read.
func (b *builder) prompts() []templates.Prompt {
	switch {
	case b.Prompt != nil && b.Instruction != nil:
		b.find.Found.Errorf(source.CodeBadValue, b.Instruction.Pos, "%s: prompt and instruction exclude each other", b.subject)
	case b.Prompt == nil && b.Instruction == nil && b.node.Config.Whole() && !b.node.Lost.Any("prompt", "instruction"):
		b.find.Found.Errorf(source.CodeMissingKey, cmp.Or(b.node.Config.Pos, b.node.Pos), `%s: key "prompt" is missing`, b.subject)
	}
	var out []templates.Prompt
	if b.Prompt != nil {
		if isBlank(b.Prompt.Value) {
			b.find.Found.Errorf(source.CodeMissingKey, b.Prompt.Pos, `%s: key "prompt" is empty`, b.subject)
		}
		out = append(out, templates.PromptOf(&b.find, *b.Prompt, "prompt"))
	}
	if b.Instruction != nil && isBlank(b.Instruction.Value) {
		b.find.Found.Errorf(source.CodeMissingKey, b.Instruction.Pos, `%s: key "instruction" is empty`, b.subject)
	}
	return append(out, templates.PromptOf(&b.find, b.System, "system"))
}
