package agent

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/guard"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// maxSchema limits the size of a schema file, in bytes.
const maxSchema = 1 << 20

// builder makes the handler of a node.
type builder struct {
	agentConfig
	node    *core.Node
	subject string
	env     core.Env
	model   llm.Model
	find    files.Finder
	texts   *templates.Set
	rules   rules
	// missing lists the skills that have neither functions nor an instruction.
	missing core.MissingSkills
	// environments describes the environment variables of the programs; secrets lists the
	// secrets among them.
	environments []core.Environment
	secrets      []core.Secret
	warnings     []core.KindWarning
}

func newBuilder(n *core.Node, env core.Env, m llm.Model, c agentConfig) *builder {
	b := &builder{agentConfig: c, node: n, env: env, model: m, subject: n.Subject()}
	b.find.Env, b.find.Subject = env, b.subject
	b.texts, b.rules.subject = templates.NewSet(n, env), b.subject
	return b
}

func (b *builder) findings() source.Diagnostics {
	return append(append(b.find.Found, b.texts.Found...), b.rules.found...)
}

func (b *builder) errorf(code source.Code, pos source.Position, format string, args ...any) *source.Diagnostic {
	return b.find.Found.Errorf(code, pos, b.subject+": "+format, args...)
}

func (b *builder) build(prompts []templates.Prompt) *runner {
	r := &runner{llm: llm.WithTimeout(b.model, b.Timeout), preamble: b.Preamble, context: b.Context, known: source.Strings(b.Known), model: b.Model.Value, provider: b.Provider.Value, effort: b.Effort.Value,
		lenient: b.Lenient, temperature: b.Temperature, maxTokens: b.MaxTokens, hosted: source.Strings(b.Hosted),
		maxTurns: cmp.Or(b.MaxTurns.Value, DefaultMaxTurns), maxOutput: cmp.Or(int(b.MaxOutput), DefaultMaxOutput),
		failSoft: b.FailSoft, retry: b.Retry, writes: source.Strings(b.node.Writes), id: b.node.ID.Value,
		graph: b.env.Conventions}
	b.checkModelName(b.Model, "model")
	b.checkModelName(b.JudgeModel, "judge_model")
	told := ""
	if b.Instruction != nil {
		r.instruction = b.Instruction.Value
		told = r.instruction
	}
	for _, p := range prompts {
		switch {
		case p.Text.Value == "":
		case p.Key == "prompt":
			r.prompt = b.texts.Template(p.Text, p.Key)
			told = p.Text.Value
		default:
			r.systemText = b.texts.Template(p.Text, p.Key)
		}
	}
	b.answer(r)
	b.offer(r)
	b.require(r)
	r.checks = b.rules.checks(b.Eval, b.JudgeModel.Value)
	b.choices(r)
	b.checkModel(r)
	b.warnIgnored(r, told)
	return r
}

// checkModelName warns of a template or path in the name of a model. The name is sent as
// written.
func (b *builder) checkModelName(name source.Text, key string) {
	if strings.Contains(name.Value, "{{") || strings.HasPrefix(name.Value, "$") {
		b.find.Found.Warnf(source.CodeBadValue, name.Pos, "%s: %s: %q is sent as it is written: the name of a model is not a template", b.subject, key, name.Value).
			WithHint("write the name, or leave the key out for the model that is configured")
	}
}

// answer finds the schema of the answer. If the document has none, the schema follows from
// the node's writes, unless the node writes a single string.
func (b *builder) answer(r *runner) {
	if v := b.schemaTree(); v != nil {
		s, ds := compileSchema(v, b.subject+": schema")
		b.find.Found = append(b.find.Found, ds...)
		if r.schema = s; s != nil && b.env.HasRouter && slices.Contains(s.properties, core.EvalsKey) {
			b.find.Found.Warnf(source.CodeIgnored, v.Pos, "%s: schema: what picks the edge is shown the checks under %s, so a member of this name is hidden from it", b.subject, core.EvalsKey)
		}
		if s != nil {
			b.checkWrites(v)
		}
		return
	}
	if b.Schema == nil && b.needsJSON() {
		r.schema = b.ownSchema(b.writesSchema(), b.node.Pos, "the answer has to fit what the node writes")
	}
}

