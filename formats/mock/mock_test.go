package mock

import (
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/formatstest"
)

func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := Parse(file, data)
		return ds
	})
}

func at(line, column int32) source.Position { return source.Position{Line: line, Column: column} }

func parseFull(t testing.TB) *File {
	t.Helper()
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, ds := Parse("", data)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return f
}

// plain removes the positions of named values.
func plain(m source.Members[*source.Value]) string {
	o := value.NewObject(len(m))
	for _, e := range m {
		o.Set(e.Key.Value, e.Value.Plain())
	}
	return value.JSON(o)
}

func TestParseValues(t *testing.T) {
	f := parseFull(t)
	if got := plain(f.Initial); got != `{"limit":3,"note":null}` {
		t.Errorf("initial %s", got)
	}
	if got := plain(f.Inputs); got != `{"day":"2024-01-31"}` {
		t.Errorf("inputs %s", got)
	}
	if got := plain(f.Expect.State); got != `{"rows":[1,2]}` {
		t.Errorf("state %s", got)
	}
	if f.Initial[1].Key.Pos != at(1, 21) || f.Initial[1].Value.Pos != at(1, 27) {
		t.Errorf("note stands at %v and %v", f.Initial[1].Key.Pos, f.Initial[1].Value.Pos)
	}
}

func TestParseAnswers(t *testing.T) {
	f := parseFull(t)
	fetch, _ := f.Nodes.Get("fetch")
	if len(fetch) != 3 {
		t.Fatalf("fetch has %d answers", len(fetch))
	}
	if e := fetch[0].Error; e == nil || e.Message.Value != "timed out" || !e.Retryable {
		t.Errorf("first answer %+v", e)
	}
	if e := fetch[1].Error; e == nil || e.Retryable {
		t.Errorf("second answer %+v", e)
	}
	if got := fetch[1].Sleep; got != source.At(1500*time.Millisecond, at(7, 57)) {
		t.Errorf("sleep %+v", got)
	}
	if got := plain(fetch[2].Delta); got != `{"rows":[1,2],"total":9007199254740993}` {
		t.Errorf("delta %s", got)
	}
	if fetch[2].Status.Value != "partial_success" || value.JSON(fetch[2].EdgeOutput.Plain()) != `{"n":2}` {
		t.Errorf("third answer %+v", fetch[2])
	}
	score, _ := f.Nodes.Get("score")
	if i := score[1].Item; i == nil || i.Value != 1 || score[1].Panic == nil || score[1].Panic.Value != "boom" {
		t.Errorf("answer for item 1 %+v", score[1])
	}
	if score[2].Item != nil || score[2].EdgeOutput == nil || score[2].EdgeOutput.Kind != source.NullValue {
		t.Errorf("an edge output of null is a value: %+v", score[2])
	}
	save, ok := f.Nodes.Get("save")
	if !ok || !reflect.DeepEqual(save, Answers{{Pos: at(13, 10)}}) {
		t.Errorf("save %+v", save)
	}
	if _, ok := f.Nodes.Get("never"); ok {
		t.Error("never has a mock")
	}
}

func TestParseExpect(t *testing.T) {
	e := parseFull(t).Expect
	count := func(key string, n int, pos source.Position) source.Members[source.Int] {
		return source.Members[source.Int]{{Key: source.At(key, at(pos.Line, pos.Column-int32(len(key))-2)), Value: source.At(n, pos)}}
	}
	if e.Run != source.At("partial_success", at(15, 8)) {
		t.Errorf("run %+v", e.Run)
	}
	if s, _ := e.Nodes.Get("never"); s.Value != "none" || len(e.Nodes) != 4 {
		t.Errorf("nodes %+v", e.Nodes)
	}
	if !reflect.DeepEqual(source.Strings(e.Absent), []string{"saved"}) || !reflect.DeepEqual(source.Strings(e.Order), []string{"fetch", "score"}) {
		t.Errorf("absent %+v, order %+v", e.Absent, e.Order)
	}
	if want := count("score", 2, at(19, 17)); !reflect.DeepEqual(e.Runs, want) {
		t.Errorf("runs %+v, want %+v", e.Runs, want)
	}
	if want := count("fetch", 3, at(20, 21)); !reflect.DeepEqual(e.Attempts, want) {
		t.Errorf("attempts %+v, want %+v", e.Attempts, want)
	}
	want := []Step{{"fetch", 0, at(22, 12)}, {"score", core.Nth(0), at(22, 21)}, {"score", core.Nth(1), at(22, 32)}}
	if !reflect.DeepEqual(e.Trace, want) {
		t.Errorf("trace %+v, want %+v", e.Trace, want)
	}
	if n, ok := e.Peak.Get("total"); !ok || n.Value != 3 {
		t.Errorf("peak %+v", e.Peak)
	}
}

// FuzzParse checks that Parse never panics, and that a file without findings has no
// node without answers.
func FuzzParse(f *testing.F) {
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	formatstest.AddDocuments(f, "testdata/*.txtar")
	f.Fuzz(func(t *testing.T, data []byte) {
		file, ds := Parse("x.yaml", data)
		if file == nil && len(ds) == 0 {
			t.Error("neither a file nor a finding")
		}
		if len(ds) > 0 {
			return
		}
		for _, n := range file.Nodes {
			if len(n.Value) == 0 {
				t.Errorf("node %s has no answers", n.Key.Value)
			}
			for _, a := range n.Value {
				if a.Error != nil && a.Panic != nil {
					t.Errorf("node %s panics and fails", n.Key.Value)
				}
			}
		}
	})
}
