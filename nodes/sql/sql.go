package sql

import (
	"os"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/database/postgres"
	"github.com/wavefold/wavefold/nodes/internal/database/sqlite"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Options are the parts of the kind that a program may replace. The zero Options are those
// of Kind.
type Options struct {
	// LookupEnv looks up secrets; nil means os.LookupEnv.
	LookupEnv func(name string) (value string, ok bool)
}

// Kind is the kind "sql".
var Kind = New(Options{})

// New returns the kind "sql" with options.
func New(o Options) core.Kind {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	return core.NewKind(core.KindOf[config]{
		Name:     "sql",
		Doc:      "Reads rows from a database, runs statements that change it, or writes rows to a table.",
		Defaults: func() config { return config{Markers: true} },
		Compile:  o.compile,
		Partial:  true,
	})
}

// compile checks a node and creates its handler. It does not connect to the database.
func (o Options) compile(n *core.Node, env core.Env, config *config) (core.Compiled, source.Diagnostics) {
	b := &builder{config: *config, node: n, env: env, scope: table.NewScope(n, env)}
	c := connector{lookup: o.LookupEnv, dsn: b.DSN, dir: env.Dir, outside: b.Outside}
	var made core.Compiled
	if n.Lost.Any("dsn", "driver", "query", "exec", "table") {
		b.fields()
	} else if b.connector(&c) {
		b.DSN.CheckSet(&b.scope.Found, c.lookup, n.Subject()+": dsn", "the node fails without it")
		made = b.build(c)
	}
	ds := b.scope.Found
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	made.Reads, made.Secrets = b.scope.Reads(), c.secrets()
	return made, ds
}

// builder creates the handler of a node.
type builder struct {
	config
	node  *core.Node
	env   core.Env
	scope *table.Scope
}

// fields checks the names of fields if the kind of database or what the node does is not known.
func (b *builder) fields() {
	if b.From.Value != "" {
		b.scope.Source(b.From)
	}
	if b.Into.Value != "" {
		_, ds := setting.TargetOf(b.node, b.Into, b.node.Subject())
		b.scope.Found = append(b.scope.Found, ds...)
	}
}

// connector determines the driver and checks everything about the database that can be
// checked without connecting. It reports whether the driver is known.
func (b *builder) connector(c *connector) bool {
	text := b.DSN.Text
	pos := text.Pos
	if b.DSN.IsSecret() {
		pos = b.DSN.Env.Pos
	}
	c.driver = b.Driver.Value
	if c.driver == "" {
		c.driver = driverOf(text.Value)
	}
	switch {
	case strings.Contains(text.Value, "{{"):
		b.scope.Errorf(source.CodeBadValue, pos, "dsn", "a template is not allowed here").WithHint("a connection string of the moment comes from the environment: dsn: {secret: NAME}")
		return false
	case c.driver == "" && b.DSN.IsSecret():
		b.scope.Errorf(source.CodeBadValue, pos, "dsn", "a secret does not show which database it is").WithHint("add driver: postgres, or driver: sqlite")
		return false
	case c.driver == "":
		b.scope.Errorf(source.CodeBadValue, pos, "dsn", "what the database is cannot be seen from it").
			WithHint("begin it with postgres:// or sqlite:, or add driver: postgres or sqlite")
		return false
	case schemeDriver(text.Value) != "" && schemeDriver(text.Value) != c.driver:
		b.scope.Errorf(source.CodeBadValue, b.Driver.Pos, "driver", "the dsn is of %s", schemeDriver(text.Value)).WithHint("leave driver out")
		return false
	case c.driver == postgresDriver:
		c.dialect = postgresDialect
		if b.Outside {
			b.scope.Errorf(source.CodeBadValue, b.node.Config.Get("allow_outside").Pos, "allow_outside", "goes with files of SQLite")
		}
		if passwords := postgres.Passwords(text.Value); slices.ContainsFunc(passwords, func(p string) bool { return p != "" }) && !b.DSN.IsSecret() {
			b.scope.Warnf(source.CodeBadValue, pos, "dsn", "the document contains a password").WithHint("put the string into an environment variable: dsn: {secret: NAME}")
		}
		return true
	}
	c.dialect = sqliteDialect
	if !b.DSN.IsSecret() {
		b.file(source.At(fileOf(text.Value), pos))
	}
	return true
}

// file checks the name of an SQLite file.
func (b *builder) file(name source.Text) {
	place := files.Place{Dir: b.env.Dir, Outside: b.Outside}
	if name.Value == ":memory:" {
		b.scope.Errorf(source.CodeBadValue, name.Pos, "dsn", "a database in memory would be gone with the node")
	} else if err := sqlite.CheckPath(place, name.Value); err != nil {
		b.scope.Errorf(source.CodeBadValue, name.Pos, "dsn", "%v", err)
	} else if err := files.Local(name.Value); err != nil && !b.Outside {
		b.scope.Errorf(source.CodeBadValue, name.Pos, "dsn", "%v", err).WithHint("a database lies in the workflow's folder unless allow_outside is true")
	}
}

// build creates the handler for the mode that the keys select.
func (b *builder) build(c connector) core.Compiled {
	modes := 0
	for _, set := range []bool{b.Query.Value != "", len(b.Exec) > 0, b.Table.Value != ""} {
		if set {
			modes++
		}
	}
	if modes != 1 {
		b.scope.Errorf(source.CodeBadValue, b.node.Pos, "", "wants one of the keys query, exec and table, has %d", modes).
			WithHint("query reads rows, exec changes something, table writes rows")
		return core.Compiled{}
	}
	switch {
	case b.Query.Value != "":
		b.only("query", "into", "stream", "key")
		return b.query(c)
	case len(b.Exec) > 0:
		b.only("exec", "markers")
		b.scope.Found = append(b.scope.Found, setting.UnusedWrites(b.node, "a node that runs statements writes no state")...)
		return core.Compiled{Handler: &exec{connector: c, markers: b.Markers, statements: b.statements(c.dialect, "exec", b.Exec...)}, Effects: true}
	}
	b.only("table", "schema", "from", "mode", "key", "columns", "create", "batch", "transaction", "markers")
	return b.load(c)
}

// only reports keys that have no effect in combination with mode.
func (b *builder) only(mode string, others ...string) {
	for _, k := range b.node.Config.Keys {
		if k.Value != mode && !slices.Contains(others, k.Value) && !slices.Contains([]string{"dsn", "driver", "allow_outside"}, k.Value) {
			b.scope.Errorf(source.CodeBadValue, b.node.Config.Get(k.Value).Pos, k.Value, "does not go with %s", mode)
		}
	}
}

// statements parses SQL statements and compares their parameters with the arguments.
func (b *builder) statements(d dialect, key string, texts ...source.Text) []*statement {
	var names []string
	if b.node.Args != nil {
		for _, k := range b.node.Args.Keys {
			names = append(names, k.Value)
		}
	}
	used := map[string]bool{}
	out := make([]*statement, len(texts))
	for i, text := range texts {
		s, faults := parseStatement(text, d)
		for _, f := range faults {
			b.scope.Errorf(source.CodeBadValue, source.Inside(text, f.offset), key, "%s", f.message).WithHint("%s", f.hint)
		}
		for _, p := range s.params {
			used[p] = true
			if !slices.Contains(names, p) {
				b.scope.Errorf(source.CodeUnknownField, source.Inside(text, s.offset(p)), key, "there is no argument %q", p).
					WithHint("%s", argumentHint(p, names))
			}
		}
		if message, hint := s.refused(d, key == "query", b.Outside); message != "" {
			b.scope.Errorf(source.CodeBadValue, text.Pos, key, "%s", message).WithHint("%s", hint)
		}
		out[i] = s
	}
	if b.node.Args != nil {
		for _, k := range b.node.Args.Keys {
			if !used[k.Value] {
				b.scope.Warnf(source.CodeUnused, k.Pos, "args", "no statement has the parameter :%s", k.Value).WithHint("a parameter is written :%s in the SQL", k.Value)
			}
		}
	}
	return out
}

func argumentHint(name string, names []string) string {
	if near := source.DidYouMean(name, names); near != "" {
		return near
	}
	return "add args: {" + name + ": $.field}"
}

func (b *builder) query(c connector) core.Compiled {
	q := &query{connector: c, statement: b.statements(c.dialect, "query", b.Query)[0], node: b.node.ID.Value}
	q.key = b.queryKey(q.statement, c.dialect)
	to, ds := setting.TargetOf(b.node, b.Into, b.node.Subject())
	b.scope.Found = append(b.scope.Found, ds...)
	q.to = to
	made := core.Compiled{Handler: q, Results: to.Type(value.ArrayType)}
	if to.Field != "" {
		made.Columns = map[string]source.Columns{to.Field: {}} // the columns are known when the query runs
	}
	if !b.Stream {
		return made
	}
	pos := b.node.Config.Get("stream").Pos
	if to.Field == "" {
		b.scope.Errorf(source.CodeBadValue, pos, "stream", "there is no field to make a stream of").WithHint("add writes: [rows]")
	}
	made.Handler, made.Results, made.Stream = &streamed{q}, nil, source.At(to.Field, pos)
	return made
}

// sqlModes are the modes of writing a table. Other programs may use a table on a server, so
// replace changes only its rows.
var sqlModes = map[string]database.Mode{"": database.Append, "insert": database.Append, "upsert": database.Upsert, "replace": database.Replace}

func (b *builder) load(c connector) core.Compiled {
	l := &load{connector: c, markers: b.Markers, table: database.Table{
		Schema: b.Schema.Value, Name: b.Table.Value, Mode: sqlModes[b.Mode.Value], Key: source.Strings(b.Key), Columns: b.Columns.List,
		Make: b.Create, Batch: int(b.Batch.Value), Commit: b.Transaction.Value == "batch"}}
	if l.table.Commit && l.table.Batch == 0 {
		l.table.Batch = transactionRows
	}
	rules := sqlite.Rules
	if c.driver == postgresDriver {
		rules = postgres.Rules
	}
	b.name(rules)
	database.CheckKeys(b.scope, &l.table, b.Mode.Pos, b.Key, b.Table.Pos, rules)
	if l.table.Mode != database.Upsert && !b.Create && !b.scope.Found.Failed(false) {
		b.scope.Found = append(b.scope.Found, setting.NoEffect(b.node, "a node that neither upserts rows nor creates the table", "key")...)
	}
	if l.table.Mode == database.Replace {
		if l.table.Commit {
			b.scope.Errorf(source.CodeBadValue, b.Transaction.Pos, "transaction", "replace is one transaction: after a failure in the middle the old rows would be gone")
		}
	}
	b.scope.Found = append(b.scope.Found, setting.UnusedWrites(b.node, "a node that writes a table writes no state")...)
	b.scope.Found = append(b.scope.Found, setting.UnusedArgs(b.node, "args are the parameters of the statements of query and exec")...)
	if l.from = b.scope.Source(b.From); l.from == nil {
		return core.Compiled{}
	}
	if have := l.from.Kind(); have != value.AnyType && have != value.ArrayType {
		d := b.scope.Errorf(source.CodeWrongType, l.from.Name.Pos, l.from.Key, "a table takes a value of type array, %s is %s", l.from.Name.Value, have)
		if have == value.ObjectType && l.from.IsItem() {
			d.WithHint("%s", table.BatchHint)
		}
	}
	l.table.Declared = b.scope.Declared(l.from.Type, b.Columns, b.Key, l.from)
	made := core.Compiled{Handler: l, Streams: l.from.Streams(), Effects: true, Outputs: []core.Target{b.output(c, &l.table)}}
	if l.from.Field() != "" && l.table.Columns == nil {
		if l.known = b.scope.Columns(l.from.Field(), nil); l.known.Header != "" {
			made.OptionalNodes = []source.Text{source.At(l.known.Header, l.from.Name.Pos)}
		}
	}
	l.target, made.Upserts = made.Outputs[0], l.table.Mode == database.Upsert
	if l.table.Mode == database.Replace {
		made.Replaces = core.ReplacesTable
	}
	return made
}

// output returns the table that is written.
func (b *builder) output(c connector, to *database.Table) core.Target {
	t := core.Target{Key: "sql:" + b.DSN.Text.Value, Table: to.Name, Adds: to.Mode != database.Replace}
	switch {
	case b.DSN.IsSecret():
		t.Key = "secret:" + b.DSN.Env.Value
	case c.driver == sqliteDriver:
		t = files.Place{Dir: c.dir}.Target(source.At(fileOf(b.DSN.Text.Value), b.DSN.Text.Pos))
		t.Adds = to.Mode != database.Replace
	}
	switch {
	case c.driver == sqliteDriver:
		t.Table = strings.ToLower(to.Name)
	case to.Schema != "":
		t.Table = to.Schema + "." + to.Name
	}
	t.Name.Pos = b.Table.Pos
	return t
}

// name checks the names of the table and its schema.
func (b *builder) name(rules database.Rules) {
	if err := rules.CheckName(b.Table.Value); err != nil {
		b.scope.Errorf(source.CodeBadValue, b.Table.Pos, "table", "%v", err)
	}
	if err := rules.CheckName(b.Schema.Value); err != nil {
		b.scope.Errorf(source.CodeBadValue, b.Schema.Pos, "schema", "%v", err)
	}
	schema, table, dotted := strings.Cut(b.Table.Value, ".")
	switch {
	case rules.Name == sqlite.Rules.Name && b.Schema.Value != "":
		b.scope.Errorf(source.CodeBadValue, b.Schema.Pos, "schema", "goes with PostgreSQL")
	case rules.Name == sqlite.Rules.Name && strings.HasPrefix(strings.ToLower(b.Table.Value), "sqlite_"):
		b.scope.Errorf(source.CodeBadValue, b.Table.Pos, "table", "names that begin with sqlite_ belong to SQLite")
	case rules.Name == postgres.Rules.Name && dotted:
		b.scope.Errorf(source.CodeBadValue, b.Table.Pos, "table", "the name contains a dot").WithHint("write schema: %s and table: %s", schema, table)
	}
}
