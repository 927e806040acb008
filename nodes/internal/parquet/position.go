package parquet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/wavefold/wavefold/core/value"
)

// Members of a position of a Reader. readGood is the same in the positions of package table.
const (
	readGroup = "group" // number of the row group, from 1
	readAt    = "at"    // number of its rows that were read
	readRow   = "row"   // number of rows so far, bad ones included
	readGood  = "good"  // number of good rows
	readBytes = "bytes" // number of bytes of each leaf of the group that were read
	readSum   = "sum"   // the SHA-256 hash of their hashes
)

// Position describes the place after the rows that Next has returned, in a table of one
// file. ok is false before the first row and after the last row group.
func (r *Reader) Position() (p *value.Object, ok bool) {
	if r.err != nil || r.open == nil || r.group == 0 {
		return nil, false
	}
	rows := r.open.Metadata().RowGroups[r.group-1].NumRows
	p = value.ObjectOf(readGroup, int64(r.group), readAt, rows-r.left, readRow, r.row, readGood, r.good)
	if r.hash != nil {
		var read []any
		sums := sha256.New()
		for l := range r.leaves() {
			read = append(read, l.summed.at-l.summed.from)
			sums.Write(l.summed.sum.Sum(nil))
		}
		p.Set(readBytes, read)
		p.Set(readSum, hex.EncodeToString(sums.Sum(nil)))
	}
	return p, true
}

// leaves yields the leaves of all columns.
func (r *Reader) leaves() iter.Seq[*leaf] {
	return func(yield func(*leaf) bool) {
		for _, c := range r.cols {
			for _, l := range c.leaves {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// Continue opens the file and continues at a position, where the hash of the Reader, which
// is needed here, had the given state. If trusted is false, what was read before the
// position is read again and compared; same is false if it has changed. Continue is called
// before the first row is read.
func (r *Reader) Continue(ctx context.Context, p *value.Object, state []byte, trusted bool) (same bool, err error) {
	group, at := member(p, readGroup), member(p, readAt)
	if err := r.next(ctx); err != nil {
		return false, err
	}
	if group < 1 || group > int64(len(r.groups)) || at > r.groups[group-1].NumRows() {
		return false, nil
	}
	for int64(r.group) < group-1 {
		if err := r.skipGroup(!trusted); err != nil {
			return false, err
		}
	}
	if trusted {
		err = r.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
	} else if same, err = r.unchanged(p, state); err == nil && !same {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := r.startGroup(); err != nil {
		return false, err
	}
	r.row, r.good = member(p, readRow), member(p, readGood)
	return true, r.seek(at)
}

// unchanged reads what an earlier Reader had read of the next row group, and reports
// whether the row groups before it, which are in the hash, and that part are the same.
func (r *Reader) unchanged(p *value.Object, state []byte) (bool, error) {
	have, err := r.hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil || !bytes.Equal(have, state) {
		return false, err
	}
	read, _ := p.Get(readBytes)
	list, _ := read.([]any)
	meta := &r.open.Metadata().RowGroups[r.group]
	sums := sha256.New()
	for l := range r.leaves() {
		if len(list) == 0 {
			return false, nil
		}
		n, _ := list[0].(int64)
		list = list[1:]
		from, size := extent(&meta.Columns[l.index].MetaData)
		part := newSummed(r.file, from, size)
		if err := part.skip(n); err != nil {
			return false, r.at(err)
		}
		sums.Write(part.sum.Sum(nil))
	}
	want, _ := p.Get(readSum)
	return want == hex.EncodeToString(sums.Sum(nil)), nil
}

func member(p *value.Object, key string) int64 {
	v, _ := p.Get(key)
	n, _ := v.(int64)
	return n
}

// skipGroup passes over the next row group, and reads its bytes if they are to be hashed.
func (r *Reader) skipGroup(hashed bool) error {
	r.groups, r.group = r.groups[1:], r.group+1
	if !hashed {
		return nil
	}
	meta := &r.open.Metadata().RowGroups[r.group-1]
	for l := range r.leaves() {
		from, size := extent(&meta.Columns[l.index].MetaData)
		sum, err := newSummed(r.file, from, size).end()
		if err != nil {
			return r.at(fmt.Errorf("row group %d: %w", r.group, err))
		}
		r.hash.Write(sum)
	}
	return nil
}

// seek continues after some rows of the row group. The hash of the group is complete all the
// same, see summed.
func (r *Reader) seek(rows int64) error {
	r.left -= rows
	if rows == 0 || r.left == 0 {
		return nil
	}
	for l := range r.leaves() {
		if err := r.guarded("", func() error { return l.pages.SeekToRow(rows) }); err != nil {
			return err
		}
	}
	return nil
}
