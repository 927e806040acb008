package dot

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// parser parses a document by recursive descent. After an error it continues with the
// next statement, so that all errors are reported at once.
type parser struct {
	*scanner
	tok   token
	prev  token // the previous token, for errors about what is missing after it
	ds    source.Diagnostics
	depth int
	// broken reports whether something could not be parsed. stopped reports whether a
	// limit was exceeded; all further tokens are then tokenEnd.
	broken, stopped bool
}

// parse returns the syntax tree of a document, or nil if there is none.
func parse(s *scanner) (*graph, source.Diagnostics) {
	p := &parser{scanner: s}
	p.advance()
	g := p.document()
	if g != nil {
		g.broken = p.broken
	}
	return g, p.ds
}

func (p *parser) advance() { p.take(p.next()) }

func (p *parser) take(t token) {
	p.prev, p.tok = p.tok, t
	if p.stopped {
		p.tok = token{kind: tokenEnd, pos: t.pos}
	}
}

// is reports whether the current token is of the given kind.
func (p *parser) is(sign tokenKind) bool { return p.tok.kind == sign }

// isWord reports whether the current token is the given unquoted word.
func (p *parser) isWord(word string) bool { return p.is(tokenName) && p.tok.text == word }

// isName reports whether the current token is a name, quoted or not.
func (p *parser) isName() bool { return p.is(tokenName) || p.is(tokenText) }

// accept skips the current token if it is of the given kind.
func (p *parser) accept(sign tokenKind) bool {
	if !p.is(sign) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) errorf(pos source.Position, format string, args ...any) *source.Diagnostic {
	p.broken = true
	if p.stopped {
		return nil
	}
	if len(p.ds) >= maxFindings {
		p.stop(source.CodeLimit, pos, "document has more than %d errors of syntax, the rest is not read", maxFindings)
		return nil
	}
	return p.ds.Errorf(source.CodeParse, pos, format, args...)
}

// stop ends parsing at the current token.
func (p *parser) stop(code source.Code, pos source.Position, format string, args ...any) {
	if !p.stopped {
		p.ds.Errorf(code, pos, format, args...)
	}
	p.broken, p.stopped = true, true
	p.tok = token{kind: tokenEnd, pos: pos}
}

// unexpected reports that the current token differs from the expected one.
func (p *parser) unexpected(want string) *source.Diagnostic {
	switch {
	case p.is(tokenBad) && p.tok.complete:
		return p.errorf(p.tok.pos, "%s", p.tok.text).WithHint("%s", p.tok.hint)
	case p.is(tokenBad):
		return p.errorf(p.tok.pos, "%s, want %s", p.tok.text, want).WithHint("%s", p.tok.hint)
	}
	return p.errorf(p.tok.pos, "want %s, found %s", want, p.tok.describe())
}

func (p *parser) document() *graph {
	if p.isWord("strict") {
		p.errorf(p.tok.pos, `want "digraph", found "strict"`).WithHint("leave strict out: two edges between the same nodes may differ in their conditions")
		p.advance()
	}
	switch {
	case p.is(tokenEnd) && !p.broken:
		p.errorf(p.tok.pos, "the document is empty").WithHint("begin with: digraph name {")
		return nil
	case p.isWord("graph"):
		p.errorf(p.tok.pos, `want "digraph", found "graph"`).WithHint("edges have a direction here")
	case !p.is(tokenName) || !strings.EqualFold(p.tok.text, "digraph"):
		p.unexpected(`"digraph" and a name`)
		return nil
	}
	g := &graph{pos: p.tok.pos}
	p.advance()
	if p.isName() && p.tok.text != "" {
		g.name = source.At(p.tok.text, p.tok.pos)
		p.advance()
	} else {
		p.unexpected("the name of the graph")
		for !p.is('{') && !p.is(tokenEnd) && !p.tok.fresh {
			p.advance()
		}
	}
	if !p.is('{') {
		p.unexpected(`"{"`)
		return nil
	}
	g.body = p.body("digraph")
	p.checkEnd()
	return g
}

// checkEnd reports anything after the graph.
func (p *parser) checkEnd() {
	for p.accept(';') {
	}
	if p.is(tokenEnd) {
		return
	}
	f := p.unexpected("the end of the document after the graph")
	if p.isWord("digraph") {
		f.WithHint("one document holds one graph; put the other one into a file of its own")
	} else if p.is('}') {
		f.WithHint(`there is one "}" too many`)
	}
}

