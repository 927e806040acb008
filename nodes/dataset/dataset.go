package dataset

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Kind is the kind "dataset".
var Kind = core.NewKind(core.KindOf[config]{
	Name:     "dataset",
	Doc:      "Loads the rows of files into one field as an array of objects, or hands them to the node that reads the field as a stream.",
	Defaults: defaults,
	Compile:  compile,
	Partial:  true,
})

// compile checks a node and creates its handler.
func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	b := &builder{config: *c, node: n, env: env, scope: table.NewScope(n, env)}
	h := b.build()
	ds := b.scope.Found
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	ds = append(ds, setting.UnusedArgs(n, setting.ArgsInFileNames, b.scope.Names()...)...)
	made := core.Compiled{Handler: h, Reads: b.scope.Reads(), Effects: h.policy.HasFile(), Replaces: rowcheck.Replaces(h.policy),
		Columns: map[string]source.Columns{h.into: b.rows}}
	if b.Stream {
		made.Stream = b.into
	}
	made.Stdin = h.stdin != nil
	made.Inputs, made.Outputs = b.inputs, files.Place{Dir: env.Dir}.Targets(b.scope.Outputs())
	return made, ds
}

// builder creates the handler of a node.
type builder struct {
	config
	node  *core.Node
	env   core.Env
	scope *table.Scope
	into  source.Text // the field that receives the rows
	rows  source.Columns
	// inputs are the files and patterns whose names are fixed in the document.
	inputs []core.Target
}

func (b *builder) build() *handler {
	h := &handler{dir: b.env.Dir, outside: b.Outside, optional: b.Optional, stream: b.Stream}
	h.names, h.format = b.source()
	if b.stdin() {
		h.stdin = &standard{from: b.env.Stdin}
	}
	h.ratio, h.compression = b.MaxRatio.Value, b.Compression.Value
	items := b.target()
	h.into = b.into.Value
	types := b.types(items, h.format)
	h.options = table.ReadOptions{
		Cells: b.cells(h.format), Types: types, Select: b.selection(types), FileColumn: b.FileColumn.Value,
		Limit: int64(b.Limit.Value), MaxRow: int(b.MaxRow), Live: b.Stream && h.stdin != nil,
		Unknown: table.Unknown(b.Unknown.Value), AllowEmpty: b.AllowEmpty,
	}
	h.minRows = int64(b.MinRows.Value)
	if items != nil && (len(items.Properties) > 0 || len(items.Required) > 0 || len(items.Enum) > 0) {
		h.options.RowType = items
	}
	b.contradictions(h)
	if b.node.Lost == nil {
		b.rows = b.rowColumns(h)
	}
	h.policy, h.mayLack = b.Options.Compile(b.scope, b.node, b.rows, b.node.Pos, "", filename.OutputName), b.rows.Optional
	h.options.GiveUp, h.options.Raw = h.policy.GivesUp(), h.policy.Collects()
	if field := h.policy.Field(); b.Stream && field != "" {
		b.scope.Errorf(source.CodeBadValue, b.Rejects.Pos, "rejects", "the bad rows of a stream go to a file, %q is a field", field).WithHint("rejects: %s.csv", field)
	}
	h.slots = b.scope.Slots()
	return h
}

// cells reads the keys of delimited files and warns if they have no effect.
func (b *builder) cells(f table.Format) table.Cells {
	delimiter, ok := table.Delimiter(b.Delimiter)
	if !ok {
		b.scope.Errorf(source.CodeBadValue, b.Delimiter.Pos, "delimiter", "want one character, found %q", b.Delimiter.Value)
	}
	if f != "" && !f.Delimited() {
		b.ignored(string(f), "infer", "infer_rows", "header", "delimiter", "nulls")
	}
	if !b.Infer && f.Delimited() {
		b.ignored("a node with infer: false", "infer_rows")
	}
	if b.Compression.Value == "none" && f != parquet.Format {
		b.ignored("a node with compression: none", "max_ratio")
	}
	if f == parquet.Format {
		b.ignored(string(f), "compression", "max_row", "max_ratio")
		if b.stdin() {
			b.scope.Errorf(source.CodeBadValue, b.Source.Files[0].Pos, "source", "a Parquet file is read from its end and cannot come from standard input").WithHint("save it as a file")
		}
	}
	window := b.InferRows.Value
	if window == 0 && b.Stream {
		window = streamWindow
	}
	return table.Cells{Delimiter: delimiter, Header: b.Header.names, Infer: b.Infer, Window: window, Nulls: b.Nulls}
}

