package parquet

import (
	parquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// schema gives access to the annotations of a file, because the library knows only some
// of them.
type schema struct {
	leaves []*format.SchemaElement // by column index
}

func schemaOf(f *parquet.File) *schema {
	s := &schema{}
	elements := f.Metadata().Schema
	for i := range elements {
		if elements[i].Type.Valid {
			s.leaves = append(s.leaves, &elements[i])
		}
	}
	return s
}

// groupKind is the annotation of a group.
type groupKind uint8

const (
	plainGroup groupKind = iota
	listGroup
	mapGroup
)

func (s *schema) annotation(field *parquet.Column) groupKind {
	t := field.Type()
	if l := t.LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.ListType:
			return listGroup
		case *format.MapType:
			return mapGroup
		}
	}
	if c := t.ConvertedType(); c != nil {
		switch *c {
		case deprecated.List:
			return listGroup
		case deprecated.Map, deprecated.MapKeyValue:
			return mapGroup
		}
	}
	return plainGroup
}
