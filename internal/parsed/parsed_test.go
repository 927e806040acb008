package parsed

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/nodes/std"
)

func newForm(t testing.TB) *Form {
	t.Helper()
	f, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAllDocuments(t *testing.T) {
	f, opts := newForm(t), native.OptionsFor(core.NewRegistry(std.Kinds()...))
	files := 0
	err := filepath.WalkDir("../..", func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		want, _ := native.Parse(name, data, opts)
		if want == nil {
			return nil
		}
		files++
		form, err := f.Encode(want, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		got, err := f.Decode(form, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: differs", name)
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files: %v", files, err)
	}
	t.Log(files)
}

func BenchmarkForm(b *testing.B) {
	data, err := os.ReadFile("/tmp/lb/flow.yaml")
	if err != nil {
		b.Fatal(err)
	}
	f, opts := newForm(b), native.OptionsFor(core.NewRegistry(std.Kinds()...))
	w, _ := native.Parse("flow.yaml", data, opts)
	form, err := f.Encode(w, "flow.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.Log(len(form))
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			f.Encode(w, "flow.yaml")
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.Decode(form, "flow.yaml")
		}
	})
}
