package document

import "github.com/wavefold/wavefold/core"

// Decode decodes a document that is a mapping into a struct, as Parse and core.Decode
// do. ok is false if there is nothing to decode: the document cannot be parsed, is
// empty or is not a mapping.
func Decode(file string, data []byte, into any) (ds core.Diagnostics, ok bool) {
	tree, ds := Parse(file, data)
	return DecodeTree(tree, ds, into)
}

// DecodeTree is Decode for the result of Parse.
func DecodeTree(tree *core.Value, found core.Diagnostics, into any) (ds core.Diagnostics, ok bool) {
	ds = found
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
	return append(ds, core.Decode(tree, into)...), true
}
