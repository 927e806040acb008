package wavefold

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/gotype"
)

// Field is a field of a graph's state that holds values of type T. It names the field
// wherever a graph, a run's inputs or a result refer to it, so that a value of another
// type does not compile. A Field is immutable and may be used in any number of graphs.
type Field[T any] struct{ s *spec }

// AnyField is a Field of any type.
type AnyField interface{ field() *spec }

// spec is a field without its type parameter.
type spec struct {
	decl     core.FieldDecl
	typ      reflect.Type
	findings core.Diagnostics
	codec    *gotype.Codec
	shared   bool

	stream bool          // the codec is that of a row
	rows   *gotype.Codec // of a stream: that of a batch
	plain  bool          // any and []any: stored in the engine's form, read as Go's maps
}

func (f Field[T]) field() *spec { return f.s }

// NewField declares a field. T must have a JSON form, which conditions, events and
// documents show; inside a run a value stays what it is. A value without such a form, as
// NaN, is refused when it is written. Without options the last write wins and there is no
// value before the first one.
//
// Whoever reads a field gets a copy of its value, so that no function can change what
// another one sees. Numbers, texts and structs without references cost nothing to copy;
// a slice of such elements is copied in one piece; only values with references deeper
// inside are walked. The option Shared leaves the copy out.
func NewField[T any](name string, options ...FieldOption) Field[T] {
	s := typeSpec[T](name)
	s.decl.Pos = here()
	s.decl.Name.Pos = s.decl.Pos
	if s.codec.Err != nil {
		s.findings.Errorf(core.CodeWrongType, s.decl.Pos, "state field %q: %v", name, s.codec.Err)
	}
	if !canonicalType(s.typ) {
		s.decl.Go = &core.GoType{Type: s.typ, Check: s.codec.Checker(), Foreign: s.codec.Foreign(), Decode: func(v any) (any, error) { return gotype.As[T](s.codec, v) }}
	}
	for _, o := range options {
		if o != nil {
			o.setField(s)
		}
	}
	return Field[T]{s}
}

// typeSpec is what follows from the type alone.
func typeSpec[T any](name string) *spec {
	t := reflect.TypeFor[T]()
	s := &spec{typ: t, codec: gotype.New(t), decl: core.FieldDecl{Default: core.Missing, Type: gotype.Of(t)}}
	s.decl.Name.Value = name
	s.plain = t == reflect.TypeFor[any]() || t == reflect.TypeFor[[]any]()
	return s
}

// canonicalType reports whether the engine stores values of a type as they are.
func canonicalType(t reflect.Type) bool {
	switch reflect.Zero(t).Interface().(type) {
	case nil: // an interface
		return true
	case bool, int64, float64, string, []any, *core.Object:
		return true
	}
	return false
}

// Name returns the field's name; a Field that NewField did not make has none.
func (f Field[T]) Name() string {
	if f.s == nil {
		return ""
	}
	return f.s.decl.Name.Value
}

// Get returns the field's value in a result: a copy of its own, or the zero T when the
// field has no value, or when r is nil. Use Lookup to tell a zero from nothing.
func (f Field[T]) Get(r *Result) T {
	v, _ := f.Lookup(r)
	return v
}

// Lookup is Get and reports whether there is a value. A value that is not a T, which
// only a document can have put there, counts as none; Value says what is wrong with it.
func (f Field[T]) Lookup(r *Result) (T, bool) {
	v, err := f.Value(r)
	return v, err == nil
}

// Value is Get with an error that names the field when there is no value or when it does
// not fit T.
func (f Field[T]) Value(r *Result) (T, error) {
	if r != nil && r.Report != nil {
		if v, ok := r.State.Get(f.Name()); ok {
			return f.from(v)
		}
	}
	var zero T
	return zero, fmt.Errorf("field %q has no value", f.Name())
}

// Is gives the field its starting value in a run, or in every run of a sub-workflow. v is
// stored as it is, without merging, and shared with the run: do not change it before the
// run has ended.
func (f Field[T]) Is(v T) Input { return Input{name: f.Name(), value: v} }

// read returns the value a handler sees.
func (f Field[T]) read(view core.View) (T, error) {
	v, ok := view.Get(f.s.decl.Name.Value)
	if !ok {
		var zero T
		return zero, badInput("field %q has no value: no node wrote it, and no input or default gave it one", f.Name())
	}
	x, err := f.from(v)
	if err != nil {
		return x, badInput("%w", err)
	}
	return x, nil
}

// from returns a stored value as a T of the caller's own.
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

// Fields lists fields of different types, for the parts that take several.
func Fields(fields ...AnyField) []AnyField { return fields }
