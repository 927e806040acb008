package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/wavefold/wavefold/internal/docstest"
)

// runPage runs the commands of a page with the files that it shows, compares what they
// print, and returns the page and how many they were.
func runPage(t *testing.T, name string) (text []byte, ran int) {
	t.Helper()
	page, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := docstest.Blocks(t, page)
	t.Chdir(t.TempDir())
	return text, docstest.Run(t, blocks, nil)
}

func TestRecipes(t *testing.T) {
	text, ran := runPage(t, "recipes.md")
	if recipes := len(regexp.MustCompile(`(?m)^\d+\. \[`).FindAll(text, -1)); recipes < 20 || ran < recipes {
		t.Errorf("%d commands of %d recipes were run", ran, recipes)
	}
}

func TestTutorial(t *testing.T) {
	if _, ran := runPage(t, "etl.md"); ran < 8 {
		t.Errorf("%d commands were run", ran)
	}
}
