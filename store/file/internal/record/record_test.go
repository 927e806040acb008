package record

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/store"
)

func batch(seq uint64, data string) store.Record {
	return store.Record{Seq: seq, Token: 7, Type: store.Batch, Version: 1, Data: []byte(data)}
}

// journal returns a file with n records, and the offset of each of them.
func journal(n int) (file []byte, at []int) {
	file = []byte(Magic)
	for i := range n {
		at = append(at, len(file))
		file = Append(file, batch(uint64(i+1), fmt.Sprintf(`{"n":%d}`, i+1)))
	}
	return file, at
}

// scan returns the numbers of the records of a file, and how it ended.
func scan(file []byte) (seqs []uint64, s *Scanner, err error) {
	s = NewScanner(bytes.NewReader(file), int64(len(file)))
	for {
		rec, err := s.Next()
		if err != nil {
			return seqs, s, err
		}
		seqs = append(seqs, rec.Seq)
	}
}

// The form of a record on disk must not change: journals of earlier versions are read.
func TestFormIsFixed(t *testing.T) {
	rec := store.Record{Seq: 3, Token: 2, Type: store.Mark, Data: []byte(`{"kind":"paused"}`)}
	const want = "11000000" + "927914f7" + "01" + "04" + "0000" + "02000000" + "0300000000000000" + "7b226b696e64223a22706175736564227d"
	if got := hex.EncodeToString(Append(nil, rec)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, size := range []int{1, 100, compressFrom - 1, compressFrom, 100_000} {
		same, random := []byte(strings.Repeat("a", size)), make([]byte, size)
		for i := range random {
			random[i] = byte(rand.Uint32())
		}
		for name, data := range map[string][]byte{"same": same, "random": random} {
			rec := batch(1, string(data))
			form := Append([]byte(Magic), rec)
			if saved := len(form) < len(Magic)+headerSize+size; saved != (name == "same" && size >= compressFrom) {
				t.Errorf("%s, %d bytes: the form has %d", name, size, len(form))
			}
			s := NewScanner(bytes.NewReader(form), int64(len(form)))
			got, err := s.Next()
			if err != nil || fmt.Sprint(got) != fmt.Sprint(rec) {
				t.Errorf("%s, %d bytes: read %+v, %v", name, size, got, err)
			}
			if _, err := s.Next(); err != io.EOF || s.Offset() != int64(len(form)) {
				t.Errorf("%s, %d bytes: then %v at %d", name, size, err, s.Offset())
			}
		}
	}
}

// A file that was cut anywhere has the records before the cut, and none after it.
func TestEveryCut(t *testing.T) {
	file, at := journal(4)
	for n := range len(file) {
		whole := 0
		for whole < len(at) && (whole+1 < len(at) && at[whole+1] <= n) {
			whole++
		}
		seqs, s, err := scan(file[:n])
		rest, restErr := s.Rest()
		if torn := n - int(s.Offset()); len(seqs) != whole || rest.First != 0 || rest.Last != 0 || rest.Bytes > int64(torn) || restErr != nil {
			t.Errorf("cut at %d: %d records, then %+v, %v", n, len(seqs), rest, restErr)
		}
		if clean := n == 0 || n == len(Magic) || whole > 0 && n == at[whole]; clean != (err == io.EOF) || !clean && !errors.Is(err, ErrBad) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// Any change of a byte is found. Before the last record it is damage, because valid records follow.
func TestEveryFlip(t *testing.T) {
	file, at := journal(4)
	for i := range file {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(file)
			bad[i] ^= bit
			seqs, s, err := scan(bad)
			if i == len(Magic)-2 && errors.As(err, new(*store.FormatError)) {
				continue // the digit of a later version
			}
			rest, _ := s.Rest()
			if !errors.Is(err, ErrBad) || len(seqs) == len(at) {
				t.Errorf("byte %d: %d records, %v", i, len(seqs), err)
			}
			if damaged := i < at[3]; damaged && rest.Last != 4 || !damaged && rest.First != 0 {
				t.Errorf("byte %d: after it follow %+v", i, rest)
			}
		}
	}
}

func TestZeros(t *testing.T) {
	file, _ := journal(2)
	for _, n := range []int{1, headerSize - 1, headerSize, 1000, 200_000} {
		end := append(bytes.Clone(file), make([]byte, n)...)
		if seqs, s, err := scan(end); len(seqs) != 2 || err != io.EOF || s.Offset() != int64(len(file)) {
			t.Errorf("%d zeros: %d records, %v at %d", n, len(seqs), err, s.Offset())
		}
		if seqs, s, err := scan(Append(end, batch(3, "{}"))); len(seqs) != 2 || !errors.Is(err, ErrBad) {
			t.Errorf("%d zeros before a record: %d records, %v", n, len(seqs), err)
		} else if rest, _ := s.Rest(); rest.First != 3 || rest.Last != 3 {
			t.Errorf("%d zeros before a record: then %+v", n, rest)
		}
	}
}

// TestFileOfZeros: a file that was allocated and not written has no records.
func TestFileOfZeros(t *testing.T) {
	for _, n := range []int{1, len(Magic), 1000} {
		if _, s, err := scan(make([]byte, n)); err != io.EOF || s.Offset() != 0 {
			t.Errorf("%d zeros: %v at %d", n, err, s.Offset())
		}
	}
}

// written is a file that another process writes while it is read: the first reads find it as it was before.
type written struct {
	before, now []byte
	reads       int // that find what was before
}

func (w *written) ReadAt(p []byte, off int64) (int, error) {
	file := w.now
	if w.reads > 0 {
		file = w.before
	}
	w.reads--
	return bytes.NewReader(file).ReadAt(p, off)
}

// TestReadWhileWritten: a record that was not there yet when it was read is not damage, though records after it are.
func TestReadWhileWritten(t *testing.T) {
	file, at := journal(4)
	for known := range at[1:] {
		for n := range len(file) {
			for reads := 1; reads < 3; reads++ { // of the scanner, and of Rest
				before := make([]byte, 2*len(file))
				copy(before, file[:n])
				if reads == 2 {
					copy(before[at[known+1]:], file[at[known+1]:]) // as if Rest had read the later part later
				}
				w := &written{before, append(bytes.Clone(file), make([]byte, len(file))...), reads}
				s := NewScanner(w, int64(len(before)))
				err := error(nil)
				for err == nil {
					_, err = s.Next()
				}
				if rest, rerr := s.Rest(); rest.First != 0 || rerr != nil {
					t.Fatalf("%d bytes, %d reads: %v, then %+v, %v", n, reads, err, rest, rerr)
				}
			}
		}
	}
}

func TestLaterVersions(t *testing.T) {
	newer := batch(1, "{}")
	newer.Version = 2
	for name, file := range map[string][]byte{
		"file":   []byte("WAVEFOLD JRNL 2\nanything"),
		"record": Append([]byte(Magic), newer),
	} {
		var format *store.FormatError
		if _, _, err := scan(file); !errors.As(err, &format) || format.Format != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzScanner(f *testing.F) {
	file, at := journal(3)
	f.Add(file)
	f.Add(file[:at[2]+5])
	f.Add(append(file, make([]byte, 100)...))
	f.Add(Append([]byte(Magic), batch(1, strings.Repeat("x", compressFrom))))
	f.Add([]byte(Magic))
	f.Fuzz(func(t *testing.T, file []byte) {
		s := NewScanner(bytes.NewReader(file), int64(len(file)))
		var good []byte
		for {
			rec, err := s.Next()
			if err != nil {
				if _, again := s.Next(); again != err {
					t.Errorf("%v, then %v", err, again)
				}
				break
			}
			good = Append(good, rec)
		}
		if s.Offset() > int64(len(file)) {
			t.Fatalf("offset %d of %d bytes", s.Offset(), len(file))
		}
		if rest, err := s.Rest(); err != nil || rest.First > rest.Last || rest.Bytes > int64(len(file)) {
			t.Errorf("the rest is %+v, %v", rest, err)
		}
		// What was read can be written and read again.
		again := append([]byte(Magic), good...)
		if _, s2, err := scan(again); err != io.EOF || s2.last != s.last {
			t.Errorf("again: %v, last %d of %d", err, s2.last, s.last)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	rec := batch(1, strings.Repeat("x", 176))
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], rec)
	}
}
