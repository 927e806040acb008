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
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// handler loads a table. It is immutable.
type handler struct {
	names       []*filename.Name
	format      table.Format // "" until the names are known
	compression string
	stdin       *standard // nil unless the source is standard input
	ratio       int
	options     table.ReadOptions
	minRows     int64
	optional    bool
	stream      bool
	dir         string
	outside     bool
	into        string
	policy      *rowcheck.Policy
	mayLack     []string // columns that rows may lack
	reads       []source.ColumnRead
	slots       table.Slots
}

var (
	_ core.StreamSource = (*handler)(nil)
	_ core.ColumnReader = (*handler)(nil)
)

// WithReads returns a handler that also checks that the columns which expressions read
// exist.
func (h *handler) WithReads(reads []source.ColumnRead) core.Handler {
	c := *h
	c.reads = reads
	return &c
}

// Handle loads the rows, or describes the rows of the stream.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	later := rowcheck.NewLateFiles(in.Shared())
	return later.Deliver(h.load(ctx, in, later))
}

// load loads the rows. later receives the files that the checks write.
func (h *handler) load(ctx context.Context, in core.Input, later *rowcheck.LateFiles) (core.Result, error) {
	names, err := h.resolve(ctx, in.Shared())
	if err != nil {
		return core.Result{}, h.replaceRejects(ctx, in, names, later, err)
	}
	if h.stream {
		return h.describe(ctx, in, names, later)
	}
	t, err := h.begin(ctx, in, names, later, false)
	if err != nil {
		return core.Result{}, err
	}
	defer t.Close()
	var batches [][]any
	profile := h.profile(nil)
	for {
		good, err := t.next(ctx)
		if err == io.EOF {
			if len(batches) > 1 { // with one batch, the warning was already given
				in.Measure(t.extent())
				in.Progress(t.rows, t.rows)
			}
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

func (h *handler) profile(list []any) *table.Profile {
	p := table.NewProfile(h.options.Types)
	p.Add(list)
	return p
}

// schema describes the columns of a table.
func (h *handler) schema(r reader, p *table.Profile) []any {
	if f := r.Format(); f.Delimited() || f == parquet.Format {
		p.Expect(r.Types())
	}
	return p.Schema()
}

func (h *handler) place(s core.Shared) files.Place {
	return files.Place{Dir: cmp.Or(s.Dir, h.dir), Outside: h.outside, Allow: "allow_outside"}
}

// reader reads the rows of a table in any format.
type reader interface {
	// Next returns the next rows, or io.EOF after the last.
	Next(ctx context.Context) (table.Batch, error)
	Format() table.Format
	// Types returns what is known of the columns after the first call of Next. Columns
	// returns the columns of the rows if there is a header.
	Types() table.Types
	Columns() []string
}

// formatOf returns the format that the document sets, or else the format that the extensions of
// the file names imply.
func (h *handler) formatOf(names []string) (table.Format, error) {
	if h.format != "" {
		return h.format, nil
	}
	var format table.Format
	for _, n := range names {
		f := formatOf(n)
		switch {
		case f == "":
			return "", core.Permanent(fmt.Errorf("%s: the name does not end in the name of a format; add the key format", n))
		case format != "" && format != f:
			return "", core.Permanent(fmt.Errorf("%s is %s and %s is %s; the files of one table have one format", names[0], format, n, f))
		}
		format = f
	}
	return format, nil
}

// reader returns a reader of the rows of files. If sum is true, it also computes their
// hash.
func (h *handler) reader(in core.Input, place files.Place, names []string, sum bool) (reader, *reading, error) {
	o := h.options
	var err error
	if o.Format, err = h.formatOf(names); err != nil {
		return nil, nil, err
	}
	o.Several = len(names) > 1
	src := &reading{h: h, in: in, place: place, names: names}
	if sum {
		src.hash = sha256.New()
	}
	if o.Format == parquet.Format {
		return parquet.NewReader(parquetFiles{src}, o, src.hash), src, nil
	}
	r, err := table.NewReader(src, o)
	return r, src, err
}

// collector returns the collector of one attempt, which replaces the file of rejects.
func (h *handler) collector(ctx context.Context, in core.Input, names []string, later *rowcheck.LateFiles) (*rowcheck.Collector, error) {
	s := in.Shared()
	format, _ := h.formatOf(names) // opening the files reports the error
	return h.policy.Collector(ctx, rowcheck.Task{
		Input: s, Place: h.place(s), Temp: files.TempOf(in), Node: in.Node(), Source: sourceName(names), Files: names,
		Several: len(names) > 1, Raw: format != parquet.Format, Later: later,
	})
}

// replaceRejects writes an empty file of rejects for a node that reads nothing because of
// err, which may be nil, and returns err.
func (h *handler) replaceRejects(ctx context.Context, in core.Input, names []string, later *rowcheck.LateFiles, err error) error {
	c, failed := h.collector(ctx, in, names, later)
	if failed != nil {
		return cmp.Or(err, failed)
	}
	c.Discard()
	return err
}

// begin opens the table for one attempt.
func (h *handler) begin(ctx context.Context, in core.Input, names []string, later *rowcheck.LateFiles, sum bool) (*loading, error) {
	s := in.Shared()
	c, err := h.collector(ctx, in, names, later)
	if err != nil {
		return nil, err
	}
	r, src, err := h.reader(in, h.place(s), names, sum)
	if err != nil {
		c.Discard()
		return nil, err
	}
	src.measure()
	return &loading{h: h, in: in, names: names, reader: r, files: src, checks: c, env: h.slots.Row(s), wanted: columncheck.New(h.policy.Needs()), reads: columncheck.NewReads(h.reads)}, nil
}

// sourceName returns the name of a table of files in messages.
func sourceName(names []string) string {
	switch len(names) {
	case 0:
		return "no file"
	case 1:
		return displayName(names[0])
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// loading is a table that is being read, with its rows checked.
type loading struct {
	h      *handler
	in     core.Input
	names  []string
	reader reader
	files  *reading
	checks *rowcheck.Collector
	env    *table.Row
	rows   int64
	err    error               // the error of the last call
	wanted columncheck.Columns // columns that the checks read
	reads  columncheck.Reads   // columns that expressions of the workflow read
	headed bool                // whether the header was checked
}

// next returns the next good rows, at least one. After the last row it returns io.EOF, and
// the file of rejects is complete.
func (t *loading) next(ctx context.Context) ([]any, error) {
	for t.err == nil {
		var good []any
		batch, err := t.reader.Next(ctx)
		if err == nil {
			err = t.look(batch.Rows)
		}
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

// look checks that the columns which the checks and expressions of the workflow read exist:
// in the header once it is known, otherwise in the rows.
func (t *loading) look(rows []any) error {
	t.wanted.Look(rows)
	t.reads.Look(rows)
	if t.headed {
		return nil
	}
	columns := t.reader.Columns()
	if columns == nil {
		return nil
	}
	t.headed = true
	if err := core.Permanent(t.wanted.Header(columns, t.h.mayLack)); err != nil {
		return at("checks", err)
	}
	return at(sourceName(t.names), core.Permanent(t.reads.Header(columns, t.h.mayLack)))
}

// at adds the configuration key to an error.
func at(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

// expect passes the number of rows to the checks if the reader knows it.
func (t *loading) expect() {
	if p, ok := t.reader.(*parquet.Reader); ok && len(t.names) == 1 && t.h.options.Limit == 0 {
		t.checks.Expect(p.Total())
	}
}

// end closes everything when reading ends. err is the error of the last read: io.EOF after
// the last row, nil if no more rows are wanted.
func (t *loading) end(ctx context.Context, err error) {
	t.files.Close()
	if err == io.EOF {
		err = t.checkCount()
	}
	if t.err = t.checks.Close(ctx, err); t.err == nil {
		t.err = io.EOF
	}
}

// checkCount returns an error if the table has too few good rows, and warns if it has no rows at
// all.
func (t *loading) checkCount() error {
	if err := core.Permanent(t.wanted.Missing(t.h.mayLack)); err != nil {
		return at("checks", err)
	}
	if err := core.Permanent(t.reads.Missing(t.h.mayLack)); err != nil {
		return at(sourceName(t.names), err)
	}
	if !t.h.options.AllowEmpty {
		if err := t.checks.NoneGood(); err != nil {
			return fmt.Errorf("%s: %w; allow_empty: true allows that", sourceName(t.names), err)
		}
		if t.rows == 0 && t.files.opened > 0 {
			t.in.Logger().Warn(sourceName(t.names) + " has no rows")
		}
	}
	if t.rows < t.h.minRows {
		return fmt.Errorf("%s: %s, want at least %d (min_rows)", sourceName(t.names), table.Count(int(t.rows), "row"), t.h.minRows)
	}
	return nil
}

// extent returns how much of the files was read, or of the wanted rows if that share is
// larger.
func (t *loading) extent() (read, size int64) {
	read, size = t.files.extent(t.reader)
	if r, ok := t.reader.(*table.Reader); ok {
		if ahead := r.Ahead(); ahead > 0 {
			read = int64(float64(read) * float64(t.rows) / float64(t.rows+ahead))
		}
	}
	if limit := t.h.options.Limit; limit > 0 && float64(t.rows)*float64(size) > float64(read)*float64(limit) {
		return t.rows, limit
	}
	return read, size
}

// Close releases the resources of the table.
func (t *loading) Close() {
	t.files.Close()
	t.checks.Discard()
}

func (h *handler) result(in core.Input, t *loading, list []any, p *table.Profile) core.Result {
	if list == nil {
		list = []any{}
	}
	c := t.checks
	out := &value.Object{}
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

// setSource sets the names of the files: a string for one file, a list for several.
func (h *handler) setSource(out *value.Object, key string, names []string) {
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

// sourceOf returns the names that setSource set.
func sourceOf(described *value.Object, key string) ([]string, error) {
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
