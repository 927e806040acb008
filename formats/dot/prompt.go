package dot

import (
	"cmp"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// promptKeys are the attributes that hold a prompt, the deprecated one last.
var promptKeys = []string{promptKey, "llm_prompt"}

// prompt reads the prompt of a node that asks a model. Without a prompt, the label is
// used, then the id.
func (l *loader) prompt(n *core.Node, s *settings) {
	key := cmp.Or(s.first(promptKeys...), promptKey)
	t, label := s.text(key), s.text("label")
	switch {
	case t.Value != "":
	case label.Value != "":
		t = label
	default:
		t = n.ID
		if !l.broken {
			l.withoutPrompt = append(l.withoutPrompt, n.ID)
		}
	}
	if name, ok := fileRef(t.Value); ok {
		t = l.textFile(s, key, t, name)
	}
	t = l.template(s.subject, promptKey, t)
	if word := strings.TrimSpace(t.Value); fileWord.MatchString(word) {
		t.Value = "{{'" + word + "'}}" // kinds would treat a string such as README.md as the name of a file
	}
	n.Config.Set(source.At(promptKey, t.Pos), stringTree(t))
}

// warnNoPrompts warns about nodes that ask a model and have no prompt. A graph that serves
// as a template has many such nodes, so there is one warning for all of them.
func (l *loader) warnNoPrompts() {
	ids := l.withoutPrompt
	switch len(ids) {
	case 0:
	case 1:
		l.ds.Warnf(source.CodePrompt, ids[0].Pos, "node %s asks a model and has no prompt", ids[0].Value).
			WithHint(`write prompt="..."; its id is all that the model is told`)
	default:
		l.ds.Warnf(source.CodePrompt, ids[0].Pos, "nodes %s ask a model and have no prompt", source.Named(source.Strings(ids))).
			WithHint(`write prompt="..."; their ids are all that the model is told`)
	}
}

var fileWord = lazyregexp.New(`^[^\s'"\\{}]*\.(?:md|txt)$`)
