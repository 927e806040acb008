package sink

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/database/sqlite"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Kind is the kind "sink".
var Kind = core.NewKind(core.KindOf[config]{
	Name:     "sink",
	Doc:      "Writes a value of the state or a stream to a file, to standard output or into a table of an SQLite database.",
	Defaults: func() config { return config{Header: true, Markers: true} },
	Compile:  compile,
	Partial:  true,
})

// modes are the modes of writing a table. The file of a sink belongs to the sink, so
// replace creates the table again.
var modes = map[string]database.Mode{"": database.Remake, "replace": database.Remake, "append": database.Append, "upsert": database.Upsert}

// compile checks a node and creates its handler.
func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	b := &builder{config: *c, node: n, env: env, scope: table.NewScope(n, env)}
	h := b.build()
	ds := append(b.scope.Found, setting.UnusedWrites(n, "a sink writes no state")...)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	ds = append(ds, setting.UnusedArgs(n, setting.ArgsInFileNames, b.scope.Names()...)...)
	made := core.Compiled{Handler: h, Reads: b.scope.Reads(), Streams: h.from.Streams(), Effects: true, Stdout: h.to == nil, Outputs: b.outputs(h), Replaces: b.replaces(h),
		Upserts: h.format == sqliteFormat && h.table.Mode == database.Upsert}
	if h.known.Header != "" {
		made.OptionalNodes = []source.Text{source.At(h.known.Header, h.from.Name.Pos)}
	}
	return made, ds
}

// builder creates the handler of a node.
type builder struct {
	config
	node  *core.Node
	env   core.Env
	scope *table.Scope
}

func (b *builder) build() *handler {
	h := &handler{every: checkpointEvery, dir: b.env.Dir, outside: b.Outside, columns: b.Columns.List, asDeclared: form{table.Format(b.Format.Value), b.Compress.Value}}
	delimiter, ok := table.Delimiter(b.Delimiter)
	if !ok {
		b.scope.Errorf(source.CodeBadValue, b.Delimiter.Pos, "delimiter", "want one character, found %q", b.Delimiter.Value)
	}
	h.layout = table.Layout{Delimiter: delimiter, NoHeader: !b.Header}
	b.form(h)
	b.table(h)
	b.to(h)
	t := b.from(h)
	h.declared = b.scope.Declared(t, b.Columns, b.Key, h.from)
	if h.from != nil && h.from.Field() != "" && h.columns == nil {
		h.known = b.scope.Columns(h.from.Field(), nil)
	}
	b.ignored(h)
	return h
}

// form determines how the file is written, as far as its name is known.
func (b *builder) form(h *handler) {
	if b.Table.Value != "" && b.Format.Value == "" {
		h.asDeclared.format = sqliteFormat
		if f, err := formOf("", h.asDeclared.compression, b.To.Value); err == nil && f.format != "" && f.format != sqliteFormat && !strings.HasPrefix(b.To.Value, "$") {
			b.scope.Errorf(source.CodeBadValue, b.Table.Pos, "table", "tables are in SQLite databases, and the name %q is the name of a %s file", b.To.Value, f.format).
				WithHint("leave out table, name the file .db, or add format: sqlite")
		}
	}
	fixed := !strings.HasPrefix(b.To.Value, "$") && !strings.Contains(b.To.Value, "{{")
	name := b.To.Value
	if strings.HasPrefix(name, "$") {
		name = "" // then the name has no ending
	}
	f, err := formOf(string(h.asDeclared.format), h.asDeclared.compression, name)
	if err != nil {
		b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", "%v", err)
	}
	if f.format == "" && fixed {
		b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", "%q does not end in the name of a format", b.To.Value).
			WithHint("add format: csv, tsv, jsonl, json, parquet or text, or for a database table: NAME")
	}
	h.format = f.format
	switch c := b.Compress.Value; {
	case c == "" || c == "none" || c == "gzip" || f.format == "" || f.format == parquetFormat || f.format == sqliteFormat:
	default:
		b.scope.Errorf(source.CodeBadValue, b.Compress.Pos, "compression", "%s is compressed with gzip or none, %s is for parquet", f.format, c)
	}
}

