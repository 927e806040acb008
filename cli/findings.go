package cli

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core/source"
)

// finding is the JSON form of a finding.
type finding struct {
	Severity string      `json:"severity"`
	Code     source.Code `json:"code"`
	File     string      `json:"file,omitempty"`
	Line     int32       `json:"line,omitempty"`
	Column   int32       `json:"column,omitempty"`
	// Node or Edge identifies the subject of the finding.
	Node    string         `json:"node,omitempty"`
	Edge    source.EdgeRef `json:"edge,omitzero"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
}

// findings is the output of --json about files.
type findings struct {
	Valid    bool      `json:"valid"`
	Findings []finding `json:"findings"`
}

func findingsJSON(ds source.Diagnostics, valid bool) findings {
	out := findings{Valid: valid, Findings: []finding{}}
	for _, d := range ds {
		out.Findings = append(out.Findings, finding{d.Severity.String(), d.Code, d.Pos.File, d.Pos.Line, d.Pos.Column, d.Node, d.Edge, d.Message, d.Hint})
	}
	return out
}

// writeJSON prints a value on standard output, indented.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(tty.JSON(a.Out))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil && a.out.failed() == nil {
		return fail(exitFailed, "the result has no JSON form: %w", err)
	}
	return nil
}

// printFindings prints findings on standard error, one per line; on a terminal, with the
// line of the file that each of them is about.
func (a *app) printFindings(ds source.Diagnostics) {
	p := a.palette(a.Err)
	width := widthOf(a.Err)
	sources := map[string][]string{}
	for _, d := range ds {
		line := tty.Sprintf("%s: %s", p.Status(d.Severity.String()), d.Message)
		if pos := d.Pos.String(); pos != "" {
			line = tty.Sprintf("%s: %s", p.Bold(pos), line)
		}
		if d.Hint != "" {
			line = tty.Sprintf("%s (%s)", line, d.Hint)
		}
		if d.Code != "" {
			line = tty.Sprintf("%s %s", line, p.Dim("["+string(d.Code)+"]"))
		}
		tty.Fprintf(a.Err, "%s\n", line)
		if width > 0 {
			tty.Fprintf(a.Err, "%s", excerpt(d.Pos, sources, p, width))
		}
	}
	if n := countOf(ds, source.Error); n > 0 && len(ds) > 1 {
		tty.Fprintf(a.Err, "%s\n", tally(ds))
	}
}

func countOf(ds source.Diagnostics, s source.Severity) int {
	n := 0
	for _, d := range ds {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// tally counts findings by severity: "2 errors, 1 warning".
func tally(ds source.Diagnostics) string {
	var parts []string
	for _, s := range []source.Severity{source.Error, source.Warning, source.Hint} {
		if n := countOf(ds, s); n > 0 {
			parts = append(parts, plural(n, s.String()))
		}
	}
	return strings.Join(parts, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// excerpt shows the source line of a position, with carets below the affected text; "" if
// the line is not available. If the line is wider than the terminal, it shows the part
// around the position, so that the terminal does not wrap it.
func excerpt(pos source.Position, sources map[string][]string, p tty.Palette, width int) tty.Styled {
	if !pos.IsValid() || pos.File == "" {
		return ""
	}
	lines, ok := sources[pos.File]
	if !ok {
		data, err := os.ReadFile(pos.File)
		if err == nil {
			lines = strings.Split(string(data), "\n")
		}
		sources[pos.File] = lines
	}
	at := int(pos.Line) - 1
	if at >= len(lines) {
		return ""
	}
	text := strings.TrimRight(lines[at], "\r")
	column := min(max(int(pos.Column)-1, 0), len(text))
	before, after, marked := tty.Safe(text[:column]), tty.Safe(text[column:]), tty.Width(word(text[column:]))
	number := strconv.Itoa(int(pos.Line))
	margin := strings.Repeat(" ", len(number))
	// One column stays empty, since some terminals wrap at the last one.
	before, after = around(before, after, marked, max(width-1-tty.Width("  "+number+" | "), minExcerpt))
	return tty.Sprintf("  %s %s%s\n  %s %s%s\n", p.Dim(number+" |"), before, after,
		p.Dim(margin+" |"), strings.Repeat(" ", tty.Width(before)), p.Bad(strings.Repeat("^", max(1, min(marked, tty.Width(after))))))
}

// minExcerpt is the minimum number of cells of a source line that are shown, however
// narrow the terminal.
const minExcerpt = 8

// around shortens the text before and after a position to a total width. The marked text,
// at the beginning of after, has priority; the rest of the width is divided so that more of
// the text before the position is shown if there is little after it.
func around(before, after tty.Styled, marked, width int) (tty.Styled, tty.Styled) {
	left, right := tty.Width(before), tty.Width(after)
	if left+right <= width {
		return before, after
	}
	right = min(right, max(width/2, min(marked+1, width*3/4)))
	before = tty.CutLeft(before, width-right)
	return before, tty.Cut(after, width-tty.Width(before))
}

// word returns the prefix of s that looks like a name or path.
func word(s string) string {
	for i, r := range s {
		isName := r == '_' || r == '$' || r == '.' || r == '/' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !isName {
			return s[:i]
		}
	}
	return s
}
