package builder

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

const page = "../../docs/formats/builder.md"

// TestDocsKeys checks that each table of the page lists exactly the keys of the format.
func TestDocsKeys(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	for heading, want := range map[string][]string{
		"| key | what": documentKeys, "| key of a node |": nodeKeys, "| key of a connection |": edgeKeys,
		"| key of data |": slices.Concat(dataKeys(typeStart), dataKeys(typeAgent), dataKeys(typeIf), dataKeys(typeApproval)),
	} {
		_, table, _ := strings.Cut(string(text), heading)
		table, _, _ = strings.Cut(table, "\n\n")
		var got []string
		for _, r := range row.FindAllStringSubmatch(table, -1) {
			for key := range strings.SplitSeq(r[1], ", ") {
				got = append(got, strings.Trim(key, "`"))
			}
		}
		want = slices.Clone(want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("table %q\ngot:  %q\nwant: %q", heading, got, want)
		}
	}
}

// TestDocsRules checks that the page names every rule, and that its document is valid.
func TestDocsRules(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []source.Code{source.CodeStartMissing, source.CodeStartMany, source.CodeDanglingConnection, source.CodeSubagentSource, source.CodeSubagentTarget,
		source.CodeSubagentToolOff, source.CodeSubagentHandle, source.CodeSubagentSelf, source.CodeSubagentParents, source.CodeSubagentExecutes, source.CodeSubagentCycle,
		source.CodeStartUnconnected, source.CodeConditionUnconnected, source.CodeApprovalUnconnected} {
		if !strings.Contains(string(text), "`"+string(code)+"`") {
			t.Errorf("the page does not name %s", code)
		}
	}
	documents := 0
	for _, part := range strings.Split(string(text), "```json\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		documents++
		if w, ds := Parse("trip.json", []byte(block)); w == nil || len(ds) > 0 || len(Preflight(w)) > 0 {
			t.Errorf("%v\n%s", ds, block)
		}
	}
	if documents == 0 {
		t.Error("the page has no document")
	}
}
