package schedulertest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// evaluate is a naive evaluator of the part of the condition language that generated graphs
// use: paths of one name or two, $nodes.ID.status, outcome and preferred_label, integers,
// words in single quotes, true and false, length(), ! % == != < > <= >= && || and
// parentheses. It parses the condition on every call and reports no errors: a condition
// that it cannot parse is a bug in the test.
//
// get returns the value of a field, of its member "field.name", of "$nodes.ID", "outcome"
// or "preferred_label".
func evaluate(text string, get func(name string) any) bool {
	p := &reader{rest: text, get: get}
	v := p.or()
	if p.space(); p.rest != "" {
		panic(fmt.Sprintf("schedulertest: cannot read condition %q at %q", text, p.rest))
	}
	return truthy(v)
}

const nameSet = "abcdefghijklmnopqrstuvwxyz_0123456789"

type reader struct {
	rest string
	get  func(string) any
}

func (p *reader) space() { p.rest = strings.TrimLeft(p.rest, " ") }

// accept consumes the first of the symbols that the input continues with. Longer symbols
// must come first.
func (p *reader) accept(symbols ...string) string {
	p.space()
	for _, s := range symbols {
		if strings.HasPrefix(p.rest, s) {
			p.rest = p.rest[len(s):]
			return s
		}
	}
	return ""
}

// Both sides are always parsed, so the evaluation must not short-circuit.
func (p *reader) or() any {
	v := p.and()
	for p.accept("||") != "" {
		r := p.and()
		v = truthy(v) || truthy(r)
	}
	return v
}

func (p *reader) and() any {
	v := p.comparison()
	for p.accept("&&") != "" {
		r := p.comparison()
		v = truthy(v) && truthy(r)
	}
	return v
}

func (p *reader) comparison() any {
	v := p.remainder()
	if op := p.accept("==", "!=", "<=", ">=", "<", ">"); op != "" {
		return compare(op, v, p.remainder())
	}
	return v
}

func (p *reader) remainder() any {
	v := p.prefix()
	for p.accept("%") != "" {
		a, ok := v.(int64)
		b, ok2 := p.prefix().(int64)
		if !ok || !ok2 || b == 0 {
			v = value.Missing
			continue
		}
		v = a % b
	}
	return v
}

func (p *reader) prefix() any {
	if p.accept("!") != "" {
		return !truthy(p.prefix())
	}
	switch word := p.accept("(", "length", "true", "false", "outcome", "preferred_label", "$nodes.", "$.", "'"); word {
	case "(":
		v := p.or()
		p.accept(")")
		return v
	case "length":
		p.accept("(")
		v := p.or()
		p.accept(")")
		return length(v)
	case "true":
		return true
	case "false":
		return false
	case "outcome", "preferred_label":
		return p.get(word)
	case "$nodes.":
		id := p.take(nameSet)
		p.accept(".status")
		return p.get("$nodes." + id)
	case "'":
		text, rest, _ := strings.Cut(p.rest, "'")
		p.rest = rest
		return text
	case "$.":
		name := p.take(nameSet)
		switch p.accept(".", "['") {
		case ".":
			name += "." + p.take(nameSet)
		case "['":
			name += "." + p.take(nameSet+".")
			p.accept("']")
		}
		return p.get(name)
	}
	n, err := strconv.ParseInt(p.take("-0123456789"), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("schedulertest: cannot read a value at %q", p.rest))
	}
	return n
}

func length(v any) int64 {
	switch v := v.(type) {
	case []any:
		return int64(len(v))
	case string:
		return int64(utf8.RuneCountInString(v))
	}
	return 0
}

func (p *reader) take(set string) string {
	n := len(p.rest) - len(strings.TrimLeft(p.rest, set))
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

// compare compares two values. A missing value differs from a present one, and all other
// comparisons with it are false.
func compare(op string, a, b any) bool {
	if value.IsMissing(a) || value.IsMissing(b) {
		return op == "!=" && value.IsMissing(a) != value.IsMissing(b)
	}
	switch op {
	case "==":
		return value.Equal(a, b)
	case "!=":
		return !value.Equal(a, b)
	}
	x, ok := a.(int64)
	y, ok2 := b.(int64)
	if !ok || !ok2 {
		return false
	}
	switch op {
	case "<":
		return x < y
	case ">":
		return x > y
	case "<=":
		return x <= y
	default:
		return x >= y
	}
}

func truthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int64:
		return v != 0
	case string:
		return v != ""
	case nil:
		return false
	}
	return !value.IsMissing(v)
}
