package normalize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/internal/normalize"
)

// same lists pairs of strings that Text treats as equal, differs pairs that it does not.
var same = [][2]string{
	{"exit code 1", "Exit Code 27"},
	{"took 0.25s", "took 113.7s"},
	{"commit 9f3c2ab11 is broken", "commit 77ffe0123 is broken"},
	{"/tmp/tmp.Xa91kZZq: no such file", "/tmp/tmp.19sKKqpw: no such file"},
	{"at 2026-01-02T03:04:05Z: bad", "at 2027-11-12T13:14:15Z: bad"},
}

var differs = [][2]string{
	{"FAIL TestParse", "FAIL TestWrite"},
	{"a.txt is missing", "b.txt is missing"},
	{"", "FAIL"},
}

func sum(chunk int, output string) string {
	var d normalize.Digest
	for len(output) > 0 {
		n := min(chunk, len(output))
		d.Write([]byte(output[:n]))
		output = output[n:]
	}
	return d.Sum()
}

func TestText(t *testing.T) {
	for _, c := range same {
		if a, b := normalize.Text(c[0]), normalize.Text(c[1]); a != b {
			t.Errorf("%q and %q became %q and %q", c[0], c[1], a, b)
		}
	}
	for _, c := range differs {
		if a, b := normalize.Text(c[0]), normalize.Text(c[1]); a == b {
			t.Errorf("%q and %q both became %q", c[0], c[1], a)
		}
	}
	long := strings.Repeat("ok ", 200)
	if normalize.Text(long+"A") == normalize.Text(long+"B") {
		t.Error("the end of a long message does not count")
	}
	if got := len(normalize.Text(long)); got != 240 {
		t.Errorf("a long message became one of %d characters", got)
	}
}

// The hash depends only on the masked lines, not on how the output is divided into writes,
// and detects a different line whatever surrounds it.
func TestDigest(t *testing.T) {
	for _, lines := range []int{0, 1, 100} {
		for i, list := range [][][2]string{same, differs} {
			for _, c := range list {
				before, after := strings.Repeat("=== RUN Test 17\n", lines), strings.Repeat("ok\n", lines)
				a, b := before+c[0]+"\n"+after, before+c[1]+"\n"+after
				if got := sum(7, a) == sum(32<<10, b); got != (i == 0) {
					t.Errorf("%d lines around %q and %q: equal is %v", lines, c[0], c[1], got)
				}
			}
		}
	}
	for _, c := range [][2]string{{"a\nb", "a\nb\n"}, {"a  \r\n\n\t\nb\n", "a\nb\n"}, {"", "\n \n"}} {
		if a, b := sum(1, c[0]), sum(100, c[1]); a != b {
			t.Errorf("%q: %s, %q: %s", c[0], a, c[1], b)
		}
	}
	if sum(9, "ab\nc") == sum(9, "a\nbc") {
		t.Error("the ends of lines do not count")
	}
	if got := sum(9, " \n\n"); got != "" {
		t.Errorf("an empty output has the hash %q", got)
	}
}

// A line of any length counts as a whole, and the positions where it is cut do not matter.
func TestDigestOfLongLines(t *testing.T) {
	line := func(number int, last string) string {
		return strings.Repeat(fmt.Sprintf("item %d at 0x%09x; ", number, number), 20_000) + last
	}
	a := sum(32<<10, line(1, "good"))
	if b := sum(1000, line(123_456, "good")); a != b {
		t.Error("numbers of other lengths change the hash of a long line")
	}
	if b := sum(32<<10, line(1, "bad")); a == b {
		t.Error("the end of a long line does not count")
	}
	if a, b := sum(999, strings.Repeat("é", 100_000)), sum(32<<10, strings.Repeat("É", 100_000)); a != b {
		t.Error("a character was cut in two")
	}
}

func TestDigestCleans(t *testing.T) {
	d := normalize.Digest{Clean: func(line string) string { return strings.ReplaceAll(line, "hunter", "***") }}
	fmt.Fprint(&d, "key hun", "ter\nend")
	if want := sum(100, "key ***\nend"); d.Sum() != want {
		t.Error("lines are masked before they are cleaned")
	}
}
