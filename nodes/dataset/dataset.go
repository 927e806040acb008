package dataset

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/rows"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Kind is the kind "dataset". The zero Kind is ready to use.
type Kind struct{}

var _ core.Kind = Kind{}

// Name returns "dataset".
func (Kind) Name() string { return "dataset" }

// Keys lists the kind's own keys.
func (Kind) Keys() []string { return core.KeyNames(config{}) }

// Compile checks a node: its file, its one field, its checks.
func (Kind) Compile(n *core.Node, env core.Env) (core.Compiled, core.Diagnostics) {
	c := defaults(n)
	ds := core.Decode(n.Config, &c)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	b := &builder{config: c, node: n, env: env, scope: eval.NewScope(n, env)}
	h := b.build()
	ds = append(ds, b.scope.Found...)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	made := core.Compiled{Handler: h, Reads: b.scope.Reads(), Effects: h.policy.HasFile(),
		Columns: map[string]core.Columns{h.into: b.rows}}
	if b.Stream {
		made.Stream = b.into
	}
	made.Stdin = h.stdin != nil
	place := files.Place{Dir: env.Dir}
	made.Inputs, made.Outputs = place.Targets(b.inputs), place.Targets(b.scope.Outputs())
	for i := range made.Inputs {
		made.Inputs[i].Pattern = files.IsPattern(b.inputs[i].Value)
	}
	return made, ds
}

// builder makes the handler of a node.
type builder struct {
	config
	node  *core.Node
	env   core.Env
	scope *eval.Scope
	into  core.Text // the field the rows go to
	rows  core.Columns
	// inputs are the names of files and patterns that the document spells out.
	inputs []core.Text
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
	h.options = rows.Options{
		Cells: b.cells(h.format), Types: b.types(items, h.format), Select: b.selection(), FileColumn: b.FileColumn.Value,
		Limit: int64(b.Limit.Value), MaxRow: int(b.MaxRow), Live: b.Stream && h.stdin != nil,
	}
	if items != nil && (len(items.Properties) > 0 || len(items.Required) > 0 || len(items.Enum) > 0) {
		h.options.RowType = items
	}
	b.rows = b.rowColumns(h)
	h.policy = b.Options.Compile(b.scope, b.node, b.rows, b.node.Pos, "")
	h.options.GiveUp = h.policy.GivesUp()
	if field := h.policy.Field(); b.Stream && field != "" {
		b.scope.Errorf(core.CodeBadValue, b.Rejects.Pos, "rejects", "the bad rows of a stream go to a file, %q is a field", field).WithHint("rejects: %s.csv", field)
	}
	h.slots = b.scope.Slots()
	return h
}

// cells reads the keys of delimited files and warns where they mean nothing.
func (b *builder) cells(f table.Format) rows.Cells {
	delimiter, ok := table.Delimiter(b.Delimiter)
	if !ok {
		b.scope.Errorf(core.CodeBadValue, b.Delimiter.Pos, "delimiter", "want one character, found %q", b.Delimiter.Value)
	}
	if f != "" && !f.Delimited() {
		b.ignored(string(f), "infer", "infer_rows", "header", "delimiter", "nulls")
	}
	if f == parquet.Format {
		b.ignored(string(f), "compression", "max_row", "max_ratio")
		if b.stdin() {
			b.scope.Errorf(core.CodeBadValue, b.Source.Files[0].Pos, "source", "a Parquet file is read from its end and cannot come from standard input").WithHint("save it as a file")
		}
	}
	window := b.InferRows.Value
	if window == 0 && b.Stream {
		window = streamWindow
	}
	return rows.Cells{Delimiter: delimiter, Header: b.Header.names, Infer: b.Infer, Window: window, Nulls: b.Nulls}
}

// stdin reports whether the source is standard input.
func (b *builder) stdin() bool {
	return len(b.Source.Files) == 1 && b.Source.Files[0].Value == standardInput
}

// streamWindow is from how many rows the types of a stream are found.
const streamWindow = 10_000

// ignored warns about keys that have no effect on something.
func (b *builder) ignored(on string, keys ...string) {
	for _, key := range keys {
		if v := b.node.Config.Get(key); v != nil {
			b.scope.Warnf(core.CodeIgnored, v.Pos, key, "has no effect on %s", on)
		}
	}
}

