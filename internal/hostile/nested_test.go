package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A finding in a workflow two levels down used to be dropped: the document compiled, and
// the run failed in the middle.
func TestFindingsOfDeepWorkflows(t *testing.T) {
	const broken = "name: x\ngraph: {nodes: [{id: a, kind: tool, impl: nowhere, writes: []}]}\n"
	for _, depth := range []int{1, 2, 3, 31} {
		dir := t.TempDir()
		for i := range depth {
			write(t, filepath.Join(dir, fmt.Sprintf("w%d.yaml", i)), fmt.Sprintf("name: w%d\ngraph: {nodes: [{id: a, kind: workflow, file: w%d.yaml}]}\n", i, i+1))
		}
		write(t, filepath.Join(dir, fmt.Sprintf("w%d.yaml", depth)), broken)
		p, ds := compileIn(t, dir, nil, read(t, filepath.Join(dir, "w0.yaml")), false)
		if want := fmt.Sprintf(`w%d.yaml:2:43: error: node a: impl: no function "nowhere" is registered`, depth); p != nil || !strings.Contains(lines(ds), want) {
			t.Errorf("depth %d: plan %v, got\n%s\nwant %s", depth, p != nil, lines(ds), want)
		}
	}
}

// Workflows that include each other: by name, in a cycle of two whose names are spelled
// differently, through a link, and more deeply than allowed. Thirty files each of which
// includes the next one twice define a billion nodes; each file is compiled once.
func TestHostileIncludes(t *testing.T) {
	dir := t.TempDir()
	include := func(files ...string) string {
		text := "name: x\ngraph:\n  nodes:\n"
		for i, f := range files {
			text += fmt.Sprintf("    - {id: n%d, kind: workflow, file: %s}\n", i, f)
		}
		return text
	}
	sound := "name: x\ngraph: {nodes: [{id: a, kind: tool, impl: nop, writes: []}]}\n"
	for i := range 40 {
		write(t, filepath.Join(dir, fmt.Sprintf("deep%d.yaml", i)), include(fmt.Sprintf("deep%d.yaml", i+1)))
		write(t, filepath.Join(dir, fmt.Sprintf("wide%d.yaml", i)), include(fmt.Sprintf("wide%d.yaml", i+1), fmt.Sprintf("wide%d.yaml", i+1)))
	}
	write(t, filepath.Join(dir, "deep40.yaml"), sound)
	write(t, filepath.Join(dir, "wide30.yaml"), sound)
	write(t, filepath.Join(dir, "self.yaml"), include("self.yaml"))
	write(t, filepath.Join(dir, "a.yaml"), include("./b.yaml"))
	write(t, filepath.Join(dir, "b.yaml"), include("sub/../a.yaml"))
	symlink(t, "self.yaml", filepath.Join(dir, "link.yaml"))
	write(t, filepath.Join(dir, "linked.yaml"), include("link.yaml"))
	symlink(t, "/etc/passwd", filepath.Join(dir, "away.yaml"))
	for _, c := range []struct{ file, want string }{
		{"self.yaml", `flow.yaml:4:38: error: node n0: file: the workflow includes itself: self.yaml -> self.yaml [CYCLE]`},
		{"./a.yaml", `flow.yaml:4:38: error: node n0: file: the workflow includes itself: a.yaml -> b.yaml -> a.yaml [CYCLE]`},
		{"link.yaml", `the workflow includes itself: self.yaml -> self.yaml [CYCLE]`},
		{"away.yaml", `flow.yaml:4:38: error: node n0: file: "away.yaml" leaves the workflow's folder (`},
		{"/etc/passwd", `flow.yaml:4:38: error: node n0: file: "/etc/passwd" leaves the workflow's folder`},
		{"../x.yaml", `flow.yaml:4:38: error: node n0: file: "../x.yaml" leaves the workflow's folder`},
		{".", `flow.yaml:4:38: error: node n0: file: "." cannot be loaded: `},
		{"deep0.yaml", `error: node n0: workflows nest deeper than 32 [LIMIT]`},
		{"deep10.yaml", ""},
		{"wide0.yaml", ""},
	} {
		p, ds := compileIn(t, dir, tools{"nop": handle(nop)}, include(c.file), false)
		if got := lines(ds); (p != nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: plan %v, got\n%s\nwant %s", c.file, p != nil, got, c.want)
		}
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip("no symbolic links:", err)
	}
}
