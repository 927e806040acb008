package sink

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// handler writes one value. It is immutable.
type handler struct {
	to      *eval.Name
	dir     string
	outside bool
	from    *eval.Source
	format  table.Format // "" until the file name is known
	layout  table.Layout
	table   tableTarget
	// columns are those of the document, declared those of the state schema.
	columns  []column
	declared []column
	// wrap stands between the writer and the disk in tests.
	wrap func(io.Writer) io.Writer
}

var _ core.Handler = (*handler)(nil)

// Handle writes the value.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	s := in.Shared()
	name, err := h.to.Text(s)
	if err != nil {
		return core.Result{}, fmt.Errorf("to: %w", err)
	}
	format := cmp.Or(h.format, table.FormatOf(name))
	if format == "" {
		return core.Result{}, core.Permanent(fmt.Errorf("to: %q does not end in the name of a format; add the key format", name))
	}
	c, err := h.content(format, h.from.Value(s))
	if err != nil {
		return core.Result{}, core.Permanent(err)
	}
	if missing := absent(c.rows, h.columns); missing != "" {
		in.Logger().Warn("no row has the column", "column", missing)
	}
	place := files.Place{Dir: cmp.Or(s.Dir, h.dir), Outside: h.outside}
	if format == sqliteFormat {
		err = h.writeTable(ctx, place, name, c.rows)
	} else {
		err = files.Writer{Place: place, Wrap: h.wrap}.Write(ctx, name, func(w *bufio.Writer) error { return c.write(ctx, w) })
	}
	if err != nil {
		return core.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return h.result(name, c), nil
}

// content is what goes into the file: rows, or one value.
type content struct {
	rows   []any
	isRows bool
	layout table.Layout
	text   []byte
}

func (c content) write(ctx context.Context, w *bufio.Writer) error {
	if c.isRows {
		return table.Write(ctx, w, c.rows, c.layout)
	}
	_, err := w.Write(c.text)
	return err
}

// content checks the value against the format and the columns.
func (h *handler) content(f table.Format, v any) (content, error) {
	if core.IsMissing(v) {
		return content{}, fmt.Errorf("%s has no value", h.from.Name.Value)
	}
	switch f {
	case table.Text:
		text, ok := v.(string)
		if !ok {
			return content{}, fmt.Errorf("%s: want a text, got %s", h.from.Name.Value, core.TypeName(v))
		}
		return content{text: []byte(text)}, nil
	case table.JSON, table.JSONL:
		if h.columns == nil {
			return h.jsonContent(f, v)
		}
	}
	rows, err := table.Rows(h.from.Name.Value, v)
	if err != nil {
		return content{}, err
	}
	if err := checkTypes(rows, h.columns); err != nil {
		return content{}, fmt.Errorf("%s: %w", h.from.Name.Value, err)
	}
	c := content{rows: rows, isRows: true, layout: h.layout}
	c.layout.Format = f
	c.layout.Columns = columnNames(h.columns)
	if len(rows) == 0 && c.layout.Columns == nil {
		c.layout.Columns = columnNames(h.declared)
	}
	return c, nil
}

// jsonContent takes any value; the elements of an array are written one on a
// line.
func (h *handler) jsonContent(f table.Format, v any) (content, error) {
	v, err := core.Canonical(v)
	if err != nil {
		return content{}, fmt.Errorf("%s: %w", h.from.Name.Value, err)
	}
	if list, ok := v.([]any); ok {
		return content{rows: list, isRows: true, layout: table.Layout{Format: f}}, nil
	}
	if f == table.JSONL {
		return content{}, fmt.Errorf("%s: want an array, got %s", h.from.Name.Value, core.TypeName(v))
	}
	text, err := core.AppendJSON(nil, v)
	if err != nil {
		return content{}, fmt.Errorf("%s: %w", h.from.Name.Value, err)
	}
	return content{text: append(text, '\n')}, nil
}

func (h *handler) writeTable(ctx context.Context, place files.Place, name string, rows []any) error {
	path, err := place.Path(name)
	if err != nil {
		return err
	}
	t := h.table
	if t.name == "" {
		return core.Permanent(errors.New("a database needs the key table"))
	}
	if len(rows) == 0 && t.columns == nil {
		t.columns = h.declared
	}
	return t.write(ctx, path, rows)
}

func (h *handler) result(name string, c content) core.Result {
	out := core.ObjectOf("path", name)
	r := core.Send(out)
	r.Note = "written to " + name
	if c.isRows {
		out.Set("rows", int64(len(c.rows)))
		r.Note = table.Count(len(c.rows), "row") + " written to " + name
	}
	if h.table.name != "" {
		out.Set("table", h.table.name)
		r.Note += ", table " + h.table.name
	}
	return r
}
