package dataset

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/lookup"
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
	return core.Compiled{Handler: h, Reads: b.scope.Reads(), Effects: h.policy.HasFile()}, ds
}

// builder makes the handler of a node.
type builder struct {
	config
	node  *core.Node
	env   core.Env
	scope *eval.Scope
}

func (b *builder) build() *handler {
	h := &handler{dir: b.env.Dir, outside: b.Outside, optional: b.Optional, limit: b.Limit.Value}
	h.source = b.scope.Input(b.Source.File, "source")
	h.format = b.format(h.source)
	into, items := b.target()
	h.into = into
	h.cells = b.cells(h.format)
	h.types = b.types(items, h.format)
	if items != nil && (len(items.Properties) > 0 || len(items.Required) > 0 || len(items.Enum) > 0) {
		h.rowType = items
	}
	h.policy = b.Options.Compile(b.scope, b.node, b.rowColumns(h), b.node.Pos, "")
	b.findFile(h.source)
	h.slots = b.scope.Slots()
	return h
}

// format returns the format the document gives or the file's name ends in; ""
// leaves it to the name of the moment.
func (b *builder) format(source *eval.Name) table.Format {
	given := b.Format
	if s := b.Source.Format; s.Value != "" {
		if given.Value != "" && given.Value != s.Value {
			b.scope.Errorf(core.CodeBadValue, given.Pos, "format", "the source says %s", s.Value)
		}
		given = s
	}
	if given.Value != "" {
		return table.Format(given.Value)
	}
	f := table.FormatOf(b.Source.File.Value)
	if source != nil && source.Fixed() && (f == "" || f == table.Text) {
		b.scope.Errorf(core.CodeMissingKey, b.Source.File.Pos, "source", "%q does not end in the name of a format", b.Source.File.Value).
			WithHint("add format: csv, tsv, jsonl or json")
	}
	if f == table.Text {
		return ""
	}
	return f
}

// cells reads the keys of delimited files and warns where they mean nothing.
func (b *builder) cells(f table.Format) cellOptions {
	delimiter, ok := b.delimiter()
	if !ok {
		b.scope.Errorf(core.CodeBadValue, b.Delimiter.Pos, "delimiter", "want one character, found %q", b.Delimiter.Value)
	}
	if f != "" && !f.Delimited() {
		for _, key := range []string{"infer", "header", "delimiter", "nulls"} {
			if v := b.node.Config.Get(key); v != nil {
				b.scope.Warnf(core.CodeIgnored, v.Pos, key, "has no effect on %s", f)
			}
		}
	}
	return cellOptions{delimiter: delimiter, header: b.Header.names, infer: b.Infer, nulls: b.Nulls}
}

// target finds the field the rows go to, the one write that is not for rejects,
// and the declared type of a row.
func (b *builder) target() (into string, items *core.Type) {
	var rest []core.Text
	for _, w := range b.node.Writes {
		if w.Value != b.Rejects.Value {
			rest = append(rest, w)
		}
	}
	if len(rest) != 1 {
		b.scope.Errorf(core.CodeBadValue, b.node.Pos, "writes", "a dataset writes its rows to exactly one field, found %d", len(rest)).
			WithHint("writes: [rows]")
		return "", nil
	}
	t, _ := b.scope.FieldType(rest[0].Value)
	if t == nil {
		return rest[0].Value, nil
	}
	if t.Kind != core.ArrayType && t.Kind != core.AnyType {
		b.scope.Errorf(core.CodeWrongType, rest[0].Pos, "writes", "the rows are an array, field %q is declared as %s", rest[0].Value, t.Kind)
		return rest[0].Value, nil
	}
	return rest[0].Value, t.Items
}

// types gathers the column types that the document and the state schema give.
func (b *builder) types(items *core.Type, f table.Format) columnTypes {
	var out columnTypes
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
		out = append(out, columnType{name, kind, true})
	}
	if items == nil {
		return out
	}
	for _, p := range items.Properties {
		scalar := p.Type != nil && slices.Contains([]core.TypeKind{core.StringType, core.IntegerType, core.NumberType, core.BooleanType}, p.Type.Kind)
		if scalar && out.kind(p.Name) == core.AnyType {
			out = append(out, columnType{p.Name, p.Type.Kind, false})
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

// rowColumns says what the checks may know of the rows.
func (b *builder) rowColumns(h *handler) eval.Columns {
	c := eval.Columns{Names: b.Header.names, Closed: b.Header.names != nil && h.format.Delimited()}
	if len(h.types) == 0 {
		c.Type = h.rowType
		return c
	}
	c.Type = &core.Type{Kind: core.ObjectType}
	for _, t := range h.types {
		c.Type.Properties = append(c.Type.Properties, core.Property{Name: t.name, Type: &core.Type{Kind: t.kind}})
	}
	return c
}

// findFile looks for the file when the workflow is loaded, unless the name is
// only known later or the document says that the file may come later.
func (b *builder) findFile(source *eval.Name) {
	if source == nil || !source.Fixed() || !b.Check || b.Optional {
		return
	}
	name := b.Source.File
	if b.Outside {
		if path := name.Value; b.env.Files != nil && !exists(b.env.Dir, path) {
			b.scope.Errorf(core.CodeMissingFile, name.Pos, "source", "there is no file %q", path)
		}
		return
	}
	f := lookup.Finder{Env: b.env, Subject: "node " + b.node.ID.Value}
	f.File(name, "source")
	for i := range f.Found {
		if f.Found[i].Code == core.CodeBadValue {
			f.Found[i].WithHint("files must lie in the workflow's folder unless allow_outside is true")
		}
		if f.Found[i].Code == core.CodeMissingFile && f.Found[i].Hint == "" {
			f.Found[i].WithHint("if another node makes it, say check: false; if it may be absent, optional: true")
		}
	}
	b.scope.Found = append(b.scope.Found, f.Found...)
}

func exists(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	_, err := os.Stat(path)
	return err == nil
}
