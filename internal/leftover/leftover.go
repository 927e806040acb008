// Package leftover records the temporary files of a stored run in the folder of the run, so that
// files can be removed that were left by a crash. An execution that runs again overwrites its own
// temporary files. Remove deletes all others: the files of executions that do not run again, and of
// runs that are pruned.
//
// Notes are not flushed to the disk. After a power loss, a temporary file may have no note.
package leftover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a temporary file of a run.
type File struct {
	// Path is the absolute path of the file.
	Path string `json:"path"`
	// Key is the idempotency key of the execution that writes the file.
	Key string `json:"key"`
}

// sub is the folder of the notes in the folder of the run.
const sub = "staged"

// Note records that a file is about to be created. name is the name of the note, which is unique
// in the run. The returned function removes the note; it is called once the file has been removed
// or renamed. folder is Durability.Folder. If it is "", Note records nothing.
func Note(folder, name string, f File) (forget func(), err error) {
	if folder == "" {
		return func() {}, nil
	}
	dir := filepath.Join(folder, sub)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	note := filepath.Join(dir, name)
	if err := os.WriteFile(note, text, 0o600); err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(note) }, nil
}

// Files returns the files that have notes in the folder of a run, in no particular order.
// They need not exist. A note that is incomplete, because the process crashed while writing
// it, is ignored: its file was not created yet.
func Files(folder string) ([]File, error) {
	notes, err := list(folder)
	var out []File
	for _, n := range notes {
		out = append(out, n.File)
	}
	return out, err
}

// Remove removes the files that have notes in the folder of a run, and their notes, except the
// files for which keep returns true. keep may be nil. It must not be called while the run is
// active. The error joins the errors of all files that could not be removed.
func Remove(folder string, keep func(File) bool) error {
	notes, err := list(folder)
	for _, n := range notes {
		if keep != nil && keep(n.File) {
			continue
		}
		if e := os.Remove(n.Path); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
			continue
		}
		err = errors.Join(err, os.Remove(n.note))
	}
	return err
}

// note is a File with the path of its note.
type note struct {
	File
	note string
}

func list(folder string) ([]note, error) {
	dir := filepath.Join(folder, sub)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("temporary files: %w", err)
	}
	var out []note
	for _, e := range entries {
		n := note{note: filepath.Join(dir, e.Name())}
		text, err := os.ReadFile(n.note)
		if err != nil {
			return out, fmt.Errorf("temporary files: %w", err)
		}
		if json.Unmarshal(text, &n.File) == nil && filepath.IsAbs(n.Path) {
			out = append(out, n)
		}
	}
	return out, nil
}
