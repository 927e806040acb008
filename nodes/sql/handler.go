package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// bind returns the statement with the values of its parameters.
func (s *statement) bind(in core.Shared) (database.Statement, error) {
	out := database.Statement{Text: s.text, Args: make([]any, len(s.params))}
	for i, name := range s.params {
		v, ok := in.Args.Get(name)
		if !ok || value.IsMissing(v) {
			return out, core.Permanent(fmt.Errorf("the argument %q has no value", name))
		}
		c, err := value.Canonical(v)
		if err != nil {
			return out, core.Permanent(fmt.Errorf("the argument %q: %w", name, err))
		}
		out.Args[i] = c
	}
	return out, nil
}

// place adds the position of the cause in the document to an error.
func (s *statement) place(err error) error {
	e, ok := errors.AsType[*database.StatementError](err)
	if !ok || !s.src.Pos.IsValid() {
		return err
	}
	return fmt.Errorf("%s: %w", source.Inside(s.src, s.source(e.Offset)), err)
}

// query reads rows into a field.
type query struct {
	connector
	statement *statement
	key       string // the column by which the rows are ordered, "" if it is not known
	to        setting.Target
	node      string
	reads     []source.ColumnRead // columns that expressions of the workflow read
}

var (
	_ core.ColumnReader = (*query)(nil)
	_ core.ColumnReader = streamed{}
)

// WithReads returns a handler that also checks that the columns which expressions read
// exist.
func (q *query) WithReads(reads []source.ColumnRead) core.Handler { return q.withReads(reads) }

func (q *query) withReads(reads []source.ColumnRead) *query {
	c := *q
	c.reads = reads
	return &c
}

// Handle runs the query.
func (q *query) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	rows, err := q.rows(ctx, in, nil)
	if err != nil {
		return core.Result{}, err
	}
	defer rows.Close()
	all := []any{}
	for {
		batch, err := rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return core.Result{}, err
		}
		all = append(all, batch...)
		in.Progress(int64(len(all)), 0)
	}
	r := q.to.Result(all)
	if !r.HasEdgeOutput {
		r.EdgeOutput, r.HasEdgeOutput = value.ObjectOf("rows", int64(len(all))), true
	}
	r.Note = table.Count(len(all), "row") + " from " + rows.c.name
	return r, nil
}

// rows starts the query, at a position unless that is nil.
func (q *query) rows(ctx context.Context, in core.Input, at *value.Object) (*stream, error) {
	s := q.statement
	if at != nil {
		s = s.after(q.key, q.dialect)
	}
	c, bound, err := q.prepared(ctx, in, s)
	if err != nil {
		return nil, err
	}
	if at != nil {
		bound.Args = append(bound.Args, database.LastKey(at))
	}
	rows, err := c.Query(ctx, bound)
	if err != nil {
		c.Close()
		return nil, c.about(s.place(err))
	}
	out, err := database.NewResult(rows, c.Close)
	if err != nil {
		rows.Close()
		c.Close()
		return nil, c.about(err)
	}
	reads := columncheck.NewReads(q.reads)
	err = core.Permanent(reads.Header(rows.Columns(), nil))
	if err == nil && q.key != "" {
		err = out.OrderedBy(q.key, at)
	}
	if err != nil {
		out.Close()
		return nil, c.about(err)
	}
	return &stream{out, c, s}, nil
}

// prepared opens a connection and binds a statement.
func (q *query) prepared(ctx context.Context, in core.Input, statement *statement) (*connection, database.Statement, error) {
	if err := ctx.Err(); err != nil {
		return nil, database.Statement{}, err
	}
	s, err := statement.bind(in.Shared())
	if err != nil {
		return nil, s, err
	}
	c, err := q.open(ctx, in.Shared(), true)
	return c, s, err
}

// streamed is a query whose rows are a stream.
type streamed struct{ *query }

var _ core.StreamSource = streamed{}

// WithReads returns a handler that also checks that the columns which expressions read
// exist.
func (q streamed) WithReads(reads []source.ColumnRead) core.Handler {
	return &streamed{q.withReads(reads)}
}

