package agent

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/llm"
)

// warn adds a warning. Equal warnings of several nodes are reported once.
func (b *builder) warn(code source.Code, pos source.Position, hint, format string, args ...any) {
	b.warnings = append(b.warnings, core.KindWarning{Code: code, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// warnIgnored warns of settings that have no effect.
func (b *builder) warnIgnored(r *runner, prompt string) {
	b.warnProvider(r)
	without := func(key, why, hint string) {
		if v := b.node.Config.Get(key); v != nil && v.Kind != source.NullValue && b.writtenAtNode(v.Pos) {
			b.warn(source.CodeIgnored, v.Pos, hint, "%s has no effect: %s", key, why)
		}
	}
	judged := slices.ContainsFunc(r.checks, func(k check) bool { return k.kind == checkJudge })
	switch {
	case !judged:
		without("judge_model", "no check of the node is a judge", "add a check of the kind judge to eval, or leave the key out")
	case !slices.ContainsFunc(b.Eval, func(e evaluatorConfig) bool { return e.Kind.Value == checkJudge && e.Model == nil }):
		without("judge_model", "each judge of the node names a model of its own", "leave one of them out")
	}
	switch {
	case len(r.checks) == 0:
		without("retry_instruction", "the answer has no checks that could fail", "add checks (eval)")
	case b.node.OnError == nil:
		without("retry_instruction", "the node has one attempt", "add on_error: {policy: retry}")
	}
	if b.env.Context {
		without("context_nodes", "the results that the run knows are those in the context of the walk", "leave the key out")
	} else if !b.Context && b.Requires == nil {
		without("context_nodes", "neither context nor requires uses the results", "add context: true, or refer to a node in the prompt: {{$nodes.ID.output}}")
	}
	for _, p := range b.Preamble {
		if p.Title.Value != "" && p.Input.Value == "" && isBlank(p.Text.Value) && b.writtenAtNode(p.Title.Pos) {
			b.warn(source.CodeIgnored, p.Title.Pos, "add text or input", "preamble: title has no effect: there is nothing below it")
		}
	}
	if b.Lenient && r.schema == nil {
		without("lenient", "the answer has no schema", "add a schema")
	}
	b.warnTurns()
	if len(r.tools) == 0 && b.missing.Names == nil {
		const hint = "offer it tools, or leave the key out"
		if b.MaxTurns.Value > 0 && !b.env.Steps {
			without("max_turns", "the model has no tools to call", hint)
		}
		if b.MaxOutput > 0 {
			without("max_output", "the model has no tools to call", hint)
		}
	}
	b.warnMissingTools(r, prompt)
}

// writtenAtNode reports whether a setting is written at the node itself. The position of a setting for
// all nodes of a document is before the node. A setting that a format adds has the position of
// the node.
func (b *builder) writtenAtNode(pos source.Position) bool {
	at := b.node.Pos
	return pos != b.node.Config.Pos && (pos.File != at.File || pos.Line > at.Line || pos.Line == at.Line && pos.Column > at.Column)
}

// warnProvider warns of a provider that the model cannot choose.
func (b *builder) warnProvider(r *runner) {
	if b.model == nil || r.provider == "" {
		return
	}
	if why := llm.Lacks(b.model, &llm.Request{Model: r.model, Provider: r.provider}); why != "" {
		b.warn(source.CodeIgnored, b.Provider.Pos, "a proxy can choose the provider by the name of the model; in Go, a client of your own can read Request.Provider",
			"provider has no effect: %s", why)
	}
}

// warnMissingTools warns of an agent that needs tools that it does not have: tools that its checks
// require calls of, or any tools if its prompt requests work that only a tool can do. An empty
// list of tools suppresses the second warning. A missing skill suppresses both, because its tools
// are unknown.
func (b *builder) warnMissingTools(r *runner, told string) {
	if b.missing.Names != nil {
		return
	}
	offered := func(t source.Text) bool {
		return slices.ContainsFunc(r.tools, func(o tool) bool { return o.Name == toolName(t.Value) })
	}
	wanted := false
	for _, e := range b.Eval {
		if e.Kind.Value != checkFunction || e.Rule == nil {
			continue
		}
		lost := func(names []source.Text, why string) {
			wanted = true
			b.warn(source.CodeModelTools, names[0].Pos, "offer these tools, or leave the check out", "%s wants calls of %s, and %s, so the check always fails", e.Name.Value, source.Named(source.Strings(names)), why)
		}
		if any := e.Rule.AnyTool; len(any) > 0 && !slices.ContainsFunc(any, offered) {
			lost(any, "the model is offered none of them")
		}
		if all := slices.DeleteFunc(slices.Clone(e.Rule.AllTools), offered); len(all) > 0 {
			lost(all, "the model is not offered them")
		}
	}
	if wanted || b.node.Toolless || b.Tools != nil || b.node.Kind.Value != kindAgent || len(r.tools)+len(r.hosted) > 0 {
		return
	}
	phrase := needsTools(told)
	if phrase == "" {
		return
	}
	hint := "if the answer is all that is wanted, use the kind prompt (in DOT shape=tab) or an empty list of tools"
	if b.env.HasRouter {
		hint = "give the node skills"
	}
	pos := b.node.ID.Pos
	for _, p := range []*source.Text{b.Prompt, b.Instruction} {
		if p != nil {
			pos = p.Pos
		}
	}
	b.warn(source.CodeModelTools, pos, fmt.Sprintf("%q needs a tool; %s", phrase, hint),
		"the prompt asks for work on files or with programs, and the model has no tools: it answers with a string, changes no file and runs no program")
}
