package wavefold_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestFindingsHavePositions damages documents of all formats and checks that every finding
// has a position in the document.
func TestFindingsHavePositions(t *testing.T) {
	documents, _ := filepath.Glob("formats/*/testdata/*/*")
	documents = slices.DeleteFunc(documents, func(f string) bool {
		return !slices.Contains([]string{".dot", ".yaml", ".yml"}, filepath.Ext(f)) || strings.HasSuffix(f, "long.dot")
	})
	if len(documents) < 20 {
		t.Fatalf("there are %d documents", len(documents))
	}
	e := wavefold.NewEngine(std.Kinds()...)
	dir := t.TempDir()
	for i, file := range documents {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(uint64(i), 0))
		for range 25 {
			damaged := damage(random, text)
			path := filepath.Join(dir, "damaged"+filepath.Ext(file))
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			w, ds := e.Read(path)
			if w != nil {
				_, ds = e.Compile(w, false)
			}
			for _, d := range ds {
				if !d.Pos.IsValid() || d.Pos.File == "" {
					t.Fatalf("%v\nin %s, which is now\n%s", d, file, damaged)
				}
			}
		}
	}
}

// damage removes a few pieces, duplicates one, or inserts a character.
func damage(r *rand.Rand, text []byte) []byte {
	out := slices.Clone(text)
	for range 1 + r.IntN(2) {
		at := r.IntN(len(out))
		end := min(len(out), at+1+r.IntN(8))
		switch r.IntN(3) {
		case 0:
			out = slices.Delete(out, at, end)
		case 1:
			out = slices.Insert(out, at, slices.Clone(out[at:end])...)
		default:
			out = slices.Insert(out, at, "\"'{}[]:=-> \n"[r.IntN(12)])
		}
	}
	return out
}
