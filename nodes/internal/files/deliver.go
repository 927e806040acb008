package files

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"

	"github.com/wavefold/wavefold/core"
)

// Deliver is Write for a handler: it returns what result makes of the file that is there.
// If the run asks for it (later), the file is written under a temporary name only, and gets
// its own name by the Placement that is returned.
func (w Writer) Deliver(ctx context.Context, name string, later bool, fill func(*bufio.Writer) error, result func() core.Result) (core.Result, error) {
	if !later {
		if err := w.Write(ctx, name, fill); err != nil {
			return core.Result{}, err
		}
		return result(), nil
	}
	s, err := w.Prepare(ctx, name, fill)
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

// Prepare is Write but for the last step.
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

// Sealed is a file that is written and has a temporary name. It holds nothing open: there
// may be as many as a fan-out has items.
type Sealed struct {
	w          Writer
	name, temp string
	target     string // the path without symbolic links
}

// Seal ends the writing of a file that w has begun.
func (p *Pending) Seal(w Writer, name string) (*Sealed, error) {
	if err := p.close(); err != nil {
		p.Discard()
		return nil, p.unnamed(err)
	}
	s := &Sealed{w: w, name: name, temp: p.temp, target: resolved(p.root.Name(), p.base)}
	p.ended = true
	p.root.Close()
	return s, nil
}

// resolved is the path of a file in a folder without symbolic links, as far as they can be
// followed.
func resolved(dir, base string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, base)
}

// Place gives the file its name.
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
		return s.w.word(s.name, err)
	}
	if err := root.Rename(s.temp, base); err != nil {
		return s.w.word(s.name, err)
	}
	syncFolder(root)
	return nil
}

// Discard removes the file, unless it has its name.
func (s *Sealed) Discard() {
	if root, _, err := s.w.folder(s.name); err == nil {
		root.Remove(s.temp)
		root.Close()
	}
}

// ResolvedPath is Path without symbolic links, to tell whether two names mean one file.
func (p Place) ResolvedPath(name string) (string, error) {
	path, err := p.Path(name)
	if err != nil {
		return "", err
	}
	return resolved(filepath.Dir(path), filepath.Base(path)), nil
}
