package template

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Env supplies the values for a template.
type Env interface {
	expressions.Env
	// Name returns the value of a plain name, or value.Missing if there is none.
	Name(name string) any
}

// MissingError reports a placeholder without a value.
type MissingError struct {
	Pos         source.Position
	Placeholder string // as written, including {{ and }}
}

// Error returns a message that names the placeholder.
func (e *MissingError) Error() string {
	if p := e.Pos.String(); p != "" {
		return p + ": " + e.Placeholder + " has no value"
	}
	return e.Placeholder + " has no value"
}

// FilterError reports a filter that does not accept the value of its placeholder.
type FilterError struct {
	Pos         source.Position
	Placeholder string // as written, including {{ and }}
	Cause       error
}

// Error returns a message that names the placeholder and says what the filter requires.
func (e *FilterError) Error() string {
	if p := e.Pos.String(); p != "" {
		return p + ": " + e.Placeholder + ": " + e.Cause.Error()
	}
	return e.Placeholder + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *FilterError) Unwrap() error { return e.Cause }

// maxLength limits the length of a rendered template. Without it, a value of a megabyte
// that is inserted thousands of times would exhaust the memory and end the process.
const maxLength = 64 << 20

// Render fills the template. The error is a *MissingError if a placeholder has no
// value, and a *FilterError if a filter does not accept its value. It is also an error
// if the result exceeds 64 MB.
func (t *Template) Render(env Env) (string, error) {
	return t.RenderEscaped(env, nil)
}

// RenderEscaped is like Render for templates in which a value must be escaped, such as
// a URL. It calls escape with the text before each value and the value, and inserts the
// result in place of the value. If escape is nil, values are inserted unchanged.
func (t *Template) RenderEscaped(env Env, escape func(before, value string) string) (string, error) {
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		b.WriteString(p.literal)
		if p.source == "" {
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
			return "", &FilterError{Pos: source.Inside(t.src, p.offset), Placeholder: p.source, Cause: err}
		}
		if !ok {
			return "", &MissingError{Pos: source.Inside(t.src, p.offset), Placeholder: p.source}
		}
		if b.Len() > maxLength {
			return "", fmt.Errorf("the result up to %s is longer than %d MB", p.source, maxLength>>20)
		}
	}
	return b.String(), nil
}

// RenderLenient fills the template. It leaves a placeholder unchanged if it has no
// value or its filter does not accept the value.
func (t *Template) RenderLenient(env Env) string {
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		b.WriteString(p.literal)
		if p.source == "" {
			continue
		}
		if ok, err := p.fill(&b, env); !ok || err != nil {
			b.WriteString(p.source)
		}
	}
	return b.String()
}

// fill writes the value of a placeholder. ok is false if there is none.
func (p *part) fill(b *strings.Builder, env Env) (ok bool, err error) {
	v := p.value(env)
	if p.filter == nil {
		s, ok := expressions.Text(v)
		b.WriteString(s)
		return ok, nil
	}
	v, err = value.Canonical(v)
	if err != nil || value.IsMissing(v) {
		return false, nil // a value without a JSON form is missing
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

// Input supplies what a handler received, by name: core.Input.Values returns one.
type Input interface {
	expressions.Input
	// Name returns the value of a plain name, or value.Missing if there is none.
	Name(name string) any
}

// ForInput returns an Env that reads what a handler received. A plain name is looked up
// in the node's view of the state, in the edge inputs and in the args; if several have
// it, the last one wins. If none has it, it is looked up in the fields that the node's
// kind requested in Compiled.Reads.
func (t *Template) ForInput(in Input) Env {
	return &inputEnv{expressions.ForInput(in, t.slots, t.nodes), in}
}

type inputEnv struct {
	expressions.Env
	in Input
}

func (e *inputEnv) Name(name string) any { return e.in.Name(name) }

// Values is an Env of plain values, for tests and templates without a schema.
type Values struct {
	expressions.MapEnv
	// EdgeInputs take precedence over the state, and Args over both.
	EdgeInputs *value.Object
	Args       *value.Object
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
	for _, o := range []*value.Object{e.v.Args, e.v.EdgeInputs, e.v.State} {
		if v, ok := o.Get(name); ok {
			return v
		}
	}
	return value.Missing
}
