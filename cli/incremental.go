package cli

import (
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/incremental"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// session returns a session that continues where the last run of an incremental workflow
// ended; nil if the workflow is not incremental.
func (f *runFlags) session(p *plan.Plan, inputs map[string]any) (*incremental.Session, error) {
	requested := f.since != "" || f.fullRefresh || f.retryFailed
	if p.Incremental == nil && !requested {
		return nil, nil
	}
	o := incremental.Options{FullRefresh: f.fullRefresh, RetryFailed: f.retryFailed, Strict: f.strict}
	switch {
	case f.since != "" && f.fullRefresh:
		return nil, errors.New("--since and --full-refresh contradict each other")
	case f.fullRefresh && f.retryFailed:
		return nil, errors.New("--full-refresh and --retry-failed contradict each other")
	case p.Incremental != nil && f.since != "":
		t, _ := inputType(p, p.Incremental.Cursor)
		v, err := inputValue(t, f.since)
		if err != nil {
			return nil, fmt.Errorf("--since: %w", err)
		}
		o.Since = v
	}
	return incremental.Begin(p, inputs, o)
}

// withSession returns a listener that also passes the events of the run to a session.
func withSession(s *incremental.Session, listener func(core.Event)) func(core.Event) {
	switch {
	case s == nil:
		return listener
	case listener == nil:
		return s.Listen
	}
	return func(e core.Event) {
		s.Listen(e)
		listener(e)
	}
}

// endSession saves the data for the next run and prints a message.
func (a *app) endSession(s *incremental.Session, r *core.Report, f *runFlags) error {
	if s == nil {
		return nil
	}
	before := s.Cursor
	err := s.End(r)
	// A failed run reports its failure itself. A successful run that leaves nothing for the
	// next one reports that even with --quiet.
	succeeded, verbose := r.Status == core.RunSuccess || r.Status == core.RunPartial, !f.json && !f.quiet
	if succeeded || verbose {
		if s.KeptReason != "" {
			tty.Fprintf(a.Err, "the cursor stays as it was, and the next run begins there again: %s\n", s.KeptReason)
		}
		if s.UndoneReason != "" {
			tty.Fprintf(a.Err, "no partition of this run counts as done: %s\n", s.UndoneReason)
		}
	}
	if err != nil {
		return err
	}
	if verbose && !value.IsMissing(s.Cursor) && !value.Equal(before, s.Cursor) {
		tty.Fprintf(a.Err, "the next run begins at %s\n", value.JSON(s.Cursor))
	}
	if verbose && s.Partitions+s.Done > 0 || succeeded && s.Failed() > 0 {
		tty.Fprintf(a.Err, "%s: %d failed, %d were done before\n", plural(s.Partitions, "partition"), s.Failed(), s.Done)
	}
	return nil
}
