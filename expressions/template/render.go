package template

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// Env is what a template is filled from.
type Env interface {
	expressions.Env
	// Name returns the value of a plain name, core.Missing when there is none.
	Name(name string) any
}

// MissingError says that a place of a template has no value.
type MissingError struct {
	Pos   core.Position
	Place string // as it is written, {{ and }} included
}

// Error names the place.
func (e *MissingError) Error() string {
	if p := e.Pos.String(); p != "" {
		return p + ": " + e.Place + " has no value"
	}
	return e.Place + " has no value"
}

// FilterError says that a place names a filter that cannot work on its value.
type FilterError struct {
	Pos   core.Position
	Place string // as it is written, {{ and }} included
	Cause error
}

// Error names the place and says what the filter wants.
func (e *FilterError) Error() string {
	if p := e.Pos.String(); p != "" {
		return p + ": " + e.Place + ": " + e.Cause.Error()
	}
	return e.Place + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *FilterError) Unwrap() error { return e.Cause }

// maxLength bounds a text that is made. A value of a megabyte that a template names
// thousands of times would otherwise fill the memory, and that ends the process.
const maxLength = 64 << 20

// Render fills the template. A place without a value is a *MissingError, a value
// that the place's filter does not take a *FilterError; a text longer than 64 MB is
// an error too.
func (t *Template) Render(env Env) (string, error) {
	return t.RenderEscaped(env, nil)
}

// RenderEscaped is Render for a text in which values must not be taken for a part
// of it, such as an address: escape is given what stands before a value and the
// value, and returns what is to stand there.
func (t *Template) RenderEscaped(env Env, escape func(before, value string) string) (string, error) {
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		b.WriteString(p.literal)
		if p.written == "" {
			continue
		}
		before := b.Len()
		ok, err := p.fill(&b, env)
		if escape != nil && ok && err == nil {
			s := b.String()
			b.Reset()
			b.WriteString(s[:before])
			b.WriteString(escape(s[:before], s[before:]))
		}
		if err != nil {
			return "", &FilterError{Pos: core.Inside(t.src, p.offset), Place: p.written, Cause: err}
		}
		if !ok {
			return "", &MissingError{Pos: core.Inside(t.src, p.offset), Place: p.written}
		}
		if b.Len() > maxLength {
			return "", fmt.Errorf("the result up to %s is longer than %d MB", p.written, maxLength>>20)
		}
	}
	return b.String(), nil
}

// RenderLenient fills the template and leaves places without a value, or with one that
// their filter does not take, as they are written.
func (t *Template) RenderLenient(env Env) string {
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		b.WriteString(p.literal)
		if p.written == "" {
			continue
		}
		if ok, err := p.fill(&b, env); !ok || err != nil {
			b.WriteString(p.written)
		}
	}
	return b.String()
}

// fill writes the value of a place; ok is false when there is none.
func (p *part) fill(b *strings.Builder, env Env) (ok bool, err error) {
	v := p.value(env)
	if p.filter == nil {
		s, ok := expressions.Text(v)
		b.WriteString(s)
		return ok, nil
	}
	v, err = core.Canonical(v)
	if err != nil || core.IsMissing(v) {
		return false, nil // what has no JSON form is no value to the language
	}
	s, err := p.filter.apply(v)
	b.WriteString(s)
	return true, err
}

func (p *part) value(env Env) any {
	if p.program != nil {
		return p.program.Value(env)
	}
	v := env.Name(p.name[0])
	for _, member := range p.name[1:] {
		v = expressions.Member(v, member)
	}
	return v
}

// ForInput returns an Env over what a handler was given: plain names come from
// the node's view of the state, then the edge inputs, then the args, and the
// later one wins. A field that the node's kind asked for in Compiled.Reads is
// found after all of these.
func (t *Template) ForInput(s core.Shared) Env {
	return &inputEnv{Env: expressions.ForInput(s, t.slots, t.nodes), s: s}
}

type inputEnv struct {
	expressions.Env
	s core.Shared
}

func (e *inputEnv) Name(name string) any {
	if v, ok := e.s.Args.Get(name); ok {
		return v
	}
	if v, ok := e.s.Edges.Get(name); ok {
		return v
	}
	if v, ok := e.s.View.Get(name); ok {
		return v
	}
	if v, ok := e.s.Extra.Get(name); ok {
		return v
	}
	return core.Missing
}

// Values is an Env of plain values, for tests and texts without a schema.
type Values struct {
	expressions.MapEnv
	// EdgeInputs and Args come before the state, in this order of weight.
	EdgeInputs *core.Object
	Args       *core.Object
}

// On returns an Env for a template.
func (v Values) On(t *Template) Env {
	return &valuesEnv{Env: v.MapEnv.On(t.slots, t.nodes), v: v}
}

type valuesEnv struct {
	expressions.Env
	v Values
}

func (e *valuesEnv) Name(name string) any {
	for _, o := range []*core.Object{e.v.Args, e.v.EdgeInputs, e.v.State} {
		if v, ok := o.Get(name); ok {
			return v
		}
	}
	return core.Missing
}
