package document

import "github.com/wavefold/wavefold/core"

// Decode reads a document that is a mapping into a struct, as Parse and core.Decode
// do. A value that Parse has refused already is not reported
// a second time for being of the wrong type. ok is false when there is nothing to go on
// with: the text is unreadable, empty or no mapping.
func Decode(file string, data []byte, into any) (ds core.Diagnostics, ok bool) {
	tree, ds := Parse(file, data)
	switch {
	case tree == nil:
		return ds, false
	case tree.Kind == core.NullValue && len(ds) == 0:
		ds.Errorf(core.CodeMissingKey, tree.Pos, "document is empty")
		return ds, false
	case tree.Kind != core.ObjectValue:
		if len(ds) == 0 {
			ds.Errorf(core.CodeWrongType, tree.Pos, "document: want a mapping, found %s", tree.Describe())
		}
		return ds, false
	}
	refused := make(map[core.Position]bool, len(ds))
	for _, d := range ds {
		refused[d.Pos] = true
	}
	for _, d := range core.Decode(tree, into) {
		if !refused[d.Pos] {
			ds = append(ds, d)
		}
	}
	return ds, true
}
