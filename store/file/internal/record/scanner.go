package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/wavefold/wavefold/store"
)

// ErrBad is the error of Scanner.Next for bytes that are not a whole record as it was written: the
// rest of a write that was cut off, or damage. Scanner.Rest tells the two apart.
var ErrBad = errors.New("not a valid record")

// Scanner reads the records of one file in order.
type Scanner struct {
	file   io.ReaderAt
	size   int64
	r      *bufio.Reader
	offset int64 // of the end of the last good record
	last   uint64
	err    error
}

// NewScanner returns a scanner for the first size bytes of a file. What is written after them is not read,
// so a journal can be scanned while it is written.
func NewScanner(file io.ReaderAt, size int64) *Scanner {
	s := &Scanner{file: file, size: size, r: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), int(min(size, 64<<10)))}
	magic := make([]byte, len(Magic))
	n, err := io.ReadFull(s.r, magic)
	switch {
	case string(magic) == Magic:
		s.offset = int64(n)
	case err == io.EOF, (err == nil || err == io.ErrUnexpectedEOF) && len(bytes.Trim(magic, "\x00")) == 0 && s.zeros():
		s.err = io.EOF
	case n == len(Magic) && string(magic[:n-2]) == Magic[:n-2] && magic[n-2] > '1' && magic[n-2] <= '9':
		s.err = &store.FormatError{Format: int(magic[n-2] - '0')}
	default:
		s.err = fmt.Errorf("%w: the file does not begin with %q", ErrBad, Magic)
	}
	return s
}

// Offset returns the offset of the end of the last record that Next returned.
func (s *Scanner) Offset() int64 { return s.offset }

// Next returns the next record. At the end it returns io.EOF; for bytes that are not a valid record, an
// error that wraps ErrBad; for a record of a later version, a *store.FormatError. Every further call
// returns the same error.
func (s *Scanner) Next() (store.Record, error) {
	if s.err != nil {
		return store.Record{}, s.err
	}
	rec, n, err := s.next()
	if err != nil {
		s.err = err
		return store.Record{}, err
	}
	s.offset += n
	s.last = rec.Seq
	return rec, nil
}

func (s *Scanner) next() (store.Record, int64, error) {
	var b [headerSize]byte
	switch n, err := io.ReadFull(s.r, b[:]); {
	case err == io.EOF || n > 0 && b == [headerSize]byte{} && s.zeros():
		return store.Record{}, 0, io.EOF
	case err == io.ErrUnexpectedEOF:
		return store.Record{}, 0, fmt.Errorf("%w: %d bytes of a header", ErrBad, n)
	case err != nil:
		return store.Record{}, 0, err
	}
	h := parseHeader(b[:])
	if rest := s.size - s.offset - headerSize; h.length == 0 || int64(h.length) > rest {
		return h.rec, 0, fmt.Errorf("%w: a length of %d with %d bytes left", ErrBad, h.length, rest)
	}
	payload := make([]byte, h.length)
	if _, err := io.ReadFull(s.r, payload); err != nil {
		return h.rec, 0, err
	}
	if h.sum != checksum(b[:], payload) {
		return h.rec, 0, fmt.Errorf("%w: wrong checksum", ErrBad)
	}
	rec, err := h.open(payload)
	return rec, headerSize + int64(h.length), err
}

func checksum(header, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(header[sumStart:], castagnoli()), castagnoli(), payload)
}

// open returns the record with its payload, whose checksum is right.
func (h header) open(payload []byte) (store.Record, error) {
	rec := h.rec
	if rec.Version > store.Format || h.flags&^knownFlags != 0 {
		return rec, &store.FormatError{Format: max(int(rec.Version), store.Format+1)}
	}
	rec.Data = payload
	if h.flags&flagZstd != 0 {
		data, err := Decompress(payload)
		if err != nil {
			return rec, fmt.Errorf("%w: %w", ErrBad, err)
		}
		rec.Data = data
	}
	return rec, nil
}

// zeros reports whether the rest of the file has zeros only. It is called when the rest would be bad otherwise.
func (s *Scanner) zeros() bool {
	for {
		switch c, err := s.r.ReadByte(); {
		case err != nil:
			return true
		case c != 0:
			return false
		}
	}
}

// Rest is what follows the place where Next returned an error.
type Rest struct {
	First, Last uint64 // the numbers of the first and the last valid record; 0 if there is none
	Bytes       int64  // up to the last byte that is not zero
}

// Rest looks for valid records after the place where Next returned an error. If there is none, only the end
// of the last write is missing.
func (s *Scanner) Rest() (Rest, error) {
	data := make([]byte, s.size-s.offset)
	if _, err := s.file.ReadAt(data, s.offset); err != nil && err != io.EOF {
		return Rest{}, err
	}
	rest := Rest{Bytes: int64(len(bytes.TrimRight(data, "\x00")))}
	// A record takes more bytes than a header, which limits the numbers that are possible: nearly all
	// places are excluded without computing a checksum.
	maxSeq := s.last + uint64(len(data))/headerSize + 1
	for at := 0; len(data)-at > headerSize; {
		n := recordAt(data[at:], s.last, maxSeq)
		if n == 0 {
			at++
			continue
		}
		rest.Last = binary.LittleEndian.Uint64(data[at+16:])
		if rest.First == 0 {
			rest.First = rest.Last
		}
		at += n
	}
	if rest.First != 0 && s.written() {
		rest.First, rest.Last = 0, 0
	}
	return rest, nil
}

// written reports whether the record where Next returned an error is valid when it is read again. Then it was being written
// while it was read, in a file that was allocated in advance.
func (s *Scanner) written() bool {
	again := &Scanner{file: s.file, size: s.size, offset: s.offset}
	if s.offset == 0 {
		again = NewScanner(s.file, s.size)
	} else {
		again.r = bufio.NewReader(io.NewSectionReader(s.file, s.offset, s.size-s.offset))
	}
	_, err := again.Next()
	return err == nil
}

// recordAt returns the size of the valid record at the beginning of b, or 0 if there is none with a
// number above least and up to most.
func recordAt(b []byte, least, most uint64) int {
	if seq := binary.LittleEndian.Uint64(b[16:]); seq <= least || seq > most {
		return 0
	}
	h := parseHeader(b)
	if h.length == 0 || int64(h.length) > int64(len(b)-headerSize) {
		return 0
	}
	n := headerSize + int(h.length)
	if h.sum != checksum(b[:headerSize], b[headerSize:n]) {
		return 0
	}
	return n
}
