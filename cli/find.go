package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// defaultFile is the workflow file used for a folder.
const defaultFile = "workflow.yaml"

// fileOf returns the workflow file that an argument names: the file itself or, for a
// folder, its workflow.yaml or its only workflow file. Without an argument it is the
// workflow.yaml of the current folder. Any other file there is proposed but not used, since
// the user has not named it.
func fileOf(c compiler, args []string) (string, source.Diagnostics) {
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path, nil
	}
	file := filepath.Join(path, defaultFile)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	found := workflowsIn(c, path)
	if len(args) > 0 && len(found) == 1 {
		return found[0], nil
	}
	return "", noFile(path, found, len(args) > 0)
}

// noFile returns the finding about a folder without an unambiguous workflow file.
func noFile(path string, found []string, named bool) source.Diagnostics {
	var ds source.Diagnostics
	pos := source.Position{File: path}
	switch {
	case len(found) == 0:
		ds.Errorf(source.CodeMissingFile, pos, "there is no workflow in this folder").WithHint("name a file, or begin with: wavefold init etl %s", path)
	case named || len(found) > 1:
		ds.Errorf(source.CodeMissingFile, pos, "the folder holds %d workflows and none is called %s", len(found), defaultFile).WithHint("name one: %s", strings.Join(found, ", "))
	default:
		ds.Errorf(source.CodeMissingFile, pos, "there is no %s in this folder", defaultFile).WithHint("name the file: %s", found[0])
	}
	return ds
}

// maxCandidateSize is the size of the largest file that is inspected for a workflow; a
// folder may also contain data.
const maxCandidateSize = 1 << 20

// workflowsIn returns the workflow files of a folder. It leaves out files that another file of
// the folder uses as a sub-workflow.
func workflowsIn(c compiler, dir string) []string {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has no candidates
	var found []string
	parts := map[string]bool{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxCandidateSize || isMock(e.Name()) || !isWorkflowName(e.Name()) {
			continue
		}
		file := filepath.Join(dir, e.Name())
		w, _ := c.Read(file)
		if w == nil || !plan.HasStart(w) {
			continue
		}
		found = append(found, file)
		for _, n := range w.Nodes {
			key := map[string]string{"workflow": "file", "experience": "impl"}[n.Kind.Value]
			if part, ok := n.Config.Get(key).Plain().(string); ok && key != "" {
				parts[filepath.Join(dir, filepath.FromSlash(part))] = true
			}
		}
	}
	roots := slices.DeleteFunc(slices.Clone(found), func(file string) bool { return parts[file] })
	if len(roots) == 0 { // they use each other
		return found
	}
	return roots
}

// extensions lists the file extensions of workflow files.
var extensions = []string{"yaml", "yml", "json", "dot", "fabro"}

func isWorkflowName(name string) bool {
	return slices.Contains(extensions, strings.TrimPrefix(filepath.Ext(name), "."))
}
