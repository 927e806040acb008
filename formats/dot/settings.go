package dot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// settings reads the attributes of one node, edge or graph. An absent attribute has its
// zero value. An invalid one is reported and treated as absent.
type settings struct {
	*attributeSet
	loader  *loader
	ds      *source.Diagnostics
	subject string // used in messages
	invalid bool   // an attribute was invalid
}

func (s *settings) wrongType(a *attribute, want string) *source.Diagnostic {
	s.invalid = true
	return s.ds.Errorf(source.CodeWrongType, a.value.text.Pos, "%s: %s: want %s, found %s", s.subject, a.key.Value, want, a.value.describe())
}

func (s *settings) badValue(a *attribute, want string) *source.Diagnostic {
	s.invalid = true
	return s.ds.Errorf(source.CodeBadValue, a.value.text.Pos, "%s: %s: want %s, found %s", s.subject, a.key.Value, want, a.value.describe())
}

// text reads an attribute as a string, whatever its kind. A blank string counts as
// absent.
func (s *settings) text(key string) source.Text {
	if a := s.take(key); a != nil && strings.TrimSpace(a.value.text.Value) != "" {
		return a.value.text
	}
	return source.Text{}
}

// first returns the first of several keys that is set and not blank, or "" if there is
// none.
func (s *settings) first(keys ...string) string {
	for _, k := range keys {
		if s.text(k).Value != "" {
			return k
		}
	}
	return ""
}

// isSet reports whether one of several keys is set and not blank. It marks none as used.
func (s *settings) isSet(keys ...string) bool {
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
		s.wrongType(a, "true or false")
	}
	return b
}

// number reads an integer that is at least least.
func (s *settings) number(key string, least int, want string) *source.Int {
	a := s.take(key)
	if a == nil {
		return nil
	}
	n, ok := a.value.asInt()
	switch {
	case !ok:
		s.wrongType(a, "a whole number")
		return nil
	case n < least:
		s.badValue(a, want)
		return nil
	}
	return &source.Int{Value: n, Pos: a.value.text.Pos}
}

// anyNumber reads an integer.
func (s *settings) anyNumber(key string) *source.Int {
	return s.number(key, math.MinInt, "")
}

func (s *settings) duration(key string) *source.Located[time.Duration] {
	a := s.take(key)
	if a == nil {
		return nil
	}
	d, ok := a.value.asDuration()
	if !ok {
		s.wrongType(a, "a duration").WithHint("such as 250ms, 30s, 15m, 2h or 1d; a number alone is seconds")
		return nil
	}
	return &source.Located[time.Duration]{Value: d, Pos: a.value.text.Pos}
}

// word reads one of the given words.
func (s *settings) word(key string, words ...string) source.Text {
	t := s.text(key)
	if t.Value == "" || slices.Contains(words, t.Value) {
		return t
	}
	s.badValue(s.take(key), "one of "+strings.Join(words, ", ")).WithHint("%s", source.DidYouMean(t.Value, words))
	return source.Text{}
}

// attributes returns the unused attributes in their source form, nil if there are none.
// kind is the kind of the node. Unknown and misplaced attributes get a hint.
func (s *settings) attributes(of *attributeTable, kind string) *value.Object {
	var out *value.Object
	for a := range s.unused {
		if out == nil {
			out = value.NewObject(len(s.list))
		}
		v := a.value.plain()
		if of == &graphTable && s.loader.named[a.key.Value] {
			v = a.value.text.Value // a name's value is a string: 1.10 is not 1.1
		}
		out.Set(a.key.Value, v)
		s.reportUnused(a, of, kind)
	}
	return out
}

// maxHints limits the number of unknown attributes of a document that are compared with
// the known ones.
const maxHints = 1000

// spot is a position in the document.
type spot struct{ line, column int32 }

// reportUnused reports an unused attribute, if there is something to report.
func (s *settings) reportUnused(a *attribute, of *attributeTable, kind string) {
	key := a.key.Value
	if known := of.find(key, kind); known != nil {
		s.warnNoEffect(a, known, kind)
		return
	}
	at := spot{a.key.Pos.Line, a.key.Pos.Column}
	if len(s.loader.hintChecked) == maxHints || s.loader.hintChecked[at] || forDrawing(key, a.value.text.Value) || s.loader.named[key] && of == &graphTable {
		return
	}
	if instead := otherEngineKeys[key]; instead != "" {
		s.warnOnce(key, source.Hint, a, `%s: attribute %q of other engines has no effect`, instead)
		return
	}
	s.loader.hintChecked[at] = true
	for _, p := range attributeTables {
		if p.name != of.name && p.find(key, "") != nil {
			s.ds.Warnf(source.CodeIgnored, a.key.Pos, "%s: attribute %q has no effect on %s, it belongs to %s", s.subject, key, of.name, p.name).Severity = source.Hint
			return
		}
	}
	s.warnOnce(of.name+key, source.Hint, a, "%s: attribute %q has no meaning and is kept as it is", source.DidYouMean(key, of.names())).Code = source.CodeUnknownKey
}

// warnNoEffect reports an attribute of the table that has no effect on this node, edge or
// graph.
func (s *settings) warnNoEffect(a *attribute, known *attributeKey, kind string) {
	switch {
	case kind == importType: // the node fails, which has been reported
	case !known.of(kind):
		if !a.fromDefaults { // defaults apply to nodes of all kinds
			s.ds.Warnf(source.CodeIgnored, a.key.Pos, "%s: attribute %q has no effect on a node of the kind %s", s.subject, a.key.Value, kind).
				WithHint("it belongs to %s", owners(a.key.Value)).Severity = source.Hint
		}
	case known.effect == noEffect:
		if !slices.Contains(known.harmless, a.value.text.Value) {
			s.warnOnce(a.key.Value, source.Warning, a, "%s: attribute %q has no effect here", known.hint)
		}
	case known.replacedBy != "":
		if i := s.find(known.replacedBy); i >= 0 && s.list[i].value.text.Value != a.value.text.Value {
			s.warnOnce(a.key.Value, source.Hint, a, "%s: attribute %q has no effect", fmt.Sprintf("%s counts, its name of today", known.replacedBy))
		}
	}
}

// warnOnce adds a finding about an attribute unless the document already has it.
func (s *settings) warnOnce(what string, severity source.Severity, a *attribute, format, hint string) *source.Diagnostic {
	if s.loader.reported[what] {
		return &source.Diagnostic{}
	}
	s.loader.reported[what] = true
	d := s.ds.Warnf(source.CodeIgnored, a.key.Pos, format, s.subject, a.key.Value).WithHint("%s", hint)
	d.Severity = severity
	return d
}
