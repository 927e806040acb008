package dot

import (
	"strings"

	"github.com/wavefold/wavefold/core"
)

// stylesheet checks a stylesheet, rules such as `.fast { model: small; }`, and says
// that it has no effect.
func (l *loader) stylesheet(t core.Text) {
	l.ds.Warnf(core.CodeIgnored, t.Pos, "graph: model_stylesheet: stylesheets have no effect").WithHint("write model=... on the nodes, or node [model=...] in front of them")
	s := &sheet{text: t.Value}
	if at, problem := s.check(); problem != "" {
		l.ds.Errorf(core.CodeStylesheet, core.Inside(t, at), "graph: model_stylesheet: %s", problem).
			WithHint("a rule is: selector { property: value; } where the selector is *, a shape, .class or #id")
	}
}

// sheet reads a stylesheet.
type sheet struct {
	text string
	at   int
}

// check returns the first thing that is wrong, "" for nothing, and where.
func (s *sheet) check() (at int, problem string) {
	for s.space(); s.at < len(s.text); s.space() {
		if !s.selector() {
			return s.at, "want a selector, found " + s.found()
		}
		if s.space(); !s.sign('{') {
			return s.at, `want "{" behind the selector, found ` + s.found()
		}
		for s.space(); !s.sign('}'); s.space() {
			if problem := s.property(); problem != "" {
				return s.at, problem
			}
		}
	}
	return 0, ""
}

// property reads `name: value` and the semicolon, which may be missing at the end of a
// rule.
func (s *sheet) property() string {
	if s.word() == "" {
		return `want a property or "}", found ` + s.found()
	}
	if s.space(); !s.sign(':') {
		return `want ":" behind the property, found ` + s.found()
	}
	n := strings.IndexAny(s.text[s.at:], ";{}")
	if n < 0 {
		n = len(s.text) - s.at
	}
	if strings.TrimSpace(s.text[s.at:s.at+n]) == "" {
		s.space()
		return "want a value, found " + s.found()
	}
	s.at += n
	if s.at < len(s.text) && s.text[s.at] == '}' || s.sign(';') {
		return ""
	}
	return `want ";" behind the value, found ` + s.found()
}

func (s *sheet) selector() bool {
	if s.sign('*') {
		return true
	}
	start := s.at
	if s.sign('.') || s.sign('#') {
		start++
	}
	if s.word() != "" {
		return true
	}
	s.at = start
	return false
}

func (s *sheet) space() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		trimmed := strings.TrimLeft(rest, " \t\r\n")
		s.at += len(rest) - len(trimmed)
		if !strings.HasPrefix(trimmed, "/*") {
			return
		}
		n := strings.Index(trimmed[2:], "*/")
		if n < 0 {
			return
		}
		s.at += n + 4
	}
}

func (s *sheet) sign(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *sheet) word() string {
	from := s.at
	for s.at < len(s.text) && (isLetter(s.text[s.at]) || isDigit(s.text[s.at]) || s.text[s.at] == '-') {
		s.at++
	}
	return s.text[from:s.at]
}

func (s *sheet) found() string {
	if s.at >= len(s.text) {
		return "the end of the stylesheet"
	}
	return quote(string([]rune(s.text[s.at:])[:1]))
}
