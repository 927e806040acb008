package rowcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Task describes the attempt that a collector works for.
type Task struct {
	Input core.Shared
	Place files.Place // of rejects and report
	Temp  files.Temp  // of rejects and report
	Node  string      // core.Input.Node, for rejects
	// Source names the table in messages: a file, or "" if the rows are not from a
	// file.
	Source string
	// Files are the files that the rows come from.
	Files []string
	// Several is set if the table consists of several files, so that rejects must name
	// the file.
	Several bool
	// Raw is set if the bytes of rows are known, so that rejects include them.
	Raw bool
	// Total is the number of rows, 0 if it is not known. If it is known, the collector
	// can find before the end that the share of bad rows will exceed the limit.
	Total int64
	// Later receives the files if the run, not the attempt, puts them in place. It is
	// nil otherwise.
	Later *LateFiles
	// Before holds the collectors of earlier steps, which must write other files.
	Before []*Collector
	// Wrap, if set, makes writes fail in tests; see files.Writer.
	Wrap func(io.Writer) io.Writer
}

// Collector evaluates the checks on the rows of one attempt, batch after batch, and
// collects the bad rows. It keeps bad rows in memory only if they go to a field. It is
// used by one goroutine.
type Collector struct {
	policy *Policy
	task   Task
	file   *rejects // nil if there is no file of rejects
	report string   // the name of the report's file
	list   []any    // records for a field
	first  string   // a description of the first bad row
	counts counts
	failed []failed // by check
	bad    failed   // rows that could not be read
}

// counts counts rows by what happened to them.
type counts struct{ rows, evaluated, rejected int64 }

// failed counts the rows that failed in one way and keeps some as examples.
type failed struct {
	rows     int64
	examples []any
}

