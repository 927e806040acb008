package transform

import (
	"context"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// reshaping compiles a step that only renames, reorders or drops columns. It works on
// layouts and computes nothing for a row. names lists the columns that the step names.
func reshaping(c source.Columns, names []string, shape func(*layout) (*layout, error)) step {
	return step{required(c, names), nil, func(_ context.Context, w work) (stage, error) {
		s := &reshaper{work: w, pure: shape}
		s.shape = func(l *layout) (*layout, error) {
			s.needs.observe(l)
			return shape(l)
		}
		return s, nil
	}}
}

type reshaper struct {
	work
	pure   func(*layout) (*layout, error)
	shape  func(*layout) (*layout, error) // pure, which also records the columns that it sees
	shapes shapes[*layout]
}

func (s *reshaper) outline(l *layout) (*layout, error) {
	if err := s.needs.checkLayout(l); err != nil {
		return nil, s.fail(err)
	}
	out, err := s.pure(l)
	if err != nil {
		return nil, s.fail(err)
	}
	return out, nil
}

func (s *reshaper) take(ctx context.Context, r *record) error {
	s.rows++
	l, err := s.shapes.of(r.layout, s.shape)
	if err != nil {
		return s.failRow(err)
	}
	r.layout = l
	return s.next.take(ctx, r)
}

func (b *builder) selection(list []source.Text, key string, c source.Columns) (step, source.Columns) {
	if len(list) == 0 {
		b.problem(b.node.Pos, key, "there are no columns", "")
	}
	b.distinct(list, key)
	names := source.Strings(list)
	known := make([]value.Property, len(names))
	for i, n := range list {
		b.need(c, n, key)
		known[i] = property(c, n.Value)
	}
	return reshaping(c, names, func(l *layout) (*layout, error) {
		out := &layout{names: names, places: l.findAll(names)}
		for i, p := range out.places {
			if p == table.NoCell {
				out.places[i] = table.Register(null)
			}
		}
		return out, nil
	}), exactly(known)
}

func (b *builder) drop(list []source.Text, key string, c source.Columns) (step, source.Columns) {
	for _, n := range list {
		b.need(c, n, key)
	}
	gone := source.Strings(list)
	return reshaping(c, gone, func(l *layout) (*layout, error) {
		out := &layout{}
		for i, n := range l.names {
			if !slices.Contains(gone, n) {
				out.names, out.places = append(out.names, n), append(out.places, l.places[i])
			}
		}
		return out, nil
	}), without(c, gone)
}

func (b *builder) rename(list source.Members[source.Text], key string, c source.Columns) (step, source.Columns) {
	to := map[string]string{}
	var olds, news []string
	var targets []source.Text
	var known []value.Property
	for _, m := range list {
		b.scope.Fixed(key, m.Key)
		b.need(c, m.Key, key)
		to[m.Key.Value] = m.Value.Value
		olds, news = append(olds, m.Key.Value), append(news, m.Value.Value)
		targets = append(targets, m.Value)
		p := property(c, m.Key.Value)
		p.Name = m.Value.Value
		known = append(known, p)
	}
	b.distinct(targets, key)
	left := without(c, olds)
	for _, t := range targets {
		if left.Closed && slices.Contains(left.Names, t.Value) {
			b.scope.Errorf(source.CodeDuplicateKey, t.Pos, key, "the rows have a column %q already", t.Value)
		}
	}
	after := with(left, known)
	for _, old := range olds {
		if slices.Contains(c.Optional, old) {
			after.Optional = append(after.Optional, to[old])
		}
	}
	if c.Closed { // a renamed column keeps its position
		after.Names = slices.Clone(c.Names)
		for i, n := range after.Names {
			if t, ok := to[n]; ok {
				after.Names[i] = t
			}
		}
	}
	return reshaping(c, olds, func(l *layout) (*layout, error) {
		names := slices.Clone(l.names)
		for i, n := range l.names {
			if t, ok := to[n]; ok {
				names[i] = t
			} else if slices.Contains(news, n) {
				return nil, core.Permanent(fmt.Errorf("there is a column %q already", n))
			}
		}
		return &layout{names: names, places: l.places}, nil
	}), after
}
