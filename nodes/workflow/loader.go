package workflow

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rootfs"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// loader loads the workflow that a node names and searches the included files for cycles.
type loader struct {
	env     core.Env
	subject string
	key     string      // the key with the name of the file
	name    source.Text // its value
	// folders allows the name of a folder, which means the experience in it.
	folders bool

	path    []string
	acyclic []string // files that lead to no cycle
}

// load loads the file and checks that it does not include itself.
func (l *loader) load() (*core.Workflow, source.Diagnostics) {
	var ds source.Diagnostics
	if err := files.Local(l.name.Value); err != nil {
		ds.Errorf(source.CodeBadValue, l.name.Pos, "%s: %s: %v", l.subject, l.key, err).WithHint("files must lie in the workflow's folder")
		return nil, ds
	}
	if l.env.LoadWorkflow == nil {
		ds.Errorf(source.CodeMissingFile, l.name.Pos, "%s: %s: there is no folder to look for %q in", l.subject, l.key, l.name.Value).
			WithHint("the workflow was not loaded from a folder; give it one")
		return nil, ds
	}
	file := files.Clean(l.name.Value)
	if l.folders {
		file = experienceIn(l.env.Files, file)
	}
	inner, err := l.env.LoadWorkflow(file)
	if err != nil {
		return nil, l.error(file, err)
	}
	if round := l.cycle(file, inner); round != "" {
		ds.Errorf(source.CodeCycle, l.name.Pos, "%s: %s: the workflow includes itself: %s", l.subject, l.key, round)
	}
	return inner, ds
}

// experienceIn returns the file that a name refers to. For a folder that is experience.yaml or
// experience.yml in it, otherwise the name itself.
func experienceIn(folder fs.FS, name string) string {
	if folder == nil {
		return name
	}
	if info, err := fs.Stat(folder, name); err != nil || !info.IsDir() {
		return name
	}
	if yml := path.Join(name, "experience.yml"); exists(folder, yml) && !exists(folder, path.Join(name, "experience.yaml")) {
		return yml
	}
	return path.Join(name, "experience.yaml")
}

func exists(folder fs.FS, name string) bool {
	_, err := fs.Stat(folder, name)
	return err == nil
}

// error converts an error of the engine's loader to findings. Findings about the other file keep
// their positions.
func (l *loader) error(file string, err error) source.Diagnostics {
	found, ok := source.AsDiagnostics(err)
	var ds source.Diagnostics
	for _, d := range found {
		if !d.Pos.IsValid() {
			d.Pos = l.name.Pos
		}
		ds = append(ds, d)
	}
	shown := l.name.Value
	if file != files.Clean(shown) {
		shown = file
	}
	switch {
	case ok && ds.Failed(false):
	case rootfs.Leaves(err):
		ds.Errorf(source.CodeBadValue, l.name.Pos, "%s: %s: %v", l.subject, l.key, rootfs.Describe(shown, l.env.Dir, err)).
			WithHint("files must lie in the workflow's folder")
	case errors.Is(err, fs.ErrNotExist):
		d := ds.Errorf(source.CodeMissingFile, l.name.Pos, "%s: %s: there is no file %q", l.subject, l.key, shown)
		if l.env.Files != nil {
			d.WithHint("%s", files.Near(l.env.Files, file))
		}
	default:
		ds.Errorf(source.CodeMissingFile, l.name.Pos, "%s: %s: %q cannot be loaded: %v", l.subject, l.key, shown, err)
	}
	return ds
}
