package human

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Kind is the kind "human".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    "human",
	Doc:     "Asks a person to decide: which choice a graph continues with, or which edge a walk takes.",
	Compile: compile,
	Partial: true,
})

type config struct {
	Text source.Text `wavefold:"text" doc:"the question, a template (the node's label, else its id)"`
	Show showList    `wavefold:"show" doc:"what is shown with it: fields, context.KEY, expressions, files"`

	Choices []source.Text `wavefold:"choices" doc:"what the person can choose, in a dag ([approve, reject])"`
	FailOn  []source.Text `wavefold:"fail_on" doc:"the choices that make the node fail, in a dag"`
	Default source.Text   `wavefold:"default" doc:"the choice that is taken if there is no answer within the timeout, in a dag"`

	DefaultChoice source.Text `wavefold:"default_choice" doc:"the node that follows if there is no answer within the timeout, in a walk"`
}

// builder compiles one node.
type builder struct {
	config
	node  *core.Node
	env   core.Env
	texts *templates.Set
	ds    source.Diagnostics
}

// compile compiles the question and finds the choices.
func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	var ds source.Diagnostics
	b := &builder{config: *c, node: n, env: env, texts: templates.NewSet(n, env)}
	g := &gate{text: cmp.Or(n.Label.Value, n.ID.Value), files: env.Files, dir: env.Dir, walk: env.Edges != nil && !env.Steps}
	if c.Text.Value != "" {
		g.template = b.texts.Template(c.Text, "text")
	}
	g.shows = b.shows()
	if n.Timeout != nil {
		g.timeout = n.Timeout.Value
	}
	if g.walk {
		b.routes(g)
	} else {
		b.decides(g)
	}
	ds = append(append(ds, b.ds...), b.texts.Found...)
	if !b.texts.Found.Failed(false) {
		ds = append(ds, setting.UnusedArgs(n, "text is a template and may contain {{NAME}}", b.texts.Names...)...)
	}
	made := core.Compiled{Handler: g, Role: core.RoleHuman, Reads: b.texts.Reads, Nodes: b.texts.Nodes}
	if !g.walk && !b.env.Steps && len(g.options) > 1 && len(g.failOn) == 0 {
		made.Warnings = []core.KindWarning{{Code: source.CodeIgnored, Pos: n.ID.Pos, Unseen: true,
			Message: "the choice has no effect: nothing reads the decision, and no choice is in fail_on",
			Hint:    fmt.Sprintf("write fail_on: [%s] if that choice must stop what follows, or give the edges conditions", g.options[len(g.options)-1].choice.Label)}}
	}
	return made, ds
}

// routes finds the choices of a gate in a walk.
func (b *builder) routes(g *gate) {
	n, env, ds := b.node, b.env, &b.ds
	g.options = optionsOf(env.Edges)
	for _, c := range slices.Concat(b.Choices, b.FailOn, []source.Text{b.Default}) {
		if c.Value != "" {
			ds.Errorf(source.CodeUnknownKey, c.Pos, "%s: choices, fail_on and default are settings of a gate in a dag", n.Subject()).
				WithHint("the choices of a walk are the labels of its edges; default_choice names the node that follows if there is no answer")
			break
		}
	}
	if len(g.options) == 0 && len(env.Edges) > 0 {
		ds.Warnf(source.CodeMissingKey, n.ID.Pos, "%s: every edge out of it has a condition and no label, so there is nothing to choose and the gate fails", n.Subject()).
			WithHint("give a label to the edges that a person may choose")
	}
	g.checkLabels(ds, n.Subject())
	checkConditions(ds, n.Subject(), env.Edges)
	g.setDefault(ds, &b.config, n)
	*ds = append(*ds, setting.UnusedWrites(n, "a human gate of a walk writes nothing")...)
}

// option is an edge that an answer may pick.
type option struct {
	choice   core.Choice
	freeform bool
	// prefer is the label that the gate prefers, "" if an earlier edge has the same label.
	prefer string
	pos    source.Position
}

// optionsOf returns the edges that answers may pick. An edge with a condition and no label is not
// one of them.
func optionsOf(edges []*core.Edge) []option {
	var options []option
	for _, e := range edges {
		if e.When == nil || e.Freeform || strings.TrimSpace(e.Label.Value) != "" {
			options = append(options, optionOf(e, edges))
		}
	}
	return options
}

func optionOf(e *core.Edge, edges []*core.Edge) option {
	label := e.Label
	if strings.TrimSpace(label.Value) == "" {
		label = e.To
	}
	w := option{freeform: e.Freeform, pos: label.Pos, choice: core.Choice{Key: core.Accelerator(label.Value), Label: label.Value, Target: e.To.Value}}
	if w.freeform {
		w.choice.Key = keyFreeform
	}
	if first := preferred(edges, label.Value); first == nil || first == e {
		w.prefer = label.Value
	}
	return w
}

// preferred returns the edge that a preferred label selects, or nil if there is none.
func preferred(edges []*core.Edge, label string) *core.Edge {
	for _, e := range edges {
		if e.When == nil && core.NormalLabel(e.Label.Value) == core.NormalLabel(label) {
			return e
		}
	}
	return nil
}

// checkLabels warns of choices with equal labels.
func (g *gate) checkLabels(ds *source.Diagnostics, subject string) {
	for i, w := range g.options {
		for _, o := range g.options[:i] {
			if !w.freeform && !o.freeform && core.NormalLabel(o.choice.Label) == core.NormalLabel(w.choice.Label) {
				ds.Warnf(source.CodeDuplicate, w.pos, "%s: the choices %q and %q cannot be told apart but by their keys", subject, o.choice.Label, w.choice.Label)
				break
			}
		}
	}
}

// checkConditions warns of choices whose condition may be false when they are picked, if other
// choices have no condition. A condition on the picked choice itself is fine.
func checkConditions(ds *source.Diagnostics, subject string, edges []*core.Edge) {
	if !slices.ContainsFunc(edges, func(e *core.Edge) bool { return e.When == nil }) {
		return
	}
	for _, e := range edges {
		if e.When == nil || e.Freeform || strings.TrimSpace(e.Label.Value) == "" ||
			strings.Contains(e.When.Value, core.ContextPreferredLabel) || strings.Contains(e.When.Value, "human.gate.") {
			continue
		}
		ds.Warnf(source.CodeIgnored, e.Label.Pos, "%s: the choice %q counts only while its condition is true: if it is false when somebody picks it, no edge is followed", subject, e.Label.Value)
	}
}

// setDefault finds the default choice.
func (g *gate) setDefault(ds *source.Diagnostics, c *config, n *core.Node) {
	if c.DefaultChoice.Value == "" {
		return
	}
	targets := make([]string, len(g.options))
	for i, w := range g.options {
		targets[i] = w.choice.Target
	}
	at := slices.Index(targets, c.DefaultChoice.Value)
	if at < 0 {
		ds.Warnf(source.CodeUnknownNode, c.DefaultChoice.Pos, "%s: default_choice: no choice leads to %q, so nothing is taken when time is up", n.Subject(), c.DefaultChoice.Value).
			WithHint("%s", cmp.Or(source.DidYouMean(c.DefaultChoice.Value, targets), "want one of "+strings.Join(targets, ", ")))
		return
	}
	g.fallback = &g.options[at]
	if n.Timeout == nil {
		ds.Warnf(source.CodeIgnored, c.DefaultChoice.Pos, "%s: default_choice is taken when time is up, and the node has no timeout", n.Subject())
	}
}
