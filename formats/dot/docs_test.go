package dot

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const page = "../../docs/formats/dot.md"

// TestDocsTables checks that the page lists every shape, type, kind, attribute and
// preset, and no attribute that has no meaning.
func TestDocsTables(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	says := func(what, word string) {
		if !strings.Contains(string(text), "`"+word+"`") {
			t.Errorf("the page does not tell of %s %s", what, word)
		}
	}
	for _, k := range kinds {
		says("kind", k.kind)
		says("shape", k.shape)
		for _, typ := range k.types {
			says("type", typ)
		}
	}
	for _, p := range attributeTables {
		for _, key := range p.names() {
			says("attribute", key)
		}
	}
	for _, p := range presets {
		says("retry policy", p)
	}
	row := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	for i, section := range []struct {
		heading string
		of      attributeTable
	}{{"| attribute of a node | default |", nodeTable}, {"| attribute of an edge | default |", edgeTable}, {"| attribute of the graph | default |", graphTable}} {
		_, table, ok := strings.Cut(string(text), section.heading)
		table, _, _ = strings.Cut(table, "\n\n")
		rows := row.FindAllStringSubmatch(table, -1)
		if !ok || len(rows) < 5 {
			t.Errorf("table %d has %d rows", i, len(rows))
		}
		for _, r := range rows {
			for key := range strings.SplitSeq(r[1], ", ") {
				if key = strings.Trim(key, "`"); section.of.find(key, "") == nil {
					t.Errorf("the page tells of attribute %s of %s, which has no meaning", key, section.of.name)
				}
			}
		}
	}
}

// TestDocsCodes checks that the page lists every code that occurs in the tests.
func TestDocsCodes(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?m)^\d+:\d+ (?:warning |hint )?([A-Za-z_]+) `)
	seen := 0
	for _, archive := range []string{"syntax", "attributes", "rules", "conditions", "names"} {
		data, err := os.ReadFile("testdata/findings/" + archive + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(data), -1) {
			if seen++; m[1] != "EXPR_SYNTAX" && !strings.Contains(string(text), "`"+m[1]+"`") {
				t.Errorf("the page does not list %s", m[1])
			}
		}
	}
	if seen < 50 {
		t.Errorf("saw %d findings", seen)
	}
}
