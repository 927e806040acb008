package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// oddities are the phrases that style.md asks to avoid.
var oddities = []struct{ pattern, write string }{
	{`\btexts\b|\ba text\b|\b(no|one|each|every|any) text\b`, "string, unless prose or a file is meant"},
	{`\b(is|are|says?|say) how (many|much|long|far|often)\b`, "is the number of, limits"},
	{`\b(tells?|telling) (that|whether|how|what|which|where|why|when|of)\b`, "reports, says, shows"},
	{`\b(of which|of whom|those of|that of|the one that|the ones)\b`, "the noun again"},
	{`\b(stands?|stood|standing)\b`, "is, appears, means"},
	{`\b(comes?|came) to\b`, "evaluates to, reaches"},
	{`\b(goes|go|going|went) on\b`, "continues"},
	{`\b(under way|anew|all the same|so many|so much|lets? go)\b`, "in progress, again, anyway, n"},
	{`\bby (itself|themselves)\b`, "on its own, automatically"},
	{`\b(nobody|whoever)\b`, "no node, no person; callers that"},
	{`\brefuses?\b|\brefused\b`, "reject"},
	{`\b(beside|behind)\b`, "next to, in addition to, after"},
	{`\b(judged|nil for none|takes in|what is said|what becomes of|merely)\b`, "evaluated, if there is none, handles"},
	{`\b(looks? at|looked at)\b`, "evaluate, read, check"},
	{`\bwaves?\b`, "level"},
}

// legitimate are uses of such a phrase that are right, with the reason.
var legitimate = []struct{ page, phrase, why string }{
	{"style.md", "wave | the idea", "it defines the word"},
	{"events.md", "### edge.judged", "it is the name of an event"},
	{"models.md", "a model that refuses", "a refusal is an answer of a model"},
	{"kinds/agent.md", "a model that refuses", "a refusal is an answer of a model"},
}

// TestPlainEnglish looks for the phrases that style.md says to avoid, outside of code.
// Decisions in adr are history and are not checked.
func TestPlainEnglish(t *testing.T) {
	examples, err := filepath.Glob("../examples/*/README.md")
	if err != nil || len(examples) < 5 {
		t.Fatalf("found %q, %v", examples, err)
	}
	for _, page := range append(pages(t), examples...) {
		for _, found := range odd(t, page) {
			t.Error(found)
		}
	}
}

var codeSpan = regexp.MustCompile("`[^`\n]*`")

// odd returns a message for each oddity of a page.
func odd(t *testing.T, page string) []string {
	t.Helper()
	text := prose(t, page)
	if filepath.Base(page) == "CHANGELOG.md" {
		_, text, _ = strings.Cut(text, "\n## Unreleased")
		text, _, _ = strings.Cut(text, "\n## ")
	}
	for _, l := range legitimate {
		if strings.HasSuffix(page, l.page) {
			text = strings.ReplaceAll(text, l.phrase, "")
		}
	}
	text = codeSpan.ReplaceAllString(text, "")
	var list []string
	for _, o := range oddities {
		for _, m := range regexp.MustCompile(`(?i).{0,30}(`+o.pattern+`).{0,30}`).FindAllString(text, -1) {
			list = append(list, page+": "+strings.TrimSpace(m)+": write "+o.write)
		}
	}
	return list
}

// TestOddities checks that each pattern finds the phrases that it is for.
func TestOddities(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	for line, want := range map[string]int{
		"X is how many there are.":                  1,
		"It tells whether Y stands there.":          2,
		"Whoever reads a text that of a node.":      3,
		"Waves go on, judged anew, all by itself.":  5,
		"`beside` and `texts` in code do not count": 0,
		"The node reports the standard error.":      0,
	} {
		if err := os.WriteFile(page, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := odd(t, page); len(got) != want {
			t.Errorf("%s: found %q, want %d", line, got, want)
		}
	}
}

// TestChangelogSections checks that each line of the unreleased changes is inside the
// section of its package, and that neither a section nor a line occurs twice: merges
// bring lines back easily.
func TestChangelogSections(t *testing.T) {
	_, text, _ := strings.Cut(prose(t, "../CHANGELOG.md"), "\n## Unreleased\n")
	text, _, _ = strings.Cut(text, "\n## ")
	part, pkg, entries := "", "", 0
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "### "):
			part, pkg = line, ""
		case strings.HasPrefix(line, "**"):
			pkg, _, _ = strings.Cut(line[2:], "**")
			if seen[part+pkg] {
				t.Errorf("%s has two sections %s", part, pkg)
			}
			seen[part+pkg] = true
		case strings.HasPrefix(line, "- "):
			entries++
			if pkg == "" {
				t.Errorf("%s: this line is in no section of a package: %s", part, line)
			}
			if seen[line] {
				t.Errorf("%s: this line occurs twice: %s", part, line)
			}
			seen[line] = true
		}
	}
	if entries < 20 {
		t.Errorf("found %d entries", entries)
	}
}
