package sweny

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// kindAgent is the kind of all nodes.
const kindAgent = "agent"

// Titles of the sections before an instruction.
const (
	rulesTitle   = "## Rules: you must follow these"
	contextTitle = "## Background"
)

// shared holds the assembled rules and context that all nodes have in common.
type shared struct{ rules, context string }

// maxAssembled limits the total size of the strings assembled for nodes with their own
// rules or context. Otherwise a long text that many nodes extend would exhaust the
// memory.
const maxAssembled = 64 << 20

func (l *loader) node(id source.Text, v *source.Value, common *shared) *core.Node {
	d := nodeShape{id: id.Value}
	l.ds = append(l.ds, source.Decode(v, &d)...)
	subject := "node " + id.Value
	n := &core.Node{ID: id, Kind: source.At(kindAgent, id.Pos), Label: d.Name, HasWrites: true, Pos: id.Pos,
		Attributes: attributes(v, "name"), Config: &source.Value{Kind: source.ObjectValue, Pos: v.Pos}}
	n.Lost = append(d.Lost, l.reportUnknownKeys(subject, d.Rest, nodeShape{})...)
	if id.Value == core.InputsKey {
		l.ds.Errorf(source.CodeSchema, id.Pos, "a node cannot be called %q: the inputs of the run go by that name", id.Value).WithHint("choose another name")
	}
	l.reportNodeBlanks(subject, v)
	c := &config{tree: v, out: n.Config}
	if !l.instruction(n, &d, c) {
		n.Lost = append(n.Lost, "instruction")
	}
	l.preamble(&d, c, common)
	c.flag("context", true)
	c.flag("lenient", true)
	c.text("model", firstNonBlank(d.Model, l.doc.Model))
	l.output(n, &d, c)
	if d.MaxTurns != nil {
		c.set("max_turns", &source.Value{Kind: source.IntValue, Scalar: int64(d.MaxTurns.Value), Pos: d.MaxTurns.Pos})
	}
	l.nodeSkills(&d, c)
	if d.Tools != nil {
		l.toolFilter(&d, c)
	}
	if d.FailSoft {
		c.flag("fail_soft", true)
	}
	l.requires(&d, c)
	l.eval(&d, c)
	n.OnError = l.retry(&d, c)
	return n
}

// config is the configuration of a node under construction. Each key gets the position
// of the document key it comes from.
type config struct{ tree, out *source.Value }

func (c *config) set(key string, v *source.Value) { c.setFrom(key, key, v) }

func (c *config) setFrom(key, from string, v *source.Value) {
	pos := v.Pos
	for _, k := range c.tree.Keys {
		if k.Value == from {
			pos = k.Pos
		}
	}
	c.out.Set(source.At(key, pos), v)
}

func (c *config) setIfPresent(key string, v *source.Value) {
	if v != nil {
		c.set(key, v)
	}
}

func (c *config) flag(key string, b bool) {
	c.set(key, &source.Value{Kind: source.BoolValue, Scalar: b, Pos: c.tree.Pos})
}

func (c *config) text(key string, t source.Text) {
	if t.Value != "" {
		c.set(key, stringTree(t))
	}
}

func stringTree(t source.Text) *source.Value {
	return &source.Value{Kind: source.StringValue, Pos: t.Pos, Scalar: t.Value}
}

// firstNonBlank returns the first string that is not empty.
func firstNonBlank(list ...source.Text) source.Text {
	for _, t := range list {
		if t.Value != "" {
			return t
		}
	}
	return source.Text{}
}

// instruction reads the instruction of a node.
func (l *loader) instruction(n *core.Node, d *nodeShape, c *config) bool {
	if d.Instruction == nil || d.Lost.Has("instruction") {
		return false
	}
	t, ok := l.text(d.Instruction, "node "+d.id+": instruction", "nodes."+d.id+".instruction", "the node fails when it is reached")
	switch {
	case ok:
		c.text("instruction", t)
	case d.Instruction.kind == urlSource: // a URL is not an error of the document
		n.Handler = unfetchedHandler(strings.TrimSpace(d.Instruction.text.Value))
		return true
	}
	return ok
}

