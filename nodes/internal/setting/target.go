package setting

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Target is the destination of one value: a field or, for the zero Target, the outgoing edges.
type Target struct{ Field string }

// TargetOf returns the field that into names. If into is empty, it returns the node's only
// declared write; if there are no or several writes, it returns the edges. TargetOf warns of the
// writes that are never filled.
func TargetOf(n *core.Node, into source.Text, subject string) (Target, source.Diagnostics) {
	var ds source.Diagnostics
	writes := source.Strings(n.Writes)
	switch {
	case into.Value == "" && len(writes) == 1:
		return Target{writes[0]}, nil
	case into.Value == "":
		if len(writes) > 1 {
			ds.Warnf(source.CodeMissingKey, n.Writes[0].Pos, "%s: several writes are declared, so the result goes along the edges only", subject).
				WithHint("name the field with into: %s", writes[0])
		}
		return Target{}, ds
	}
	if slices.Contains(writes, into.Value) {
		return Target{into.Value}, UnusedWrites(n, "a node with into: "+into.Value+" writes no other field", into.Value)
	}
	hint := source.DidYouMean(into.Value, writes)
	if hint == "" {
		hint = "add it: writes: [" + into.Value + "]"
	}
	ds.Errorf(source.CodeUnknownField, into.Pos, "%s: into: field %q is not among the node's writes", subject, into.Value).WithHint("%s", hint)
	return Target{}, ds
}

// Type returns the field with the type of the value, for core.Compiled.Results.
func (t Target) Type(k value.TypeKind) []value.Property {
	if t.Field == "" || k == value.AnyType {
		return nil
	}
	return []value.Property{{Name: t.Field, Type: value.PlainType(k)}}
}

// Result returns the result that writes or sends v.
func (t Target) Result(v any) core.Result {
	if t.Field == "" {
		return core.Send(v)
	}
	return core.Write(t.Field, v)
}
