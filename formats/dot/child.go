package dot

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// childKeys are the attributes that name the file of a sub-workflow, the deprecated one
// last.
var childKeys = []string{"stack.child_workflow", "stack.child_dotfile"}

// child reads the sub-workflow of a node. If the workflow is missing, the node gets the
// manager type as its kind. No kind has that name, so the node fails when it is
// visited.
func (l *loader) child(n *core.Node, s *settings) {
	file := s.text(s.first(childKeys...))
	inline := s.keptText("stack.child_dot_source")
	pos, why, hint := n.Pos, "", `write stack.child_workflow="child.dot"`
	switch {
	case file.Value == "" && inline.Value != "":
		l.inlineChild(n, inline)
		return
	case file.Value == "" && l.broken:
		s.invalid = true // the attribute may be one that could not be parsed
		return
	case file.Value == "":
		why = "it names no workflow"
	default:
		pos, why, hint = file.Pos, l.childProblem(file.Value), ""
	}
	if why == "" {
		n.Config.Set(source.At("file", file.Pos), stringTree(file))
		return
	}
	n.Kind.Value, n.Lacks = managerType, "there is no workflow to run: "+why
	for _, key := range childKeys {
		s.keep(key)
	}
	l.ds.Warnf(source.CodeChildMissing, pos, "%s will fail: %s", s.subject, why).WithHint("%s", hint)
}

// inlineChild parses a sub-workflow that is written in an attribute. Its findings
// become findings of this document.
func (l *loader) inlineChild(n *core.Node, text source.Text) {
	s := newScanner(text.Pos.File, []byte(text.Value))
	s.inside = &text
	w, ds := read(s, l.opts)
	l.ds = append(l.ds, ds...)
	if w == nil {
		w = &core.Workflow{Mode: core.ModeWalk, Pos: text.Pos, Lost: source.Lost{"nodes", "edges"}}
	}
	w.Findings = nil
	n.Child = w
}

// childProblem says why a sub-workflow cannot be run. It returns "" if there is no known
// reason.
func (l *loader) childProblem(name string) string {
	clean := path.Clean(name)
	if l.opts.Files == nil || !fs.ValidPath(clean) {
		return "" // the caller that loads the file reports the error
	}
	if _, err := fs.Stat(l.opts.Files, clean); errors.Is(err, fs.ErrNotExist) {
		return "there is no file " + quotePath(name)
	}
	return ""
}
