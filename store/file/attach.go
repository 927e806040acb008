package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/store"
)

var _ store.Attacher = (*Store)(nil)

// Attach implements store.Attacher. A run exists once its lease has been acquired.
func (s *Store) Attach(run, name string) (io.WriteCloser, error) {
	var f *os.File
	err := s.inRun(run, func(root *os.Root) (err error) {
		name := attachmentPath(name)
		open := func() {
			f, err = root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		}
		if open(); errors.Is(err, fs.ErrNotExist) {
			if err = root.MkdirAll(path.Dir(name), 0o700); err == nil {
				open()
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Detach implements store.Attacher.
func (s *Store) Detach(run, name string) error {
	return s.inRun(run, func(root *os.Root) error {
		if err := root.Remove(attachmentPath(name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Attached implements store.Attacher.
func (s *Store) Attached(run, name string) (io.ReadCloser, error) {
	var f *os.File
	err := s.inRun(run, func(root *os.Root) (err error) {
		f, err = root.Open(attachmentPath(name))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s of run %s: %w", name, run, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Attachments implements store.Attacher. It does not return names with words that are too long for the
// name of a file.
func (s *Store) Attachments(run, folder string) ([]string, error) {
	var names []string
	err := s.inRun(run, func(root *os.Root) error {
		top := attachmentPath(folder)
		return fs.WalkDir(root.FS(), top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := url.PathUnescape(strings.TrimPrefix(file, top+"/"))
			if err == nil && attachmentPath(folder+"/"+name) == file {
				names = append(names, name)
			}
			return nil
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// inRun calls f with the folder of a run, which must exist.
func (s *Store) inRun(run string, f func(*os.Root) error) error {
	root, err := os.OpenRoot(s.RunDir(run))
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(run)
	}
	if err != nil {
		return err
	}
	return errors.Join(f(root), root.Close())
}

// attachmentPath returns the path of an attachment in the folder of its run.
func attachmentPath(name string) string {
	words := strings.Split(name, "/")
	for i, word := range words {
		words[i] = escape(word)
		if len(words[i]) >= maxName {
			sum := sha256.Sum256([]byte(word))
			words[i] = words[i][:maxName-33] + "-" + hex.EncodeToString(sum[:16])
		}
	}
	return strings.Join(words, "/")
}
