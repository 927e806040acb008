package convert_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/convert"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/rehearse"
)

// rehearsed runs a document with the answers of a mock file and returns its events.
func rehearsed(t *testing.T, file string, m *mock.File) []core.Event {
	t.Helper()
	base := wavefold.NewEngine()
	e := wavefold.EngineOf(rehearse.Registry(base.Registry(), m))
	w, _ := rehearse.Read(e, file)
	p, ds := e.Compile(w, false)
	if p == nil {
		t.Fatalf("%s: %v", file, ds)
	}
	inputs := value.ObjectOf()
	for _, in := range m.Inputs {
		inputs.Set(in.Key.Value, in.Value.Plain())
	}
	for i := range p.Workflow.Inputs { // graphs without a goal of their own
		if in := &p.Workflow.Inputs[i]; in.Required {
			if _, ok := inputs.Get(in.Name.Value); !ok {
				inputs.Set(in.Name.Value, "x")
			}
		}
	}
	rec, err := rehearse.Run(p, inputs, m, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []core.Event
	for _, ev := range rec.Events {
		if ev.Type != core.SourcesResolved { // the files of instructions, which are in the document now
			out = append(out, ev)
		}
	}
	return out
}

// A walk and its conversion decide the same with the same answers.
func TestConvertedRuns(t *testing.T) {
	e := wavefold.NewEngine()
	runs := 0
	for file := range others(t) {
		w, ds := e.Read(file)
		if w == nil || ds.Failed(false) || w.Mode != core.ModeWalk {
			continue
		}
		if p, _ := e.Compile(w, false); p == nil {
			continue
		}
		there, ds := convert.Convert(w, convert.Native, reader(e, file, convert.Native))
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(file))); err != nil {
			t.Fatal(err)
		}
		converted := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))+"-converted.yaml")
		if err := os.WriteFile(converted, there, 0o600); err != nil {
			t.Fatal(err)
		}
		mocks, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.mock.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range append(mocks, "") {
			answers := &mock.File{}
			if m != "" {
				if answers, ds = rehearse.ReadMock(m); ds.Failed(false) {
					t.Fatal(ds)
				}
			}
			runs++
			want, got := rehearsed(t, filepath.Join(dir, filepath.Base(file)), answers), rehearsed(t, converted, answers)
			if len(want) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("%s with %q:\n%+v\nwant\n%+v", file, m, got, want)
			}
		}
	}
	if runs < 20 {
		t.Errorf("%d pairs of runs were compared", runs)
	}
}
