package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestKinds looks for a page of each standard kind, with the same parts, that the index
// leads to with the sentence of the kind; and runs the example of each. The fields are compared with the kind in its
// package, which knows what is nested in them.
func TestKinds(t *testing.T) {
	index, err := os.ReadFile("kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	reg := wavefold.NewEngine(std.Kinds()...).Registry()
	for _, name := range reg.KindNames() {
		want = append(want, "kinds/"+name+".md")
		k, _ := reg.Kind(name)
		if row := fmt.Sprintf("| [%s](kinds/%[1]s.md) | %s |", name, k.(core.DocumentedKind).Doc()); !strings.Contains(string(index), row) {
			t.Errorf("the index does not have the sentence of the kind:\n%s", row)
		}
	}
	slices.Sort(want)
	found, err := filepath.Glob("kinds/*.md")
	if err != nil || !slices.Equal(found, want) {
		t.Fatalf("the pages are %q, %v, the kinds %q", found, err, want)
	}
	for _, page := range found {
		if !strings.Contains(string(index), "]("+page+")") {
			t.Errorf("the index does not lead to %s", page)
		}
		t.Run(page, func(t *testing.T) {
			text, ran := runPage(t, page)
			for _, part := range []string{"# " + strings.TrimSuffix(filepath.Base(page), ".md"), "## Fields", "## Errors", "## Example"} {
				if !strings.Contains("\n"+string(text), "\n"+part+"\n") {
					t.Errorf("the page has no %s", part)
				}
			}
			if ran == 0 {
				t.Error("no example was run")
			}
		})
	}
}
