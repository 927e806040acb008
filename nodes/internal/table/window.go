package table

import (
	"bytes"
	"context"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// window keeps the text of the first rows, from which types are inferred.
type window struct {
	chunks   []chunk
	rows     int64
	replayed int64 // rows that were replayed
	bad      int64
	bytes    int
}

// chunk holds the cells of consecutive rows, and the bad rows between them.
type chunk struct {
	text   []byte
	raw    []byte // the raw bytes of rows whose bytes differ from their cells in text
	ends   []int  // ends of the cells of all rows
	kept   []kept
	places []RowPlace
	bad    []BadRow
}

// kept locates the text of a row in its chunk.
type kept struct {
	text int
	raw  int // number of raw bytes of the row in chunk.raw
	in   *layout
	gap  uint8
}

// rest reports whether there are rows to replay.
func (w *window) rest() bool { return len(w.chunks) > 0 }

// chunk returns the chunk to which the next row is added.
func (w *window) chunk() *chunk {
	n := len(w.chunks)
	if n == 0 || len(w.chunks[n-1].places)+len(w.chunks[n-1].bad) >= fileBatchRows || len(w.chunks[n-1].text) >= batchBytes {
		w.chunks = append(w.chunks, chunk{})
		n++
	}
	return &w.chunks[n-1]
}

// fillWindow reads rows until the types can be inferred. It returns the error that ended the
// reading, or nil if there is more to read.
func (c *cells) fillWindow(ctx context.Context) error {
	for i := 0; c.needsRow(); i++ {
		if err := Tick(ctx, i); err != nil {
			return err
		}
		p, reason, err := c.next(ctx)
		if err != nil {
			return err
		}
		if reason == "" {
			reason = c.fits()
		}
		k := c.window.chunk()
		if reason != "" {
			bad := BadRow{RowPlace: p, Reason: reason, Data: c.data()}
			if c.Raw {
				bad.Raw = bytes.Clone(c.scan.raw)
			}
			k.bad = append(k.bad, bad)
			c.window.bad++
			continue
		}
		c.keep(k, p)
	}
	return nil
}

// needsRow reports whether another row is needed to infer the types. If all types are
// declared, only the header is read.
func (c *cells) needsRow() bool {
	w := &c.window
	switch {
	case c.cols == nil:
		return true
	case c.GiveUp >= 0 && w.bad > c.GiveUp, c.Limit > 0 && w.rows >= c.Limit:
		return false
	case c.Cells.Window > 0 && (w.rows >= int64(c.Cells.Window) || w.bytes >= MaxWindow):
		return false
	}
	return slices.ContainsFunc(c.cols, func(k column) bool { return k.infer })
}

// fits returns the reason why a record does not have the declared types, or "". Only
// rows that fit influence the inferred types of the other columns.
func (c *cells) fits() string {
	for j, at := range c.file.from {
		col := &c.cols[j]
		if at == Absent || col.declared == value.AnyType {
			continue
		}
		cell := c.scan.cell(at)
		if len(cell) == 0 || c.null(cell) {
			continue
		}
		col.kind = col.declared
		if _, ok := col.value(cell); !ok {
			return col.mismatch(at, cell, 0)
		}
	}
	for j, at := range c.file.from {
		if at == Absent {
			continue
		}
		if cell := c.scan.cell(at); len(cell) > 0 && !c.null(cell) {
			c.cols[j].look(cell)
		}
	}
	return ""
}

// keep keeps the text of a row.
func (c *cells) keep(k *chunk, p RowPlace) {
	if k.places == nil {
		rows := fileBatchRows
		if c.window.rows == 0 {
			rows = 16 // most tables that are read completely are small
		}
		k.places, k.kept, k.ends = make([]RowPlace, 0, rows), make([]kept, 0, rows), make([]int, 0, rows*len(c.file.names))
	}
	r := &c.scan.record
	row := kept{text: len(k.text), gap: uint8(r.gap), in: c.file}
	if c.Raw && r.gap == 0 { // the record has quotes
		row.raw = len(c.scan.raw)
		k.raw = append(k.raw, c.scan.raw...)
		c.window.bytes += len(c.scan.raw)
	}
	k.kept = append(k.kept, row)
	k.text = append(k.text, r.text...)
	k.ends = append(k.ends, r.ends...)
	k.places = append(k.places, p)
	c.window.rows++
	c.window.bytes += len(r.text)
}

// replay adds the rows of the first chunk to the batch and frees the chunk.
func (c *cells) replay(ctx context.Context, b *batch) error {
	k := c.window.chunks[0]
	c.window.chunks[0] = chunk{}
	c.window.chunks = c.window.chunks[1:]
	at, rest := 0, k.raw // the index of the row's first cell, and the remaining raw bytes
	for i, p := range k.places {
		if err := Tick(ctx, i); err != nil {
			return err
		}
		row := &k.kept[i]
		ends := k.ends[at:][:len(row.in.names)]
		at += len(ends)
		r := record{text: k.text[row.text:], ends: ends, gap: int(row.gap)}
		raw := r.text[:ends[len(ends)-1]]
		if row.raw > 0 {
			raw, rest = rest[:row.raw], rest[row.raw:]
		}
		c.convert(b, p, &r, row.in, raw)
	}
	c.window.replayed += int64(len(k.places))
	b.bad = merge(b.bad, k.bad)
	return nil
}

// merge merges two lists of bad rows by row number.
func merge(a, b []BadRow) []BadRow {
	if len(a) == 0 {
		return b
	}
	out := make([]BadRow, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Row < b[0].Row {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
