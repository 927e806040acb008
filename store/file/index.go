package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/wavefold/wavefold/store"
)

// index has the summaries of the runs, computed from their journals. It does not record which
// process holds a run. The file is a line with the version and a checksum, and a line of JSON. The
// store can always do without it.
type index map[string]entry // by run

type entry struct {
	Stamp   stamp         `json:"stamp"`           // of the journal that was summarized
	Young   bool          `json:"young,omitempty"` // the journal may have been written again with the same stamp
	Summary store.Summary `json:"summary"`
}

func (s *Store) indexFile() string { return filepath.Join(s.dir, "index.json") }

func indexHeader(body []byte) string {
	return fmt.Sprintf("wavefold index 1 %08x\n", crc32.ChecksumIEEE(body))
}

// loadIndex returns an empty index if the file is missing or damaged.
func (s *Store) loadIndex() index {
	data, err := os.ReadFile(s.indexFile())
	if err != nil {
		return index{}
	}
	header, body, _ := bytes.Cut(data, []byte("\n"))
	x := index{}
	if string(header)+"\n" != indexHeader(body) || json.Unmarshal(body, &x) != nil {
		return index{}
	}
	return x
}

// saveIndex replaces the file. Errors are ignored: a store may be read-only, and the next list reads the journals again.
func (s *Store) saveIndex(x index) {
	body, err := json.Marshal(x)
	if err != nil {
		return
	}
	s.replaceHint(s.indexFile(), append([]byte(indexHeader(body)), body...))
}

// replaceHint replaces a file that the store can do without. It does not flush the file, and
// ignores errors.
func (s *Store) replaceHint(name string, data []byte) {
	f, err := os.CreateTemp(s.dir, ".tmp-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) // fails if it was renamed
	_, err = f.Write(data)
	if errors.Join(err, f.Close()) == nil {
		_ = os.Rename(f.Name(), name)
	}
}

// forget makes the next list read the journal of a run again, though it looks unchanged.
func (s *Store) forget(run string) {
	x := s.loadIndex()
	if _, ok := x[run]; ok {
		delete(x, run)
		s.saveIndex(x)
	}
}
