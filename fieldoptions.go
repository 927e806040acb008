package wavefold

import (
	"reflect"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/gotype"
)

// FieldOption is a property of a field.
type FieldOption interface{ setField(*spec) }

// Strategy defines how a write is merged into the current value. Writes of several
// nodes are merged in the order of the graph, regardless of timing.
type Strategy string

// Without a strategy, the last write wins.
const (
	Append  Strategy = "array_append" // the written elements are appended
	Union   Strategy = "union"        // elements that are not there yet are added
	SetOnce Strategy = "set_once"     // a second write fails the node that makes it
	Sum     Strategy = "sum"          // numbers are added
	Min     Strategy = "min"          // the smallest number or string is kept
	Max     Strategy = "max"          // the largest number or string is kept
	Count   Strategy = "count"        // each write adds one
	Merge   Strategy = "object_merge" // objects are merged recursively
)

func (m Strategy) setField(s *spec) { s.decl.Merge = source.At(string(m), s.decl.Pos) }

type fieldOption func(*spec)

func (o fieldOption) setField(s *spec) { o(s) }

// UnionBy is Union for objects. Two objects are equal if their members named key are
// equal.
func UnionBy(key string) FieldOption {
	return fieldOption(func(s *spec) {
		Union.setField(s)
		s.decl.Key = source.At(key, s.decl.Pos)
	})
}

// Default sets the field's value before any write. Compiling the graph reports a
// default that does not fit the field.
func Default(v any) FieldOption { return fieldOption(func(s *spec) { s.decl.Default = v }) }

// Reduce merges writes with a function. reduce gets the current value, which is the
// zero T before the first write, and the written one, and returns the new value. If it
// returns an error, the write is rejected and the node fails. reduce must be pure, must
// not change its arguments, and must be fast, because the run is blocked during the
// call. A graph with such a field cannot be saved as a document.
func Reduce[T any](reduce func(old, written T) (T, error)) FieldOption {
	return fieldOption(func(s *spec) {
		if t := reflect.TypeFor[T](); t != s.typ {
			s.findings.Errorf(source.CodeMergeType, s.decl.Pos, "state field %q: the reducer folds %s, but the field holds %s", s.decl.Name.Value, t, s.typ)
			return
		}
		if reduce == nil {
			s.findings.Errorf(source.CodeMissingKey, s.decl.Pos, "state field %q: Reduce has no function", s.decl.Name.Value)
			return
		}
		s.decl.Reduce = func(old, written any) (any, error) {
			var before T
			if !value.IsMissing(old) {
				var err error
				if before, err = convert[T](s, old); err != nil {
					return nil, err
				}
			}
			now, err := convert[T](s, written)
			if err != nil {
				return nil, err
			}
			return reduce(before, now)
		}
	})
}

// convert converts a stored value to a T, without a copy if it already is one.
func convert[T any](s *spec, v any) (T, error) {
	if x, ok := v.(T); ok && !s.plain {
		return x, nil
	}
	return gotype.As[T](s.codec, v)
}

// Shared returns the field's value to readers without a copy. Use it for values that are
// too large to be copied for each reader. Readers must not change anything reachable from
// the value, because other readers use the same memory at the same time.
func Shared() FieldOption { return fieldOption(func(s *spec) { s.shared = true }) }

// Description is a description of a field, a part or a graph, for people.
type Description string

// Describe returns a description of a field, a part or a graph.
func Describe(text string) Description { return Description(text) }

func (d Description) setField(s *spec) { s.decl.Description = source.At(string(d), s.decl.Pos) }

func (d Description) option() setting {
	return setting{name: "Describe", set: func(s *settings) { s.description = string(d) }}
}

func (d Description) addTo(b *builder) { b.w.Description = source.At(string(d), b.w.Pos) }
