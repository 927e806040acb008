package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// defaultFile is what stands for a folder.
const defaultFile = "workflow.yaml"

// fileOf returns the workflow file that an argument names: the file itself, or the
// one in a folder: workflow.yaml, or the only one there is. Without an argument it
// is the workflow.yaml of the current folder; another file there is proposed and
// not taken, since nobody has named it.
func fileOf(c compiler, args []string) (string, core.Diagnostics) {
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

// noFile is the finding about a folder that does not say which file is meant.
func noFile(path string, found []string, named bool) core.Diagnostics {
	var ds core.Diagnostics
	pos := core.Position{File: path}
	switch {
	case len(found) == 0:
		ds.Errorf(core.CodeMissingFile, pos, "there is no workflow in this folder").WithHint("name a file, or begin with: wavefold init etl %s", path)
	case named || len(found) > 1:
		ds.Errorf(core.CodeMissingFile, pos, "the folder holds %d workflows and none is called %s", len(found), defaultFile).WithHint("name one: %s", strings.Join(found, ", "))
	default:
		ds.Errorf(core.CodeMissingFile, pos, "there is no %s in this folder", defaultFile).WithHint("name the file: %s", found[0])
	}
	return ds
}

// largestCandidate is the size of the largest file that is looked into for a
// workflow; a folder may hold data beside it.
const largestCandidate = 1 << 20

// workflowsIn returns the workflow files of a folder, without those that another
// one of them runs as a part of itself.
func workflowsIn(c compiler, dir string) []string {
	entries, _ := os.ReadDir(dir) // of a folder that cannot be read nothing is known
	var found []string
	parts := map[string]bool{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > largestCandidate || isMock(e.Name()) || !isWorkflowName(e.Name()) {
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
	if len(roots) == 0 { // they run one another
		return found
	}
	return roots
}

// extensions are the endings of workflow files.
var extensions = []string{"yaml", "yml", "json", "dot", "fabro"}

func isWorkflowName(name string) bool {
	return slices.Contains(extensions, strings.TrimPrefix(filepath.Ext(name), "."))
}
