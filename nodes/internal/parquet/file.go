package parquet

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	parquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A Parquet file begins and ends with the magic bytes. The footer and its length
// precede the last magic bytes.
const (
	magic    = "PAR1"
	tailSize = 8
)

// readSize is the size of reads between pages, in bytes.
const readSize = 64 << 10

// open reads the footer of a file and checks that everything it refers to is within the
// file.
func open(f File) (*parquet.File, error) {
	if err := look(f); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(f, f.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readSize))
	if err != nil {
		return nil, fmt.Errorf("the footer of the Parquet file is damaged: %w", err)
	}
	sum := int64(0)
	for i, g := range file.Metadata().RowGroups {
		if g.NumRows < 0 {
			return nil, fmt.Errorf("row group %d has %d rows: the footer is damaged", i+1, g.NumRows)
		}
		sum += g.NumRows
		for j := range g.Columns {
			m := &g.Columns[j].MetaData
			from, size := extent(m)
			if from < int64(len(magic)) || size < 0 || size > f.Size-from {
				return nil, fmt.Errorf("row group %d, column %d: %d bytes from %d on are not in the file, which has %d: the footer is damaged", i+1, j+1, size, from, f.Size)
			}
		}
	}
	if sum != file.NumRows() {
		return nil, fmt.Errorf("the row groups have %d rows, the footer says %d: it is damaged", sum, file.NumRows())
	}
	return file, nil
}

// Count returns the number of rows of a file according to its footer.
func Count(f File) (n int64, err error) {
	r := Reader{file: f}
	err = r.guarded("", func() error {
		file, err := open(f)
		if err == nil {
			n = file.NumRows()
		}
		return err
	})
	return n, err
}

// extent returns the place and size of a column's pages in the file.
func extent(m *format.ColumnMetaData) (from, size int64) {
	from = m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		from = m.DictionaryPageOffset
	}
	return from, m.TotalCompressedSize
}

// look returns an error if the file is not a Parquet file or is cut off.
func look(f File) error {
	if f.Size < int64(len(magic)+tailSize) {
		return fmt.Errorf("it has %d bytes and is not a Parquet file", f.Size)
	}
	var head, tail [len(magic)]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return err
	}
	if _, err := f.ReadAt(tail[:], f.Size-int64(len(tail))); err != nil {
		return err
	}
	switch {
	case string(head[:]) == "PARE" || string(tail[:]) == "PARE":
		return errors.New("the Parquet file is encrypted, and encrypted files are not read")
	case string(head[:]) != magic:
		return fmt.Errorf("it is not a Parquet file: it begins with %q, want %q", head, magic)
	case string(tail[:]) != magic:
		return fmt.Errorf("the Parquet file is cut off: it ends with %q, want %q", tail, magic)
	}
	size, err := footerSize(f)
	if err == nil && size > f.Size-int64(len(magic)+tailSize) {
		return fmt.Errorf("the Parquet file is cut off: its footer has %d bytes, the file %d", size, f.Size)
	}
	return err
}

func footerSize(f File) (int64, error) {
	var b [4]byte
	_, err := f.ReadAt(b[:], f.Size-tailSize)
	return int64(binary.LittleEndian.Uint32(b[:])), err
}

// hashFooter hashes the footer, which contains the places and lengths of the columns.
func hashFooter(sum hash.Hash, f File) error {
	size, err := footerSize(f)
	if err != nil {
		return err
	}
	_, err = io.Copy(sum, io.NewSectionReader(f, f.Size-tailSize-size, size+tailSize))
	return err
}

// summed hashes the bytes of a column while they are read. The library reads them in
// order, some of them twice. end reads the bytes that the library skipped.
type summed struct {
	io.ReaderAt
	sum            hash.Hash
	from, at, last int64
}

func newSummed(r io.ReaderAt, from, size int64) *summed {
	return &summed{ReaderAt: r, sum: sha256.New(), from: from, at: from, last: from + size}
}

// ReadAt reads bytes, and adds the bytes that were not hashed yet to the hash.
func (s *summed) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(p, off)
	if fresh := s.at - off; fresh >= 0 && fresh < int64(n) {
		s.sum.Write(p[fresh:min(int64(n), s.last-off)])
		s.at = min(off+int64(n), s.last)
	}
	return n, err
}

// skip hashes the next n bytes.
func (s *summed) skip(n int64) error {
	n, err := io.Copy(s.sum, io.NewSectionReader(s.ReaderAt, s.at, min(n, s.last-s.at)))
	s.at += n
	return err
}

// end returns the hash of all bytes.
func (s *summed) end() ([]byte, error) {
	err := s.skip(s.last - s.at)
	return s.sum.Sum(nil), err
}
