package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/checks"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/rows"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// handler loads a table. It is immutable.
type handler struct {
	names       []*eval.Name
	format      table.Format // "" until the names are known
	compression string
	stdin       *standard // nil unless it is the source
	ratio       int
	options     rows.Options
	optional    bool
	stream      bool
	dir         string
	outside     bool
	into        string
	policy      *checks.Policy
	slots       eval.Slots
}

var _ core.StreamSource = (*handler)(nil)

// Handle loads the rows, or says what the rows of the stream will be.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	s := in.Shared()
	place := h.place(s)
	names, err := h.resolve(s, place)
	if err != nil {
		return core.Result{}, err
	}
	if h.stream {
		return h.describe(ctx, in, names)
	}
	t, err := h.begin(ctx, in, names, false)
	if err != nil {
		return core.Result{}, err
	}
	defer t.Close()
	var batches [][]any
	profile := h.profile(nil)
	for {
		good, err := t.next(ctx)
		if err == io.EOF {
			return h.result(in, t, slices.Concat(batches...), profile), nil
		}
		if err != nil {
			return core.Result{}, err
		}
		batches = append(batches, good)
		profile.Add(good)
		in.Measure(t.extent())
		in.Progress(t.rows, 0)
	}
}

func (h *handler) profile(list []any) *rows.Profile {
	p := rows.NewProfile(h.options.Types)
	p.Add(list)
	return p
}

// schema describes the columns of a table.
func (h *handler) schema(r reader, p *rows.Profile) []any {
	if f := r.Format(); f.Delimited() || f == parquet.Format {
		p.Expect(r.Types())
	}
	return p.Schema()
}

func (h *handler) place(s core.Shared) files.Place {
	return files.Place{Dir: cmp.Or(s.Dir, h.dir), Outside: h.outside, Allow: "allow_outside"}
}

// reader reads the rows of a table, whatever its format.
type reader interface {
	// Next returns the next rows, io.EOF after the last.
	Next(ctx context.Context) (checks.Batch, error)
	Format() table.Format
	// Types returns what is known of the columns after the first call of Next.
	Types() rows.Types
}

// reader returns a reader of the rows of files, with or without a hash of them.
func (h *handler) reader(place files.Place, names []string, sum bool) (reader, *reading, error) {
	o := h.options
	if o.Format = h.format; o.Format == "" {
		for _, n := range names {
			f := formatOf(n)
			switch {
			case f == "":
				return nil, nil, core.Permanent(fmt.Errorf("%s: the name does not end in that of a format; add the key format", n))
			case o.Format != "" && o.Format != f:
				return nil, nil, core.Permanent(fmt.Errorf("%s is %s and %s is %s; the files of one table have one format", names[0], o.Format, n, f))
			}
			o.Format = f
		}
	}
	o.Several = len(names) > 1
	src := &reading{h: h, place: place, names: names}
	if sum {
		src.hash = sha256.New()
	}
	if o.Format == parquet.Format {
		return parquet.NewReader(parquetFiles{src}, o, src.hash), src, nil
	}
	r, err := rows.NewReader(src, o)
	return r, src, err
}

// begin opens the table for one attempt.
func (h *handler) begin(ctx context.Context, in core.Input, names []string, sum bool) (*loading, error) {
	s := in.Shared()
	place := h.place(s)
	r, src, err := h.reader(place, names, sum)
	if err != nil {
		return nil, err
	}
	task := checks.Task{Input: s, Place: place, Node: in.Node(), Source: sourceName(names), Files: names, Several: len(names) > 1}
	c, err := h.policy.Collector(ctx, task)
	if err != nil {
		return nil, err
	}
	src.measure()
	return &loading{h: h, names: names, reader: r, files: src, checks: c, env: h.slots.Row(s)}, nil
}

// sourceName is how messages call the table of some files.
func sourceName(names []string) string {
	switch len(names) {
	case 0:
		return "no file"
	case 1:
		return shownAs(names[0])
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// loading is a table that is being read: its rows, judged by the checks.
type loading struct {
	h      *handler
	names  []string
	reader reader
	files  *reading
	checks *checks.Collector
	env    *eval.Row
	rows   int64
	err    error // what the last call ended with
}

// next returns the next good rows, at least one of them; io.EOF is the end, and
// then the rejects are in their place.
func (t *loading) next(ctx context.Context) ([]any, error) {
	for t.err == nil {
		var good []any
		batch, err := t.reader.Next(ctx)
		if err == nil {
			t.expect()
			good, err = t.checks.Filter(ctx, batch, t.env)
		}
		if err == nil {
			t.rows += int64(len(good))
			if len(good) == 0 {
				continue
			}
			return good, nil
		}
		t.end(ctx, err)
	}
	return nil, t.err
}

// expect tells the checks how many rows there will be, if the reader knows.
func (t *loading) expect() {
	if p, ok := t.reader.(*parquet.Reader); ok && len(t.names) == 1 && t.h.options.Limit == 0 {
		t.checks.Expect(p.Total())
	}
}

// end closes everything behind the last row.
func (t *loading) end(ctx context.Context, err error) {
	t.files.Close()
	if err == io.EOF {
		err = nil
	}
	if t.err = t.checks.Close(ctx, err); t.err == nil {
		t.err = io.EOF
	}
}

// extent is how much of the files was read, or of the rows that are wanted, if that is
// more.
func (t *loading) extent() (read, size int64) {
	read, size = t.files.extent(t.reader)
	if limit := t.h.options.Limit; limit > 0 && float64(t.rows)*float64(size) > float64(read)*float64(limit) {
		return t.rows, limit
	}
	return read, size
}

// Close frees what the table holds.
func (t *loading) Close() {
	t.files.Close()
	t.checks.Discard()
}

func (h *handler) result(in core.Input, t *loading, list []any, p *rows.Profile) core.Result {
	if list == nil {
		list = []any{}
	}
	c := t.checks
	out := &core.Object{}
	h.setSource(out, "path", t.names)
	out.Set("rows", t.rows)
	out.Set("rejected", int64(c.Rejected()))
	out.Set("schema", h.schema(t.reader, p))
	r := core.Send(out)
	r.Delta = map[string]any{h.into: list}
	if field := h.policy.Field(); field != "" {
		r.Delta[field] = c.Records()
	}
	r.Note = fmt.Sprintf("%s from %s", table.Count(len(list), "row"), sourceName(t.names))
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

// setSource names the files: one as a text, several as a list.
func (h *handler) setSource(out *core.Object, key string, names []string) {
	if len(names) == 1 {
		out.Set(key, names[0])
		return
	}
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = n
	}
	out.Set(key, list)
}

var errNoSource = errors.New("the description of the stream names no source")

// sourceOf reads what setSource wrote.
func sourceOf(described *core.Object, key string) ([]string, error) {
	switch v, _ := described.Get(key); v := v.(type) {
	case string:
		return []string{v}, nil
	case []any:
		names := make([]string, len(v))
		for i, e := range v {
			name, ok := e.(string)
			if !ok {
				return nil, errNoSource
			}
			names[i] = strings.Clone(name)
		}
		return names, nil
	}
	return nil, errNoSource
}