// body parses the statements between braces. The opening brace is the current token.
func (p *parser) body(of string) []statement {
	open := p.tok.pos
	if p.depth++; p.depth > maxDepth {
		p.stop(source.CodeLimit, open, "groups are nested deeper than %d", maxDepth)
		return nil
	}
	p.advance()
	var out []statement
	for !p.is('}') && !p.is(tokenEnd) {
		if p.accept(';') {
			continue
		}
		if s, ok := p.statement(); ok {
			out = append(out, s)
		} else {
			p.recover()
		}
	}
	p.depth--
	if p.is(tokenEnd) {
		if !p.stopped && !p.endReported() {
			p.errorf(open, `the "{" of the %s is never closed`, of).WithHint(`close it with "}"`)
		}
		return out
	}
	p.advance()
	return out
}

// endReported reports whether the document ends early because of a string or comment
// that is never closed, which has been reported.
func (p *parser) endReported() bool { return p.prev.kind == tokenBad && p.broken }

// recover skips the rest of a statement that cannot be parsed: up to a semicolon, a
// brace or the next line outside of brackets.
func (p *parser) recover() {
	if p.is(tokenBad) {
		p.advance()
	}
	for inside := false; ; p.advance() {
		switch {
		case p.is(tokenEnd) || p.is('}'):
			return
		case p.is('['):
			inside = true
		case p.is(']'):
			inside = false
		case inside:
		case p.is(';') || p.tok.fresh && (p.isName() || p.is(tokenBad)):
			return
		case p.is('{'): // of a group that is not allowed here
			p.body("group")
			return
		}
	}
}

func (p *parser) statement() (statement, bool) {
	switch {
	case p.is('{'):
		return p.group()
	case p.isWord("subgraph"):
		p.advance()
		if p.isName() {
			p.advance()
		}
		if !p.is('{') {
			p.unexpected(`"{" after subgraph`)
			return nil, false
		}
		return p.group()
	case !p.isName():
		p.unexpected("a node, an edge or an attribute").WithHint("%s", p.statementHint())
		return nil, false
	}
	name := p.tok
	p.advance()
	switch {
	case p.is('['):
		attributes := p.attributes()
		if name.kind == tokenName && isKeyword(name.text) {
			return &defaults{of: name.text, attributes: attributes, pos: name.pos}, true
		}
		return &chain{ids: []source.Text{source.At(name.text, name.pos)}, attributes: attributes}, p.isID(name)
	case p.is('='):
		v, ok := p.attributeValue(name)
		return &attribute{key: source.At(name.text, name.pos), value: v}, ok
	}
	return p.chain(name)
}

func isKeyword(word string) bool { return word == "node" || word == "edge" || word == "graph" }

func (p *parser) statementHint() string {
	if p.is(tokenBad) {
		return p.tok.hint
	}
	if p.is(tokenArrow) {
		return "an edge begins with the id of a node"
	}
	return ""
}

// isID reports whether a name can be the id of a node, and reports an error if not.
func (p *parser) isID(t token) bool {
	if t.text == "" {
		p.errorf(t.pos, "the id of a node is empty")
		return false
	}
	if t.kind == tokenName && strings.Contains(t.text, ".") {
		p.errorf(t.pos, "node %q: an id has no dots", t.text).WithHint("only keys of attributes have: %s = value", t.text)
		return false
	}
	return true
}

// chain parses a single node or edges, after their first id.
func (p *parser) chain(first token) (statement, bool) {
	c := &chain{ids: []source.Text{source.At(first.text, first.pos)}}
	if !p.isID(first) {
		return nil, false
	}
	for {
		switch {
		case p.is(tokenLine):
			p.errorf(p.tok.pos, `want "->", found "--"`).WithHint("edges have a direction here")
			return nil, false
		case p.is(':'):
			p.errorf(p.tok.pos, `node %q: ports (":") are not supported`, first.text)
			return nil, false
		case p.is('['):
			c.attributes = p.attributes()
			return c, true
		case p.is(tokenBad) || p.is(tokenValue):
			p.unexpected(`"->", "[" or the next statement`)
			return nil, false
		case !p.is(tokenArrow):
			return c, true
		}
		p.advance()
		if p.is('{') || p.isWord("subgraph") {
			p.errorf(p.tok.pos, "an edge leads to a node, not to a group").WithHint("write one edge for each node of the group")
			return nil, false
		}
		if !p.isName() {
			p.unexpected(`a node after "->"`)
			return nil, false
		}
		first = p.tok
		p.advance()
		if !p.isID(first) {
			return nil, false
		}
		c.ids = append(c.ids, source.At(first.text, first.pos))
	}
}

func (p *parser) group() (statement, bool) {
	g := &group{pos: p.tok.pos}
	g.body = p.body("group")
	if p.is(tokenArrow) {
		p.errorf(p.tok.pos, "an edge leaves a node, not a group").WithHint("write one edge for each node of the group")
		return g, false
	}
	return g, true
}
