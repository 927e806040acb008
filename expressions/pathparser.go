package expressions

import (
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// path parses a root and its steps. White space is allowed only inside brackets.
func (p *parser) path() Node {
	n := &Path{Span: Span{From: p.tok.start}, Root: RootState}
	switch text := p.word(); text {
	case "$":
	case "@":
		n.Root = RootItem
	default:
		root, ok := rootOf(text)
		if !ok {
			return p.unknownRoot(text)
		}
		n.Root = root
	}
	n.Steps = make([]Step, 0, p.stepsAhead())
	for p.step(n) {
	}
	if p.err != nil {
		p.tok.kind = tokEnd
		return dummy
	}
	n.To = p.pos
	p.tok.end = p.pos
	p.advance()
	return n
}

// stepsAhead estimates the number of steps that follow, for preallocation.
func (p *parser) stepsAhead() int {
	n := 0
	for _, c := range []byte(p.src[p.pos:]) {
		switch {
		case c == '.' || c == '[':
			n++
		case !isName(c) && c != ']':
			return n
		}
	}
	return n
}

func (p *parser) unknownRoot(text string) Node {
	hint := source.DidYouMean(text, rootNames[1:])
	if hint == "" {
		hint = "write $." + text[1:] + " for a field"
	}
	return p.failName(p.tok.start, "unknown root "+quoteCode(text), hint)
}

// step parses one step. ok is false if there is none or it is malformed.
func (p *parser) step(n *Path) (ok bool) {
	if p.pos == len(p.src) {
		return false
	}
	switch p.src[p.pos] {
	case '.':
		start := p.pos + 1
		p.pos = start
		p.skipName()
		if p.pos == start {
			p.badName(start)
			return false
		}
		n.Steps = append(n.Steps, Step{Name: p.src[start:p.pos], From: start})
		return true
	case '[':
		return p.subscript(n)
	}
	return false
}

// badName reports a malformed name after a dot in a path.
func (p *parser) badName(at int) {
	hint := "names are letters, digits and underscores; others are written ['like this']"
	switch {
	case strings.HasPrefix(p.src[at:], "["):
		hint = "leave out the point before ["
	case strings.HasPrefix(p.src[at:], "."), strings.HasPrefix(p.src[at:], "*"):
		hint = p.wildcards("wildcards and ..")
	}
	p.fail(at, `expected a name after "."`, hint)
}

// wildcards returns a hint about features of JSONPath that this language does not have.
func (p *parser) wildcards(what string) string {
	if p.filter {
		return what + " cannot be inside a filter"
	}
	return what + " are JSONPath, which for_each, items and args accept"
}

// subscript parses [2], [-1] or ['name'].
func (p *parser) subscript(n *Path) bool {
	open := p.pos
	p.pos++
	p.skipSpace()
	from := p.pos
	step, ok := p.subscriptValue(from)
	if !ok {
		return false
	}
	p.skipSpace()
	if p.pos == len(p.src) {
		p.fail(open, `"[" is never closed`, "")
		return false
	}
	if p.src[p.pos] != ']' {
		p.fail(p.pos, `expected "]"`, "a subscript is one number or one string")
		return false
	}
	p.pos++
	n.Steps = append(n.Steps, step)
	return true
}

func (p *parser) subscriptValue(from int) (Step, bool) {
	rest := p.src[from:]
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		name, ok := p.quotedName()
		return Step{Name: name, From: from}, ok
	}
	minus := len(rest) - len(strings.TrimPrefix(rest, "-"))
	count := digits(rest[minus:])
	if count == 0 {
		hint := "a subscript is a number or a string: [0] or ['name']"
		if strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "?") {
			hint = p.wildcards("wildcards and filters")
		}
		p.fail(from, "expected a number or a string after \"[\"", hint)
		return Step{}, false
	}
	p.pos = from + minus + count
	i, err := strconv.ParseInt(p.src[from:p.pos], 10, 64)
	if err != nil {
		p.fail(from, "the index "+p.src[from:p.pos]+" does not fit 64 bits", "")
		return Step{}, false
	}
	return Step{Index: i, IsIndex: true, From: from}, true
}
