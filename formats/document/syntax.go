package document

import (
	"bytes"
	"errors"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"gopkg.in/yaml.v3"
)

// The library reports one line for a syntax error, and often the wrong one: the line of
// the surrounding mapping, or the line before. The actual position is found by parsing
// prefixes of the document: it is the end of the shortest prefix that fails with the
// same message. The number of lines tried and of bytes parsed are limited, so that the
// search costs a small multiple of parsing the document once.
const (
	maxProbes     = 60
	maxProbeBytes = 8 << 20
)

var errorLine = lazyregexp.New(`^yaml: (?:line \d+: )?`)

func (s *yamlSource) syntaxError(err error) source.Diagnostic {
	problem := errorLine.ReplaceAllString(err.Error(), "")
	if strings.HasPrefix(problem, "exceeded max depth") {
		return source.Diagnostic{Code: source.CodeLimit, Pos: s.position(0), Message: "document is nested too deep"}
	}
	if d, ok := s.jsonError(); ok {
		return d
	}
	at := s.find(problem)
	pos := s.position(at)
	message, hint := explain(problem, s.data, at)
	hint = lineHint(s.line(int(pos.Line)), hint)
	return source.Diagnostic{Code: source.CodeSyntax, Pos: pos, Message: message, Hint: hint}
}

// find returns the offset of a syntax error.
func (s *yamlSource) find(problem string) int {
	s.budget = maxProbeBytes + len(s.data)
	_, consumed := s.probeBytes(s.data)
	last := s.lineOf(max(0, consumed-1))
	best := last
	for line, probes := last, 0; line >= 0 && probes < maxProbes; line-- {
		if s.isEmpty(line) {
			continue
		}
		probes++
		if s.probe(s.data[:s.lineEnd(line)]) == problem {
			best = line
			continue
		}
		if line < last {
			break
		}
	}
	if bracket, ok := strings.CutPrefix(problem, "did not find expected ',' or "); ok {
		return s.findInBrackets(problem, bracket, best, last)
	}
	return s.column(best, func(text []byte) bool { return s.probe(text) == problem })
}

// findInBrackets locates an error about a list or mapping in brackets. first is the
// first line whose prefix fails. The error is either inside the brackets, such as a
// missing comma, or a missing closing bracket. A missing bracket only shows on a later
// line that is not indented more deeply than the line of the opening bracket.
func (s *yamlSource) findInBrackets(problem, bracket string, first, last int) int {
	// The library searches for the end of a key before it reports an error in front of
	// it. Commas on separate lines end the search.
	fails := func(text []byte) bool {
		text = append(text[:len(text):len(text)], "\n,\n,\n,\n,\n,\n"...)
		p, consumed := s.probeBytes(text)
		return p == problem && consumed < len(text)
	}
	char := "["
	if bracket == "'}'" {
		char = "{"
	}
	open := first
	for open > 0 && !strings.Contains(s.line(open+1), char) {
		open--
	}
	for line := first; line <= last; line++ {
		if s.isEmpty(line) || !fails(s.data[:s.lineEnd(line)]) {
			continue
		}
		closes := strings.IndexByte("]}", s.data[s.firstNonSpace(line)]) >= 0
		if line > open && s.indent(line) <= s.indent(open) && !closes {
			break
		}
		return s.column(line, fails)
	}
	return s.lines[open] + max(s.indent(open), strings.Index(s.line(open+1), char))
}

// column returns the offset at which a line begins to fail.
func (s *yamlSource) column(line int, fails func(text []byte) bool) int {
	start, end := s.lines[line], s.lineEnd(line)
	n := sort.Search(end-start, func(n int) bool { return fails(s.data[:start+n+1]) })
	if n == end-start || s.budget <= 0 {
		return s.firstNonSpace(line)
	}
	at := start + n
	for at > start && !utf8.RuneStart(s.data[at]) {
		at--
	}
	return at
}

// probe parses data and returns the problem. It returns "" if there is none, or if the
// budget is exhausted.
func (s *yamlSource) probe(data []byte) string {
	if s.budget -= len(data); s.budget < 0 {
		return ""
	}
	return problemOf(parse(bytes.NewReader(data)))
}

// probeBytes is like probe, and also returns the number of bytes consumed when the
// problem was found. The library is fed byte by byte and never reads more than a few
// bytes ahead.
func (s *yamlSource) probeBytes(data []byte) (problem string, consumed int) {
	if s.budget -= len(data); s.budget < 0 {
		return "", 0
	}
	r := &byteReader{data: data}
	problem = problemOf(parse(r))
	return problem, r.at
}

func problemOf(_ *yaml.Node, err error) string {
	if err == nil || errors.Is(err, errSecond) {
		return ""
	}
	return errorLine.ReplaceAllString(err.Error(), "")
}

type byteReader struct {
	data []byte
	at   int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.at == len(r.data) || len(p) == 0 {
		return 0, io.EOF
	}
	p[0] = r.data[r.at]
	r.at++
	return 1, nil
}

// In the functions below, lines are counted from 0, except in line.

func (s *yamlSource) lineOf(offset int) int { return int(s.position(offset).Line) - 1 }

func (s *yamlSource) lineEnd(line int) int {
	if line+1 < len(s.lines) {
		return s.lines[line+1]
	}
	return len(s.data)
}

// line returns the content of a line, counted from 1.
func (s *yamlSource) line(n int) string { return string(s.data[s.lines[n-1]:s.lineEnd(n-1)]) }

// isEmpty reports whether a line is blank or a comment.
func (s *yamlSource) isEmpty(line int) bool {
	text := bytes.TrimLeft(s.data[s.lines[line]:s.lineEnd(line)], " \t\r\n")
	return len(text) == 0 || text[0] == '#'
}

func (s *yamlSource) indent(line int) int { return s.firstNonSpace(line) - s.lines[line] }

// firstNonSpace returns the offset of the first character of a line that is not a space.
func (s *yamlSource) firstNonSpace(line int) int {
	text := s.data[s.lines[line]:s.lineEnd(line)]
	return s.lines[line] + len(text) - len(bytes.TrimLeft(text, " "))
}
