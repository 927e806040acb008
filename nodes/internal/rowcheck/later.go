package rowcheck

import (
	"context"
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// LateFiles holds the files that the collectors of one attempt have written and that
// the run puts in place. A nil LateFiles holds none.
type LateFiles struct {
	targets []core.Replaced
	files   []laterFile
}

// laterFile is a file that has been written but not put in place. key is the key of the
// document that names it.
type laterFile struct {
	*files.Sealed
	key, name string
}

// NewLateFiles returns a LateFiles if the run puts files in place, otherwise nil.
func NewLateFiles(s core.Shared) *LateFiles {
	if !s.Defer {
		return nil
	}
	return &LateFiles{}
}

// claim records that a file will be replaced.
func (l *LateFiles) claim(p files.Place, name string) error {
	if l == nil {
		return nil
	}
	target, err := p.ResolvedPath(name)
	if err == nil {
		l.targets = append(l.targets, core.Replaced{Target: target, Name: name})
	}
	return err
}

// take adds a file that has been written.
func (l *LateFiles) take(f *files.Sealed, key, name string) {
	l.files = append(l.files, laterFile{f, key, name})
}

// Deliver returns the result of a handler whose work ended with r or err. The files are
// put in place even after a failure.
func (l *LateFiles) Deliver(r core.Result, err error) (core.Result, error) {
	if l == nil || len(l.targets) == 0 || err != nil && len(l.files) == 0 {
		return r, err
	}
	first := l.targets[0]
	return core.Result{Placement: &core.Placement{Target: first.Target, Name: first.Name, More: l.targets[1:], Always: true, Discard: l.discard,
		Place: func(ctx context.Context) (core.Result, error) {
			err := err
			for _, f := range l.files {
				if e := f.Place(ctx); e != nil {
					err = errors.Join(err, fmt.Errorf("%s: %s: %w", f.key, f.name, e))
				}
			}
			if err != nil {
				return core.Result{}, err
			}
			return r, nil
		}}}, nil
}

// discard removes the files that have not been put in place.
func (l *LateFiles) discard() {
	for _, f := range l.files {
		f.Discard()
	}
}
