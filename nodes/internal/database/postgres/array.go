package postgres

import (
	"errors"
	"strings"
)

// parseArray parses an array in the server's text format. It skips the bounds before
// the array, which only arrays that do not begin at 1 have.
func parseArray(s string, element func([]byte) (any, error)) (any, error) {
	if strings.HasPrefix(s, "[") {
		_, s, _ = strings.Cut(s, "=")
	}
	p := arrayParser{rest: s, element: element}
	v, err := p.array()
	if err == nil && p.rest != "" {
		return nil, errArray
	}
	return v, err
}

var errArray = errors.New("an array that cannot be read")

type arrayParser struct {
	rest    string
	element func([]byte) (any, error)
}

func (p *arrayParser) array() (any, error) {
	if !p.take('{') {
		return nil, errArray
	}
	out := []any{}
	if p.take('}') {
		return out, nil
	}
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if p.take('}') {
			return out, nil
		}
		if !p.take(',') {
			return nil, errArray
		}
	}
}

func (p *arrayParser) take(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *arrayParser) value() (any, error) {
	if strings.HasPrefix(p.rest, "{") {
		return p.array()
	}
	if p.take('"') {
		return p.quoted()
	}
	end := strings.IndexAny(p.rest, ",}")
	if end < 0 {
		return nil, errArray
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	if text == "NULL" {
		return nil, nil
	}
	return p.element([]byte(text))
}

func (p *arrayParser) quoted() (any, error) {
	var text []byte
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return p.element(text)
		case c == '\\' && i+1 < len(p.rest):
			i++
			text = append(text, p.rest[i])
		default:
			text = append(text, c)
		}
	}
	return nil, errArray
}