// stdin reports whether the source is standard input.
func (b *builder) stdin() bool {
	return len(b.Source.Files) == 1 && b.Source.Files[0].Value == standardInput
}

// streamWindow is the number of rows from which the types of a stream are inferred.
const streamWindow = 10_000

// ignored warns about keys that have no effect; on names the reason.
func (b *builder) ignored(on string, keys ...string) {
	b.scope.Found = append(b.scope.Found, setting.NoEffect(b.node, on, keys...)...)
}

// selection returns the columns to load, or nil for all.
func (b *builder) selection(types table.Types) []string {
	if b.Select == nil {
		return nil
	}
	if len(b.Select) == 0 {
		b.scope.Errorf(source.CodeMissingKey, b.node.Config.Get("select").Pos, "select", "there are no columns")
	}
	var names []string
	for _, s := range b.Select {
		if slices.Contains(names, s.Value) || s.Value == b.FileColumn.Value {
			b.scope.Errorf(source.CodeDuplicateKey, s.Pos, "select", "column %q appears twice", s.Value)
		}
		if h := b.Header.names; h != nil && !slices.Contains(h, s.Value) && !optional(types, s.Value) && !b.node.Lost.Any("columns", "file_column") {
			b.scope.Errorf(source.CodeUnknownField, s.Pos, "select", "the header has no column %q", s.Value).
				WithHint("%s", source.DidYouMean(s.Value, h))
		}
		names = append(names, s.Value)
	}
	return names
}

// optional reports whether a declared column may be absent.
func optional(types table.Types, name string) bool {
	c, _ := types.Column(name)
	return c.Optional
}

// target finds the field that receives the rows, which is the only write that is not for
// rejects, and returns the declared type of a row.
func (b *builder) target() (items *value.Type) {
	var rest []source.Text
	for _, w := range b.node.Writes {
		if w.Value != b.Rejects.Value {
			rest = append(rest, w)
		}
	}
	if len(rest) != 1 {
		b.scope.Errorf(source.CodeBadValue, b.node.Pos, "writes", "a dataset writes its rows to exactly one field, found %d", len(rest)).
			WithHint("writes: [rows]")
		return nil
	}
	b.into = rest[0]
	t := b.scope.WriteType(rest[0].Value)
	if t == nil {
		return nil
	}
	if t.Kind != value.ArrayType && t.Kind != value.AnyType {
		b.scope.Errorf(source.CodeWrongType, rest[0].Pos, "writes", "the rows are an array, field %q takes %s", rest[0].Value, t.Kind)
		return nil
	}
	return t.Items
}

// types collects the columns that the document and the state schema declare.
func (b *builder) types(items *value.Type, f table.Format) table.Types {
	var out table.Types
	for _, c := range b.Columns {
		b.scope.Fixed("columns", c.Key)
		name, kind, pos := c.Key.Value, kindOf(c.Value.Type.Value), c.Value.Pos
		if f.Delimited() && (kind == value.ArrayType || kind == value.ObjectType) {
			b.scope.Errorf(source.CodeBadValue, pos, "columns", "a cell of %s cannot be an %s", f, kind)
		}
		p, ok := items.Property(name)
		if ok && p != nil && kind != value.AnyType && !agree(kind, p.Kind) {
			b.scope.Errorf(source.CodeWrongType, pos, "columns", "%s is %s here and %s in the state schema", name, kind, p.Kind)
		}
		if kind == value.AnyType && scalar(p) {
			kind = p.Kind
		}
		optional := ok && isOptional(items, name)
		if given := c.Value.Optional; given != nil {
			optional = *given
		}
		b.inHeader(name, c.Key.Pos, optional)
		out = append(out, table.Declared{Name: name, Kind: kind, Optional: optional})
	}
	if items == nil {
		return out
	}
	for _, p := range items.Properties {
		if _, ok := out.Column(p.Name); ok {
			continue
		}
		d := table.Declared{Name: p.Name, Optional: isOptional(items, p.Name)}
		if scalar(p.Type) {
			d.Kind = p.Type.Kind
		}
		b.inHeader(p.Name, b.into.Pos, d.Optional)
		out = append(out, d)
	}
	return out
}