// Handle has the database check the statement. The rows are read when a node requests
// them.
func (q streamed) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	c, s, err := q.prepared(ctx, in, q.statement)
	if err != nil {
		return core.Result{}, err
	}
	defer c.Close()
	if err := c.Describe(ctx, s); err != nil {
		return core.Result{}, c.about(q.statement.place(err))
	}
	r := core.Write(q.to.Field, value.ObjectOf("source", c.name))
	r.Note = "rows of " + c.name
	return r, nil
}

// Open runs the query.
func (q streamed) Open(ctx context.Context, in core.Input, _ *value.Object) (core.Stream, error) {
	rows, err := q.rows(ctx, in, in.Position())
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// stream adds the name of the database to errors.
type stream struct {
	*database.Result
	c         *connection
	statement *statement
}

// Next returns the next rows.
func (s *stream) Next(ctx context.Context) ([]any, error) {
	rows, err := s.Result.Next(ctx)
	if err != nil && err != io.EOF {
		err = s.c.about(s.statement.place(err))
	}
	return rows, err
}

// exec runs statements in one transaction.
type exec struct {
	connector
	statements []*statement
	markers    bool
}

var _ core.Handler = (*exec)(nil)

// Handle runs the statements, unless an earlier process has done so.
func (e *exec) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	bound := make([]database.Statement, len(e.statements))
	for i, s := range e.statements {
		var err error
		if bound[i], err = s.bind(in.Shared()); err != nil {
			return core.Result{}, err
		}
	}
	c, err := e.open(ctx, in.Shared(), false)
	if err != nil {
		return core.Result{}, err
	}
	defer c.Close()
	done, err := e.run(ctx, in, c, bound)
	if err != nil {
		return core.Result{}, c.about(err)
	}
	r := core.Send(done)
	total, _ := done.Get("rows")
	n, _ := total.(int64)
	r.Note = table.Count(len(bound), "statement") + " on " + c.name + ", " + table.Count(int(n), "row")
	return r, nil
}

// run runs the statements and returns how many rows they have stored, changed or deleted.
func (e *exec) run(ctx context.Context, in core.Input, c *connection, bound []database.Statement) (*value.Object, error) {
	commits, err := database.FindCommits(ctx, c, &database.Table{}, in, e.markers)
	if err != nil {
		return nil, err
	}
	if done, ok := commits.Done(); ok {
		return done, nil
	}
	if err := c.Begin(ctx); err != nil {
		return nil, err
	}
	done, err := e.inside(ctx, in, c, bound, commits)
	if err != nil {
		c.Rollback()
		return nil, err
	}
	return done, c.Commit(ctx)
}

// inside runs the statements in the open transaction.
func (e *exec) inside(ctx context.Context, in core.Input, c *connection, bound []database.Statement, commits *database.Commits) (*value.Object, error) {
	var counts []any
	total := int64(0)
	for i, s := range bound {
		n, err := c.Exec(ctx, s)
		if err != nil {
			if len(bound) > 1 {
				err = fmt.Errorf("statement %d: %w", i+1, err)
			}
			return nil, e.statements[i].place(err)
		}
		counts, total = append(counts, n), total+n
	}
	done := value.ObjectOf("rows", total, "statements", counts)
	if err := commits.Mark(ctx, c, &database.Table{}, total, nil, done); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return done, in.MayCommit()
}

// load writes rows to a table.
type load struct {
	connector
	table   database.Table
	markers bool
	from    *table.From
	known   source.Columns // columns of the rows, for a table without rows
	target  core.Target
}

var _ core.Handler = (*load)(nil)

// Handle writes the rows.
func (l *load) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	if in.Shared().Defer && l.table.Mode == database.Replace {
		return l.later(ctx, in)
	}
	return l.store(ctx, in, func(at *value.Object) (*table.Source, error) { return l.rows(ctx, in, at) })
}

