package machine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/route"
	"github.com/wavefold/wavefold/scheduler/plan"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// minScripts is the minimum number of scripts. Scripts are replaced, not removed.
const minScripts = 60

// rule matches the first line of a script, which names the rule that the script shows.
var rule = regexp.MustCompile(`^# (dag|outcomes|control|routing|durability|adr) ([Ra]?[0-9]+[a-z]?)(, [Ra]?[0-9]+[a-z]?)*: \S.*\.\n`)

// TestScripts replays the scripts in testdata. A script is an archive of a comment, one or more
// documents and a transcript:
//
//	# dag 1: A node is due when every predecessor has ended.
//	-- flow.yaml --
//	...
//	-- transcript --
//	> start concurrency=2
//	run a
//	run b
//	> done a
//
// Lines that begin with "> " are events for the machine. The lines after them are the commands
// that it issues; go test -update writes them. testdata/README.md describes the vocabulary.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.script")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < minScripts {
		t.Errorf("testdata has %d scripts, want at least %d", len(paths), minScripts)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".script"), func(t *testing.T) { testScript(t, path) })
	}
}

func testScript(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(data)
	files := archive.Files
	if !rule.Match(archive.Comment) {
		t.Errorf("the first line names no rule; it has the form %q", "# dag 1: What the rule says.")
	}
	if len(files) < 2 || files[len(files)-1].Name != "transcript" {
		t.Fatal("the script has no document, or its last part is not the transcript")
	}
	want := string(files[len(files)-1].Data)
	p, err := compileScript(files[:len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	got, err := replay(p, want)
	if err != nil {
		t.Fatalf("%v\ntranscript so far:\n%s", err, got)
	}
	switch {
	case got == want:
	case *update:
		head, _, _ := strings.Cut(string(data), "-- transcript --\n")
		if err := os.WriteFile(path, []byte(head+"-- transcript --\n"+got), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the transcript differs; run go test ./scheduler/machine -update and review the diff\n%s", lineDiff(want, got))
	}
}

// lineDiff returns the first difference of two transcripts and the lines around it.
func lineDiff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	at := 0
	for at < len(w) && at < len(g) && w[at] == g[at] {
		at++
	}
	part := func(lines []string) string {
		return strings.Join(lines[max(0, min(at, len(lines))-3):min(at+4, len(lines))], "\n")
	}
	return fmt.Sprintf("from line %d:\ngot:\n%s\nwant:\n%s", at+1, part(g), part(w))
}

// compileScript compiles the first document. Nodes of the kind workflow refer to the other
// documents by name.
func compileScript(files []txtar.File) (*plan.Plan, error) {
	reg := core.NewRegistry(wavefold.DefaultKinds()...)
	reg.AddKind(route.Kind)
	for _, name := range []string{"work", "agent", "command", "prompt"} {
		reg.AddKind(scriptedKind(name))
	}
	engine := wavefold.EngineOf(reg)
	loaded := map[string]*core.Workflow{}
	load := func(name string) (*core.Workflow, error) {
		if w, ok := loaded[name]; ok {
			return w, nil
		}
		for _, f := range files {
			if f.Name != name {
				continue
			}
			w, ds := engine.Parse(name, f.Data)
			if loaded[name] = w; w == nil || ds.Failed(false) {
				return nil, ds
			}
			return w, nil
		}
		return nil, fmt.Errorf("the script has no document %s", name)
	}
	w, err := load(files[0].Name)
	if err != nil {
		return nil, err
	}
	p, ds := plan.Compile(w, reg, plan.Options{Env: func(*core.Workflow) core.Env { return core.Env{LoadWorkflow: load} }})
	if p == nil {
		return nil, ds
	}
	return p, nil
}

// scriptedKind is a kind whose nodes do nothing, because the script contains their answers.
type scriptedKind string

func (k scriptedKind) Name() string { return string(k) }

// Keys returns the settings that a script may use: the field that the node makes a stream, the
// fields that it reads as streams, the nodes whose results it refers to, and the file that it
// replaces, "*" if its name is known only at run time.
func (scriptedKind) Keys() []string { return []string{"stream", "streams", "after", "replaces"} }

func (scriptedKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	made := core.Compiled{Handler: scriptedHandler{}}
	made.Streams, made.Nodes = listed(n.Config.Get("streams")), listed(n.Config.Get("after"))
	if s := n.Config.Get("stream"); s != nil {
		made.Stream = source.At(s.Scalar.(string), s.Pos)
	}
	if s := n.Config.Get("replaces"); s != nil {
		name := s.Scalar.(string)
		made.Replaces = core.ReplacesRendered
		if name != "*" {
			made.Replaces = core.ReplacesFixed
			made.Outputs = []core.Target{{Name: source.At(name, s.Pos), Key: name}}
		}
	}
	return made, nil
}

// scriptedHandler is never called.
type scriptedHandler struct{ core.HandlerFunc }

func (scriptedHandler) Open(context.Context, core.Input, *value.Object) (core.Stream, error) {
	return nil, errors.New("a script has no rows but its own")
}

func listed(v *source.Value) []source.Text {
	var out []source.Text
	if v != nil {
		for _, e := range v.Items {
			out = append(out, source.At(e.Scalar.(string), e.Pos))
		}
	}
	return out
}