// Collector returns a collector for one attempt. It replaces the file of rejects with
// one without rows, unless Task.Later does so later. So an older file never seems
// to describe this attempt, however it ends, and a file that cannot be written fails
// the node before the work. The caller must call Close, and should defer Discard.
func (p *Policy) Collector(ctx context.Context, t Task) (*Collector, error) {
	c := &Collector{policy: p, task: t, failed: make([]failed, len(p.checks))}
	if p.report != nil {
		name, err := p.report.Text(t.Input)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		if c.report = name; t.reads(name) {
			return nil, core.Permanent(fmt.Errorf("report: %s is a file that the node reads", name))
		}
		if t.taken(name) {
			return nil, core.Permanent(fmt.Errorf("report: %s is a file of an earlier step", name))
		}
		if err := t.Later.claim(t.Place, name); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	if p.file == nil {
		return c, nil
	}
	name, err := p.file.Text(t.Input)
	switch {
	case err != nil:
	case t.reads(name):
		err = core.Permanent(fmt.Errorf("%s is a file that the node reads", name))
	case c.report != "" && t.Place.Same(name, c.report):
		err = core.Permanent(fmt.Errorf("%s takes the report, too", name))
	case t.taken(name):
		err = core.Permanent(fmt.Errorf("%s is a file of an earlier step", name))
	default:
		if err = t.Later.claim(t.Place, name); err != nil {
			break
		}
		l := table.Layout{Format: p.format}
		if l.Format.Delimited() {
			l.Columns = t.columns()
		}
		c.file, err = newRejects(ctx, c.writer(), name, l, t.Later)
	}
	if err != nil {
		return nil, fmt.Errorf("rejects: %w", err)
	}
	return c, nil
}

// reads reports whether the rows come from the file with this name.
func (t *Task) reads(name string) bool {
	return slices.ContainsFunc(t.Files, func(f string) bool { return t.Place.Same(name, f) })
}

// taken reports whether an earlier step writes the file with this name.
func (t *Task) taken(name string) bool {
	return slices.ContainsFunc(t.Before, func(c *Collector) bool {
		return c.report != "" && t.Place.Same(name, c.report) || c.file != nil && t.Place.Same(name, c.file.name)
	})
}

// Continues reports whether a collector that begins in the middle of the table has the same
// results, apart from the number of rows: no row was bad, and nothing is counted for a report.
func (c *Collector) Continues() bool {
	return c.counts.rejected == 0 && c.report == "" && !c.policy.HasChecks()
}

// Skip counts rows that an earlier process has found to be good.
func (c *Collector) Skip(rows int64) {
	c.counts.rows += rows
	c.counts.evaluated += rows
}

// Expect sets the number of rows once it is known; see Task.Total.
func (c *Collector) Expect(total int64) { c.task.Total = total }

func (c *Collector) writer() files.Writer {
	return files.Writer{Place: c.task.Place, Temp: c.task.Temp, Wrap: c.task.Wrap}
}

// tooMany is the error that max_failures is exceeded or that no row is good.
type tooMany struct{ message string }

func (e *tooMany) Error() string { return e.message }

// Filter checks the next rows and returns the good ones. An error ends the work: the
// policy is to fail, or there are too many bad rows.
func (c *Collector) Filter(ctx context.Context, b table.Batch, env *table.Row) ([]any, error) {
	if len(b.Bad) == 0 && len(c.policy.checks) == 0 {
		c.counts.rows += int64(len(b.Rows))
		c.counts.evaluated += int64(len(b.Rows))
		return b.Rows, nil
	}
	var good []any // copied at the first bad row
	bad := b.Bad
	for i, r := range b.Rows {
		if err := table.Tick(ctx, i); err != nil {
			return nil, err
		}
		for len(bad) > 0 && bad[0].Row < b.Place(i).Row {
			if err := c.unreadable(ctx, bad[0]); err != nil {
				return nil, err
			}
			bad = bad[1:]
		}
		k := c.evaluate(env.At(r, c.counts.evaluated), b.Place, i)
		if k < 0 {
			if good != nil {
				good = append(good, r)
			}
			continue
		}
		if good == nil {
			good = append(make([]any, 0, len(b.Rows)), b.Rows[:i]...)
		}
		test := &c.policy.checks[k]
		row := table.BadRow{RowPlace: c.place(b.Place, i), Check: test.name, Reason: reason(test, env), Data: r}
		if b.Raw != nil {
			row.Raw = b.Raw(i)
		}
		if err := c.reject(ctx, row); err != nil {
			return nil, err
		}
	}
	for _, u := range bad {
		if err := c.unreadable(ctx, u); err != nil {
			return nil, err
		}
	}
	if good == nil {
		return b.Rows, nil
	}
	return good, nil
}

// place returns the place of the i-th row, which must be the row evaluated last.
func (c *Collector) place(of func(int) table.RowPlace, i int) table.RowPlace {
	if of == nil {
		return table.RowPlace{Row: c.counts.evaluated}
	}
	return of(i)
}

// Take checks the current row of the environment and reports whether it is good. Rows
// are numbered consecutively. Take calls row only for a bad row. Its error has the same
// meaning as the error of Filter.
func (c *Collector) Take(ctx context.Context, env *table.Row, row func() *value.Object) (good bool, err error) {
	k := c.evaluate(env, nil, 0)
	if k < 0 {
		return true, nil
	}
	test := &c.policy.checks[k]
	return false, c.reject(ctx, table.BadRow{RowPlace: c.place(nil, 0), Check: test.name, Reason: reason(test, env), Data: row()})
}

// evaluate runs all checks on a row. It returns the index of the first check that
// makes the row bad, or -1 if the row is good.
func (c *Collector) evaluate(env *table.Row, of func(int) table.RowPlace, i int) int {
	c.counts.rows++
	c.counts.evaluated++
	first := -1
	for k := range c.policy.checks {
		test := &c.policy.checks[k]
		if test.test.Test(env) {
			continue
		}
		if f := &c.failed[k]; f.add() {
			f.examples = append(f.examples, badExample(c.place(of, i), "value", values(test, env)))
		}
		if first < 0 && !test.warning {
			first = k
		}
	}
	return first
}

// unreadable counts and rejects a row that could not be read.
func (c *Collector) unreadable(ctx context.Context, b table.BadRow) error {
	c.counts.rows++
	if c.bad.add() {
		c.bad.examples = append(c.bad.examples, badExample(b.RowPlace, "reason", b.Reason))
	}
	return c.reject(ctx, b)
}

// reject handles a bad row. It does not retain the bytes of the row.
func (c *Collector) reject(ctx context.Context, b table.BadRow) error {
	if c.policy.fail {
		return core.Permanent(errors.New(c.describe(b)))
	}
	c.counts.rejected++
	if c.counts.rejected == 1 {
		c.first = c.describe(b)
	}
	if c.policy.field != "" {
		c.list = append(c.list, c.task.record(b))
	}
	if c.file != nil {
		if err := c.file.write(ctx, c.task.record(b)); err != nil {
			return fmt.Errorf("rejects: %s: %w", c.file.name, err)
		}
	}
	all := c.task.Total
	if c.policy.max.share() && all == 0 {
		return nil // checked at the end
	}
	return c.tolerated(all)
}

// tolerated returns an error if too many of all rows are bad.
func (c *Collector) tolerated(all int64) error {
	if !c.policy.max.exceeded(c.counts.rejected, all) {
		return nil
	}
	return c.tooMany(c.policy.max.message(c.counts.rejected, all) + ", the first: " + c.first)
}

// tooMany returns a permanent error with the message and the name of the file of
// rejects.
func (c *Collector) tooMany(message string) error {
	if c.file != nil {
		message += fmt.Sprintf("; %s in %s", table.Count(int(c.counts.rejected), "row"), c.file.name)
	}
	return core.Permanent(&tooMany{message})
}

// describe returns the place of a bad row and the reason.
func (c *Collector) describe(b table.BadRow) string {
	var s strings.Builder
	source := c.task.Source
	if b.File != "" {
		source = b.File
	}
	switch {
	case b.Line > 0:
		fmt.Fprintf(&s, "%s:%d: row %d", source, b.Line, b.Row)
	case source != "":
		fmt.Fprintf(&s, "%s: row %d", source, b.Row)
	default:
		fmt.Fprintf(&s, "row %d", b.Row)
	}
	if b.Check != "" {
		fmt.Fprintf(&s, ": check %q", b.Check)
	}
	return s.String() + ": " + b.Reason
}

// NoneGood returns an error if there were rows and all of them were bad.
func (c *Collector) NoneGood() error {
	if c.counts.rows == 0 || c.counts.rejected < c.counts.rows {
		return nil
	}
	message := fmt.Sprintf("none of %s is good, the first: %s", table.Count(int(c.counts.rows), "row"), c.first)
	if c.counts.rows == 1 {
		message = "the only row is bad: " + c.first
	}
	return c.tooMany(message)
}

// Rejected returns the number of bad rows.
func (c *Collector) Rejected() int { return int(c.counts.rejected) }

// Warnings returns the number of failures of each check of severity warn, or nil if
// there were none.
func (c *Collector) Warnings() *value.Object {
	var out *value.Object
	for i := range c.failed {
		if n := c.failed[i].rows; n > 0 && c.policy.checks[i].warning {
			if out == nil {
				out = &value.Object{}
			}
			out.Set(c.policy.checks[i].name, n)
		}
	}
	return out
}

// Records returns the bad rows for their field, in the order of their numbers.
func (c *Collector) Records() []any {
	if c.list == nil {
		return []any{}
	}
	return c.list
}

// Close ends the work. It checks the limit on the share of bad rows and writes the
// rejects and the report, even if workErr says that the work failed, unless the context
// is done. A report on work that ended early is marked as incomplete. Close returns the
// error with which the node should end.
func (c *Collector) Close(ctx context.Context, workErr error) error {
	defer c.Discard()
	if workErr == nil {
		workErr = c.tolerated(c.counts.rows)
	}
	if workErr == nil {
		workErr = ctx.Err()
	}
	if ctx.Err() != nil {
		return workErr
	}
	err := workErr
	if c.file != nil {
		if e := c.file.commit(); e != nil {
			err = errors.Join(err, fmt.Errorf("rejects: %s: %w", c.file.name, e))
		}
	}
	if c.report != "" {
		_, exceeded := errors.AsType[*tooMany](workErr)
		if e := c.writeReport(ctx, workErr != nil && !exceeded); e != nil {
			err = errors.Join(err, fmt.Errorf("report: %s: %w", c.report, e))
		}
	}
	return err
}

// Discard releases the collector without writing the rejects: the file of rejects has
// no rows. It does nothing after Close.
func (c *Collector) Discard() {
	if c.file != nil {
		c.file.discard()
	}
}