// sources reads a list of sources. Sources that cannot be read are left out.
func (l *loader) sources(list []sourceShape, subject, field string) []source.Text {
	var out []source.Text
	for i := range list {
		at := "[" + value.JSON(int64(i)) + "]"
		if t, ok := l.text(&list[i], subject+at, field+at, "the prompts go without it"); ok {
			out = append(out, t)
		}
	}
	return out
}

// preamble sets the rules and the context that precede the instruction. They come from
// the run, the workflow and the node, in this order, or from the node alone.
func (l *loader) preamble(d *nodeShape, c *config, common *shared) {
	list := &source.Value{Kind: source.ArrayValue, Pos: c.tree.Pos}
	add := func(title, key, text string, nodeSources *nodeSourcesShape) {
		input := key
		if nodeSources != nil {
			if nodeSources.only {
				input, text = "", ""
			}
			text = l.assemble(text, l.sources(nodeSources.sources, "node "+d.id+": "+key, "nodes."+d.id+"."+key))
		}
		if e := preambleSection(title, input, text, c.tree.Pos); e != nil {
			list.Items = append(list.Items, e)
		}
	}
	add(rulesTitle, "rules", common.rules, d.Rules)
	add(contextTitle, "context", common.context, d.Context)
	if len(list.Items) > 0 {
		c.set("preamble", list)
	}
}

// assemble appends strings to one that may be empty.
func (l *loader) assemble(text string, more []source.Text) string {
	if len(more) == 0 {
		return text
	}
	parts := source.Strings(more)
	if text != "" {
		parts = append([]string{text}, parts...)
	}
	before := l.assembled
	for _, p := range parts {
		l.assembled += len(p)
	}
	if l.assembled > maxAssembled {
		if before <= maxAssembled {
			l.ds.Errorf(source.CodeLimit, more[0].Pos, "the rules and context of all nodes are longer than %d bytes", maxAssembled).
				WithHint("put what many nodes share into the rules or the context of the workflow")
		}
		return text
	}
	return strings.Join(parts, "\n\n")
}

// preambleSection returns a section of the preamble: a title, the name of the run's
// input whose text comes first, and the text of the document. It returns nil if the
// section would be empty.
func preambleSection(title, input, text string, pos source.Position) *source.Value {
	if input == "" && text == "" {
		return nil
	}
	s := &source.Value{Kind: source.ObjectValue, Pos: pos}
	put := func(key, text string) {
		if text != "" {
			s.Set(source.At(key, pos), stringTree(source.At(text, pos)))
		}
	}
	put("title", title)
	put("input", input)
	put("text", text)
	return s
}

// output reads the schema of the answer. The router is shown the properties of the
// schema.
func (l *loader) output(n *core.Node, d *nodeShape, c *config) {
	if d.Output == nil {
		return
	}
	if d.Output.Kind != source.ObjectValue {
		if !d.Output.Lost {
			l.ds.Errorf(source.CodeSchema, d.Output.Pos, "node %s: output: want a JSON Schema, found %s", d.id, d.Output.Describe())
		}
		n.Lost = append(n.Lost, "output")
		return
	}
	c.setFrom("schema", "output", d.Output)
	p := d.Output.Get("properties")
	if p == nil || p.Kind != source.ObjectValue {
		return
	}
	n.ViewMembers = append(n.ViewMembers, p.Keys...)
}

// toolFilter reads which tools of its skills a node may use.
func (l *loader) toolFilter(d *nodeShape, c *config) {
	if len(d.Tools.Allow) == 0 && len(d.Tools.Deny) == 0 && !d.Lost.Has("tools") {
		l.ds.Errorf(source.CodeSchema, d.Tools.Pos, "node %s: tools: want allow, deny or both", d.id)
		return
	}
	c.setFrom("tool_filter", "tools", c.tree.Get("tools"))
}

