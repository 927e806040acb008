package transform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
)

// checks compiles a step that removes bad rows.
func (b *builder) checks(s *stepConfig, prefix string, c source.Columns) step {
	if len(s.Checks) == 0 {
		b.problem(s.Pos, prefix+"checks", "there are none", "")
	}
	for _, earlier := range b.rejects {
		if earlier == s.Rejects.Value && earlier != "" {
			b.problem(s.Rejects.Pos, prefix+"rejects", fmt.Sprintf("%q takes the rejects of an earlier step already", earlier), "")
		}
	}
	b.rejects = append(b.rejects, s.Rejects.Value)
	p := s.Options.Compile(b.scope, b.node, c, s.Pos, strings.TrimSuffix(prefix, ": "), filename.OutputName)
	b.noBadRows(s, prefix)
	at := len(b.policies)
	b.policies = append(b.policies, p)
	return step{nil, required(c, p.Needs()), func(_ context.Context, w work) (stage, error) {
		return &checker{work: w, collector: w.collectors[at], view: w.view(), object: w.record.object, mayBeEmpty: s.AllowEmpty || w.partial()}, nil
	}}
}

// noBadRows warns about keys for bad rows if no check can make a row bad.
func (b *builder) noBadRows(s *stepConfig, prefix string) {
	if len(s.Checks) == 0 || slices.ContainsFunc(s.Checks, rowcheck.Check.Rejects) {
		return
	}
	without := func(key string, given bool, pos source.Position) {
		if given {
			b.scope.Warnf(source.CodeIgnored, pos, prefix+key, "has no effect: no check makes a row bad, all have severity: warn")
		}
	}
	without("on_bad_row", s.OnBadRow.Value != "", s.OnBadRow.Pos)
	without("rejects", s.Rejects.Value != "", s.Rejects.Pos)
	if s.MaxFailures != nil {
		without("max_failures", true, s.MaxFailures.Pos)
	}
	without("allow_empty", s.AllowEmpty, s.Pos)
}

// checker passes good rows on. The collector handles the bad ones.
type checker struct {
	work
	collector *rowcheck.Collector
	view      *view
	object    func() *value.Object // returns the current record as a row

	mayBeEmpty bool // all rows may be bad
}

func (c *checker) take(ctx context.Context, r *record) error {
	env := c.view.on(r, c.rows)
	c.rows++
	good, err := c.collector.Take(ctx, env, c.object)
	switch {
	case err != nil:
		return c.fail(err)
	case good:
		return c.next.take(ctx, r)
	}
	return nil
}

// end returns an error if there were rows and all of them were bad.
func (c *checker) end(ctx context.Context) (more bool, err error) {
	more, err = c.work.end(ctx)
	if err != nil || more || c.mayBeEmpty {
		return more, err
	}
	if err := c.collector.NoneGood(); err != nil {
		return false, c.fail(fmt.Errorf("%w; allow_empty: true allows that", err))
	}
	return false, nil
}
