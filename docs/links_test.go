package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced  = regexp.MustCompile("(?s)\n```.*?\n```")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows every link of the manual that leads to a file of the repository,
// and to a heading in it.
func TestLinks(t *testing.T) {
	followed := 0
	more, err := filepath.Glob("../examples/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	adrs, err := filepath.Glob("adr/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(append(pages(t), more...), adrs...) {
		for _, m := range link.FindAllStringSubmatch(prose(t, page), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			followed++
			if target == "" {
				target = page
			} else {
				target = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
				continue
			}
			if anchor != "" && !hasHeading(t, target, anchor) {
				t.Errorf("%s: the link %s leads to no heading of that page", page, m[1])
			}
		}
	}
	if followed < 10 {
		t.Errorf("followed %d links", followed)
	}
}

// prose returns a page without its code blocks.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString("\n"+string(text), "")
}

// hasHeading reports whether a page has the heading that an anchor names, which is its
// text in lower case, without signs, with hyphens for blanks.
func hasHeading(t *testing.T, page, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(prose(t, page), -1) {
		slug := strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if slug == anchor {
			return true
		}
	}
	return false
}
