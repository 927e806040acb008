package program

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
)

// book is the file with the notes of the programs that this process runs for one folder. It has a line of noteSize bytes for
// each; a line of a program that has ended is blank, and used again. The file is there while programs run.
type book struct {
	folder string
	users  int // guarded by books

	mu   sync.Mutex         // guards all below
	file *os.File           // nil if it could not be made
	free []int64            // offsets of blank lines
	size int64              // of the file
	left map[string]oldNote // the notes that other engines have left, by mark
}

// oldNote is a note of another process, which has ended in most cases.
type oldNote struct {
	noted
	file string
	at   int64
}

// noteSize is more than a note needs.
const noteSize = 320

var blank = append(bytes.Repeat([]byte{' '}, noteSize-1), '\n')

// books has the open books of the process: programs of different nodes share the book of their run.
var books = struct {
	sync.Mutex
	open map[string]*book // by folder
}{open: map[string]*book{}}

// openBook returns the book of a folder. The caller closes it.
func openBook(folder string) *book {
	books.Lock()
	defer books.Unlock()
	b := books.open[folder]
	if b == nil {
		b = &book{folder: folder, left: leftNotes(folder)}
		books.open[folder] = b
	}
	b.users++
	return b
}

// close removes the file when the last program has ended.
func (b *book) close() {
	books.Lock()
	defer books.Unlock()
	if b.users--; b.users > 0 {
		return
	}
	delete(books.open, b.folder)
	if b.file != nil {
		b.file.Close()
		_ = os.Remove(b.file.Name())
	}
}

// leftNotes reads the notes of other processes.
func leftNotes(folder string) map[string]oldNote {
	left := map[string]oldNote{}
	names, _ := filepath.Glob(filepath.Join(folder, "*.notes")) // fails only for a bad pattern
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for at := int64(0); len(data) > 0; at += noteSize {
			line := data[:min(noteSize, len(data))]
			data = data[len(line):]
			var n noted
			if json.Unmarshal(line, &n) == nil && n.Child.PID > 1 {
				left[n.Mark] = oldNote{n, name, at}
			}
		}
	}
	return left
}

func (b *book) leftover(mark string) (noted, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, ok := b.left[mark]
	return old.noted, ok
}

// forget removes a note that another engine has left, and its file after the last of them.
func (b *book) forget(mark string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, ok := b.left[mark]
	if !ok {
		return
	}
	delete(b.left, mark)
	for _, other := range b.left {
		if other.file != old.file {
			continue
		}
		if f, err := os.OpenFile(old.file, os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteAt(blank, old.at)
			f.Close()
		}
		return
	}
	_ = os.Remove(old.file)
}

// write writes a note. The returned function removes it.
func (b *book) write(n noted) (remove func()) {
	text, err := json.Marshal(n)
	if err != nil || len(text) >= noteSize {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil && b.make() != nil {
		return func() {}
	}
	at := b.size
	if last := len(b.free) - 1; last >= 0 {
		at, b.free = b.free[last], b.free[:last]
	} else {
		b.size += noteSize
	}
	line := append(text, blank[len(text):]...)
	_, _ = b.file.WriteAt(line, at)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, _ = b.file.WriteAt(blank, at)
		b.free = append(b.free, at)
	}
}

// make makes the file.
func (b *book) make() (err error) {
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return err
	}
	b.file, err = os.CreateTemp(b.folder, "*.notes") // with mode 0600
	return err
}