// requires reads the checks before the model is called. It warns about paths that can
// never match because they begin neither at the inputs nor at a node.
func (l *loader) requires(d *nodeShape, c *config) {
	c.setIfPresent("requires", d.Requires)
	for _, path := range requiredPaths(d.Requires) {
		text := path.Value
		if _, rest, ok := strings.Cut(text, ":"); ok { // after all: or any:
			text = rest
		}
		first, _, _ := strings.Cut(text, ".")
		first = strings.TrimSuffix(first, "[*]")
		if first != "" && !slices.Contains(l.contextNames, first) {
			l.ds.Warnf(source.CodeUnknownNode, path.Pos, "node %s: requires: %s will never be there: there is no node %q", d.id, path.Value, first).
				WithHint("%s", cmp.Or(source.DidYouMean(first, l.contextNames), "a path begins with "+core.InputsKey+" or a node"))
		}
	}
}

// requiredPaths returns the paths in a requires mapping.
func requiredPaths(requires *source.Value) []source.Text {
	var found []*source.Value
	if list := requires.Get("output_required"); list != nil {
		found = append(found, list.Items...)
	}
	if list := requires.Get("output_matches"); list != nil {
		for _, m := range list.Items {
			found = append(found, m.Get("path"))
		}
	}
	var paths []source.Text
	for _, v := range found {
		if v != nil && v.Kind == source.StringValue {
			paths = append(paths, source.At(v.Scalar.(string), v.Pos))
		}
	}
	return paths
}

// eval reads the checks of the answer.
func (l *loader) eval(d *nodeShape, c *config) {
	if p := d.EvalPolicy; p.Value != "" && p.Value != "all_pass" {
		switch p.Value {
		case "any_pass", "weighted":
			l.ds.Errorf(source.CodeEvalPolicy, p.Pos, "node %s: eval_policy: %s is reserved and not supported", d.id, p.Value).WithHint("all checks must pass: leave the key out")
		default:
			l.ds.Errorf(source.CodeSchema, p.Pos, "node %s: eval_policy: there is no policy %q", d.id, p.Value).
				WithHint("%s", cmp.Or(source.DidYouMean(p.Value, []string{"all_pass"}), "write all_pass, or leave the key out"))
		}
	}
	c.setIfPresent("eval", d.Eval)
	c.text("judge_model", firstNonBlank(d.JudgeModel, l.doc.JudgeModel))
}

// retry reads the number of retries after a failed check. Failures of the model's
// backend are not retried.
func (l *loader) retry(d *nodeShape, c *config) *core.OnError {
	r := d.Retry
	if r == nil || r.Max.Value == 0 {
		return nil
	}
	if r.Instruction != nil {
		c.setFrom("retry_instruction", "retry", r.Instruction)
	}
	attempts := source.At(r.Max.Value+1, r.Max.Pos)
	return &core.OnError{Policy: source.At("retry", r.Pos), Attempts: &attempts, Base: &source.Located[time.Duration]{Pos: r.Pos},
		RetryOn: source.At("transient", r.Pos), Pos: r.Pos}
}

// defaultJudgeBudget limits the number of judge calls that a document may cause without
// a warning.
const defaultJudgeBudget = 50

// warnJudgeCalls warns if the nodes, each visited once, may call judges more often than
// the budget of the document allows.
func (l *loader) warnJudgeCalls() {
	budget, pos, calls := defaultJudgeBudget, l.doc.Pos, 0
	if b := l.doc.JudgeBudget; b != nil {
		budget, pos = b.Value, b.Pos
	}
	for _, n := range l.w.Nodes {
		each := 0
		if eval := n.Config.Get("eval"); eval != nil {
			for _, e := range eval.Items {
				if word(e, "kind") == "judge" {
					each++
				}
			}
		}
		if n.OnError != nil {
			each *= n.OnError.Attempts.Value
		}
		calls += each
	}
	if calls > budget {
		l.ds.Warnf(source.CodeLimit, pos, "one visit of each node may call judges %d times, and judge_budget is %d", calls, budget).
			WithHint("raise judge_budget, or use checks of the kinds value and function")
	}
}