// selection returns the columns that are wanted, nil for all.
func (b *builder) selection() []string {
	if b.Select == nil {
		return nil
	}
	if len(b.Select) == 0 {
		b.scope.Errorf(core.CodeMissingKey, b.node.Config.Get("select").Pos, "select", "there are no columns")
	}
	var names []string
	for _, s := range b.Select {
		if slices.Contains(names, s.Value) || s.Value == b.FileColumn.Value {
			b.scope.Errorf(core.CodeDuplicateKey, s.Pos, "select", "column %q stands twice", s.Value)
		}
		if h := b.Header.names; h != nil && !slices.Contains(h, s.Value) {
			b.scope.Errorf(core.CodeUnknownField, s.Pos, "select", "the header has no column %q", s.Value).
				WithHint("%s", core.DidYouMean(s.Value, h))
		}
		names = append(names, s.Value)
	}
	return names
}

// target finds the field the rows go to, the one write that is not for rejects,
// and the declared type of a row.
func (b *builder) target() (items *core.Type) {
	var rest []core.Text
	for _, w := range b.node.Writes {
		if w.Value != b.Rejects.Value {
			rest = append(rest, w)
		}
	}
	if len(rest) != 1 {
		b.scope.Errorf(core.CodeBadValue, b.node.Pos, "writes", "a dataset writes its rows to exactly one field, found %d", len(rest)).
			WithHint("writes: [rows]")
		return nil
	}
	b.into = rest[0]
	t := b.scope.WriteType(rest[0].Value)
	if t == nil {
		return nil
	}
	if t.Kind != core.ArrayType && t.Kind != core.AnyType {
		b.scope.Errorf(core.CodeWrongType, rest[0].Pos, "writes", "the rows are an array, field %q takes %s", rest[0].Value, t.Kind)
		return nil
	}
	return t.Items
}

// types gathers the column types that the document and the state schema give.
func (b *builder) types(items *core.Type, f table.Format) rows.Types {
	var out rows.Types
	for _, c := range b.Columns {
		name, kind := c.Key.Value, kindOf(c.Value.Value)
		if f.Delimited() && (kind == core.ArrayType || kind == core.ObjectType) {
			b.scope.Errorf(core.CodeBadValue, c.Value.Pos, "columns", "a cell of %s cannot be an %s", f, kind)
		}
		if p, ok := items.Property(name); ok && p != nil && !agree(kind, p.Kind) {
			b.scope.Errorf(core.CodeWrongType, c.Value.Pos, "columns", "%s is %s here and %s in the state schema", name, kind, p.Kind)
		}
		if h := b.Header.names; h != nil && !slices.Contains(h, name) {
			b.scope.Errorf(core.CodeUnknownField, c.Key.Pos, "columns", "the header has no column %q", name).
				WithHint("%s", core.DidYouMean(name, h))
		}
		out = append(out, rows.Declared{Name: name, Kind: kind, Required: true})
	}
	if items == nil {
		return out
	}
	for _, p := range items.Properties {
		scalar := p.Type != nil && slices.Contains([]core.TypeKind{core.StringType, core.IntegerType, core.NumberType, core.BooleanType}, p.Type.Kind)
		if scalar && out.Kind(p.Name) == core.AnyType {
			out = append(out, rows.Declared{Name: p.Name, Kind: p.Type.Kind})
		}
	}
	return out
}

func kindOf(word string) core.TypeKind {
	k, _ := core.TypeKindOf(word) // the decoder allowed only words that are types
	return k
}

// agree reports whether a column of one type can be stored as another.
func agree(column, declared core.TypeKind) bool {
	return column == declared || declared == core.AnyType || column == core.IntegerType && declared == core.NumberType
}

// rowColumns says what is known of the rows before they are read.
func (b *builder) rowColumns(h *handler) eval.Columns {
	names := h.options.Select
	if names == nil && h.format.Delimited() {
		names = b.Header.names
	}
	c := eval.Columns{Names: names, Closed: names != nil}
	file := b.FileColumn.Value
	if c.Closed && file != "" {
		c.Names = append(slices.Clip(names), file)
	}
	if len(h.options.Types) == 0 && file == "" {
		c.Type = h.options.RowType
		return c
	}
	c.Type = &core.Type{Kind: core.ObjectType}
	for _, t := range h.options.Types {
		c.Type.Properties = append(c.Type.Properties, core.Property{Name: t.Name, Type: &core.Type{Kind: t.Kind}})
	}
	if file != "" {
		c.Type.Properties = append(c.Type.Properties, core.Property{Name: file, Type: &core.Type{Kind: core.StringType}})
	}
	return c
}
