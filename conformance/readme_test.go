package conformance

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	readmeRow  = regexp.MustCompile(`(?m)^\| \d+ \|.*\| ([^|]*) \|$`)
	readmeWord = regexp.MustCompile(`all of (\d\d)|(\d\d) |(\w+)`)
)

// README.md lists exactly the cases, each under the behaviour that it shows.
func TestReadmeListsEveryCase(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range readmeRow.FindAllStringSubmatch(string(data), -1) {
		number := ""
		for _, m := range readmeWord.FindAllStringSubmatch(row[1], -1) {
			switch {
			case m[1] != "":
				listed[m[1]] = true
			case m[2] != "":
				number = m[2]
			case !strings.HasPrefix(m[3], "Test"):
				listed[number+" "+m[3]] = true
			}
		}
	}
	known := map[string]bool{}
	for _, topic := range topics(t) {
		number, _, _ := strings.Cut(topic.name, "-")
		known[number] = true
		for _, c := range topic.cases {
			known[number+" "+c.name] = true
			if !listed[number] && !listed[number+" "+c.name] {
				t.Errorf("README.md does not list %s of %s", c.name, topic.name)
			}
		}
	}
	for name := range listed {
		if !known[name] {
			t.Errorf("README.md lists %q, which does not exist", name)
		}
	}
}
