package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/wavefold/wavefold/store"
)

var _ store.Salvager = (*Store)(nil)

// Salvage implements store.Salvager. A copy of each file that changes is kept next to it, with ".damaged" after its
// name.
func (s *Store) Salvage(ctx context.Context, run string, token uint32) (*store.DamageError, error) {
	s.mu.Lock()
	h := s.held[run]
	s.mu.Unlock()
	if h == nil || h.journal.token != token {
		return nil, s.fenced(run, token)
	}
	dir := s.RunDir(run)
	_, err := walk(run, dir, func(store.Record) bool { return ctx.Err() == nil })
	if err == nil {
		err = ctx.Err()
	}
	var damage *store.DamageError
	if !errors.As(err, &damage) {
		return nil, err
	}
	if err := cutJournal(dir, damage); err != nil {
		return damage, err
	}
	h.journal.reopen()
	return damage, nil
}

// cutJournal keeps copies of the damaged file and of all later ones, cuts the first, and removes the others.
func cutJournal(dir string, damage *store.DamageError) error {
	parts, err := openParts(dir)
	closeParts(parts)
	if err != nil {
		return err
	}
	after := false
	for _, p := range parts {
		name := filepath.Join(dir, p.name)
		switch {
		case after:
			err = os.Rename(name, name+".damaged")
		case name == damage.File:
			after = true
			err = cutFile(name, damage.Offset)
		}
		if err != nil {
			return err
		}
	}
	return syncDir(dir)
}

func cutFile(name string, size int64) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	damaged := name + ".damaged"
	if err := writeFile(damaged, data, func(temporary string) error { return os.Rename(temporary, damaged) }); err != nil {
		return err
	}
	return writeFile(name, data[:size], func(temporary string) error { return os.Rename(temporary, name) })
}
