package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Members of a position of a stream.
const (
	posFile = "file" // the name of the file
	posByte = "byte" // where the next row begins, 0 in a Parquet file
	posRead = "read" // number of bytes in the hash, 0 of a Parquet file
	posSize = "size" // of the file in bytes
	posTime = "time" // of the last change of the file, in nanoseconds
	posHash = "hash" // the state of the hash
	posRows = "rows" // the position of the rows, see the method Position of the readers
)

// filePosition is a position of a stream of one file.
type filePosition struct {
	file                   string
	at, read, size, change int64
	hash                   []byte
	rows                   *value.Object
}

var _ core.Positioned = (*stream)(nil)

// Position returns the place of the next row in a file of lines or a Parquet file. It
// returns nil for JSON arrays, compressed files, several files and standard input, and if
// rows were rejected or are counted for checks, whose results need all rows.
func (s *stream) Position() (*value.Object, error) {
	t := s.loading
	if len(t.names) != 1 || s.ahead != nil && s.ahead.rows != nil || !t.checks.Continues() || len(t.wanted.Absent()) > 0 || !t.reads.Complete() {
		return nil, nil
	}
	var rows *value.Object
	var unread int64
	var ok bool
	switch r := t.reader.(type) {
	case *table.Reader:
		rows, unread, ok = r.Position()
	case *parquet.Reader:
		rows, ok = r.Position()
	}
	if !ok {
		return nil, nil
	}
	file, ok := t.files.open.(*os.File)
	if !ok {
		return nil, nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	state, err := t.files.hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	return value.ObjectOf(posFile, t.names[0], posByte, t.files.bytes-unread, posRead, t.files.bytes, posSize, info.Size(), posTime, info.ModTime().UnixNano(),
		posHash, base64.StdEncoding.EncodeToString(state), posRows, rows), nil
}

// parsePosition converts a position that Position has returned.
func parsePosition(p *value.Object) (*filePosition, error) {
	var out filePosition
	for key, to := range map[string]*int64{posByte: &out.at, posRead: &out.read, posSize: &out.size, posTime: &out.change} {
		v, _ := p.Get(key)
		n, ok := v.(int64)
		if !ok {
			return nil, fmt.Errorf("the position of the stream has no %s", key)
		}
		*to = n
	}
	name, _ := p.Get(posFile)
	text, _ := p.Get(posHash)
	rows, _ := p.Get(posRows)
	out.file, _ = name.(string)
	encoded, _ := text.(string)
	out.rows, _ = rows.(*value.Object)
	var err error
	out.hash, err = base64.StdEncoding.DecodeString(encoded)
	return &out, err
}

// resume continues a table at a position.
func (t *loading) resume(ctx context.Context, p *value.Object) error {
	at, err := parsePosition(p)
	if err != nil {
		return core.Permanent(err)
	}
	if len(t.names) != 1 || t.names[0] != at.file {
		return t.changed(at.file, "it reads "+sourceName(t.names))
	}
	switch r := t.reader.(type) {
	case *table.Reader:
		if err = t.unchanged(ctx, at); err == nil {
			t.files.at = at
			err = r.Continue(ctx, at.rows, at.at)
		}
	case *parquet.Reader:
		err = t.resumeParquet(ctx, r, at)
	}
	if err != nil {
		return err
	}
	good, _ := at.rows.Get("good")
	t.rows, _ = good.(int64)
	t.checks.Skip(t.rows)
	return nil
}

// unchanged returns an error if the part of the file that was read has changed. If the file
// has the same size and time, it is not read.
func (t *loading) unchanged(ctx context.Context, at *filePosition) error {
	f, info, err := t.reopen(at)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case at.same(info):
		return nil
	case info.Size() < at.read:
		return t.changed(at.file, fmt.Sprintf("it has %d bytes, and %d were read", info.Size(), at.read))
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(files.Reader(ctx, f), at.read)); err != nil {
		return err
	}
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return err
	}
	if !bytes.Equal(state, at.hash) {
		return t.changed(at.file, fmt.Sprintf("the first %d bytes are others", at.read))
	}
	return nil
}

// resumeParquet continues a Parquet file.
func (t *loading) resumeParquet(ctx context.Context, r *parquet.Reader, at *filePosition) error {
	f, info, err := t.reopen(at)
	if err != nil {
		return err
	}
	f.Close()
	if info.Size() != at.size { // the footer is at the end
		return t.changed(at.file, fmt.Sprintf("it has %d bytes, and had %d", info.Size(), at.size))
	}
	same, err := r.Continue(ctx, at.rows, at.hash, at.same(info))
	if err == nil && !same {
		err = t.changed(at.file, "its footer or the row groups that were read are others")
	}
	return err
}

// reopen opens the file of a position.
func (t *loading) reopen(at *filePosition) (*os.File, fs.FileInfo, error) {
	f, err := t.files.place.Open(at.file)
	if err != nil {
		return nil, nil, fmt.Errorf("the file that the run has begun to read cannot be opened: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
	}
	return f, info, err
}

// same reports whether a file has the recorded size and time.
func (p *filePosition) same(info fs.FileInfo) bool {
	return info.Size() == p.size && info.ModTime().UnixNano() == p.change
}

func (t *loading) changed(file, reason string) error {
	return core.FailRun(&core.SourceChangedError{Node: t.in.Node(), Source: file, Reason: reason})
}

// seek continues the open file at a byte. The hash has the bytes before the position in it,
// and some after it, which are read again.
func (r *reading) seek(f *os.File, offset int64) error {
	if r.at == nil {
		return errors.New("there is no position")
	}
	if err := r.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(r.at.hash); err != nil {
		return err
	}
	_, err := f.Seek(offset, io.SeekStart)
	r.bytes = offset
	return err
}

// afterByte adds the bytes that are read to the hash, except bytes that are already in it.
type afterByte struct{ *reading }

// Write adds bytes that were just read and counted.
func (a afterByte) Write(p []byte) (int, error) {
	from := 0
	if a.at != nil && a.done == 0 {
		from = int(min(int64(len(p)), max(0, a.at.read-(a.bytes-int64(len(p))))))
	}
	_, err := a.hash.Write(p[from:])
	return len(p), err
}
