package rehearse_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/rehearse"
)

var update = flag.Bool("update", false, "write what was got into the archives")

// TestArchives runs every archive under testdata. An archive contains flow.yaml and the
// files it includes, mock.yaml, and want, which lists the expectations that are not met, or
// the findings about the names in them.
func TestArchives(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			want := -1
			for i, f := range a.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := rehearseIn(t, dir)
			if want < 0 {
				t.Fatalf("%s has no file want", path)
			}
			if *update {
				a.Files[want].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if string(a.Files[want].Data) != got {
				t.Errorf("%s\n%s\ngot:\n%s\nwant:\n%s", path, a.Comment, got, a.Files[want].Data)
			}
		})
	}
}

func rehearseIn(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "mock.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file, ds := mock.Parse("mock.yaml", data)
	if ds.Failed(false) {
		return ds.Error() + "\n"
	}
	e := wavefold.EngineOf(rehearse.Registry(wavefold.NewEngine().Registry(), file))
	w, ds := e.Read(filepath.Join(dir, "flow.yaml"))
	if ds.Failed(false) {
		return ds.Error() + "\n"
	}
	w, inputs, ds := rehearse.Prepare(w, file)
	if ds.Failed(false) {
		return ds.Error() + "\n"
	}
	p, ds := e.Compile(w, false)
	if ds.Failed(false) {
		return strings.ReplaceAll(ds.Error(), dir+"/", "") + "\n"
	}
	if ds := rehearse.Names(p, file); ds.Failed(false) {
		return ds.Error() + "\n"
	}
	rec, err := rehearse.Run(p, inputs, file, rehearse.Options{})
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, m := range rec.Check(file.Expect) {
		fmt.Fprintf(&b, "%s %s: want %s, got %s (%s)\n", m.Pos, m.What, m.Want, m.Got, m.Because)
	}
	return b.String()
}

// TestNothingRuns checks that no handler with a visible effect is called, even though the
// command kind is registered and the program exists.
func TestNothingRuns(t *testing.T) {
	called := false
	e := wavefold.NewEngine()
	if err := e.AddTool("touch", core.HandlerFunc(nil)); err != nil {
		t.Fatal(err)
	}
	file, _ := mock.Parse("m", []byte("expect: {run: success, nodes: {a: success}}"))
	reg := rehearse.Registry(e.Registry(), file)
	w, ds := wavefold.EngineOf(reg).Parse("", []byte("name: x\ngraph: {nodes: [{id: a, kind: tool, impl: touch}]}"))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	p, ds := wavefold.EngineOf(reg).Compile(w, false)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	rec, err := rehearse.Run(p, nil, file, rehearse.Options{})
	if err != nil || called || len(rec.Check(file.Expect)) > 0 {
		t.Errorf("%v, called %v, misses %v", err, called, rec.Check(file.Expect))
	}
}

// TestEndless checks that a test ends a walk that never leaves a cycle, whatever the cycle
// consists of, and names the cycle.
func TestEndless(t *testing.T) {
	const inner = `digraph inner { start [shape=Mdiamond]; exit [shape=Msquare]; start -> a -> b -> a; b -> exit [weight=-1] }`
	for name, tt := range map[string]struct{ graph, mock, want string }{
		"one node":                  {`start -> a -> a; a -> exit [condition="context.done=true"]`, "", "a was visited 1000 times, in the ring a -> a"},
		"several":                   {`start -> x -> a -> b -> a; b -> exit [condition="context.done=true"]`, "", "a was visited 1000 times, in the ring a -> b -> a"},
		"a parallel node":           {`p [shape=component]; start -> p; p -> a -> m; p -> b -> m; m -> p; m -> exit [weight=-1]`, "", "p was visited 1000 times, in the ring p -> m -> p"},
		"waits":                     {`w [shape=insulator, duration=1h]; d [shape=diamond]; start -> w -> d -> w; d -> exit [weight=-1]`, "", "w was visited 1000 times, in the ring w -> d -> w"},
		"a jump":                    {`a [retry_target=b]; start -> a; a -> exit [condition="outcome=success"]; b -> a`, `a: [{status: fail, note: "connection refused"}]`, "a was visited 1000 times, in the ring a -> b -> a"},
		"a nested walk":             {`a [shape=house, stack.child_workflow="inner.dot"]; start -> a -> exit`, "a/b: {}", "a/a was visited 1000 times, in the ring a -> b -> a"},
		"a ring that a test leaves": {`start -> a -> a [condition="context.n != 999"]; a -> exit`, "a: [{visit: 1000, context_updates: {n: 999}}, {}]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{"flow.dot": "digraph g { start [shape=Mdiamond]; exit [shape=Msquare]; " + tt.graph + " }", "inner.dot": inner} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			file, ds := mock.Parse("m", []byte("nodes: {"+tt.mock+"}\nexpect: {run: success}"))
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			misses, ds := rehearse.Test(wavefold.NewEngine(), filepath.Join(dir, "flow.dot"), file, rehearse.Options{})
			if ds.Failed(false) {
				t.Fatal(ds)
			}
			got := ""
			for _, m := range misses {
				got += m.Got
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
