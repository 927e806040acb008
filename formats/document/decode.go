package document

import "github.com/wavefold/wavefold/core/source"

// Decode decodes a document that is a mapping into a struct, as Parse and source.Decode
// do. ok is false if there is nothing to decode: the document cannot be parsed, is
// empty or is not a mapping.
func Decode(file string, data []byte, into any) (ds source.Diagnostics, ok bool) {
	tree, ds := Parse(file, data)
	return DecodeTree(tree, ds, into)
}

// DecodeTree is Decode for the result of Parse.
func DecodeTree(tree *source.Value, found source.Diagnostics, into any) (ds source.Diagnostics, ok bool) {
	return decodeTree(tree, found, into, source.Decode)
}

// ConsumeTree is DecodeTree for a tree that the caller does not need any more, see source.Consume.
func ConsumeTree(tree *source.Value, found source.Diagnostics, into any) (ds source.Diagnostics, ok bool) {
	return decodeTree(tree, found, into, source.Consume)
}

func decodeTree(tree *source.Value, found source.Diagnostics, into any, decode func(*source.Value, any) source.Diagnostics) (ds source.Diagnostics, ok bool) {
	ds = found
	switch {
	case tree == nil:
		return ds, false
	case tree.Kind == source.NullValue && len(ds) == 0:
		ds.Errorf(source.CodeMissingKey, tree.Pos, "document is empty")
		return ds, false
	case tree.Kind != source.ObjectValue:
		if len(ds) == 0 {
			ds.Errorf(source.CodeWrongType, tree.Pos, "document: want a mapping, found %s", tree.Describe())
		}
		return ds, false
	}
	return append(ds, decode(tree, into)...), true
}
