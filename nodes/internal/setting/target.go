package setting

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Target is a place for one value. The zero Target is the outgoing edges.
type Target struct{ Field string }

// TargetOf returns the field named by into; without one, the node's only declared
// write; else the edges. A node that declares several writes and does not say
// which one is meant writes none of them. TargetOf warns of the writes that stay unfilled.
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

// Type says that the value is of a type, see core.Compiled.Results.
func (t Target) Type(k value.TypeKind) map[string]*value.Type {
	if t.Field == "" || k == value.AnyType {
		return nil
	}
	return map[string]*value.Type{t.Field: {Kind: k}}
}

// Result puts v in its place.
func (t Target) Result(v any) core.Result {
	if t.Field == "" {
		return core.Send(v)
	}
	return core.Write(t.Field, v)
}
