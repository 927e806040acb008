package dot

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// promptKeys are attributes that hold a prompt, the older one last.
var promptKeys = []string{promptKey, "llm_prompt"}

// prompt reads the prompt of a node that asks a model: its own, else its label, else
// its id.
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
			l.promptless = append(l.promptless, n.ID)
		}
	}
	if name, ok := fileRef(t.Value); ok {
		t = l.textFile(s, key, t, name)
	}
	t = l.template(s.subject, promptKey, t)
	if word := strings.TrimSpace(t.Value); fileWord.MatchString(word) {
		t.Value = "{{'" + word + "'}}" // the kinds take a word such as README.md for a file
	}
	n.Config.Set(core.At(promptKey, t.Pos), textTree(t))
}

// noPrompts warns of nodes that ask a model and have nothing to ask. A graph that is a
// template has many of them, so one warning tells of all.
func (l *loader) noPrompts() {
	ids := l.promptless
	switch len(ids) {
	case 0:
	case 1:
		l.ds.Warnf(core.CodePrompt, ids[0].Pos, "node %s asks a model and has no prompt", ids[0].Value).
			WithHint(`write prompt="..."; its id is all that the model is told`)
	default:
		l.ds.Warnf(core.CodePrompt, ids[0].Pos, "nodes %s ask a model and have no prompt", core.Named(core.Strings(ids))).
			WithHint(`write prompt="..."; their ids are all that the model is told`)
	}
}

var fileWord = regexp.MustCompile(`^[^\s'"\\{}]*\.(?:md|txt)$`)
