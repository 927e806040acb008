package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// LateFiles takes the files of the collectors of one attempt whose run decides when they are put
// in place. A nil LateFiles takes none.
type LateFiles struct {
	targets []core.Replaced
	files   []laterFile
}

// laterFile is a file that has been written. key is that of the document.
type laterFile struct {
	*files.Sealed
	key, name string
}

// NewLateFiles returns a LateFiles if the run asks for it.
func NewLateFiles(s core.Shared) *LateFiles {
	if !s.Defer {
		return nil
	}
	return &LateFiles{}
}

// claim takes in the name of a file that will be replaced.
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

// take takes a file that is written.
func (l *LateFiles) take(f *files.Sealed, key, name string) {
	l.files = append(l.files, laterFile{f, key, name})
}

// Deliver is what the handler returns whose work ended with a result or an error: the files
// are put in place for a failure too.
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

// discard removes the files that have not got their names.
func (l *LateFiles) discard() {
	for _, f := range l.files {
		f.Discard()
	}
}