// schemaTree returns the schema in the document, or in the file that the document names. It
// returns nil if there is none.
func (b *builder) schemaTree() *source.Value {
	if b.Schema == nil || b.Schema.Kind != source.StringValue {
		return b.Schema
	}
	name := source.At(b.Schema.Scalar.(string), b.Schema.Pos)
	content, ok := b.find.Read(name, "schema", maxSchema)
	if !ok {
		return nil
	}
	v, err := value.ParseJSON([]byte(content))
	if err != nil {
		b.errorf(source.CodeBadValue, name.Pos, "schema: %s: %v", name.Value, err)
		return nil
	}
	return source.Tree(v, name.Pos)
}

func (b *builder) require(r *runner) {
	q := b.Requires
	if q == nil {
		return
	}
	if len(q.Required)+len(q.Matches) == 0 {
		b.errorf(source.CodeBadValue, q.Pos, "requires: want output_required or output_matches")
	}
	r.requires = &requirement{valueRule{b.rules.paths(q.Required, "requires: output_required"), b.rules.matches(q.Matches, "requires: output_matches")}, q.OnFail.Value == "skip"}
}

// checkNames returns the names of the checks that later nodes see. It returns nil if the
// answer itself may have a member core.EvalsKey.
func (b *builder) checkNames(r *runner) []string {
	if r.schema != nil && slices.Contains(r.schema.properties, core.EvalsKey) {
		return nil
	}
	var names []string
	for _, k := range r.checks {
		names = append(names, k.name)
	}
	return names
}

// checkRefs returns the checks of other nodes that the requirements refer to, as in
// look.evals.short.pass.
func (b *builder) checkRefs() []core.CheckRef {
	if b.Requires == nil || !b.env.HasRouter {
		return nil
	}
	var refs []core.CheckRef
	add := func(src source.Text, key string) {
		p, err := parsePath(src.Value)
		if err != nil || len(p.steps) < 3 || p.steps[0].all || p.steps[1] != (step{core.EvalsKey, false}) {
			return
		}
		name := p.steps[2].name
		before := strings.Index(src.Value, core.EvalsKey+".") + len(core.EvalsKey) + 1
		refs = append(refs, core.CheckRef{Node: p.steps[0].name, Key: key, Name: source.Cut(src, before, before+len(name))})
	}
	for _, t := range b.Requires.Required {
		add(t, "requires: output_required")
	}
	for _, m := range b.Requires.Matches {
		add(m.Path, "requires: output_matches")
	}
	return refs
}

// checkModel reports what the node needs and the model does not support.
func (b *builder) checkModel(r *runner) {
	if b.model == nil {
		return
	}
	lacks := func(pos source.Position, key string, q llm.Request) {
		q.Model = r.model
		if why := llm.Lacks(b.model, &q); why != "" {
			b.errorf(source.CodeBadValue, pos, "%s: %s", key, why)
		}
	}
	if len(r.hosted) > 0 {
		lacks(b.Hosted[0].Pos, "hosted_tools", llm.Request{Hosted: r.hosted})
	}
	if r.effort != "" {
		lacks(b.Effort.Pos, "reasoning_effort", llm.Request{Effort: r.effort})
	}
	if len(r.tools) > 0 {
		pos := b.node.Pos
		for _, key := range []string{"skills", "commands", "tools"} {
			if v := b.node.Config.Get(key); v != nil {
				pos = v.Pos
			}
		}
		lacks(pos, "tools", llm.Request{Tools: []llm.Tool{r.tools[0].Tool}})
	}
	if b.Schema != nil && r.schema != nil {
		lacks(b.Schema.Pos, "schema", llm.Request{Schema: &llm.Schema{Name: "answer", Schema: r.schema.object}})
	}
}

// offer collects the tools that the model may call.
func (b *builder) offer(r *runner) {
	for _, t := range b.Tools {
		b.function(r, t)
	}
	for _, c := range b.Commands {
		b.command(r, c)
	}
	b.skills(r)
}

// add adds a tool. The model sees a name that consists of letters, digits, _ and -.
func (b *builder) add(r *runner, pos source.Position, t tool) {
	t.Name = toolName(t.Name)
	if slices.ContainsFunc(r.tools, func(o tool) bool { return o.Name == t.Name }) {
		b.errorf(source.CodeDuplicate, pos, "two tools are called %s", t.Name)
		return
	}
	r.tools = append(r.tools, t)
}

