package database

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// These limit a batch unless Table.Batch is set; a batch of wide rows has fewer rows. A
// batch is in memory twice, as rows and in the form that is sent.
const (
	maxBatchRows  = 5000
	maxBatchCells = 250_000
)

// Load stores the rows of a source in a table and returns their number, which includes the
// rows that Table.Commits has. It calls progress with the number of rows so far after each
// batch. After an error everything since the last commit is rolled back.
func Load(ctx context.Context, b Backend, t *Table, src *table.Source, progress func(done, of int64)) (int64, error) {
	l := &load{b: b, rules: b.Rules(), t: t, src: src, rows: t.Commits.Rows()}
	l.committed = l.rows
	err := l.run(ctx, progress)
	if err != nil && l.open {
		b.Rollback()
	}
	if _, ok := errors.AsType[*DuplicateError](err); ok && t.Mode != Upsert {
		err = fmt.Errorf("%w (mode: upsert updates the row that is there)", err)
	}
	if err != nil && l.committed > 0 {
		err = fmt.Errorf("%w; the %s before are stored", err, table.Count(int(l.committed), "row"))
		if t.Mode == Append && !t.Commits.Kept() { // another attempt would store these rows twice
			err = core.Permanent(err)
		}
	}
	return l.rows, err
}

// load is the state of one call of Load.
type load struct {
	b     Backend
	rules Rules
	t     *Table
	src   *table.Source

	columns   []column
	values    []any
	text      []byte       // buffer for a key
	guard     *table.Guard // nil if the document lists the columns
	rows      int64        // rows read so far
	committed int64
	open      bool // a transaction is open
}

// column is a column that the rows fill.
type column struct {
	Column
	read     table.Column
	declared *value.Type // nil if no type is declared
	inferred bool        // its type was inferred from the first rows
	key      bool
	integer  bool // floats that are integers are stored as integers
}

func (l *load) run(ctx context.Context, progress func(done, of int64)) error {
	head, err := l.src.Head(ctx)
	if err != nil {
		return err
	}
	fields := l.fields(head)
	if err := l.check(fields, head); err != nil {
		return core.Permanent(err)
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	if err := l.prepare(ctx, fields, head); err != nil {
		return err
	}
	size := cmp.Or(l.t.Batch, min(maxBatchRows, max(1, maxBatchCells/max(1, len(fields)))))
	for {
		batch, err := l.src.NextOf(ctx, size)
		if err == io.EOF {
			return l.finish(ctx)
		}
		if err != nil {
			return err
		}
		if err := l.store(ctx, batch); err != nil {
			return err
		}
		progress(l.rows, l.src.Total())
	}
}

func (l *load) begin(ctx context.Context) error {
	if err := l.b.Begin(ctx); err != nil {
		return err
	}
	l.open = true
	return nil
}

// finish commits the rest of the rows, with the result.
func (l *load) finish(ctx context.Context) error {
	if l.t.Ready != nil {
		if err := l.t.Ready(l.rows); err != nil {
			return err
		}
	}
	if l.t.Commits == nil {
		return l.commit(ctx)
	}
	if !l.open {
		if err := l.begin(ctx); err != nil {
			return err
		}
	}
	if err := l.t.Commits.Mark(ctx, l.b, l.t, l.rows, l.src.Position(), value.ObjectOf("rows", l.rows)); err != nil {
		return err
	}
	return l.commit(ctx)
}

// commitBatch commits a batch that is a separate transaction.
func (l *load) commitBatch(ctx context.Context) error {
	if l.t.Commits == nil && l.t.Committed == nil || !l.t.Resumes() {
		return l.commit(ctx)
	}
	at := l.src.Position()
	if err := l.t.Commits.Mark(ctx, l.b, l.t, l.rows, at, nil); err != nil {
		return err
	}
	if err := l.commit(ctx); err != nil || l.t.Committed == nil {
		return err
	}
	return l.t.Committed(ctx, l.rows, at)
}

func (l *load) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil || !l.open {
		return err
	}
	if l.t.MayCommit != nil {
		if err := l.t.MayCommit(); err != nil {
			return err
		}
	}
	if l.t.Upserted != nil && l.t.Storing != nil {
		if err := l.t.Storing(l.t.Upserted); err != nil {
			return err
		}
		l.t.Upserted.Keys = core.KeyMap[struct{}]{}
	}
	l.open = false
	if err := l.b.Commit(ctx); err != nil {
		return err
	}
	l.committed = l.rows
	return nil
}