// isOptional reports whether the state schema allows rows without a column: it lists
// required columns, and this one is not among them.
func isOptional(items *value.Type, name string) bool {
	return items.Required != nil && !slices.Contains(items.Required, name)
}

// scalar reports whether a cell can have the type.
func scalar(t *value.Type) bool {
	return t != nil && slices.Contains([]value.TypeKind{value.StringType, value.IntegerType, value.NumberType, value.BooleanType}, t.Kind)
}

// inHeader reports a column that is missing from the header in the document.
func (b *builder) inHeader(name string, pos source.Position, optional bool) {
	if h := b.Header.names; h != nil && !optional && name != b.FileColumn.Value && !slices.Contains(h, name) && !b.node.Lost.Has("file_column") {
		b.scope.Errorf(source.CodeUnknownField, pos, "columns", "the header has no column %q", name).
			WithHint("%s", source.DidYouMean(name, h))
	}
}

// contradictions reports keys that exclude each other.
func (b *builder) contradictions(h *handler) {
	min, limit := b.MinRows, b.Limit
	if min.Value > 0 && limit.Value > 0 && limit.Value < min.Value {
		b.scope.Errorf(source.CodeBadValue, min.Pos, "min_rows", "limit: %d never yields so many rows", limit.Value)
	}
	if u := b.Unknown; u.Value == string(table.DropUnknown) || u.Value == string(table.FailUnknown) {
		if len(h.options.Types) == 0 && h.options.Select == nil {
			b.scope.Errorf(source.CodeBadValue, u.Pos, "unknown", "no columns are declared").
				WithHint("declare them under columns, or as items.properties of the field in the state schema")
		}
	}
	if b.Select != nil && b.Unknown.Value != string(table.FailUnknown) {
		b.ignored("a node with select", "unknown")
	}
}

// kindOf returns the type with that name, or AnyType for "".
func kindOf(word string) value.TypeKind {
	k, _ := value.TypeKindOf(word)
	return k
}

// agree reports whether a column of one type can be stored as another.
func agree(column, declared value.TypeKind) bool {
	return column == declared || declared == value.AnyType || column == value.IntegerType && declared == value.NumberType
}

// rowColumns describes what is known about the rows before they are read.
func (b *builder) rowColumns(h *handler) source.Columns {
	o := &h.options
	names, file := o.Select, b.FileColumn.Value
	switch only := o.Unknown == table.DropUnknown || o.Unknown == table.FailUnknown; {
	case names != nil:
	case h.format.Delimited() && b.Header.names != nil:
		names, _, _ = o.Columns(b.Header.names)
	case only:
		for _, c := range o.Types {
			names = append(names, c.Name)
		}
	}
	c := source.Columns{Names: names, Closed: names != nil}
	if h.format == "" || h.format.Delimited() || h.format == parquet.Format {
		c.Header = b.node.ID.Value
	}
	for _, t := range o.Types {
		if t.Optional {
			c.Optional = append(c.Optional, t.Name)
		}
	}
	if c.Closed && file != "" {
		c.Names = append(slices.Clip(names), file)
	}
	if len(o.Types) == 0 && file == "" {
		c.Type = o.RowType
		return c
	}
	c.Type = &value.Type{Kind: value.ObjectType}
	for _, t := range o.Types {
		typ := &value.Type{Kind: t.Kind}
		if p, ok := o.RowType.Property(t.Name); ok && p != nil && t.Kind == value.AnyType {
			typ = p
		}
		c.Type.Properties = append(c.Type.Properties, value.Property{Name: t.Name, Type: typ})
	}
	if file != "" {
		c.Type.Properties = append(c.Type.Properties, value.Property{Name: file, Type: &value.Type{Kind: value.StringType}})
	}
	return c
}
