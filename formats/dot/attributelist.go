package dot

import "github.com/wavefold/wavefold/core/source"

// attributes parses the attribute lists that start at the current token, such as [a=1,
// b=2][c=3]. Attributes that cannot be parsed are reported and left out.
func (p *parser) attributes() []*attribute {
	var out []*attribute
	for p.is('[') {
		open := p.tok
		p.advance()
		for !p.accept(']') {
			if p.accept(',') || p.accept(';') {
				continue
			}
			back, prev, tok := p.scanState, p.prev, p.tok
			a, got := p.attribute()
			if got == attributeAbsent {
				p.scanState, p.prev, p.tok = back, prev, tok
				p.unclosed(open)
				return out
			}
			if got == attributeRead {
				out = append(out, a)
			}
		}
	}
	return out
}

// unclosed reports a list without its closing bracket, unless an unclosed string or
// comment swallowed the bracket: that error has already been reported.
func (p *parser) unclosed(open token) {
	if p.stopped || p.is(tokenEnd) && p.prev.kind == tokenBad {
		return
	}
	p.errorf(p.tok.pos, `want an attribute or "]", found %s`, p.tok.describe()).
		WithHint(`the list that begins on line %d lacks its "]"`, open.pos.Line)
}

// attributeResult is the result of parsing one attribute.
type attributeResult uint8

const (
	attributeRead    attributeResult = iota
	attributeSkipped                 // the attribute was reported and skipped
	attributeAbsent                  // the current token belongs to the next statement
)

func (p *parser) attribute() (*attribute, attributeResult) {
	if p.is(tokenEnd) || p.is('}') {
		return nil, attributeAbsent
	}
	if !p.isName() {
		p.unexpected(`the key of an attribute or "]"`)
		p.advance()
		p.recoverAttribute()
		return nil, attributeSkipped
	}
	key := p.tok
	p.advance()
	switch {
	case p.is('='):
		v, ok := p.attributeValue(key)
		if !ok {
			p.recoverAttribute()
			return nil, attributeSkipped
		}
		return &attribute{key: source.At(key.text, key.pos), value: v}, attributeRead
	case p.is(tokenArrow) || p.is('[') || p.is('{'):
		return nil, attributeAbsent
	}
	f := p.errorf(key.pos, `attribute %q has no value`, key.text)
	if p.is(',') || p.is(']') || p.is(';') {
		f.WithHint("write %s=true", key.text)
	} else {
		f.WithHint(`expected "=" after the key, found %s`, p.tok.describe())
		p.recoverAttribute()
	}
	return nil, attributeSkipped
}

// recoverAttribute skips the rest of an attribute.
func (p *parser) recoverAttribute() {
	for !p.is(tokenEnd) && !p.is('}') && !p.is(']') && !p.is(',') && !p.is(';') && !(p.tok.fresh && p.isName()) {
		p.advance()
	}
}

// attributeValue parses the value after the "=", which is the current token.
func (p *parser) attributeValue(key token) (attrValue, bool) {
	p.take(p.value())
	t := p.tok
	switch {
	case t.kind == tokenText:
		p.advance()
		if p.is('+') {
			p.errorf(p.tok.pos, `attribute %q: strings cannot be joined with "+"`, key.text).WithHint("write one string; it may have several lines")
			return attrValue{}, false
		}
		return attrValue{kind: textValue, text: source.At(t.text, t.pos)}, true
	case t.kind == '<':
		p.errorf(t.pos, "attribute %q: HTML is not supported", key.text).WithHint("write a string in quotes")
		p.html()
		return attrValue{}, false
	case t.kind != tokenName && t.kind != tokenValue:
		p.unexpected("the value of " + key.text)
		return attrValue{}, false
	}
	rest := p.adjacent()
	v, ok := unquotedValue(t)
	if !ok || rest != "" {
		p.errorf(t.pos, "attribute %q: the value %s needs quotes", key.text, t.text+rest).
			WithHint("only names may be without quotes, words such as gpt-5.2, numbers, true, false and durations such as 250ms, 30s, 15m, 2h, 1d")
		p.advance()
		return attrValue{}, false
	}
	p.advance()
	return v, true
}

// adjacent skips and returns the characters that directly follow an unquoted value and
// cannot start another token, such as /b in a/b.
func (p *parser) adjacent() string {
	from := p.at
	for ; p.at < len(p.data); p.at++ {
		c := p.peek(0)
		if c <= ' ' || c == ',' || c == ';' || c == ']' || c == '}' || c == '[' || c == '"' && p.at == from || c == '/' && (p.peek(1) == '/' || p.peek(1) == '*') || c == '-' && p.peek(1) == '>' {
			break
		}
	}
	return string(p.data[from:p.at])
}

// html skips a value in angle brackets.
func (p *parser) html() {
	for depth := 1; depth > 0 && p.at < len(p.data); p.at++ {
		switch p.peek(0) {
		case '<':
			depth++
		case '>':
			depth--
		case '\n':
			p.newline(p.at + 1)
		}
	}
	p.advance()
}
