package history

import (
	"context"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// Inner reads the nested runs whose results are in the state. After it, Blame and Writes name the nodes
// inside nested runs that wrote values, such as "outer/save", where that is known: a value that a nested run has passed
// on as it was. The run is replayed once more for each level of nesting.
func (s *State) Inner(ctx context.Context) error {
	graphs := map[string]*Run{s.r.Path: s.r}
	for len(graphs) > 0 {
		var paths []string
		for _, r := range graphs {
			paths = append(paths, r.nestedPaths()...)
		}
		if len(paths) == 0 {
			return nil
		}
		j := &reading{store: s.r.from.store, run: s.r.from.run, compile: s.r.from.compile}
		if _, err := j.read(ctx, paths); err != nil {
			return err
		}
		for path, r := range j.runs {
			if !r.found {
				delete(j.runs, path)
				continue
			}
			r.sort()
		}
		for _, r := range graphs {
			r.inner = j.runs
		}
		graphs = j.runs
	}
	return nil
}

// nestedPaths returns the paths of the nested runs that wrote to the state.
func (r *Run) nestedPaths() (paths []string) {
	for i := range r.writes {
		if w := &r.writes[i]; w.id.Node >= 0 && r.Plan.Nodes[w.id.Node].Frame != nil {
			paths = append(paths, r.author(int32(i)).Name())
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// within returns the state of the nested run that made a write, and the field of that state from which the
// value was copied. It returns nil if no nested run made the write, or if the value of the field differs.
func (r *Run) within(i int32) (*State, int) {
	if i < 0 || r.inner == nil {
		return nil, 0
	}
	w := &r.writes[i]
	if w.id.Node < 0 || r.Plan.Nodes[w.id.Node].Frame == nil {
		return nil, 0
	}
	run := r.inner[r.author(i).Name()]
	if run == nil {
		return nil, 0
	}
	for _, out := range r.Plan.Nodes[w.id.Node].Frame.Outputs {
		if out.Outer != w.field {
			continue
		}
		s := run.State()
		if v := s.value(int(out.Inner)); !value.IsMissing(v) && !value.IsMissing(w.value) && value.Equal(v, w.value) {
			return s, int(out.Inner)
		}
	}
	return nil, 0
}

// placeIn returns the place of a value in what its latest write has written: an element of a list to which lists
// were added has another index there.
func (r *Run) placeIn(o *origin, steps []step) []step {
	if len(steps) == 0 || steps[0].Index < 0 || steps[0].Index >= len(o.elements) {
		return steps
	}
	i, n := steps[0].Index, 0
	for _, w := range o.elements[:i] {
		if w == o.elements[i] {
			n++
		}
	}
	return append([]step{{Index: n}}, steps[1:]...)
}

// innerBlame describes the origin of a value, v, that is at a place in what a write has written. It reports
// false if only the write itself is known.
func (r *Run) innerBlame(v any, i int32, at []step) (Blame, bool) {
	s, field := r.within(i)
	if s == nil {
		return Blame{}, false
	}
	in, err := lookup(s.value(field), at, "")
	if err != nil || !value.Equal(in, v) {
		return Blame{}, false
	}
	o := s.origin(field)
	b := s.r.blame(in, o.at(at), s.r.placeIn(o, at))
	return b, !b.By.Start
}

// innerAuthor returns the latest execution that contributed to what a write has written, or to a place in it.
func (r *Run) innerAuthor(i int32, at []step) Author {
	if s, field := r.within(i); s != nil {
		if o := s.origin(field).at(at); o.latest >= 0 {
			return s.r.innerAuthor(o.latest, s.r.placeIn(s.origin(field), at))
		}
	}
	return r.author(i)
}
