package conformance

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// A document states its expected findings in comments on the lines that they refer to:
//
//	edges: [{from: a, to: nowhere}] # error UNKNOWN_NODE nowhere
//
// The last word gives the position of the finding: the column where this word begins in
// the line. Without the word, any column of the line is accepted. Several findings are
// separated by semicolons. The code * matches any code. A comment that begins with #!
// matches a finding at any position. A document with such comments has exactly these
// findings; a document without them has no errors.

var marker = regexp.MustCompile(`#!? ((?:error|warning) [A-Z_*]+(?: [^;]*)?(?:; (?:error|warning) [A-Z_*]+(?: [^;]*)?)*)$`)

// finding is an expected finding. Line 0 matches any line, column 0 any column.
type finding struct {
	file      string
	line, col int32
	severity  string
	code      string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d:%d %s %s", f.file, f.line, f.col, f.severity, f.code)
}

// expectedFindings returns the findings that the documents of a case expect.
func (c *testCase) expectedFindings(t *testing.T) []finding {
	t.Helper()
	var list []finding
	for _, file := range sortedKeys(c.files) {
		line := int32(0)
		for text := range strings.Lines(c.files[file]) {
			line++
			text = strings.TrimRight(text, "\n")
			m := marker.FindStringSubmatchIndex(text)
			if m == nil {
				continue
			}
			for one := range strings.SplitSeq(text[m[2]:m[3]], "; ") {
				words := strings.SplitN(one, " ", 3)
				f := finding{file: file, line: line, severity: words[0], code: words[1]}
				if text[m[0]:m[2]] == "#! " {
					f.line = 0
				}
				if len(words) == 3 {
					f.col = int32(strings.Index(text[:m[0]], words[2])) + 1
					if f.col == 0 {
						t.Fatalf("%s:%d: there is no %q", file, line, words[2])
					}
				}
				list = append(list, f)
			}
		}
	}
	return list
}

// checkFindings compares the findings of a document with the expected ones.
func (c *testCase) checkFindings(t *testing.T, got source.Diagnostics) {
	t.Helper()
	if c.want == nil {
		c.checkText(t, got.Error())
	}
	want := c.expectedFindings(t)
	if len(want) == 0 {
		if got.Failed(false) {
			t.Errorf("findings:\n%v", got)
		}
		return
	}
	var left []finding
	for _, d := range got {
		if d.Severity == source.Hint {
			continue // a hint
		}
		f := finding{filepath.Base(d.Pos.File), d.Pos.Line, d.Pos.Column, d.Severity.String(), string(d.Code)}
		i := slices.IndexFunc(want, func(w finding) bool {
			return w.file == f.file && (w.line == 0 || w.line == f.line) && (w.col == 0 || w.col == f.col) && w.severity == f.severity && (w.code == f.code || w.code == "*")
		})
		if i < 0 {
			left = append(left, f)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	byPlace := func(a, b finding) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col)) }
	slices.SortFunc(want, byPlace)
	slices.SortFunc(left, byPlace)
	if len(want)+len(left) > 0 {
		t.Errorf("findings that are missing: %v\nnot asked for: %v\nall:\n%v", want, left, got)
	}
	for _, d := range got {
		if d.Message == "" || strings.HasSuffix(d.Message, ".") {
			t.Errorf("a message without text or with a final stop: %q", d.Message)
		}
	}
}

// checkText checks that an error contains the expected strings.
func (c *testCase) checkText(t *testing.T, text string) {
	t.Helper()
	for _, part := range c.wantText {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not said in\n%s", part, text)
		}
	}
}
