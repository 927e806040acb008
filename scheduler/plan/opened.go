package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"

	"github.com/wavefold/wavefold/core/value"
)

// opened is the folder of a workflow as a kind sees it while it compiles a node. It records the
// contents of the files that are read, because they are part of what the node does. The kind's
// handler may continue to use the folder later; its reads are not recorded.
type opened struct {
	fs.FS
	sums *value.Object // nil once the node is compiled
	read func(data []byte)
}

func (f *opened) note(name string, data []byte) {
	sum := sha256.Sum256(data)
	f.sums.Set(name, hex.EncodeToString(sum[:]))
	f.read(data)
}

// Open opens a file.
func (f *opened) Open(name string) (fs.File, error) {
	if f.sums != nil {
		if info, err := fs.Stat(f.FS, name); err == nil && info.Mode().IsRegular() {
			if data, err := fs.ReadFile(f.FS, name); err == nil {
				f.note(name, data)
			}
		}
	}
	return f.FS.Open(name)
}

// ReadFile reads a file.
func (f *opened) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(f.FS, name)
	if err == nil && f.sums != nil {
		f.note(name, data)
	}
	return data, err
}

// Stat describes a file. It records nothing, because the existence of a file does not determine
// what the node does.
func (f *opened) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// ReadDir lists a folder.
func (f *opened) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }
