package benchmarks

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// A Page is the text of docs/performance.md or README.md. What the measurements write is
// between a comment such as <!-- figures: shapes --> and <!-- end -->.
type Page string

var block = regexp.MustCompile(`(?s)<!-- figures: (\S+) -->\n(.*?)<!-- end -->`)

// IDs returns the ids of the marked places, in order.
func (p Page) IDs() (ids []string) {
	for _, m := range block.FindAllStringSubmatch(string(p), -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// Block returns the text at a marked place.
func (p Page) Block(id string) (text string, ok bool) {
	for _, m := range block.FindAllStringSubmatch(string(p), -1) {
		if m[1] == id {
			return m[2], true
		}
	}
	return "", false
}

// With returns the page with other text at a marked place.
func (p Page) With(id, text string) Page {
	return Page(block.ReplaceAllStringFunc(string(p), func(old string) string {
		if block.FindStringSubmatch(old)[1] != id {
			return old
		}
		return fmt.Sprintf("<!-- figures: %s -->\n%s<!-- end -->", id, text)
	}))
}

// Lines returns the lines of a table, by the name in their first cell.
func (p Page) Lines(id string) map[string][]string {
	text, _ := p.Block(id)
	lines := map[string][]string{}
	for i, line := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if i < 2 || len(cells) < 2 { // the head of the table
			continue
		}
		for k := range cells {
			cells[k] = strings.TrimSpace(cells[k])
		}
		lines[cells[0]] = cells
	}
	return lines
}

// Markdown formats the measures of a table.
func (t Table) Markdown(list []Measure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | time / %[1]s | allocations / %[1]s | memory / %[1]s | compared with | its time / %[1]s | ratio of times | of CPU times |\n|---|---|---|---|---|---|---|---|\n", t.Unit)
	for _, m := range list {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |", m.Figure.Name, Duration(m.Subject.Time), number(m.Subject.Allocs), Size(m.Subject.Bytes))
		if m.Figure.Reference.Name == "" {
			b.WriteString(" | | | |\n")
			continue
		}
		cpu := ""
		if m.CPU.Median > 0 {
			cpu = number(m.CPU.Median)
		}
		fmt.Fprintf(&b, " %s | %s | %s (%s to %s) | %s |\n", m.Figure.Reference.Name, Duration(m.Reference.Time), number(m.Time.Median), number(m.Time.Min), number(m.Time.Max), cpu)
	}
	return b.String()
}

// Duration formats nanoseconds with two or three digits.
func Duration(ns float64) string { return inUnits(ns, []string{"ns", "µs", "ms", "s"}) }

// Size formats a number of bytes with two or three digits.
func Size(bytes float64) string { return inUnits(bytes, []string{"B", "KB", "MB", "GB"}) }

func inUnits(v float64, units []string) string {
	for len(units) > 1 && v >= 999.5 {
		v, units = v/1000, units[1:]
	}
	return number(v) + " " + units[0]
}

// number formats v with two digits, or without a fraction from 10 on.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.01:
		return "< 0.01"
	case v < 10:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Machine describes where and when the figures were measured, and the commit.
func Machine() string {
	processor := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(info); m != nil {
			processor = strings.TrimSpace(string(m[1]))
		}
	}
	return fmt.Sprintf("Measured on %s with %d cores of %s, %s, %s, at commit %s.\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), processor, runtime.GOOS, runtime.Version(), commit())
}

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		if info, ok := debug.ReadBuildInfo(); ok {
			return info.Main.Version
		}
		return "unknown"
	}
	id := strings.TrimSpace(string(out))
	if changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", ":/*.go").Output(); err != nil || len(changed) > 0 {
		id += " with changes"
	}
	return id
}
