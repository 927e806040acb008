package table

import (
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Field is a column of a file or table that is written. Its kind is AnyType
// unless the document or the state schema gives one.
type Field struct {
	Name string
	Kind core.TypeKind
}

// FieldNames returns the names of columns, nil for none.
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

// FieldList are columns as a document gives them: a list of names, or a mapping
// from names to types.
type FieldList struct {
	List []Field
	Pos  []core.Position // of the names
}

var columnTypes = []string{"string", "integer", "number", "boolean", "array", "object"}

// DecodeValue reads the names and types.
func (c *FieldList) DecodeValue(v *core.Value) core.Diagnostics {
	var ds core.Diagnostics
	switch {
	case v.Kind == core.ArrayValue && len(v.Items) > 0:
		for _, e := range v.Items {
			name, ok := e.Scalar.(string)
			if !ok || name == "" {
				ds = append(ds, core.WrongType(e, "a column name")...)
				continue
			}
			c.add(&ds, core.At(name, e.Pos), core.AnyType)
		}
	case v.Kind == core.ObjectValue && len(v.Keys) > 0:
		for i, k := range v.Keys {
			word, _ := v.Values[i].Scalar.(string)
			kind, ok := core.TypeKindOf(word)
			if !ok || kind == core.NullType {
				ds.Errorf(core.CodeBadValue, v.Values[i].Pos, "%s: want one of %s, found %s", k.Value, strings.Join(columnTypes, ", "), v.Values[i].Describe()).
					WithHint("%s", core.DidYouMean(word, columnTypes))
			}
			c.add(&ds, k, kind)
		}
	default:
		return core.WrongType(v, "a list of column names or a mapping from names to types")
	}
	return ds
}

func (c *FieldList) add(ds *core.Diagnostics, name core.Text, kind core.TypeKind) {
	for _, have := range c.List {
		if have.Name == name.Value {
			ds.Errorf(core.CodeDuplicateKey, name.Pos, "column %q appears twice", name.Value)
			return
		}
	}
	c.List = append(c.List, Field{Name: name.Value, Kind: kind})
	c.Pos = append(c.Pos, name.Pos)
}
