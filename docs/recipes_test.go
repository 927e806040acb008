package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/wavefold/wavefold/internal/docstest"
)

// TestRecipes runs every recipe as it stands on the page, and compares what it prints.
func TestRecipes(t *testing.T) {
	page, err := filepath.Abs("recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := docstest.Blocks(t, page)
	t.Chdir(t.TempDir())
	ran := docstest.Run(t, blocks, nil)
	if recipes := len(regexp.MustCompile(`(?m)^\d+\. \[`).FindAll(text, -1)); recipes < 20 || ran < recipes {
		t.Errorf("%d commands of %d recipes were run", ran, recipes)
	}
}
