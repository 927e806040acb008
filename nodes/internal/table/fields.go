package table

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Field is a column of a file or table that is written. Kind is AnyType unless the
// document or the state schema declares a type.
type Field struct {
	Name string
	Kind value.TypeKind
}

// FieldNames returns the names of the columns. It returns nil if fields is nil.
func FieldNames(fields []Field) []string {
	if fields == nil {
		return nil
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// FieldList is a list of columns in a document: a list of names, or a mapping from
// names to types.
type FieldList struct {
	List []Field
	Pos  []source.Position // of the names
}

var columnTypes = []string{"string", "integer", "number", "boolean", "array", "object"}

// DecodeValue decodes the names and types.
func (c *FieldList) DecodeValue(v *source.Value) source.Diagnostics {
	var ds source.Diagnostics
	switch {
	case v.Kind == source.ArrayValue && len(v.Items) > 0:
		for _, e := range v.Items {
			name, ok := e.Scalar.(string)
			if !ok || name == "" {
				ds = append(ds, source.WrongType(e, "a column name")...)
				continue
			}
			c.add(&ds, source.At(name, e.Pos), value.AnyType)
		}
	case v.Kind == source.ObjectValue && len(v.Keys) > 0:
		for i, k := range v.Keys {
			word, _ := v.Values[i].Scalar.(string)
			kind, ok := value.TypeKindOf(word)
			if !ok || kind == value.NullType {
				ds.Errorf(source.CodeBadValue, v.Values[i].Pos, "%s: want one of %s, found %s", k.Value, strings.Join(columnTypes, ", "), v.Values[i].Describe()).
					WithHint("%s", source.DidYouMean(word, columnTypes))
			}
			c.add(&ds, k, kind)
		}
	default:
		return source.WrongType(v, "a list of column names or a mapping from names to types")
	}
	return ds
}

func (c *FieldList) add(ds *source.Diagnostics, name source.Text, kind value.TypeKind) {
	for _, have := range c.List {
		if have.Name == name.Value {
			ds.Errorf(source.CodeDuplicateKey, name.Pos, "column %q appears twice", name.Value)
			return
		}
	}
	*ds = append(*ds, source.Fixed(name)...)
	c.List = append(c.List, Field{Name: name.Value, Kind: kind})
	c.Pos = append(c.Pos, name.Pos)
}
