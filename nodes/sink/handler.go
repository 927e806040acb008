package sink

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/database/sqlite"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// handler writes one value. It is immutable.
type handler struct {
	to         *filename.Name // nil for standard output
	stdout     io.Writer
	dir        string
	outside    bool
	from       *table.From
	asDeclared form         // the form in the document
	format     table.Format // "" until the file name is known
	layout     table.Layout
	table      database.Table
	markers    bool
	// columns are the columns of the document, and declared the columns of the state
	// schema.
	columns  []table.Field
	declared []table.Field
	// known describes the columns of the rows as declared by preceding nodes, for a table
	// without rows.
	known source.Columns
	// In tests, wrap is put between the writer and the disk, pragmas are set on the
	// database, and every is shorter than checkpointEvery.
	wrap    func(io.Writer) io.Writer
	pragmas []string
	every   time.Duration // between checkpoints
}

var _ core.Handler = (*handler)(nil)

// Handle writes the value.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	s := in.Shared()
	name, f, err := h.target(s)
	if err != nil {
		return core.Result{}, fmt.Errorf("to: %w", err)
	}
	w := &writing{handler: h, in: in, form: f, later: s.Defer, place: h.place(s)}
	if err := w.resume(ctx, name); err != nil {
		return core.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	c, err := h.content(ctx, in, f.format, table.StreamPosition(w.staged.source()))
	if err != nil {
		w.staged.discard()
		return core.Result{}, err
	}
	var r core.Result
	if c.rows == nil {
		r, err = w.output(ctx, name, c, func(out *bufio.Writer) error {
			_, err := out.Write(c.text)
			return err
		})
	} else {
		r, err = w.rows(ctx, name, c)
	}
	if err != nil {
		return core.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// target returns the target and the form of one attempt.
func (h *handler) target(s core.Shared) (name string, f form, err error) {
	if h.to == nil {
		f, err = formOf(string(h.asDeclared.format), h.asDeclared.compression, "")
		return "standard output", f, err
	}
	if name, err = h.to.Text(s); err != nil {
		return "", form{}, err
	}
	f, err = formOf(string(h.asDeclared.format), h.asDeclared.compression, name)
	switch {
	case name == stdout:
		err = errors.New(`"-" means standard output only if the document says so; ./- is a file`)
	case err == nil && f.format == "":
		err = fmt.Errorf("%q does not end in the name of a format; add the key format", name)
	case err == nil && f.format == sqliteFormat && !h.to.Fixed():
		err = sqlite.CheckPath(h.place(s), name)
	}
	return name, f, core.Permanent(err)
}

// place returns the folder in which one attempt writes.
func (h *handler) place(s core.Shared) files.Place {
	return files.Place{Dir: cmp.Or(s.Dir, h.dir), Outside: h.outside, Allow: "allow_outside"}
}

// content is what is written: rows or a string.
type content struct {
	rows *table.Source // nil for a string
	text []byte
}

// content opens the stream, which begins at a position unless that is nil, or checks the
// value against the format.
func (h *handler) content(ctx context.Context, in core.Input, f table.Format, at *value.Object) (content, error) {
	stream, ok, err := h.from.Stream(ctx, in, at)
	switch {
	case err != nil:
		return content{}, err
	case ok && f == table.Text:
		return content{}, errors.Join(core.Permanent(fmt.Errorf("%s: want a string, found a stream of rows", h.from.Name.Value)), stream.Close())
	case ok:
		return content{rows: table.StreamSource(stream)}, nil
	}
	c, err := h.value(f, h.from.Value(in.Shared()))
	return c, core.Permanent(err)
}

// value checks a value against the format.
func (h *handler) value(f table.Format, v any) (content, error) {
	if value.IsMissing(v) {
		return content{}, fmt.Errorf("%s has no value", h.from.Name.Value)
	}
	switch f {
	case table.Text:
		text, ok := v.(string)
		if !ok {
			return content{}, fmt.Errorf("%s: want a string, got %s", h.from.Name.Value, value.TypeName(v))
		}
		return content{text: []byte(text)}, nil
	case table.JSON, table.JSONL:
		if h.columns == nil {
			return h.jsonValue(f, v)
		}
	}
	rows, err := table.Rows(h.from.Name.Value, v)
	return content{rows: table.ArraySource(rows)}, err
}

// jsonValue accepts any value; each element of an array is written on a separate line.
func (h *handler) jsonValue(f table.Format, v any) (content, error) {
	v, err := value.Canonical(v)
	if err != nil {
		return content{}, fmt.Errorf("%s: %w", h.from.Name.Value, err)
	}
	if list, ok := v.([]any); ok {
		return content{rows: table.ArraySource(list)}, nil
	}
	if f == table.JSONL {
		return content{}, fmt.Errorf("%s: want an array, got %s", h.from.Name.Value, value.TypeName(v))
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return content{}, fmt.Errorf("%s: %w", h.from.Name.Value, err)
	}
	return content{text: append(text, '\n')}, nil
}

func (h *handler) result(name string, c content, done int64) core.Result {
	out := value.ObjectOf("path", name)
	if h.to == nil {
		out = value.ObjectOf("path", stdout)
	}
	r := core.Send(out)
	r.Note = "written to " + name
	if c.rows != nil {
		out.Set("rows", done)
		r.Note = table.Count(int(done), "row") + " written to " + name
	}
	if h.table.Name != "" {
		out.Set("table", h.table.Name)
		r.Note += ", table " + h.table.Name
	}
	return r
}

// writing writes rows in one attempt.
type writing struct {
	*handler
	in    core.Input
	form  form
	place files.Place
	later bool  // a Placement replaces the target later
	done  int64 // number of rows
	// upserted are the keys of the rows, or nil if they are not needed.
	upserted *core.Upserted
	// staged is nil if the file has no checkpoints.
	staged *staged
}

func (w *writing) rows(ctx context.Context, name string, c content) (r core.Result, err error) {
	src := c.rows
	if w.form.format == sqliteFormat && w.table.Mode == database.Remake && w.later {
		return w.tableLater(ctx, name, c)
	}
	defer src.Close()
	src.Watch(table.FieldNames(w.columns), table.FieldNames(w.declared))
	if w.staged != nil {
		if err := src.Track(w.in, w.from.Name.Value, w.staged.source()); err != nil {
			w.staged.discard()
			return core.Result{}, err
		}
	}
	if w.form.format == sqliteFormat {
		if err = w.toTable(ctx, name, src); err == nil {
			r = w.result(name, c, w.done)
			r.Upserted = w.upserted
		}
	} else {
		r, err = w.output(ctx, name, c, func(out *bufio.Writer) error {
			if err := w.toFile(ctx, out, src); err != nil {
				return err
			}
			return w.ready(src, w.done)
		})
	}
	return r, err
}

// tableLater keeps the rows until the table may be replaced: a database has only one writer
// at a time, so writers must not wait for each other.
func (w *writing) tableLater(ctx context.Context, name string, c content) (core.Result, error) {
	target, err := w.tableTarget(name)
	if err != nil {
		return core.Result{}, errors.Join(err, c.rows.Close())
	}
	rows, err := c.rows.All(ctx)
	if err = errors.Join(err, c.rows.Close()); err != nil {
		return core.Result{}, err
	}
	later := *w
	later.later = false
	return core.Result{Placement: &core.Placement{Target: target, Name: name + ", table " + w.table.Name,
		Place: func(ctx context.Context) (core.Result, error) {
			r, err := later.rows(ctx, name, content{rows: table.ArraySource(rows)})
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return r, err
		}}}, nil
}

// tableTarget returns an identifier of a table, equal for equal tables.
func (w *writing) tableTarget(name string) (string, error) {
	path, err := w.place.ResolvedPath(name)
	return path + "#" + strings.ToLower(w.table.Name), err
}

// ready is called before the rows of a source are put into place.
func (w *writing) ready(src *table.Source, rows int64) error {
	if absent := src.Absent(); rows > 0 && len(absent) > 0 {
		w.in.Logger().Warn("no row has the column", "column", absent[0])
	}
	return w.in.MayCommit()
}

// toFile writes the rows batch by batch.
func (w *writing) toFile(ctx context.Context, out *bufio.Writer, src *table.Source) error {
	head, err := src.Head(ctx)
	if err != nil {
		return err
	}
	to, err := w.writer(out, src, head)
	if err != nil {
		return err
	}
	for {
		rows, err := src.Next(ctx)
		if err == io.EOF {
			if src.Total() == 0 && w.done > 0 {
				w.in.Progress(w.done, w.done)
			}
			return to.End()
		}
		if err != nil {
			return err
		}
		if err := w.check(rows); err != nil {
			return core.Permanent(err)
		}
		if err := to.Write(ctx, rows); err != nil {
			return err
		}
		w.done += int64(len(rows))
		w.in.Progress(w.done, src.Total())
		if w.staged != nil {
			if err := w.staged.checkpoint(ctx, w, src); err != nil {
				return err
			}
		}
	}
}

// rowWriter writes the rows of a file batch by batch.
type rowWriter interface {
	Write(ctx context.Context, rows []any) error
	End() error
}

// writer returns a writer for a file whose first rows are head.
func (w *writing) writer(out *bufio.Writer, src *table.Source, head []any) (rowWriter, error) {
	l := w.layoutOf(src, head)
	if w.staged != nil {
		l = w.staged.layout(l)
	}
	if l.Format.Delimited() && len(l.Columns) == 0 && len(head) > 0 {
		return nil, core.Permanent(errors.New("the rows have no columns, so there is nothing to write"))
	}
	if l.Format == parquetFormat {
		return newParquetWriter(out, w.fields(src, head), head, l.Closed, codecs[w.form.compression])
	}
	return table.NewWriter(out, l), nil
}

// layoutOf returns the layout of a file whose first rows are head.
func (w *writing) layoutOf(src *table.Source, head []any) table.Layout {
	l := w.layout
	l.Format, l.Columns = w.form.format, table.FieldNames(w.columns)
	if l.Columns == nil && (l.Format.Delimited() || l.Format == parquetFormat) {
		l.Columns, l.Closed = table.FieldNames(w.fields(src, head)), true
	}
	return l
}

// fields returns the columns of a file whose first rows are head: the columns of the
// document, or else the columns of the rows and the columns that only the state schema
// declares.
func (w *writing) fields(src *table.Source, head []any) []table.Field {
	if w.columns != nil {
		return w.columns
	}
	var out []table.Field
	for _, f := range src.Columns(head, w.known, w.in.Shared()) {
		if i := slices.IndexFunc(w.declared, func(d table.Field) bool { return d.Name == f.Name }); i >= 0 {
			f = w.declared[i]
		}
		out = append(out, f)
	}
	for _, d := range w.declared {
		if !slices.ContainsFunc(out, func(f table.Field) bool { return f.Name == d.Name }) {
			out = append(out, d)
		}
	}
	return out
}

// check returns an error for the first value that does not have its column's type.
func (w *writing) check(rows []any) error {
	for _, c := range w.columns {
		if c.Kind == value.AnyType {
			continue
		}
		col, t := table.Column{Name: c.Name}, &value.Type{Kind: c.Kind}
		for i, r := range rows {
			if err := t.Check(col.Value(r.(*value.Object))); err != nil {
				return fmt.Errorf("row %d, column %s: %w", w.done+int64(i)+1, c.Name, err)
			}
		}
	}
	return nil
}

// toTable stores the rows in a database.
func (w *writing) toTable(ctx context.Context, name string, src *table.Source) (err error) {
	if w.table.Name == "" {
		return core.Permanent(errors.New("a database needs the key table"))
	}
	path, err := w.place.Path(name)
	if err != nil {
		return err
	}
	db, err := sqlite.Open(path, sqlite.Options{Pragmas: w.pragmas})
	if err != nil {
		return err
	}
	defer db.Close()
	t := w.table
	if t.Commits, err = database.FindCommits(ctx, db, &t, w.in, w.markers); err != nil {
		return err
	}
	if _, done := t.Commits.Done(); done {
		w.done = t.Commits.Rows()
		return src.Skip(ctx) // the state has a summary of a stream that was read
	}
	if t.Mode == database.Upsert && w.in.Shared().Keys {
		target, err := w.tableTarget(name)
		if err != nil {
			return err
		}
		w.upserted = &core.Upserted{Target: target, Name: name + ", table " + t.Name}
		t.Upserted, t.Storing = w.upserted, w.in.Shared().Storing
	}
	t.Declared = w.declared
	head, err := src.Head(ctx)
	if err != nil {
		return err
	}
	if len(head) == 0 {
		t.Header = src.Columns(nil, w.known, w.in.Shared())
	}
	t.Ready = func(rows int64) error {
		t.WarnNotCreated(w.in.Logger())
		return w.ready(src, rows)
	}
	t.MayCommit = w.in.MayCommit
	w.done, err = database.Load(ctx, db, &t, src, w.in.Progress)
	return err
}