// later keeps the rows until the table may be replaced.
func (l *load) later(ctx context.Context, in core.Input) (core.Result, error) {
	src, err := l.rows(ctx, in, nil)
	if err != nil {
		return core.Result{}, err
	}
	rows, err := src.All(ctx)
	if err = errors.Join(err, src.Close()); err != nil {
		return core.Result{}, err
	}
	return core.Result{Placement: &core.Placement{Target: l.resolved(in.Shared()), Name: "table " + l.table.Name,
		Place: func(ctx context.Context) (core.Result, error) {
			return l.store(ctx, in, func(*value.Object) (*table.Source, error) { return table.ArraySource(rows), nil })
		}}}, nil
}

// resolved returns an identifier of the table, equal for equal tables.
func (l *load) resolved(s core.Shared) string {
	name := l.target.Key
	if l.driver == sqliteDriver && !l.dsn.IsSecret() {
		place := files.Place{Dir: cmp.Or(s.Dir, l.dir), Outside: l.outside}
		if path, err := place.ResolvedPath(fileOf(l.dsn.Text.Value)); err == nil {
			name = path
		}
	}
	return name + "#" + l.target.Table
}

// store writes the rows that open returns. The rows begin at a position if an earlier
// process has stored those before it.
func (l *load) store(ctx context.Context, in core.Input, open func(at *value.Object) (*table.Source, error)) (core.Result, error) {
	c, err := l.open(ctx, in.Shared(), false)
	if err != nil {
		return core.Result{}, err
	}
	defer c.Close()
	t := l.table
	about := func(err error) error { return c.about(fmt.Errorf("table %s: %w", t.Name, err)) }
	if t.Commits, err = database.FindCommits(ctx, c, &t, in, l.markers); err != nil {
		return core.Result{}, about(err)
	}
	src, err := open(t.Commits.Position())
	if err != nil {
		return core.Result{}, err
	}
	defer src.Close()
	src.Watch(table.FieldNames(t.Columns), table.FieldNames(t.Declared))
	if t.Commits != nil {
		if err := src.Track(in, l.from.Name.Value, t.Commits.Position()); err != nil {
			return core.Result{}, about(err)
		}
	}
	n, err := l.fill(ctx, in, c, &t, src)
	if err != nil {
		return core.Result{}, about(err)
	}
	r := core.Send(value.ObjectOf("table", t.Name, "rows", n))
	r.Upserted = t.Upserted
	r.Note = table.Count(int(n), "row") + " written to " + c.name + ", table " + t.Name
	return r, nil
}

// fill writes the rows of a source and returns their number.
func (l *load) fill(ctx context.Context, in core.Input, c *connection, t *database.Table, src *table.Source) (int64, error) {
	if _, done := t.Commits.Done(); done {
		return t.Commits.Rows(), src.Skip(ctx)
	}
	if t.Mode == database.Upsert && in.Shared().Keys {
		t.Upserted = &core.Upserted{Target: l.resolved(in.Shared()), Name: c.name + ", table " + t.Name}
		t.Storing = in.Shared().Storing
	}
	head, err := src.Head(ctx)
	if err != nil {
		return 0, err
	}
	if len(head) == 0 {
		t.Header = src.Columns(nil, l.known, in.Shared())
	}
	t.Ready = func(rows int64) error {
		t.WarnNotCreated(in.Logger())
		if absent := src.Absent(); rows > 0 && len(absent) > 0 {
			in.Logger().Warn("no row has the column", "column", absent[0])
		}
		return nil
	}
	t.MayCommit = in.MayCommit
	if in.Durable() {
		t.Committed = func(ctx context.Context, rows int64, at *value.Object) error {
			return in.Checkpoint(ctx, database.Checkpoint(rows, at))
		}
	}
	return database.Load(ctx, c, t, src, in.Progress)
}

// rows opens the rows to write, which begin at a position unless that is nil.
func (l *load) rows(ctx context.Context, in core.Input, at *value.Object) (*table.Source, error) {
	stream, ok, err := l.from.Stream(ctx, in, table.StreamPosition(at))
	if err != nil {
		return nil, err
	}
	if ok {
		return table.StreamSource(stream), nil
	}
	rows, err := table.Rows(l.from.Name.Value, l.from.Value(in.Shared()))
	return table.ArraySource(rows), core.Permanent(err)
}
