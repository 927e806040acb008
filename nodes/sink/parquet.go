package sink

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// createdBy is part of every file, in the form that readers expect. The version is the
// version of this writer; it is increased if the layout of files changes.
const createdBy = "wavefold version 1.0.0 (build parquet-go)"

// extent is a number of rows and the size of their values in bytes.
type extent struct{ rows, bytes int }

// Limits of a row group, which is in memory until it is complete. It ends with the batch
// that reaches one of them.
const (
	groupRows  = 128 << 10
	groupBytes = 32 << 20
)

// dictionaryBytes limits the dictionary of a string column; further strings are stored
// directly.
const dictionaryBytes = 1 << 20

// codecs are the compressions of pages.
var codecs = map[string]compress.Codec{"": &parquet.Snappy, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "none": &parquet.Uncompressed}

// parquetWriter writes a table batch by batch.
type parquetWriter struct {
	w       *parquet.GenericWriter[any]
	columns []parquetColumn
	guard   *table.Guard // nil if other columns are left out
	rows    int64
	group   extent
	limit   extent
}

// parquetColumn collects the values of a column.
type parquetColumn struct {
	read    table.Column
	given   bool // the type is from the document or the state schema, not from the first rows
	kind    value.TypeKind
	out     *parquet.ColumnWriter
	values  []parquet.Value
	scratch []byte // the strings of the batch
}

// newParquetWriter returns a writer for a file whose first rows are head. If closed is
// true, a row with another column is an error.
func newParquetWriter(w io.Writer, fields []table.Field, head []any, closed bool, codec compress.Codec) (*parquetWriter, error) {
	p := &parquetWriter{limit: extent{groupRows, groupBytes}, columns: make([]parquetColumn, len(fields))}
	root := &orderedGroup{}
	for i, f := range fields {
		c := &p.columns[i]
		*c = parquetColumn{read: table.Column{Name: f.Name}, kind: f.Kind, given: f.Kind != value.AnyType}
		if !c.given {
			var err error
			if c.kind, err = typeOf(table.Look(head, f.Name)); err != nil {
				return nil, core.Permanent(fmt.Errorf("column %s: %w", f.Name, err))
			}
		}
		root.fields = append(root.fields, &orderedField{parquet.Optional(leaf(c.kind)), f.Name})
	}
	if len(fields) == 0 {
		return nil, core.Permanent(fmt.Errorf("there are no columns; a parquet file needs one"))
	}
	if closed {
		p.guard = table.NewGuard(table.FieldNames(fields))
	}
	p.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("rows", root), parquet.Compression(codec),
		parquet.DictionaryMaxBytes(dictionaryBytes), &parquet.WriterConfig{CreatedBy: createdBy})
	for i, out := range p.w.ColumnWriters() {
		p.columns[i].out = out
	}
	return p, nil
}

// typeOf returns the type of a column according to the values of its first rows.
func typeOf(s table.Seen) (value.TypeKind, error) {
	switch {
	case s == 0, s.Only(table.SeenText):
		return value.StringType, nil
	case s.Only(table.SeenInteger | table.SeenLong):
		return value.IntegerType, nil
	case s.Only(table.SeenInteger | table.SeenFloat):
		return value.NumberType, nil
	case s.Only(table.SeenBoolean):
		return value.BooleanType, nil
	case s.Only(table.SeenNested):
		return value.ObjectType, nil
	}
	return 0, fmt.Errorf("the rows hold values of different types (%s); parquet has one type for each column", s)
}

// leaf returns the column node for values of a type.
func leaf(k value.TypeKind) parquet.Node {
	switch k {
	case value.IntegerType:
		return parquet.Int(64)
	case value.NumberType:
		return parquet.Leaf(parquet.DoubleType)
	case value.BooleanType:
		return parquet.Leaf(parquet.BooleanType)
	case value.StringType:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
	return parquet.JSON()
}

// Write writes the next rows.
func (p *parquetWriter) Write(ctx context.Context, rows []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.guard != nil {
		for i, r := range rows {
			if err := p.guard.Check(r.(*value.Object)); err != nil {
				return fmt.Errorf("row %d: %w", p.rows+int64(i)+1, err)
			}
		}
	}
	for i := range p.columns {
		c := &p.columns[i]
		c.values, c.scratch = c.values[:0], c.scratch[:0]
		for j, r := range rows {
			cell := c.read.Value(r.(*value.Object))
			v, err := c.value(cell)
			if err != nil {
				return core.Permanent(fmt.Errorf("row %d, column %s: %w", p.rows+int64(j)+1, c.read.Name, err))
			}
			defined := 1
			if cell == nil {
				defined = 0
			}
			c.values = append(c.values, v.Level(0, defined, i))
		}
		p.group.bytes += 8*len(rows) + len(c.scratch)
		if _, err := c.out.WriteRowValues(c.values); err != nil {
			return err
		}
	}
	p.rows += int64(len(rows))
	if p.group.rows += len(rows); p.group.rows < p.limit.rows && p.group.bytes < p.limit.bytes {
		return nil
	}
	p.group = extent{}
	return p.w.Flush()
}

// End writes the footer.
func (p *parquetWriter) End() error { return p.w.Close() }

// value returns the value of a cell if it matches the column's type.
func (c *parquetColumn) value(v any) (parquet.Value, error) {
	switch x := v.(type) {
	case nil:
		return parquet.Value{}, nil
	case string:
		if c.kind == value.StringType {
			return c.text(append(c.scratch, x...)), nil
		}
	case int64:
		switch {
		case c.kind == value.IntegerType:
			return parquet.Int64Value(x), nil
		case c.kind == value.NumberType && table.Sort(x) == table.SeenLong:
			return parquet.Value{}, fmt.Errorf("a column of numbers would change the integer %d", x)
		case c.kind == value.NumberType:
			return parquet.DoubleValue(float64(x)), nil
		}
	case float64:
		switch {
		case c.kind == value.NumberType:
			return parquet.DoubleValue(x), nil
		case c.kind == value.IntegerType && x == float64(int64(x)):
			return parquet.Int64Value(int64(x)), nil
		}
	case bool:
		if c.kind == value.BooleanType {
			return parquet.BooleanValue(x), nil
		}
	case []any, *value.Object:
		if c.kind == value.ArrayType || c.kind == value.ObjectType {
			text, err := value.AppendJSON(c.scratch, v)
			return c.text(text), err
		}
	}
	return parquet.Value{}, c.mismatch(v)
}

// text returns the bytes that were appended to scratch as a value. They stay valid until
// the batch is written, even if scratch is reallocated.
func (c *parquetColumn) text(grown []byte) parquet.Value {
	v := parquet.ByteArrayValue(grown[len(c.scratch):])
	c.scratch = grown
	return v
}

func (c *parquetColumn) mismatch(v any) error {
	err := (&value.Type{Kind: c.kind}).Check(v)
	if err == nil { // an array in a column of objects; both are JSON
		err = fmt.Errorf("%s is not stored in a column of type %s", value.TypeName(v), c.kind)
	}
	if c.given {
		return err
	}
	return fmt.Errorf("%w (the first rows hold no such value; give the type with columns)", err)
}

// orderedGroup is a schema whose columns keep their order; the group of the library sorts
// them by name.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g *orderedGroup) Fields() []parquet.Field { return g.fields }

// GoType would be used for values of Go types, but there are none.
func (g *orderedGroup) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

type orderedField struct {
	parquet.Node
	name string
}

func (f *orderedField) Name() string { return f.name }

// Value is never called, because no Go values are written.
func (f *orderedField) Value(reflect.Value) reflect.Value { panic("no Go value is written") }
