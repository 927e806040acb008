package dot

import (
	"maps"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// styles holds the rules of a stylesheet such as
//
//	.hard { model: large; } #review { provider: other; } * { model: small; }
//
// by selector in its source form (*, a shape, .class or #id), then by property. Of
// several values for a property, the one with the more specific selector wins, then the
// later one.
type styles map[string]map[string]style

// style is a value and its position in the order of all values.
type style struct {
	value source.Text
	order int
}

// properties maps the properties of stylesheets to configuration keys. The key is ""
// for properties without effect.
var properties = map[string]string{
	"model": "model", "provider": "provider", "reasoning_effort": "reasoning_effort", "llm_model": "model", "llm_provider": "provider",
	"speed": "", "backend": "",
}

var templateSign = lazyregexp.New(`\{[{%]`)

// stylesheet parses a stylesheet.
func (l *loader) stylesheet(t source.Text) {
	if m := templateSign.FindStringIndex(t.Value); m != nil {
		l.ds.Warnf(source.CodeIgnored, source.Inside(t, m[0]), "model_stylesheet: a stylesheet that is a template has no effect").
			WithHint("write the models into it, or model=... on the nodes")
		return
	}
	t.Pos = t.Pos.Written(source.Segments(t)) // so that source.Inside does not scan the string again
	s := &sheet{src: t, text: t.Value, rules: styles{}, reported: map[string]bool{}, ds: &l.ds}
	if problem := s.read(); problem != "" {
		l.ds.Errorf(source.CodeStylesheet, source.Inside(t, s.at), "model_stylesheet: %s", problem).
			WithHint("a rule is: selector { property: value; } where the selector is *, a shape, .class or #id")
	}
	l.styles = s.rules
}

// style sets the values of the stylesheet on a node that asks a model, for keys that
// the node does not set itself.
func (l *loader) style(n *core.Node, shape string, owned []string) {
	if l.styles == nil || n.Kind.Value != kindAgent && n.Kind.Value != kindPrompt {
		return
	}
	for _, c := range modelKeys {
		if n.Config.Get(c.key) != nil || owned != nil && !slices.Contains(owned, c.key) {
			continue
		}
		if v, ok := l.styles.of(n, shape, c.key); ok {
			n.Config.Set(source.At(c.key, v.Pos), stringTree(v))
		}
	}
	n.Config = ordered(n.Config)
}

// ordered returns a configuration with its keys in the order in which attributes are
// read: the prompt, the keys of models, other keys. A key from a stylesheet is thus in
// the same position as if the node had set it.
func ordered(config *source.Value) *source.Value {
	out := *config
	out.Keys, out.Values = nil, nil
	move := func(fits func(key string) bool) {
		for i, k := range config.Keys {
			if fits(k.Value) {
				out.Keys, out.Values = append(out.Keys, k), append(out.Values, config.Values[i])
			}
		}
	}
	known := []string{promptKey}
	for _, c := range modelKeys {
		known = append(known, c.key)
	}
	for _, key := range known {
		move(func(k string) bool { return k == key })
	}
	move(func(k string) bool { return !slices.Contains(known, k) })
	return &out
}

// of returns the value of a property for the given node.
func (s styles) of(n *core.Node, shape, key string) (source.Text, bool) {
	if v, ok := s["#"+n.ID.Value][key]; ok {
		return v.value, true
	}
	best, found := style{}, false
	for _, c := range n.Classes {
		if v, ok := s["."+c.Value][key]; ok && (!found || v.order > best.order) {
			best, found = v, true
		}
	}
	if found {
		return best.value, true
	}
	for _, selector := range []string{shape, "*"} {
		if v, ok := s[selector][key]; ok {
			return v.value, true
		}
	}
	return source.Text{}, false
}

// sheet is a parser for a stylesheet.
type sheet struct {
	src      source.Text
	text     string
	at       int
	rules    styles
	count    int
	reported map[string]bool // properties without effect that have been reported
	ds       *source.Diagnostics
}

// read parses the stylesheet. It returns the first error, whose offset is s.at, or ""
// if there is none.
func (s *sheet) read() (problem string) {
	for s.space(); s.at < len(s.text); s.space() {
		from := s.at
		if !s.selector() {
			return "want a selector, found " + s.describeNext()
		}
		selector := s.text[from:s.at]
		if s.space(); !s.sign('{') {
			return `want "{" after the selector, found ` + s.describeNext()
		}
		for s.space(); !s.sign('}'); s.space() {
			if problem := s.property(selector); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// property parses `name: value` and the semicolon, which is optional at the end of a
// rule.
func (s *sheet) property(selector string) string {
	from := s.at
	name := s.word()
	if name == "" {
		return `want a property or "}", found ` + s.describeNext()
	}
	if s.space(); !s.sign(':') {
		return `want ":" after the property, found ` + s.describeNext()
	}
	s.space()
	n := strings.IndexAny(s.text[s.at:], ";{}")
	if n < 0 {
		n = len(s.text) - s.at
	}
	value := strings.TrimSpace(s.text[s.at : s.at+n])
	if value == "" {
		return "want a value, found " + s.describeNext()
	}
	s.set(selector, name, from, value)
	s.at += n
	if s.at < len(s.text) && s.text[s.at] == '}' || s.sign(';') {
		return ""
	}
	return `want ";" after the value, found ` + s.describeNext()
}

// set stores the value of a property. The value begins at s.at, the property at from.
func (s *sheet) set(selector, name string, from int, value string) {
	key, ok := properties[name]
	if !ok {
		s.ds.Warnf(source.CodeStylesheet, source.Inside(s.src, from), "model_stylesheet: there is no property %s", quote(name)).
			WithHint("%s", nearest(name, slices.Sorted(maps.Keys(properties))))
	}
	if key == "" {
		if row := nodeTable.find(name, kindAgent); ok && !s.reported[name] && !slices.Contains(row.harmless, unquoted(value)) {
			s.reported[name] = true
			s.ds.Warnf(source.CodeIgnored, source.Inside(s.src, from), "model_stylesheet: property %q has no effect here", name).WithHint("%s", row.hint)
		}
		return
	}
	if s.rules[selector] == nil {
		s.rules[selector] = map[string]style{}
	}
	s.count++
	s.rules[selector][key] = style{source.At(unquoted(value), source.Inside(s.src, s.at)), s.count}
}

// unquoted removes the quotes around a value.
func unquoted(value string) string {
	if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
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

func (s *sheet) describeNext() string {
	if s.at >= len(s.text) {
		return "the end of the stylesheet"
	}
	return quote(string([]rune(s.text[s.at:])[:1]))
}