// fields returns the columns that the rows fill.
func (l *load) fields(head []any) []table.Field {
	if l.t.Columns != nil {
		return l.t.Columns
	}
	names := table.Columns(head)
	l.guard = table.NewGuard(names)
	out := make([]table.Field, len(names))
	for i, name := range names {
		out[i].Name = name
		if at := slices.IndexFunc(l.t.Declared, func(d table.Field) bool { return d.Name == name }); at >= 0 {
			out[i].Kind = l.t.Declared[at].Kind
		}
	}
	return out
}

// check returns an error for columns that no table can have, and for key columns that
// the rows lack, before the database is accessed.
func (l *load) check(fields []table.Field, head []any) error {
	if a, b, ok := clash(table.FieldNames(fields), l.rules.Fold); ok {
		return fmt.Errorf("columns %q and %q are the same to %s, which ignores case; rename one", a, b, l.rules.Name)
	}
	if len(fields) == 0 && len(head) > 0 {
		return errors.New("the rows have no columns, so there is nothing to store")
	}
	for _, f := range fields {
		if f.Name == "" {
			return errors.New("a column has the empty name; rename it")
		}
		if err := l.rules.CheckName(f.Name); err != nil {
			return fmt.Errorf("column %q: %w; rename it", f.Name, err)
		}
	}
	for _, k := range l.t.Key {
		if len(head) > 0 && !slices.ContainsFunc(fields, func(f table.Field) bool { return f.Name == k }) {
			return fmt.Errorf("no row has the key column %q", k)
		}
	}
	return nil
}

// prepare prepares the table for the rows.
func (l *load) prepare(ctx context.Context, fields []table.Field, head []any) error {
	have, err := l.b.Columns(ctx, l.t)
	if err != nil {
		return err
	}
	if l.t.Mode == Remake && len(have) > 0 && len(fields)+len(l.known()) > 0 {
		if err := l.b.Drop(ctx, l.t); err != nil {
			return err
		}
		have = nil
	}
	if len(have) == 0 {
		return l.create(ctx, fields, head)
	}
	if l.t.Mode == Replace || l.t.Mode == Remake {
		if err := l.b.Clear(ctx, l.t); err != nil {
			return err
		}
	}
	into := make([]Column, len(fields))
	for i, f := range fields {
		at := slices.IndexFunc(have, func(c Column) bool { return l.rules.Fold(c.Name) == l.rules.Fold(f.Name) })
		if at < 0 {
			return l.unknown(f.Name, have)
		}
		into[i] = have[at]
	}
	return l.fill(ctx, fields, into, false)
}

func (l *load) unknown(name string, have []Column) error {
	names := make([]string, len(have))
	for i, c := range have {
		names[i] = c.Name
	}
	text := fmt.Sprintf("table %q has no column %q", l.t.Name, name)
	if near := source.DidYouMean(name, names); near != "" {
		text += ", " + near
	}
	return core.Permanent(errors.New(text))
}

// known returns the columns of the table's header and the declared columns, with their
// declared types.
func (l *load) known() []table.Field {
	if len(l.t.Header) == 0 {
		return l.t.Declared
	}
	out := make([]table.Field, len(l.t.Header))
	for i, f := range l.t.Header {
		out[i].Name = f.Name // types inferred without rows could reject the rows of a later run
	}
	for _, d := range l.t.Declared {
		if at := slices.IndexFunc(out, func(f table.Field) bool { return f.Name == d.Name }); at >= 0 {
			out[at] = d
		} else {
			out = append(out, d)
		}
	}
	return out
}