// toolName returns the name of a tool that the model sees.
func toolName(name string) string { return otherSigns.ReplaceAllString(name, "_") }

var otherSigns = lazyregexp.New(`[^A-Za-z0-9_-]`)

func (b *builder) function(r *runner, c toolConfig) {
	var h core.Handler
	if b.env.Tool != nil {
		h, _ = b.env.Tool(c.Name.Value)
	}
	if h == nil {
		hint := "a Go program registers it by Engine.AddTool; list a program to run under commands"
		if len(b.env.Tools) > 0 {
			hint = source.UnknownKeyHint(c.Name.Value, b.env.Tools)
		}
		b.errorf(source.CodeUnknownImpl, c.Name.Pos, "tools: no Go function is registered under %q", c.Name.Value).WithHint("%s", hint)
		return
	}
	t := b.bind(c.Name, h)
	if c.Description != "" {
		t.Description = c.Description
	}
	if c.Parameters != nil {
		t.schema = b.parameters(c.Parameters, "tools: "+c.Name.Value)
	}
	b.add(r, c.Name.Pos, t.withParameters())
}

// bind makes a tool of a function. The function is bound to a node without writes, so that
// it returns its result unchanged.
func (b *builder) bind(name source.Text, h core.Handler) tool {
	t := tool{Tool: llm.Tool{Name: name.Value}}
	if d, ok := h.(core.Described); ok {
		if p := d.Arguments(); p != nil {
			t.schema = b.ownSchema(schemaOf(p), name.Pos, "the arguments of "+name.Value+" have types")
		}
	}
	if binder, ok := h.(core.Binder); ok {
		bound, ds := binder.Bind(&core.Node{ID: b.node.ID, Kind: b.node.Kind, Pos: b.node.Pos}, b.env)
		b.find.Found = append(b.find.Found, ds...)
		h = bound
	}
	t.call = function(h)
	return t
}

func (t tool) withParameters() tool {
	if t.schema != nil {
		t.Parameters = t.schema.object
	}
	return t
}

func (b *builder) parameters(v *source.Value, key string) *schema {
	s, ds := compileSchema(v, b.subject+": "+key+": parameters")
	b.find.Found = append(b.find.Found, ds...)
	return s
}

func (b *builder) command(r *runner, c commandConfig) {
	t := tool{Tool: llm.Tool{Name: c.Name.Value, Description: c.Description.Value}}
	if c.Parameters != nil {
		t.schema = b.parameters(c.Parameters, "commands: "+c.Name.Value)
	}
	base, err := filepath.Abs(b.env.Dir)
	if err != nil {
		b.errorf(source.CodeMissingFile, c.Pos, "commands: the workflow's folder has no path: %v", err)
		return
	}
	name := c.Run[0]
	var file string
	var ok bool
	if strings.ContainsRune(name.Value, '/') && !filepath.IsAbs(name.Value) {
		var clean string
		clean, ok = b.find.File(name, "commands: "+c.Name.Value)
		file = filepath.Join(base, filepath.FromSlash(clean))
	} else {
		file, ok = b.find.Program(name.Pos, "commands: "+c.Name.Value, name.Value)
	}
	if !ok {
		return
	}
	if program, instead, ok := guard.ReadsProgram(source.Strings(c.Run)); ok {
		b.errorf(source.CodeBadValue, name.Pos, "commands: %s: standard input is the program text of %s, and what the model sends would be run", c.Name.Value, program).
			WithHint("%s", instead)
	}
	p := &commandTool{path: file, name: name.Value, args: source.Strings(c.Run[1:]), dir: base}
	b.environment(p, &c)
	t.call = p.call
	b.add(r, c.Name.Pos, t.withParameters())
}

