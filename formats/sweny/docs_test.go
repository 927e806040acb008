package sweny

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/document"
)

const page = "../../docs/formats/sweny.md"

// TestDocsKeys checks that each table of the page lists exactly the keys of the format.
func TestDocsKeys(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	for heading, shape := range map[string]any{
		"| key | what": documentShape{}, "| key of a node |": nodeShape{}, "| key of an edge |": edgeShape{},
		"| key of an input |": inputShape{}, "| key of a skill |": skillShape{},
	} {
		_, table, _ := strings.Cut(string(text), heading)
		table, _, _ = strings.Cut(table, "\n\n")
		var got []string
		for _, r := range row.FindAllStringSubmatch(table, -1) {
			for key := range strings.SplitSeq(r[1], ", ") {
				got = append(got, strings.Trim(key, "`"))
			}
		}
		want := source.KeyNames(shape)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("table %q\ngot:  %q\nwant: %q", heading, got, want)
		}
	}
}

// TestDocsExamples parses every document of the page.
func TestDocsExamples(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
		if v, ds := document.Parse("a.yml", []byte(m[1])); len(ds) > 0 || !Is(v) {
			t.Errorf("%s\nis no document: %v", m[1], ds)
			continue
		}
		read++
		if _, ds := Parse("a.yml", []byte(m[1]), Options{}); len(ds) > 0 {
			t.Errorf("%s\n%v", m[1], ds)
		}
	}
	if read < 2 {
		t.Errorf("the page has %d documents", read)
	}
}