// create creates the table with the columns that the rows fill and all other known
// columns.
func (l *load) create(ctx context.Context, fields []table.Field, head []any) error {
	all := slices.Clip(fields)
	for _, d := range l.known() {
		at := slices.IndexFunc(all, func(f table.Field) bool { return l.rules.Fold(f.Name) == l.rules.Fold(d.Name) })
		switch {
		case at >= 0 || l.t.Columns != nil:
		case l.rules.CheckName(d.Name) == nil:
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		l.t.notCreated = true // there is nothing to store, and no columns to create a table with
		return nil
	}
	if !l.t.Make {
		return core.Permanent(fmt.Errorf("there is no table %q (create: true makes it)", l.t.Name))
	}
	columns := make([]Column, len(all))
	for i, f := range all {
		columns[i] = l.b.Layout(New{Field: f, Seen: table.Look(head, f.Name), More: l.src.Streamed() || len(head) == 0})
	}
	if err := l.b.Create(ctx, l.t, columns); err != nil {
		return err
	}
	return l.fill(ctx, fields, columns[:len(fields)], true)
}

// fill sets the columns of the table that the rows fill.
func (l *load) fill(ctx context.Context, fields []table.Field, into []Column, made bool) error {
	l.columns, l.values = make([]column, len(fields)), make([]any, len(fields))
	for i, f := range fields {
		c := column{Column: into[i], read: table.Column{Name: f.Name}, key: slices.Contains(l.t.Key, f.Name)}
		if f.Kind != value.AnyType {
			c.declared = &value.Type{Kind: f.Kind}
		}
		c.inferred = made && c.declared == nil
		c.integer = c.Takes&table.SeenInteger != 0 && c.Takes&table.SeenFloat == 0
		l.columns[i] = c
	}
	if len(fields) == 0 {
		return nil
	}
	return l.b.Prepare(ctx, l.t, into)
}

// store stores a batch.
func (l *load) store(ctx context.Context, batch []any) error {
	if !l.open {
		if err := l.begin(ctx); err != nil {
			return err
		}
		if err := l.b.Prepare(ctx, l.t, l.into()); err != nil {
			return err
		}
	}
	first := l.rows
	for i, r := range batch {
		if err := table.Tick(ctx, i); err != nil {
			return err
		}
		if err := l.row(r.(*value.Object)); err != nil {
			return l.about(first, int64(i), r, err)
		}
		l.rows++
	}
	if err := l.b.Flush(ctx); err != nil {
		e, ok := errors.AsType[*RowError](err)
		switch {
		case !ok:
			return err
		case e.Row >= 0 && e.Row < len(batch):
			return l.about(first, int64(e.Row), batch[e.Row], err)
		}
		return fmt.Errorf("among the rows %d to %d: %w", first+1, l.rows, err)
	}
	if l.t.Commit {
		return l.commitBatch(ctx)
	}
	return nil
}

func (l *load) into() []Column {
	out := make([]Column, len(l.columns))
	for i, c := range l.columns {
		out[i] = c.Column
	}
	return out
}

// about adds the number and key of a row to an error.
func (l *load) about(first, i int64, row any, err error) error {
	text := fmt.Sprintf("row %d", first+i+1)
	var key []string
	for _, k := range l.t.Key {
		if v, ok := row.(*value.Object).Get(k); ok {
			key = append(key, k+" "+value.JSON(v))
		}
	}
	if key != nil {
		text += " (" + strings.Join(key, ", ") + ")"
	}
	return fmt.Errorf("%s: %w", text, err)
}

// row passes a row to the backend after checking that every value fits its column.
func (l *load) row(row *value.Object) error {
	if l.guard != nil {
		if err := l.guard.Check(row); err != nil {
			return core.Permanent(err)
		}
	}
	if len(l.columns) == 0 {
		return nil
	}
	for i := range l.columns {
		c := &l.columns[i]
		v, err := c.value(row)
		if err != nil {
			return core.Permanent(fmt.Errorf("column %s: %w", c.read.Name, err))
		}
		l.values[i] = v
	}
	if l.t.Upserted != nil {
		if err := l.note(); err != nil {
			return core.Permanent(err)
		}
	}
	return l.b.Row(l.values)
}

// note adds the key of the current row to Upserted.
func (l *load) note() (err error) {
	l.text = append(l.text[:0], l.t.Upserted.Target...)
	for i := range l.columns {
		if !l.columns[i].key {
			continue
		}
		if l.text, err = value.AppendJSON(append(l.text, 0), l.values[i]); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(l.text)
	l.t.Upserted.Keys.Set(binary.LittleEndian.Uint64(sum[:]), struct{}{})
	return nil
}

// value returns the row's value in the column, or an error if it does not fit.
func (c *column) value(row *value.Object) (any, error) {
	v := c.read.Value(row)
	if v == nil {
		if c.key {
			return nil, errors.New("no value, but it is part of the key")
		}
		return nil, nil
	}
	if c.declared != nil {
		if err := c.declared.Check(v); err != nil {
			return nil, err
		}
	}
	sort := table.Sort(v)
	if sort&c.Takes != 0 {
		return v, nil
	}
	if f, ok := v.(float64); ok && c.integer && f == float64(int64(f)) {
		return int64(f), nil
	}
	if sort == table.SeenLong {
		return nil, fmt.Errorf("the column is %s, which would change the integer %d", c.Type, v)
	}
	err := &value.TypeError{Want: c.Takes.String(), Got: value.TypeName(v)}
	if text := value.JSON(v); len(text) <= 40 {
		err.Got += " " + text
	}
	if c.inferred {
		return nil, fmt.Errorf("%w (the first rows hold no such value; give the type with columns)", err)
	}
	return nil, fmt.Errorf("%w (the column is %s)", err, c.Type)
}
