package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// valueRule is a set of conditions on the values in an object.
type valueRule struct {
	required []path
	matches  []match
}

// match is a condition on the values at a path.
type match struct {
	path
	operator string // as messages say it
	fits     func(v any) bool
}

// check returns the conditions that data does not satisfy, or nil if there are none.
func (r valueRule) check(data any) (wrong []string) {
	for _, p := range r.required {
		if why := p.missing(data); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s", p.source, why))
		}
	}
	for _, m := range r.matches {
		if why := m.mismatch(data); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s", m.source, why))
		}
	}
	return wrong
}

// missing returns the reason why a path has no value, "" if it has one. An empty list has no
// value.
func (p path) missing(data any) string {
	values, why := p.find(data)
	isNull := func(v any) bool { return v == nil }
	switch {
	case why != "":
		return why
	case len(values) == 0:
		return "the list is empty"
	case p.any && !slices.ContainsFunc(values, func(v any) bool { return v != nil }):
		return "all values are null"
	case !p.any && slices.ContainsFunc(values, isNull):
		return "a value is null"
	}
	return ""
}

// mismatch returns the reason why the values at the path do not satisfy the condition, "" if
// they do. An empty list satisfies all: and does not satisfy any:.
func (m match) mismatch(data any) string {
	values, why := m.find(data)
	switch {
	case why != "":
		return why
	case m.any && len(values) == 0:
		return "the list is empty"
	case m.any && !slices.ContainsFunc(values, m.fits):
		return "no value " + m.operator
	case m.any:
		return ""
	}
	var off []string
	for _, v := range values {
		if !m.fits(v) {
			off = append(off, shortJSON(v))
		}
	}
	if off == nil {
		return ""
	}
	return fmt.Sprintf("want what %s, got %s", m.operator, strings.Join(off, ", "))
}

// shortJSON formats a value for a message.
func shortJSON(v any) string { return cut(value.JSON(v), 200) }

// toolRule is a set of conditions on the tools that were called.
type toolRule struct{ any, all, no []string }

// check returns the conditions that the calls do not satisfy, or nil if there are none. A
// call that failed counts for no, and does not count for any and all.
func (r toolRule) check(calls []toolUse) (wrong []string) {
	called := func(name string) bool {
		return slices.ContainsFunc(calls, func(c toolUse) bool { return c.name == name })
	}
	worked := func(name string) bool {
		return slices.ContainsFunc(calls, func(c toolUse) bool { return c.name == name && c.err == nil })
	}
	if len(r.any) > 0 && !slices.ContainsFunc(r.any, worked) {
		wrong = append(wrong, "any_tool_called: none of "+strings.Join(r.any, ", ")+" was called with success")
	}
	if left := slices.DeleteFunc(slices.Clone(r.all), worked); len(left) > 0 {
		wrong = append(wrong, "all_tools_called: "+strings.Join(left, ", ")+" was not called with success")
	}
	if bad := slices.DeleteFunc(slices.Clone(r.no), func(name string) bool { return !called(name) }); len(bad) > 0 {
		wrong = append(wrong, "no_tool_called: "+strings.Join(bad, ", ")+" was called")
	}
	return wrong
}

// rules compiles rules and collects findings.
type rules struct {
	subject string
	found   source.Diagnostics
}

func (c *rules) paths(list []source.Text, key string) []path {
	var out []path
	for _, t := range list {
		out = append(out, c.path(t, key))
	}
	return out
}

func (c *rules) path(t source.Text, key string) path {
	p, err := parsePath(t.Value)
	if err != nil {
		c.found.Errorf(source.CodeBadValue, t.Pos, "%s: %s: %v", c.subject, key, err)
	}
	return p
}

func (c *rules) matches(list []matchConfig, key string) []match {
	var out []match
	for _, m := range list {
		out = append(out, c.match(m, key))
	}
	return out
}

func (c *rules) match(m matchConfig, key string) match {
	out := match{path: c.path(m.Path, key), fits: func(any) bool { return false }}
	given := 0
	if m.Equals != nil {
		given++
		want := m.Equals.Plain()
		out.operator, out.fits = "equals "+shortJSON(want), func(v any) bool { return value.Equal(v, want) }
	}
	if m.In != nil {
		given++
		list, ok := m.In.Plain().([]any)
		if !ok {
			c.found.Errorf(source.CodeWrongType, m.In.Pos, "%s: %s: in: want a list, found %s", c.subject, key, m.In.Describe())
		}
		out.operator = "is one of " + shortJSON(list)
		out.fits = func(v any) bool { return slices.ContainsFunc(list, func(e any) bool { return value.Equal(v, e) }) }
	}
	if m.Matches != nil {
		given++
		out.operator, out.fits = "matches "+m.Matches.Value, c.pattern(*m.Matches, key)
	}
	for _, v := range []*source.Value{m.Equals, m.In} {
		if v != nil && strings.Contains(value.JSON(v.Plain()), "{{") {
			c.found.Errorf(source.CodeBadValue, v.Pos, "%s: %s: a template is not allowed here: the value is compared as it is written", c.subject, key)
		}
	}
	if given != 1 {
		c.found.Errorf(source.CodeBadValue, m.Pos, "%s: %s: want one of equals, in and matches, found %d of them", c.subject, key, given)
	}
	return out
}

func (c *rules) pattern(t source.Text, key string) func(v any) bool {
	re, err := regexp.Compile(t.Value)
	if err != nil {
		c.found.Errorf(source.CodeBadValue, t.Pos, "%s: %s: matches: %v", c.subject, key, err)
		return func(any) bool { return false }
	}
	return func(v any) bool {
		if s, ok := v.(string); ok {
			return re.MatchString(s)
		}
		return re.MatchString(value.JSON(v))
	}
}
