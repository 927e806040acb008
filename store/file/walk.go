package file

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file/internal/record"
)

const journalName = "journal"

// part is one file of a journal, open for reading.
type part struct {
	name  string
	token uint32 // of the lease under which it was begun; 0 for the first one
	file  *os.File
	size  int64
	limit uint64 // the number from which records are replaced by records of a later part
}

func (p *part) scanner() *record.Scanner { return record.NewScanner(p.file, p.size) }

// tail is the end of a journal.
type tail struct {
	part   string // the name of its last file; "" if there is none
	offset int64  // of the end of the last record in that file
	torn   int64  // the number of bytes after it that are not a record, without the zeros at the end
	zeros  int64  // the number of zeros at the ends of its files
	last   uint64 // the number of the last record of the journal; 0 if there is none
	token  uint32 // the largest token of a record
}

// numbered returns the number in a name such as journal-3 or lease-3.
func numbered(name, prefix string) (uint32, bool) {
	digits, ok := strings.CutPrefix(name, prefix+"-")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), err == nil && n > 0
}

// partToken returns the token of the lease under which a file of a journal was begun, 0 for the first file.
func partToken(name string) uint32 {
	token, _ := numbered(name, journalName)
	return token
}

// isJournal reports whether a file of a run is part of its journal.
func isJournal(e fs.DirEntry) bool {
	_, ok := numbered(e.Name(), journalName)
	return ok || e.Name() == journalName
}

// openParts opens the files of a journal, in order. It returns none if the run has no journal.
func openParts(dir string) (parts []*part, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !isJournal(e) {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			closeParts(parts)
			return nil, err
		}
		p := &part{name: e.Name(), token: partToken(e.Name()), file: f, limit: math.MaxUint64}
		parts = append(parts, p)
		info, err := f.Stat()
		if err != nil {
			closeParts(parts)
			return nil, err
		}
		p.size = info.Size()
	}
	slices.SortFunc(parts, func(a, b *part) int { return cmp.Compare(a.token, b.token) })
	for i := len(parts) - 1; i > 0; i-- {
		first := uint64(math.MaxUint64)
		if rec, err := parts[i].scanner().Next(); err == nil {
			first = rec.Seq
		}
		parts[i-1].limit = min(parts[i].limit, first)
	}
	return parts, nil
}

func closeParts(parts []*part) {
	for _, p := range parts {
		p.file.Close()
	}
}

// walk calls visit with the records of a journal in order, until it returns false. It returns a
// *store.DamageError for a record that is missing or has changed.
func walk(run, dir string, visit func(store.Record) bool) (end tail, err error) {
	parts, err := openParts(dir)
	defer closeParts(parts)
	for _, p := range parts {
		if err == nil {
			err = p.walk(&end, visit)
		}
	}
	var damage *store.DamageError
	if errors.As(err, &damage) {
		damage.Run, damage.File = run, filepath.Join(dir, damage.File)
	}
	if errors.Is(err, errStopped) {
		err = nil
	}
	return end, err
}

// errStopped ends a walk whose visitor needs no more records.
var errStopped = errors.New("stopped")

func (p *part) walk(end *tail, visit func(store.Record) bool) error {
	sc := p.scanner()
	end.part, end.torn = p.name, 0
	for {
		at := sc.Offset()
		rec, err := sc.Next()
		switch {
		case errors.Is(err, io.EOF):
			end.offset = at
			end.zeros += p.size - at
			return nil
		case errors.Is(err, record.ErrBad):
			end.offset = at
			return p.damage(sc, end, err)
		case err != nil:
			return err
		case rec.Seq >= p.limit:
			return nil // the rest was written by a holder that had lost its lease
		case rec.Token < end.token:
			continue // so was this record
		case rec.Seq != end.last+1:
			return &store.DamageError{File: p.name, Offset: at, Record: end.last + 1, Of: rec.Seq, Err: errors.New("the record is missing")}
		}
		end.last, end.token = rec.Seq, rec.Token
		if !visit(rec) {
			return errStopped
		}
	}
}

// damage returns the error for a bad record after the end. It returns nil if the bytes are the rest of an
// incomplete write, which no valid record follows.
func (p *part) damage(sc *record.Scanner, end *tail, bad error) error {
	rest, err := sc.Rest()
	if err != nil {
		return err
	}
	end.torn = rest.Bytes
	end.zeros += p.size - end.offset - rest.Bytes
	if rest.First == 0 || rest.First >= p.limit {
		return nil
	}
	return &store.DamageError{File: p.name, Offset: sc.Offset(), Record: end.last + 1, Of: rest.Last, Err: bad}
}
