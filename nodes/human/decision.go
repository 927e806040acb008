package human

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Members of the decision, the object that a gate of a dag sends along its edges.
const (
	// DecisionChoice is the choice as written.
	DecisionChoice = "choice"
	// DecisionText is the text that was typed, or "" if there is none.
	DecisionText = "text"
	// DecisionNote is what the person remarked, "" if nothing.
	DecisionNote = "note"
	// DecisionBy is the name of the person, "" if it is not known.
	DecisionBy = "by"
)

// defaultChoices are the choices of a gate that declares none, unless it has transitions.
var defaultChoices = []string{"approve", "reject"}

// decided returns the result for a choice in a dag.
func (g *gate) decided(w *option, a core.Answer) (core.Result, error) {
	if slices.Contains(g.failOn, w.choice.Label) {
		return core.Result{}, unanswered(rejection(w, a))
	}
	o := decision(w, a)
	if _, taken := o.Get(w.choice.Label); !taken && slices.Contains(g.transitions, w.choice.Label) {
		o.Set(w.choice.Label, true)
	}
	r := core.Result{EdgeOutput: o, HasEdgeOutput: true}
	if g.into != "" {
		r.Delta = map[string]any{g.into: o}
	}
	return r, nil
}

func decision(w *option, a core.Answer) *value.Object {
	return value.ObjectOf(DecisionChoice, w.choice.Label, DecisionText, a.Text, DecisionNote, a.Note, DecisionBy, a.By)
}

// rejection returns the error of a gate whose answer is one of fail_on.
func rejection(w *option, a core.Answer) error {
	text := fmt.Sprintf("the answer is %q", w.choice.Label)
	if a.By != "" {
		text += " by " + a.By
	}
	if a.Note != "" {
		text += ": " + a.Note
	}
	return fmt.Errorf("%s", text)
}

// decides compiles the choices of a gate in a dag.
func (b *builder) decides(g *gate) {
	subject := b.node.Subject()
	g.options, g.transitions = b.choices(), source.Strings(b.transitions())
	offered := make([]string, len(g.options))
	for i := range g.options {
		offered[i] = g.options[i].choice.Label
	}
	for _, c := range b.FailOn {
		if b.offered(offered, c, "fail_on") {
			g.failOn = append(g.failOn, c.Value)
		}
	}
	if c := b.Default; c.Value != "" && b.offered(offered, c, "default") {
		g.fallback = &g.options[slices.Index(offered, c.Value)]
		if b.node.Timeout == nil {
			b.ds.Warnf(source.CodeIgnored, c.Pos, "%s: default is taken when time is up, and the node has no timeout", subject)
		}
	}
	if c := b.DefaultChoice; c.Value != "" {
		b.ds.Errorf(source.CodeUnknownKey, c.Pos, "%s: default_choice names a node of a walk", subject).WithHint("write default, with one of the choices")
	}
	// A missing answer must not turn into an approval.
	if b.node.AllowPartial || b.node.AutoStatus {
		b.ds.Errorf(source.CodeBadValue, b.node.ID.Pos, "%s: allow_partial and auto_status would let a human gate succeed without an answer", subject).
			WithHint("write default, with the choice that is taken when time is up")
	}
	into, ds := setting.TargetOf(b.node, source.Text{}, subject)
	b.ds = append(b.ds, ds...)
	if into.Field == "" {
		b.ds = append(b.ds, setting.UnusedWrites(b.node, "a human gate writes its decision only if it declares one field")...)
	}
	if g.into = into.Field; g.into != "" && b.env.WriteType != nil {
		b.checkType(g)
	}
}

// checkType reports a field that never takes a decision.
func (b *builder) checkType(g *gate) {
	t := b.env.WriteType(g.into)
	if t == nil {
		return
	}
	for i := range g.options {
		if err := t.Check(decision(&g.options[i], core.Answer{})); err != nil {
			b.ds.Errorf(source.CodeWrongType, b.node.Writes[0].Pos, "%s: writes: the decision does not fit into field %q: %v", b.node.Subject(), g.into, err)
			return
		}
	}
}

// choices returns the choices that the node declares, or the default ones.
func (b *builder) choices() []option {
	list := b.Choices
	if len(list) == 0 {
		list = b.transitions()
	}
	if len(list) == 0 {
		for _, c := range defaultChoices {
			list = append(list, source.At(c, b.node.ID.Pos))
		}
	}
	var out []option
	for _, c := range list {
		label := strings.TrimSpace(c.Value)
		if label == "" {
			b.ds.Errorf(source.CodeBadValue, c.Pos, "%s: choices: a choice is empty", b.node.Subject())
			continue
		}
		if slices.ContainsFunc(out, func(o option) bool { return core.NormalLabel(o.choice.Label) == core.NormalLabel(label) }) {
			b.ds.Errorf(source.CodeDuplicate, c.Pos, "%s: choices: %q appears twice", b.node.Subject(), label)
			continue
		}
		out = append(out, option{choice: core.Choice{Key: core.Accelerator(label), Label: label}, pos: c.Pos})
	}
	return out
}

// transitions returns the keys of the transitions of a node in a walk by steps.
func (b *builder) transitions() []source.Text {
	var keys []source.Text
	for _, t := range b.node.Transitions {
		if b.env.Steps && t.Key.Value != core.ErrorKey {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// offered reports an error if a setting names something else than a choice.
func (b *builder) offered(offered []string, c source.Text, key string) bool {
	if slices.Contains(offered, c.Value) {
		return true
	}
	b.ds.Errorf(source.CodeBadValue, c.Pos, "%s: %s: %q is none of the choices", b.node.Subject(), key, c.Value).
		WithHint("%s", cmp.Or(source.DidYouMean(c.Value, offered), "want one of "+strings.Join(offered, ", ")))
	return false
}
