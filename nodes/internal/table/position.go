package table

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Members of a position of a Source: where its stream was, how many rows Next has returned
// since then, and the SHA-256 hash of the first of them.
const (
	posAt     = "at"
	posSkip   = "skip"
	posSummed = "summed"
	posSum    = "sum"
	posAbsent = "absent" // the watched columns that no row had
)

// tracking follows which rows of a source were returned, for Source.Position.
//
// A stream can begin only where it knows its position, which is the end of one of its
// batches, so a position is a base and a number of rows to skip after it. If the stream does
// not know its position, the rows are hashed, so that a source which is read again from its
// beginning is found to have changed.
type tracking struct {
	in    core.Input
	name  string        // of the source in messages
	base  *value.Object // the last known position of the stream, nil for its first row
	taken int64         // rows returned since base

	positioned bool      // the stream knew its position when it was last asked
	last       []any     // the rows since base that were read and are not in hash
	hash       hash.Hash // of the first rows since base, nil before the first one
	summed     int64     // number of rows in hash
	scratch    []byte

	// skip is the number of rows since base that an earlier process has consumed; they are
	// skipped before the first row is returned. sum is the hash of the first wanted of them.
	skip, wanted int64
	sum          string
}

// Track makes the source follow its position. It is called before the first row is read and
// after Watch. at
// is nil, or a position that an earlier process obtained from Position: the source then
// continues after the rows before it. The stream of the source was opened at StreamPosition
// of at. name is the name of the source in messages.
func (s *Source) Track(in core.Input, name string, at *value.Object) error {
	t := &tracking{in: in, name: name, base: StreamPosition(at), hash: sha256.New()}
	t.skip, _ = member[int64](at, posSkip)
	t.wanted, _ = member[int64](at, posSummed)
	t.sum, _ = member[string](at, posSum)
	if s.stream != nil {
		p, err := core.PositionOf(s.stream)
		if err != nil {
			return err
		}
		t.positioned = p != nil
	}
	if at != nil {
		absent, _ := member[[]any](at, posAbsent)
		s.wanted.Continue(names(absent))
	}
	s.tracking = t
	return nil
}

func names(list []any) []string {
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// StreamPosition returns the position at which the stream of a source is opened that
// continues at a position of Source.Position. It is nil for the first row.
func StreamPosition(at *value.Object) *value.Object {
	p, _ := member[*value.Object](at, posAt)
	return p
}

func member[T any](o *value.Object, key string) (v T, ok bool) {
	e, _ := o.Get(key)
	v, ok = e.(T)
	return v, ok
}

// Position describes the place after the rows that were returned so far. It is nil unless
// Track was called.
func (s *Source) Position() *value.Object {
	t := s.tracking
	if t == nil {
		return nil
	}
	out := value.NewObject(5)
	if t.base != nil {
		out.Set(posAt, t.base)
	}
	out.Set(posSkip, t.taken)
	if s.stream != nil && !t.positioned && t.taken > 0 {
		t.add(t.taken - t.summed)
		out.Set(posSummed, t.summed)
		out.Set(posSum, hex.EncodeToString(t.hash.Sum(nil)))
	}
	if absent := s.wanted.Absent(); len(absent) > 0 {
		list := make([]any, len(absent))
		for i, name := range absent {
			list[i] = name
		}
		out.Set(posAbsent, list)
	}
	return out
}

// add adds the next n rows to the hash.
func (t *tracking) add(n int64) {
	for _, row := range t.last[:n] {
		// A row that has no JSON form cannot be stored either, so its error does not matter.
		t.scratch, _ = value.AppendJSON(t.scratch[:0], row)
		t.hash.Write(append(t.scratch, '\n'))
	}
	t.last, t.summed = t.last[n:], t.summed+n
}

// advance is called before more rows are read from a stream, when all rows before them have
// been returned.
func (t *tracking) advance(s core.Stream) error {
	if t.skip > 0 || t.taken == 0 { // the base is where it was
		return nil
	}
	p, err := core.PositionOf(s)
	if err != nil {
		return err
	}
	if t.positioned = p != nil; !t.positioned {
		t.add(int64(len(t.last)))
		return nil
	}
	t.base, t.taken, t.last, t.summed = p, 0, nil, 0
	t.hash.Reset()
	return nil
}

// read records rows that were read from the stream.
func (t *tracking) read(rows []any) {
	if t.positioned && t.skip == 0 || len(t.last) == 0 {
		t.last = rows
		return
	}
	t.last = append(t.last[:len(t.last):len(t.last)], rows...)
}

// resume skips the rows that an earlier process has consumed.
func (s *Source) resume(ctx context.Context) error {
	t := s.tracking
	n := t.skip
	for t.taken < n {
		rows, err := s.take(ctx, int(min(n-t.taken, batchRows)))
		if err == io.EOF {
			return t.changed(fmt.Sprintf("it has %s, and %d were read", Count(int(t.taken), "row"), n))
		}
		if err != nil {
			return err
		}
		t.taken += int64(len(rows))
		if s.stream == nil {
			continue
		}
		t.add(max(0, min(t.taken, t.wanted)-t.summed))
		if t.summed == t.wanted && t.sum != "" {
			if hex.EncodeToString(t.hash.Sum(nil)) != t.sum {
				return t.changed(fmt.Sprintf("its first %s are others", Count(int(t.wanted), "row")))
			}
			t.sum = ""
		}
	}
	t.skip = 0
	return nil
}

func (t *tracking) changed(reason string) error {
	return core.FailRun(&core.SourceChangedError{Node: t.in.Node(), Source: t.name, Reason: reason})
}

// Skip reads the remaining rows and drops them, so that the stream has been read to its end.
func (s *Source) Skip(ctx context.Context) error {
	for {
		if _, err := s.Next(ctx); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
