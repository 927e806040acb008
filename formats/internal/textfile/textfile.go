// Package textfile reads the text files that documents refer to, and describes what is
// wrong with them.
package textfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
)

// MaxBytes limits the size of a file.
const MaxBytes = 10 << 20

// Read reads a text file in UTF-8. Its errors do not contain the path, which the caller
// adds. They include fs.ErrNotExist.
func Read(files fs.FS, name string) (string, error) {
	info, err := fs.Stat(files, name)
	switch {
	case err != nil:
		return "", readError(err)
	case !info.Mode().IsRegular():
		return "", errors.New("this is not a file")
	case info.Size() > MaxBytes:
		return "", fmt.Errorf("the file has %d bytes, at most %d are read", info.Size(), MaxBytes)
	}
	f, err := files.Open(name)
	if err != nil {
		return "", readError(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes))
	switch {
	case err != nil:
		return "", readError(err)
	case !utf8.Valid(data):
		return "", errors.New("the file is not UTF-8 text")
	}
	return string(data), nil
}

// InvalidUTF8 returns the offset of the first byte that is not valid UTF-8, or -1 if
// there is none.
func InvalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
}

// readError formats an error without its path.
func readError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("the file cannot be read: %w", err)
}

// Near returns a hint with a similar file name in the same folder, or "" if there is
// none.
func Near(files fs.FS, name string) string {
	entries, _ := fs.ReadDir(files, path.Dir(name)) // if the folder does not exist, there is no hint
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return source.DidYouMean(path.Base(name), names)
}
