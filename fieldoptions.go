package wavefold

import (
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/gotype"
)

// FieldOption is a property of a field.
type FieldOption interface{ setField(*spec) }

// Strategy says how a write is folded into the value that is there. Several writers of a
// field take their turns in the order of the graph, never in that of time.
type Strategy string

// Strategies. Without one, the last write wins.
const (
	Append  Strategy = "array_append" // the written elements follow the others
	Union   Strategy = "union"        // elements that are not there yet are added
	SetOnce Strategy = "set_once"     // a second write fails the node that makes it
	Sum     Strategy = "sum"          // numbers are added up
	Min     Strategy = "min"          // the least number or text stays
	Max     Strategy = "max"          // the greatest number or text stays
	Count   Strategy = "count"        // each write adds one
	Merge   Strategy = "object_merge" // the members of objects are merged deeply
)

func (m Strategy) setField(s *spec) { s.decl.Merge = core.At(string(m), s.decl.Pos) }

type fieldOption func(*spec)

func (o fieldOption) setField(s *spec) { o(s) }

// UnionBy is Union for objects that are the same when their member key is.
func UnionBy(key string) FieldOption {
	return fieldOption(func(s *spec) {
		Union.setField(s)
		s.decl.Key = core.At(key, s.decl.Pos)
	})
}

// Default is the field's value before any write. A default that does not fit the field is
// found when the graph is compiled.
func Default(v any) FieldOption { return fieldOption(func(s *spec) { s.decl.Default = v }) }

// Reduce folds writes with a function of your own: it gets the value that is there, the
// zero T before the first write, and the written one, and returns the new value. An error
// refuses the write and fails the node. reduce must be pure and must change neither of
// its arguments, and be quick: it is called while the run stands still. A graph with such a field
// cannot be saved as a document.
func Reduce[T any](reduce func(old, written T) (T, error)) FieldOption {
	return fieldOption(func(s *spec) {
		if t := reflect.TypeFor[T](); t != s.typ {
			s.findings.Errorf(core.CodeMergeType, s.decl.Pos, "state field %q: the reducer folds %s, but the field holds %s", s.decl.Name.Value, t, s.typ)
			return
		}
		if reduce == nil {
			s.findings.Errorf(core.CodeMissingKey, s.decl.Pos, "state field %q: Reduce has no function", s.decl.Name.Value)
			return
		}
		s.decl.Reduce = func(old, written any) (any, error) {
			var before T
			if !core.IsMissing(old) {
				var err error
				if before, err = asType[T](s, old); err != nil {
					return nil, err
				}
			}
			now, err := asType[T](s, written)
			if err != nil {
				return nil, err
			}
			return reduce(before, now)
		}
	})
}

// asType is a stored value as a T, without a copy where it is one.
func asType[T any](s *spec, v any) (T, error) {
	if x, ok := v.(T); ok && !s.plain {
		return x, nil
	}
	return gotype.As[T](s.codec, v)
}

// Shared hands the field's value out without a copy. It is for values too large to be
// copied for each reader: whoever reads the field promises not to change anything it
// reaches, for others read the same memory at the same time.
func Shared() FieldOption { return fieldOption(func(s *spec) { s.shared = true }) }

// Description is a description for people about a field, a part or a graph.
type Description string

// Describe makes the description of a field, a part or a graph.
func Describe(text string) Description { return Description(text) }

func (d Description) setField(s *spec) { s.decl.Description = core.At(string(d), s.decl.Pos) }

func (d Description) option() setting {
	return setting{name: "Describe", set: func(s *settings) { s.description = string(d) }}
}

func (d Description) addTo(b *builder) { b.w.Description = core.At(string(d), b.w.Pos) }
