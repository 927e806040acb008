package files

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"

	"github.com/wavefold/wavefold/core"
)

// Deliver is Write for a handler. It returns the result of result after the file has
// been written. If the run puts files in place (later), the file is only written under
// a temporary name, and the returned Placement renames it.
func (w Writer) Deliver(ctx context.Context, name string, later bool, fill func(*bufio.Writer) error, result func() core.Result) (core.Result, error) {
	p, err := w.Create(ctx, name)
	if err != nil {
		return core.Result{}, err
	}
	return w.Finish(p, name, later, fill, result)
}

// Finish is Deliver for a file that w has begun, which fill completes.
func (w Writer) Finish(p *Pending, name string, later bool, fill func(*bufio.Writer) error, result func() core.Result) (core.Result, error) {
	defer p.Discard() // does nothing once the file is complete
	if err := p.fill(fill); err != nil {
		return core.Result{}, err
	}
	if !later {
		if err := p.Commit(); err != nil {
			return core.Result{}, err
		}
		return result(), nil
	}
	s, err := p.Seal(w, name)
	if err != nil {
		return core.Result{}, err
	}
	return core.Result{Placement: &core.Placement{Target: s.target, Name: name, Discard: s.Discard,
		Place: func(ctx context.Context) (core.Result, error) {
			if err := s.Place(ctx); err != nil {
				return core.Result{}, fmt.Errorf("%s: %w", name, err)
			}
			return result(), nil
		}}}, nil
}

// Prepare is Write without the last step, renaming the file.
func (w Writer) Prepare(ctx context.Context, name string, fill func(*bufio.Writer) error) (*Sealed, error) {
	p, err := w.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	defer p.Discard() // does nothing once the file is sealed
	if err := p.fill(fill); err != nil {
		return nil, err
	}
	return p.Seal(w, name)
}

// Sealed is a file that has been written under a temporary name. It keeps nothing open,
// because a fan-out may have as many of them as it has items.
type Sealed struct {
	w          Writer
	name, temp string
	target     string // the path with symbolic links resolved
	forget     func()
}

// Seal finishes the writing of a file that w has created.
func (p *Pending) Seal(w Writer, name string) (*Sealed, error) {
	if err := p.close(); err != nil {
		p.Discard()
		return nil, p.unnamed(err)
	}
	s := &Sealed{w: w, name: name, temp: p.temp, target: resolved(p.root.Name(), p.base), forget: p.forget}
	p.ended = true
	p.root.Close()
	return s, nil
}

// resolved returns the path of a file with the symbolic links of its folder resolved,
// as far as possible.
func resolved(dir, base string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, base)
}

// Place renames the file to its final name.
func (s *Sealed) Place(ctx context.Context) error {
	root, base, err := s.w.folder(s.name)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := replaceable(root, base); err != nil {
		return s.w.describe(s.name, err)
	}
	if err := s.w.owned(); err != nil {
		return err
	}
	if err := root.Rename(s.temp, base); err != nil {
		return s.w.describe(s.name, err)
	}
	s.forget()
	return s.w.syncFolder(root)
}

// Discard removes the file, unless Place has renamed it.
func (s *Sealed) Discard() {
	if root, _, err := s.w.folder(s.name); err == nil {
		root.Remove(s.temp)
		s.forget()
		root.Close()
	}
}

// ResolvedPath is Path with symbolic links resolved, to determine whether two names
// mean the same file.
func (p Place) ResolvedPath(name string) (string, error) {
	path, err := p.Path(name)
	if err != nil {
		return "", err
	}
	return resolved(filepath.Dir(path), filepath.Base(path)), nil
}
