package dot

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
)

// settings reads the attributes of one thing. An absent attribute has its zero value,
// one that is refused is reported and counts as absent.
type settings struct {
	*attributeSet
	loader  *loader
	ds      *core.Diagnostics
	subject string // how messages call the thing
	refused bool   // something was
}

func (s *settings) wrong(a *attribute, want string) *core.Diagnostic {
	s.refused = true
	return s.ds.Errorf(core.CodeWrongType, a.value.text.Pos, "%s: %s: want %s, found %s", s.subject, a.key.Value, want, a.value.describe())
}

func (s *settings) bad(a *attribute, want string) *core.Diagnostic {
	s.refused = true
	return s.ds.Errorf(core.CodeBadValue, a.value.text.Pos, "%s: %s: want %s, found %s", s.subject, a.key.Value, want, a.value.describe())
}

// text reads a text, which any value is. One that is blank counts as absent.
func (s *settings) text(key string) core.Text {
	if a := s.take(key); a != nil && strings.TrimSpace(a.value.text.Value) != "" {
		return a.value.text
	}
	return core.Text{}
}

// first returns the first of several keys that is there and not blank, "" for none.
func (s *settings) first(keys ...string) string {
	for _, k := range keys {
		if s.text(k).Value != "" {
			return k
		}
	}
	return ""
}

// says reports whether one of several keys is there and not blank, and takes none.
func (s *settings) says(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		a := s.find(key)
		return a >= 0 && strings.TrimSpace(s.list[a].value.text.Value) != ""
	})
}

func (s *settings) flag(key string) bool {
	a := s.take(key)
	if a == nil {
		return false
	}
	b, ok := a.value.asBool()
	if !ok {
		s.wrong(a, "true or false")
	}
	return b
}

// number reads a whole number of at least least.
func (s *settings) number(key string, least int, want string) *core.Int {
	a := s.take(key)
	if a == nil {
		return nil
	}
	n, ok := a.value.asInt()
	switch {
	case !ok:
		s.wrong(a, "a whole number")
		return nil
	case n < least:
		s.bad(a, want)
		return nil
	}
	return &core.Int{Value: n, Pos: a.value.text.Pos}
}

// anyNumber reads a whole number.
func (s *settings) anyNumber(key string) *core.Int {
	return s.number(key, math.MinInt, "")
}

func (s *settings) duration(key string) *core.Located[time.Duration] {
	a := s.take(key)
	if a == nil {
		return nil
	}
	d, ok := a.value.asDuration()
	if !ok {
		s.wrong(a, "a duration").WithHint("such as 250ms, 30s, 15m, 2h or 1d; a number by itself is seconds")
		return nil
	}
	return &core.Located[time.Duration]{Value: d, Pos: a.value.text.Pos}
}

// word reads one of a list of words.
func (s *settings) word(key string, words ...string) core.Text {
	t := s.text(key)
	if t.Value == "" || slices.Contains(words, t.Value) {
		return t
	}
	s.bad(s.take(key), "one of "+strings.Join(words, ", ")).WithHint("%s", core.DidYouMean(t.Value, words))
	return core.Text{}
}

// attributes returns what is left, as it was written, nil for nothing. What looks like
// a slip for one of the known keys gets a hint, and so does a key that has a meaning
// elsewhere.
func (s *settings) attributes(of place) *core.Object {
	var out *core.Object
	for a := range s.rest {
		if out == nil {
			out = core.NewObject(len(s.list))
		}
		out.Set(a.key.Value, a.value.plain())
		s.hint(a, of)
	}
	return out
}

// maxHints is how many unknown attributes of a document are compared with the known ones.
const maxHints = 1000

// spot is a place in the document.
type spot struct{ line, column int32 }

func (s *settings) hint(a *attribute, of place) {
	key, at := a.key.Value, spot{a.key.Pos.Line, a.key.Pos.Column}
	if len(s.loader.hinted) == maxHints || s.loader.hinted[at] {
		return
	}
	if slices.Contains(of.known, key) || slices.Contains(graphvizKeys, key) {
		return
	}
	if instead := foreignKeys[key]; instead != "" {
		if !s.loader.said[key] {
			s.loader.said[key] = true
			s.ds.Warnf(core.CodeIgnored, a.key.Pos, "%s: attribute %q of other engines has no effect", s.subject, key).
				WithHint("%s", instead).Severity = core.Hint
		}
		return
	}
	for _, p := range places {
		if p.name != of.name && slices.Contains(p.known, key) {
			s.loader.hinted[at] = true
			s.ds.Warnf(core.CodeIgnored, a.key.Pos, "%s: attribute %q has no effect on %s, it belongs to %s", s.subject, key, of.name, p.name).Severity = core.Hint
			return
		}
	}
	s.loader.hinted[at] = true
	if near := core.DidYouMean(key, of.known); near != "" {
		f := s.ds.Warnf(core.CodeUnknownKey, a.key.Pos, "%s: attribute %q has no meaning and is kept as it is", s.subject, key)
		f.Severity = core.Hint
		f.WithHint("%s", near)
	}
}
