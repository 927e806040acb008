package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/checks"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// handler loads one file. It is immutable.
type handler struct {
	source   *eval.Name
	format   table.Format // "" until the name is known
	cells    cellOptions
	types    columnTypes
	rowType  *core.Type
	limit    int
	optional bool
	dir      string
	outside  bool
	into     string
	policy   *checks.Policy
	slots    eval.Slots
}

var _ core.Handler = (*handler)(nil)

// Handle loads the file.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	s := in.Shared()
	name, err := h.source.Text(s)
	if err != nil {
		return core.Result{}, fmt.Errorf("source: %w", err)
	}
	place := files.Place{Dir: cmp.Or(s.Dir, h.dir), Outside: h.outside}
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	c, err := h.policy.Collector(ctx, checks.Task{Input: s, Place: place, Node: in.Node, Source: name})
	if err != nil {
		return core.Result{}, err
	}
	defer c.Discard()
	rows, err := h.rows(ctx, s, place, name, c)
	if err := c.Close(ctx, err); err != nil {
		return core.Result{}, err
	}
	return h.result(in, name, rows, c), nil
}

// rows reads the file and runs the checks.
func (h *handler) rows(ctx context.Context, s core.Shared, place files.Place, name string, c *checks.Collector) ([]any, error) {
	f, err := place.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && h.optional:
		return []any{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %q: %w", name, err)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	var bads []checks.Bad
	got, err := h.read(ctx, f, name, func(b bad) error {
		bads = append(bads, checks.Bad{Place: b.of(), Reason: b.reason, Data: b.data})
		return nil
	})
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return nil, err
	}
	slices.SortStableFunc(bads, func(a, b checks.Bad) int { return cmp.Compare(a.Row, b.Row) })
	batch := checks.Batch{Rows: got.rows, Place: func(i int) checks.Place { return got.places[i].of() }, Bad: bads}
	return c.Filter(ctx, batch, h.slots.Row(s))
}

func (p place) of() checks.Place { return checks.Place{Row: int64(p.row), Line: int64(p.line)} }

// read parses the file in its format.
func (h *handler) read(ctx context.Context, r io.Reader, name string, reject func(bad) error) (loaded, error) {
	format := cmp.Or(h.format, table.FormatOf(name))
	options := rowOptions{types: h.types, rowType: h.rowType, limit: h.limit, reject: reject}
	r = files.Reader(ctx, r)
	switch format {
	case table.CSV, table.TSV:
		cells := h.cells
		cells.delimiter = cmp.Or(cells.delimiter, format.Delimiter())
		return readCells(ctx, r, cells, options)
	case table.JSONL, table.JSON:
		o := &objectReader{rowOptions: options, out: loaded{rows: []any{}}}
		read := readArray
		if format == table.JSONL {
			read = readLines
		}
		err := read(ctx, r, o)
		return o.out, err
	}
	return loaded{}, core.Permanent(errors.New("the name does not end in that of a format; add the key format"))
}

func (h *handler) result(in core.Input, name string, rows []any, c *checks.Collector) core.Result {
	out := core.ObjectOf("path", name, "rows", int64(len(rows)), "rejected", int64(c.Rejected()))
	r := core.Send(out)
	r.Delta = map[string]any{h.into: rows}
	if field := h.policy.Field(); field != "" {
		r.Delta[field] = c.Records()
	}
	r.Note = fmt.Sprintf("%s from %s", table.Count(len(rows), "row"), name)
	if c.Rejected() > 0 {
		r.Status = core.PartialSuccess
		r.Note += fmt.Sprintf(", %d rejected", c.Rejected())
	}
	if h.policy.HasChecks() {
		out.Set("quality", c.Quality())
	}
	if w := c.Warnings(); w != nil {
		out.Set("warnings", w)
		for check, n := range w.All() {
			in.Logger().Warn("check failed", "check", check, "rows", n)
		}
	}
	return r
}
