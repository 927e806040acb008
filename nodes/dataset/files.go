package dataset

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// resolve returns the files that match at this time, without duplicates. The files of a
// pattern or folder are sorted. If it returns an error, it also returns the files that were
// found.
func (h *handler) resolve(ctx context.Context, s core.Shared) ([]string, error) {
	place := h.place(s)
	var out []string
	for _, n := range h.names {
		name, err := n.Text(s)
		if err != nil {
			return out, fmt.Errorf("source: %w", err)
		}
		found, err := h.find(ctx, place, name)
		if err != nil {
			return out, err
		}
		for _, f := range found {
			if f = shortName(place, f); !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// find returns the files of a name, pattern or folder.
func (h *handler) find(ctx context.Context, place files.Place, name string) (found []string, err error) {
	switch {
	case files.IsPattern(name):
		if found, err = place.Glob(ctx, name); err == nil && len(found) == 0 && !h.optional {
			err = fmt.Errorf("no file matches %q: %w", name, fs.ErrNotExist)
		}
	case isFolder(name):
		if h.format == "" {
			return nil, core.Permanent(fmt.Errorf("%s is a folder; add the key format", name))
		}
		found, err = place.Folder(name, hasFormat(h.format))
		switch absent := errors.Is(err, fs.ErrNotExist); {
		case absent && h.optional:
			return nil, nil
		case absent:
			err = fmt.Errorf("there is no folder %q: %w", name, err)
		case err == nil && len(found) == 0 && !h.optional:
			err = fmt.Errorf("no %s file is in the folder %q: %w", h.format, name, fs.ErrNotExist)
		}
	default:
		found = []string{name}
	}
	return found, err
}

// isFolder reports whether a name means the files of a folder.
func isFolder(name string) bool { return strings.HasSuffix(name, "/") }

// hasFormat returns a function that reports whether a name has an ending of the format.
func hasFormat(format table.Format) func(name string) bool {
	return func(name string) bool { return formatOf(name) == format }
}

// shortName returns the name of a file in messages and in a file_column.
func shortName(place files.Place, name string) string {
	if name == standardInput {
		return name
	}
	if short := place.Name(name); short != standardInput {
		return short
	}
	return name
}

// reading is the table.FileSource of a node's files. It records what was read.
type reading struct {
	h     *handler
	in    core.Input
	place files.Place
	names []string
	next  int
	// opened is the number of files that existed.
	opened int
	open   io.Closer
	stop   func() bool // undoes the effect of the context on reading the open file
	hash   hash.Hash
	ended  bool // all files were read to the end

	size  int64         // of all files in bytes, 0 if not known
	done  int64         // bytes of the files that were read to the end
	bytes int64         // bytes read of the open file
	of    int64         // size of the open file
	at    *filePosition // at which the first file continues, nil for its beginning
}

// measure determines the size of the files, unless one of them has no size, such as
// standard input.
func (r *reading) measure() {
	size := int64(0)
	for _, name := range r.names {
		if name == standardInput {
			return
		}
		info, err := r.place.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return // opening the file reports the error
		}
		size += info.Size()
	}
	r.size = size
}

// extent returns how many bytes of the files were read, and their size. For a Parquet file,
// whose columns are read in several places, read is the share of its rows.
func (r *reading) extent(rows reader) (read, size int64) {
	if r.size == 0 || r.ended {
		return r.size, r.size
	}
	if p, ok := rows.(*parquet.Reader); ok {
		if row, total := p.Progress(); total > 0 {
			return r.done + int64(float64(r.of)*float64(row)/float64(total)), r.size
		}
	}
	return min(r.done+r.bytes, r.size), r.size
}

// counted counts the bytes that are read from the open file.
type counted struct {
	io.Reader
	n *int64
}

// Read reads and counts bytes.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}

var _ table.FileSource = (*reading)(nil)

// Next opens the next file.
func (r *reading) Next(ctx context.Context) (table.File, error) {
	name, f, err := r.openNext()
	if err != nil {
		return table.File{}, err
	}
	in := files.Reader(ctx, counted{f, &r.bytes})
	r.stop = endWith(ctx, f)
	if r.hash != nil {
		in = io.TeeReader(in, afterByte{r})
	}
	out := table.File{Name: displayName(name)}
	if r.h.compression == "gzip" || r.h.compression == "" && gzipped(name) {
		in = files.Gunzip(in, r.h.ratio)
	} else if file, ok := f.(*os.File); ok && name != standardInput {
		out.Seek = func(offset int64) error { return r.seek(file, offset) }
	}
	out.Reader = in
	return out, nil
}

// endWith makes the end of the context end the reading of a pipe or terminal, which may
// block for any time. Other files are read until files.Reader checks the context.
func endWith(ctx context.Context, f io.Reader) (stop func() bool) {
	d, ok := f.(interface{ SetReadDeadline(time.Time) error })
	if !ok || d.SetReadDeadline(time.Time{}) != nil {
		return nil
	}
	return context.AfterFunc(ctx, func() { _ = d.SetReadDeadline(time.Unix(1, 0)) })
}

// openNext closes the open file and opens the next one that exists.
func (r *reading) openNext() (string, io.Reader, error) {
	r.Close()
	for ; r.next < len(r.names); r.next++ {
		name := r.names[r.next]
		f, err := r.file(name)
		if errors.Is(err, fs.ErrNotExist) && r.h.optional {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		r.next++
		r.opened++
		r.open = f
		r.begin(f)
		return name, f, nil
	}
	r.ended = true
	return "", nil, io.EOF
}

// begin resets the counters for the next file.
func (r *reading) begin(f io.Reader) {
	r.done, r.bytes, r.of = r.done+r.of, 0, 0
	if file, ok := f.(*os.File); ok && r.size > 0 {
		if info, err := file.Stat(); err == nil {
			r.of = info.Size()
		}
	}
}

// parquetFiles provides the same files for random access.
type parquetFiles struct{ *reading }

// Next opens the next file.
func (p parquetFiles) Next(context.Context) (parquet.File, error) {
	name, f, err := p.openNext()
	if err != nil {
		return parquet.File{}, err
	}
	file, ok := f.(*os.File)
	if !ok {
		return parquet.File{}, core.Permanent(fmt.Errorf("%s is not a file", name))
	}
	info, err := file.Stat()
	if err != nil {
		return parquet.File{}, err
	}
	return parquet.File{Name: name, Size: info.Size(), ReaderAt: file}, nil
}

func (r *reading) file(name string) (io.ReadCloser, error) {
	if name == standardInput {
		return r.h.stdin.open(r.in)
	}
	f, err := r.place.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %q: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func gzipped(name string) bool {
	_, ok := table.Gzipped(name)
	return ok
}

// displayName returns the name of a file in messages.
func displayName(name string) string {
	if name == standardInput {
		return "standard input"
	}
	return name
}

// Close closes the file that is open.
func (r *reading) Close() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
	if r.open != nil {
		r.open.Close()
		r.open = nil
	}
}

// sum returns the hash of the concatenated bytes of all files, or "" if they were not read
// to the end.
func (r *reading) sum() string {
	if r.hash == nil || !r.ended {
		return ""
	}
	return "sha256:" + hex.EncodeToString(r.hash.Sum(nil))
}
