package rehearse_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/internal/rehearse"
	_ "github.com/wavefold/wavefold/llm/jsonschema"
	"github.com/wavefold/wavefold/nodes/std"
)

// eventsOf rehearses a workflow and returns its events as JSON.
func eventsOf(t *testing.T, e *wavefold.Engine, w *core.Workflow, f *mock.File) []string {
	t.Helper()
	w, inputs, ds := rehearse.Prepare(w, f)
	p, found := e.Compile(w, false)
	if p == nil || ds.Failed(false) {
		t.Fatal(append(ds, found...))
	}
	for _, in := range w.Inputs { // any value will do for inputs that the file does not have
		if _, ok := inputs.Get(in.Name.Value); in.Required && !ok {
			inputs = value.ObjectOf(in.Name.Value, "x")
		}
	}
	rec, err := rehearse.Run(p, inputs, f, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, event := range rec.Events {
		if event.Type == core.SourcesResolved { // the native format does not record where texts come from
			event.Values = nil
		}
		text, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// TestNativeForm runs documents in DOT and of SWEny, and the same workflows written in the
// native format. Both must have the same events.
func TestNativeForm(t *testing.T) {
	files := []string{"../../examples/quorum/quorum.dot"}
	for _, pattern := range []string{"../../examples/*/*.mock.yaml", "../../formats/dot/testdata/graphs/*.dot"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	runs := 0
	for _, file := range files {
		f, document := &mock.File{}, file
		if strings.HasSuffix(file, ".mock.yaml") {
			read, ds := rehearse.ReadMock(file)
			if ds.Failed(false) {
				t.Fatal(ds)
			}
			f, document = read, walkNextTo(t, file)
		}
		if document == "" {
			continue
		}
		runs++
		t.Run(filepath.Base(file), func(t *testing.T) {
			e := wavefold.EngineOf(rehearse.Registry(wavefold.NewEngine(std.Kinds()...).Registry(), f))
			w, ds := rehearse.Read(e, document)
			if ds.Failed(false) {
				t.Fatal(ds)
			}
			text, err := native.Write(w)
			if err != nil {
				t.Fatal(err)
			}
			same, ds := e.Parse(filepath.Join(filepath.Dir(document), "native.yaml"), text)
			if ds.Failed(false) {
				t.Fatalf("%s\n%v", text, ds)
			}
			want, got := eventsOf(t, e, w, f), eventsOf(t, e, same, f)
			for i := range max(len(want), len(got)) {
				if i >= len(want) || i >= len(got) || want[i] != got[i] {
					t.Fatalf("%s\n%d and %d events, the first difference is at %d:\n%s\n%s", text, len(want), len(got), i, at(want, i), at(got, i))
				}
			}
			if len(want) < 4 {
				t.Errorf("only %d events", len(want))
			}
		})
	}
	if runs < 12 {
		t.Errorf("only %d runs were compared", runs)
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "none"
}

// walkNextTo returns the document of a walk in the folder of a mock file, "" if there is none.
func walkNextTo(t *testing.T, file string) string {
	t.Helper()
	for _, pattern := range []string{"*.dot", "*.yml"} {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(file), pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