// environment compiles the environment of a program, which has only the variables that the
// document lists.
func (b *builder) environment(p *commandTool, c *commandConfig) {
	inherit, ds := c.PassEnv.Inherit(b.subject+": commands: "+c.Name.Value, b.env, program.Owner{ByModel: true, HasEnv: true})
	p.inherit, b.find.Found = inherit, append(b.find.Found, ds...)
	var own []string
	for _, m := range c.Env {
		if m.Key.Value == "" || strings.ContainsAny(m.Key.Value, "=\x00") {
			b.errorf(source.CodeBadValue, m.Key.Pos, "commands: %s: env: %q cannot be the name of a variable", c.Name.Value, m.Key.Value)
			continue
		}
		for _, d := range source.Fixed(m.Key) {
			b.errorf(d.Code, d.Pos, "commands: %s: env: %s", c.Name.Value, d.Message)
		}
		own = append(own, m.Key.Value)
		v := variable{name: m.Key.Value, secret: m.Value}
		if m.Value.IsSecret() {
			b.secrets = append(b.secrets, m.Value.Ref(os.LookupEnv))
			m.Value.CheckSet(&b.find.Found, os.LookupEnv, b.subject+": commands: "+c.Name.Value+": env."+m.Key.Value, "calls of this program fail without it")
		} else {
			if guard.HasTemplate(m.Value.Text.Value) && guard.CodeVariable(m.Key.Value) {
				b.errorf(source.CodeBadValue, m.Value.Text.Pos, "commands: %s: env.%s: programs run or load what this variable names, so a value in it would let data become code", c.Name.Value, m.Key.Value).
					WithHint("keep it fixed, and pass the value in a variable of another name")
			}
			v.text = b.texts.Template(m.Value.Text, "commands: "+c.Name.Value+": env."+m.Key.Value)
		}
		p.env = append(p.env, v)
	}
	b.environments = append(b.environments, inherit.Described(c.Name.Value, own...)...)
}

// skills resolves each skill to registered functions. If there are none, its instruction
// becomes a part of the prompt.
func (b *builder) skills(r *runner) {
	var resolved int
	for _, s := range b.Skills {
		switch names := b.family(s.Name.Value); {
		case len(names) > 0:
			resolved++
			for _, name := range names {
				if h, ok := b.env.Tool(name); ok && b.allowed(name) {
					b.add(r, s.Name.Pos, b.bind(source.At(name, s.Name.Pos), h).withParameters())
				}
			}
		case !isBlank(s.Instruction.Value):
			resolved++
			r.preamble = append(r.preamble, preambleConfig{Title: source.At("## Skill: "+s.Name.Value, s.Name.Pos), Text: source.At(strings.TrimSpace(s.Instruction.Value), s.Instruction.Pos)})
		default:
			b.missing.Names = append(b.missing.Names, s.Name)
		}
	}
	if resolved == 0 && b.missing.Names != nil {
		b.missing.All = true
		r.unresolved = "none of the skills of the node is there (" + strings.Join(source.Strings(b.missing.Names), ", ") + "): register Go functions of these names"
	}
	b.checkFilter(r)
}

// family returns the functions that belong to a skill, sorted by name.
func (b *builder) family(skill string) []string {
	if b.env.Tool == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.env.Tools), func(name string) bool { return name != skill && !strings.HasPrefix(name, skill+"_") })
}

func (b *builder) allowed(name string) bool {
	is := func(t source.Text) bool { return t.Value == name }
	f := b.Filter
	return f == nil || !slices.ContainsFunc(f.Deny, is) && (len(f.Allow) == 0 || slices.ContainsFunc(f.Allow, is))
}

// checkFilter warns of names in the filter that match no tool of a skill. It says nothing if
// a skill is missing, because the tools of that skill are unknown.
func (b *builder) checkFilter(r *runner) {
	if b.Filter == nil {
		return
	}
	if len(b.Filter.Allow)+len(b.Filter.Deny) == 0 {
		b.errorf(source.CodeBadValue, b.Filter.Pos, "tool_filter: want allow or deny")
	}
	if b.missing.Names != nil {
		return
	}
	var names []string
	for _, s := range b.Skills {
		names = append(names, b.family(s.Name.Value)...)
	}
	for _, t := range slices.Concat(b.Filter.Allow, b.Filter.Deny) {
		if !slices.Contains(names, t.Value) {
			b.find.Found.Warnf(source.CodeIgnored, t.Pos, "%s: no skill of the node has the tool %q that its filter names", b.subject, t.Value).
				WithHint("%s", source.DidYouMean(t.Value, names))
		}
	}
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