// table reads the keys of a database.
func (b *builder) table(h *handler) {
	if h.format != sqliteFormat {
		return
	}
	if b.Table.Value == "" {
		b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", `an SQLite database needs the key "table"`).WithHint("table: NAME")
	}
	if err := sqlite.Rules.CheckName(b.Table.Value); err != nil {
		b.scope.Errorf(source.CodeBadValue, b.Table.Pos, "table", "%v", err)
	}
	if strings.HasPrefix(strings.ToLower(b.Table.Value), "sqlite_") {
		b.scope.Errorf(source.CodeBadValue, b.Table.Pos, "table", "names that begin with sqlite_ belong to SQLite")
	}
	h.markers = b.Markers
	h.table = database.Table{Name: b.Table.Value, Mode: modes[b.Mode.Value], Key: source.Strings(b.Key), Columns: b.Columns.List, Make: true}
	database.CheckKeys(b.scope, &h.table, b.Mode.Pos, b.Key, b.To.Pos, sqlite.Rules)
}

// to compiles the file name. All items of a fan-out may append to the same table; any other
// target would be replaced by each item.
func (b *builder) to(h *handler) {
	if b.To.Value == stdout {
		b.stdout(h)
		return
	}
	if h.format == sqliteFormat && h.table.Mode != database.Remake {
		h.to = filename.Input(b.scope, b.To, "to")
	} else {
		h.to = filename.Output(b.scope, b.To, "to")
	}
	if h.to == nil || !h.to.Fixed() {
		return
	}
	if strings.HasSuffix(b.To.Value, "/") {
		b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", "%q is a folder", b.To.Value)
	}
	if h.format == sqliteFormat {
		if err := sqlite.CheckPath(files.Place{Dir: h.dir, Outside: h.outside}, b.To.Value); err != nil {
			b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", "%v", err)
		}
	}
	if err := files.Local(b.To.Value); err != nil && !b.Outside {
		b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", "%v", err).WithHint("files are written in the workflow's folder unless allow_outside is true")
	}
}

// replaces reports what the node replaces, and whether its name is known.
func (b *builder) replaces(h *handler) core.Replaces {
	switch {
	case h.to == nil, h.format == sqliteFormat && h.table.Mode != database.Remake:
		return core.ReplacesNothing
	case !h.to.Fixed() && h.format == sqliteFormat:
		return core.ReplacesRenderedTable
	case !h.to.Fixed():
		return core.ReplacesRendered
	case h.format == sqliteFormat:
		return core.ReplacesTable
	}
	return core.ReplacesFixed
}

// outputs returns the file or table that is written if the document contains its name.
func (b *builder) outputs(h *handler) []core.Target {
	if h.to == nil || !h.to.Fixed() {
		return nil
	}
	t := files.Place{Dir: h.dir}.Target(b.To)
	if h.format == sqliteFormat {
		t.Table, t.Adds = strings.ToLower(h.table.Name), h.table.Mode != database.Remake
	}
	return []core.Target{t}
}

// stdout is the file name that means standard output.
const stdout = "-"

func (b *builder) stdout(h *handler) {
	h.stdout = b.env.Stdout
	b.scope.Found = append(b.scope.Found, setting.NoEffect(b.node, "standard output", "allow_outside")...)
	switch {
	case h.format == sqliteFormat:
		b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", "a database is a file, not standard output")
	case h.stdout == nil && h.format != "":
		b.scope.Errorf(source.CodeBadValue, b.To.Pos, "to", "the program has no standard output to write to")
	}
}

// from determines what is written and checks a known type against the format.
func (b *builder) from(h *handler) *value.Type {
	h.from = b.scope.Source(b.From)
	if h.from == nil {
		return nil
	}
	want := value.ArrayType
	switch h.format {
	case table.Text:
		want = value.StringType
	case table.JSON, "":
		return h.from.Type
	}
	if have := h.from.Kind(); have != value.AnyType && have != want {
		d := b.scope.Errorf(source.CodeWrongType, h.from.Name.Pos, h.from.Key, "%s holds a value of type %s, %s is %s", h.format, want, h.from.Name.Value, have)
		switch {
		case have == value.StringType:
			d.WithHint("a string is written with format: text")
		case have == value.ObjectType && h.from.IsItem():
			d.WithHint("%s", table.BatchHint)
		}
	}
	return h.from.Type
}

// ignored reports keys that have no effect for the format.
func (b *builder) ignored(h *handler) {
	if h.format == "" {
		return
	}
	report := func(keys ...string) {
		for _, key := range keys {
			if v := b.node.Config.Get(key); v != nil {
				b.scope.Errorf(source.CodeBadValue, v.Pos, key, "does not go with %s", h.format)
			}
		}
	}
	if h.format != sqliteFormat {
		report("table", "mode", "key", "markers")
	}
	if h.format == sqliteFormat {
		report("compression")
	}
	if !h.format.Delimited() {
		report("header", "delimiter")
	}
	if h.format == table.Text {
		report("columns")
	}
}
