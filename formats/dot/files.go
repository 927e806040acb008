package dot

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/internal/textfile"
)

// promptKeys are attributes that hold a prompt, the older one last.
var promptKeys = []string{promptKey, "llm_prompt"}

// prompt reads the prompt of a node that asks a model: its own, else its label, else
// its id.
func (l *loader) prompt(n *core.Node, s *settings) {
	key := cmp.Or(s.first(promptKeys...), promptKey)
	t := s.text(key)
	switch {
	case t.Value != "":
	case n.Label.Value != "":
		t = n.Label
	default:
		t = n.ID
		if !l.broken {
			l.promptless = append(l.promptless, n.ID)
		}
	}
	if name, ok := fileRef(t.Value); ok {
		t = l.textFile(s, key, t, name)
	}
	t = l.template(s.subject, t)
	if word := strings.TrimSpace(t.Value); fileWord.MatchString(word) {
		t.Value = "{{'" + word + "'}}" // the kinds take a word such as README.md for a file
	}
	n.Config.Set(core.At(promptKey, t.Pos), textTree(t))
	for _, key := range scriptKeys {
		if s.says(key) {
			l.ds.Warnf(core.CodeIgnored, s.list[s.find(key)].key.Pos, "%s asks a model: its %s has no effect", s.subject, key).
				WithHint("a node that runs one has shape=parallelogram").Severity = core.Hint
		}
	}
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

// fileRef returns the file that a text @name stands for.
func fileRef(text string) (string, bool) {
	name, ok := strings.CutPrefix(strings.TrimSpace(text), "@")
	return name, ok && name != "" && !strings.ContainsAny(name, " \t\r\n") && !strings.Contains(name, "{{")
}

// textFile reads an attribute from a file below the document's folder. Positions in it
// are those of the file. One that cannot be read is reported and remains a name: who only
// looks at a graph does without.
func (l *loader) textFile(s *settings, key string, t core.Text, name string) core.Text {
	bad := func(why string) *core.Diagnostic {
		return l.ds.Errorf(core.CodeUnresolvedFile, t.Pos, "%s: %s: %s: %s", s.subject, key, quote(t.Value), why)
	}
	clean := path.Clean(name)
	switch {
	case l.opts.Files == nil:
		bad("there is no folder to look for the file in").WithHint("the document was not read from a file")
		return t
	case !fs.ValidPath(clean):
		bad("the path leads out of the document's folder").WithHint("files must lie in the folder of the document")
		return t
	}
	text, err := textfile.Read(l.opts.Files, clean)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		bad("there is no such file").WithHint("%s", textfile.Near(l.opts.Files, clean))
		return t
	case err != nil:
		bad(err.Error())
		return t
	}
	file := filepath.Join(filepath.Dir(t.Pos.File), filepath.FromSlash(clean))
	return core.At(text, core.Position{File: file, Line: 1, Column: 1})
}

// childKeys are attributes that name the file of a sub-workflow, the older one last.
var childKeys = []string{"stack.child_workflow", "stack.child_dotfile"}

// child reads which workflow a node runs as a part of its own. A node without one that
// can be there fails when it is visited: no kind has the word that is left as its kind.
func (l *loader) child(n *core.Node, s *settings) {
	file := s.text(s.first(childKeys...))
	inline := s.kept("stack.child_dot_source")
	pos, why, hint := n.Pos, "", `write stack.child_workflow="child.dot"`
	switch {
	case file.Value == "" && inline.Value != "":
		l.inlineChild(n, inline)
		return
	case file.Value == "" && l.broken:
	case file.Value == "":
		why = "it names no workflow"
	default:
		pos, why, hint = file.Pos, l.noChild(file.Value), ""
	}
	if why == "" {
		n.Config.Set(core.At("file", file.Pos), textTree(file))
		return
	}
	n.Kind.Value, n.Lacks = managerType, "there is no workflow to run: "+why
	for _, key := range childKeys {
		s.keep(key)
	}
	l.ds.Warnf(core.CodeChildMissing, pos, "%s will fail: %s", s.subject, why).WithHint("%s", hint)
}

// inlineChild reads a sub-workflow that an attribute holds. What is wrong with it is wrong
// with this document.
func (l *loader) inlineChild(n *core.Node, text core.Text) {
	s := newScanner(text.Pos.File, []byte(text.Value))
	s.inside = &text
	w, ds := read(s, l.opts)
	l.ds = append(l.ds, ds...)
	if w == nil {
		w = &core.Workflow{Mode: core.ModeWalk, Pos: text.Pos, Lost: core.Lost{"nodes", "edges"}}
	}
	w.Findings = nil
	n.Child = w
}

// noChild says why a sub-workflow cannot be run, "" if that cannot be told from here.
func (l *loader) noChild(name string) string {
	clean := path.Clean(name)
	if l.opts.Files == nil || !fs.ValidPath(clean) {
		return "" // whoever loads it says so
	}
	if _, err := fs.Stat(l.opts.Files, clean); errors.Is(err, fs.ErrNotExist) {
		return "there is no file " + quote(name)
	}
	return ""
}
