package workflow

import (
	"path"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// cycle returns the path from file back to itself, or to a file that it includes, as
// "a.yaml -> b.yaml -> a.yaml". It returns "" if there is none. It loads the included files
// itself, so that the loader and the plan need not detect cycles. Files that cannot be loaded
// are ignored; they are reported when the workflow that names them is compiled.
func (l *loader) cycle(file string, w *core.Workflow) string {
	if i := slices.Index(l.path, file); i >= 0 {
		return strings.Join(append(l.path[i:], file), " -> ")
	}
	if slices.Contains(l.acyclic, file) {
		return ""
	}
	l.path = append(l.path, file)
	for _, n := range w.Nodes {
		next, ok := l.includes(n, file)
		if !ok {
			continue
		}
		inner, err := l.env.LoadWorkflow(next)
		if err != nil {
			continue
		}
		if round := l.cycle(next, inner); round != "" {
			return round
		}
	}
	l.path = l.path[:len(l.path)-1]
	l.acyclic = append(l.acyclic, file)
	return ""
}

// includes returns the file that a node of the given file includes.
func (l *loader) includes(n *core.Node, from string) (string, bool) {
	key := map[string]string{name: "file", experience: "impl"}[n.Kind.Value]
	if key == "" || n.Config == nil {
		return "", false
	}
	v := n.Config.Get(key)
	if v == nil || v.Kind != source.StringValue || files.Local(v.Scalar.(string)) != nil {
		return "", false
	}
	file := path.Join(path.Dir(from), files.Clean(v.Scalar.(string)))
	if n.Kind.Value == experience {
		file = experienceIn(l.env.Files, file)
	}
	return file, true
}
