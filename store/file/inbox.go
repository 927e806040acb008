package file

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"crypto/sha256"

	"github.com/wavefold/wavefold/store"
)

// watchEvery is the interval at which Watch reads an inbox.
const watchEvery = 500 * time.Millisecond

func (s *Store) inboxDir(run string) string { return filepath.Join(s.RunDir(run), "inbox") }

// messageFile returns the name of the file of a message. A name that is too long for a file is
// shortened; the file has the whole name.
func messageFile(name string) string {
	file := escape(name)
	if len(file) > maxName {
		sum := sha256.Sum256([]byte(name))
		file = file[:maxName/2] + "-" + hex.EncodeToString(sum[:])
	}
	return file
}

// mustExist returns an error that is ErrNotFound if the run has no journal.
func (s *Store) mustExist(run string) error {
	parts, err := openParts(s.RunDir(run))
	closeParts(parts)
	if err == nil && len(parts) == 0 {
		err = notFound(run)
	}
	return err
}

// Post implements store.Store.
func (s *Store) Post(_ context.Context, run string, m store.Message) error {
	if err := cmp.Or(store.CheckMessage(m), s.mustExist(run)); err != nil {
		return err
	}
	dir := s.inboxDir(run)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	m.Posted = s.now().Round(0)
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, messageFile(m.Name))
	err = writeFile(name, data, func(temporary string) error { return os.Link(temporary, name) })
	if errors.Is(err, fs.ErrExist) {
		first, err := readMessage(name)
		if err != nil {
			return err
		}
		return &store.TakenError{First: first}
	}
	return errors.Join(err, syncDir(s.RunDir(run)))
}

func readMessage(name string) (m store.Message, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("message %s: %w", name, err)
	}
	return m, nil
}

// Inbox implements store.Store.
func (s *Store) Inbox(_ context.Context, run string) ([]store.Message, error) {
	if err := s.mustExist(run); err != nil {
		return nil, err
	}
	return s.unseen(run, nil)
}

// unseen returns the messages whose files are not in seen.
func (s *Store) unseen(run string, seen map[string]bool) (list []store.Message, err error) {
	entries, err := os.ReadDir(s.inboxDir(run))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || seen[e.Name()] {
			continue
		}
		m, err := readMessage(filepath.Join(s.inboxDir(run), e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	store.SortMessages(list)
	return list, nil
}

// Watch implements store.Store. It reads the inbox twice a second.
func (s *Store) Watch(ctx context.Context, run string) iter.Seq2[store.Message, error] {
	return func(yield func(store.Message, error) bool) {
		if err := s.mustExist(run); err != nil {
			yield(store.Message{}, err)
			return
		}
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for seen := map[string]bool{}; ; {
			list, err := s.unseen(run, seen)
			if err != nil {
				yield(store.Message{}, err)
				return
			}
			for _, m := range list {
				seen[messageFile(m.Name)] = true
				if !yield(m, nil) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}
