package wavefold

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/gotype"
)

// Field is a field of a graph's state that holds values of type T. Graphs, inputs of
// runs and results refer to the field by this value, so that a value of another type
// does not compile. A Field is immutable and may be used in any number of graphs.
type Field[T any] struct{ s *spec }

// AnyField is a Field of any type.
type AnyField interface{ field() *spec }

// spec is a field without its type parameter.
type spec struct {
	decl     core.FieldDecl
	typ      reflect.Type
	findings source.Diagnostics
	codec    *gotype.Codec
	shared   bool

	stream bool          // codec is the codec of a row
	rows   *gotype.Codec // of a stream: the codec of a batch
	plain  bool          // any and []any: stored in the engine's form, read as Go maps and slices
}

func (f Field[T]) field() *spec { return f.s }

// NewField declares a field. T must have a JSON form, which conditions, events and
// documents show; within a run, values keep their Go type. Writing a value without such
// a form, such as NaN, is an error. Without options, the last write wins and there is
// no value before the first one.
//
// Each reader of a field gets its own copy of the value, so that no function can change
// what another one sees. Numbers, strings and structs without references cost nothing
// to copy. A slice of such elements is copied as a block. Only values with deeper
// references are traversed. The option Shared avoids the copy.
func NewField[T any](name string, options ...FieldOption) Field[T] {
	s := newSpec[T](name)
	s.decl.Pos = here()
	s.decl.Name.Pos = s.decl.Pos
	if s.codec.Err != nil {
		s.findings.Errorf(source.CodeWrongType, s.decl.Pos, "state field %q: %v", name, s.codec.Err)
	}
	if !canonicalType(s.typ) {
		s.decl.Go = &value.GoType{Type: s.typ, Check: s.codec.Checker(), RunsUserCode: s.codec.HasUserMethods(), KeepsIntegers: true, Decode: func(v any) (any, error) { return gotype.As[T](s.codec, v) }}
	}
	for _, o := range options {
		if o != nil {
			o.setField(s)
		}
	}
	return Field[T]{s}
}

// newSpec returns the part of a spec that depends only on the type.
func newSpec[T any](name string) *spec {
	t := reflect.TypeFor[T]()
	s := &spec{typ: t, codec: gotype.New(t), decl: core.FieldDecl{Default: value.Missing, Type: gotype.Of(t)}}
	s.decl.Name.Value = name
	s.plain = t == reflect.TypeFor[any]() || t == reflect.TypeFor[[]any]()
	return s
}

// canonicalType reports whether the engine stores values of a type unchanged.
func canonicalType(t reflect.Type) bool {
	switch reflect.Zero(t).Interface().(type) {
	case nil: // an interface
		return true
	case bool, int64, float64, string, []any, *value.Object:
		return true
	}
	return false
}

// Name returns the field's name. It is empty if NewField did not make the Field.
func (f Field[T]) Name() string {
	if f.s == nil {
		return ""
	}
	return f.s.decl.Name.Value
}

// Get returns a copy of the field's value in a result. It returns the zero T if the
// field has no value, or if r is nil. Use Lookup to distinguish a zero from no value.
func (f Field[T]) Get(r *Result) T {
	v, _ := f.Lookup(r)
	return v
}

// Lookup is like Get and also reports whether there is a value. A value that is not a
// T, which only a document can have written, counts as no value; Value returns the
// reason.
func (f Field[T]) Lookup(r *Result) (T, bool) {
	v, err := f.Value(r)
	return v, err == nil
}

// Value is like Get, with an error that names the field if there is no value or if the
// value does not fit T.
func (f Field[T]) Value(r *Result) (T, error) {
	if r != nil && r.Report != nil {
		if v, ok := r.State.Get(f.Name()); ok {
			return f.from(v)
		}
	}
	var zero T
	return zero, fmt.Errorf("field %q has no value", f.Name())
}

// Is sets the field's starting value in a run, or in every run of a sub-workflow. v is
// stored without merging or copying: do not change it before the run has ended.
func (f Field[T]) Is(v T) Input { return Input{name: f.Name(), value: v} }

// read returns the value that a handler sees.
func (f Field[T]) read(view core.View) (T, error) {
	v, ok := view.Get(f.s.decl.Name.Value)
	if !ok {
		var zero T
		return zero, inputError("field %q has no value: no node wrote it, and no input or default gave it one", f.Name())
	}
	x, err := f.from(v)
	if err != nil {
		return x, inputError("%w", err)
	}
	return x, nil
}

// from converts a stored value to a T that belongs to the caller.
func (f Field[T]) from(v any) (T, error) {
	x, ok := v.(T)
	if ok && !f.s.plain {
		if f.s.shared || f.s.codec.Flat() {
			return x, nil
		}
		return copyOf[T](f.s, v)
	}
	x, err := gotype.As[T](f.s.codec, v)
	if err != nil {
		return x, fmt.Errorf("field %q: %w", f.Name(), err)
	}
	return x, nil
}

func copyOf[T any](s *spec, v any) (T, error) {
	var x T
	if err := s.codec.Copy(reflect.ValueOf(&x).Elem(), reflect.ValueOf(v)); err != nil {
		return x, fmt.Errorf("field %q: %w", s.decl.Name.Value, err)
	}
	return x, nil
}

// Fields returns its arguments, for parts that take several fields of different types.
func Fields(fields ...AnyField) []AnyField { return fields }
