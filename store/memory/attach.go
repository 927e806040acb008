package memory

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/store"
)

var _ store.Attacher = (*Store)(nil)

// attachment is a file of a run.
type attachment struct {
	store *Store
	data  []byte // guarded by the lock of the store
}

// Write appends to the file.
func (a *attachment) Write(p []byte) (int, error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	a.data = append(a.data, p...)
	return len(p), nil
}

// Close does nothing.
func (a *attachment) Close() error { return nil }

// Attach implements store.Attacher.
func (s *Store) Attach(run, name string) (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[run]
	if r == nil {
		return nil, fmt.Errorf("run %s: %w", run, store.ErrNotFound)
	}
	a := r.attached[name]
	if a == nil {
		a = &attachment{store: s}
		r.attached[name] = a
	}
	return a, nil
}

// Detach implements store.Attacher.
func (s *Store) Detach(run, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[run]
	if r == nil {
		return fmt.Errorf("run %s: %w", run, store.ErrNotFound)
	}
	delete(r.attached, name)
	return nil
}

// Attached implements store.Attacher.
func (s *Store) Attached(run, name string) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[run]; r != nil && r.attached[name] != nil {
		return io.NopCloser(bytes.NewReader(r.attached[name].data)), nil
	}
	return nil, fmt.Errorf("%s of run %s: %w", name, run, store.ErrNotFound)
}

// Attachments implements store.Attacher.
func (s *Store) Attachments(run, folder string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[run]
	if r == nil {
		return nil, fmt.Errorf("run %s: %w", run, store.ErrNotFound)
	}
	var names []string
	for name := range r.attached {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names, nil
}
