package table

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
)

// RowPlace says where a row stood.
type RowPlace struct {
	Row  int64  // its number in the table, from 1
	Line int64  // the line it begins on in its file, 0 when it has none
	File string // its file, when the table is made of several; "" otherwise
}

// BadRow is a row that cannot be used, with the reason.
type BadRow struct {
	RowPlace
	Check  string // the check that failed; "" when the row could not be read
	Reason string
	Data   any // the row, or what could be read of it
	// Raw are the bytes of the row in its file, without the line end; nil if they are
	// not known.
	Raw []byte
}

// Batch is some rows of a table, in their order.
type Batch struct {
	Rows []any
	// Place tells where the i-th of Rows stood. Without it they are numbered on.
	Place func(i int) RowPlace
	// Raw returns the bytes of the i-th of Rows in its file; nil if they are not kept.
	Raw func(i int) []byte
	// Bad are rows that could not be read. By its number each stands in front of,
	// between or behind Rows.
	Bad []BadRow
}

// CheckTask is what a collector must know of the attempt it works for.
type CheckTask struct {
	Input core.Shared
	Place files.Place // of rejects and report
	Node  string      // core.Input.Node, for rejects
	// Source names the table in messages: a file, or "" for rows without one.
	Source string
	// Files are the files that the rows come from.
	Files []string
	// Several is whether the table is made of several files, so that rejects have
	// to tell which.
	Several bool
	// Raw is whether the bytes of rows are known, so that rejects hold them.
	Raw bool
	// Total is the number of rows if it is known, 0 otherwise. It tells early that
	// a share of bad rows is going to be exceeded.
	Total int64
	// Later takes the files of an attempt that does not put them in place itself.
	Later *LateFiles
	// Before are the collectors of earlier steps, whose files are others.
	Before []*Collector
	// Wrap, when set, makes the disk fail in tests; see files.Writer.
	Wrap func(io.Writer) io.Writer
}

// Collector judges the rows of one attempt, batch after batch, and takes the bad
// ones. Whatever their number it keeps none of them, unless they go to a field.
// It is used by one goroutine.
type Collector struct {
	policy *Policy
	task   CheckTask
	file   *rejects // nil when they go nowhere or to a field
	report string   // the file of the report
	list   []any    // records for a field
	first  string   // describes the first bad row
	counts counts
	failed []failed // by check
	bad    failed   // rows that could not be read
}

// counts says what became of the rows.
type counts struct{ rows, judged, rejected int64 }

// failed keeps account of one way to be bad.
type failed struct {
	rows     int64
	examples []any
}

// Collector returns a collector for one attempt. It replaces the file of rejects with
// one without rows, unless CheckTask.Later does so later, so that an older file does not describe this attempt however it
// ends, and one that cannot be written fails the node before the work. The caller ends
// the collector with Close, and defers Discard.
func (p *Policy) Collector(ctx context.Context, t CheckTask) (*Collector, error) {
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
		l := Layout{Format: p.format}
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

// reads reports whether the rows come from a file of that name.
func (t *CheckTask) reads(name string) bool {
	return slices.ContainsFunc(t.Files, func(f string) bool { return t.Place.Same(name, f) })
}

// taken reports whether an earlier step writes a file of that name.
func (t *CheckTask) taken(name string) bool {
	return slices.ContainsFunc(t.Before, func(c *Collector) bool {
		return c.report != "" && t.Place.Same(name, c.report) || c.file != nil && t.Place.Same(name, c.file.name)
	})
}

// Expect sets the number of rows, once it is known; see CheckTask.Total.
func (c *Collector) Expect(total int64) { c.task.Total = total }

func (c *Collector) writer() files.Writer {
	return files.Writer{Place: c.task.Place, Wrap: c.task.Wrap}
}

// tooMany is the error that ends the work when max_failures is exceeded, or no row is
// good.
type tooMany struct{ message string }

func (e *tooMany) Error() string { return e.message }

// Filter takes in the next rows and returns the good ones. Its error ends the
// work: the policy is to fail, or there are too many bad rows.
func (c *Collector) Filter(ctx context.Context, b Batch, env *Row) ([]any, error) {
	if len(b.Bad) == 0 && len(c.policy.checks) == 0 {
		c.counts.rows += int64(len(b.Rows))
		c.counts.judged += int64(len(b.Rows))
		return b.Rows, nil
	}
	var good []any // a copy is made at the first bad row
	bad := b.Bad
	for i, r := range b.Rows {
		if err := Tick(ctx, i); err != nil {
			return nil, err
		}
		for len(bad) > 0 && bad[0].Row < b.Place(i).Row {
			if err := c.unreadable(ctx, bad[0]); err != nil {
				return nil, err
			}
			bad = bad[1:]
		}
		k := c.judge(env.At(r, c.counts.judged), b.Place, i)
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
		row := BadRow{RowPlace: c.place(b.Place, i), Check: test.name, Reason: reason(test, env), Data: r}
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

// place returns where the i-th row stood, which is the one judged last.
func (c *Collector) place(of func(int) RowPlace, i int) RowPlace {
	if of == nil {
		return RowPlace{Row: c.counts.judged}
	}
	return of(i)
}

// Take takes in one row, on which the environment stands, and reports whether it
// is good. Rows are numbered on; row makes the row, which only a bad one needs.
// The error is that of Filter.
func (c *Collector) Take(ctx context.Context, env *Row, row func() *value.Object) (good bool, err error) {
	k := c.judge(env, nil, 0)
	if k < 0 {
		return true, nil
	}
	test := &c.policy.checks[k]
	return false, c.reject(ctx, BadRow{RowPlace: c.place(nil, 0), Check: test.name, Reason: reason(test, env), Data: row()})
}

// judge runs all checks over a row and returns the first that makes it bad, -1
// for none.
func (c *Collector) judge(env *Row, of func(int) RowPlace, i int) int {
	c.counts.rows++
	c.counts.judged++
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

// unreadable takes a row that could not be read.
func (c *Collector) unreadable(ctx context.Context, b BadRow) error {
	c.counts.rows++
	if c.bad.add() {
		c.bad.examples = append(c.bad.examples, badExample(b.RowPlace, "reason", b.Reason))
	}
	return c.reject(ctx, b)
}

// reject takes a bad row. It keeps none of its bytes.
func (c *Collector) reject(ctx context.Context, b BadRow) error {
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
		return nil // known at the end
	}
	return c.tolerated(all)
}

// tolerated returns an error when there are too many bad rows among all.
func (c *Collector) tolerated(all int64) error {
	if !c.policy.max.exceeded(c.counts.rejected, all) {
		return nil
	}
	return c.tooMany(c.policy.max.refuse(c.counts.rejected, all) + ", the first: " + c.first)
}

// tooMany returns the error that there are too many bad rows, and says where they are.
func (c *Collector) tooMany(message string) error {
	if c.file != nil {
		message += fmt.Sprintf("; %s in %s", Count(int(c.counts.rejected), "row"), c.file.name)
	}
	return core.Permanent(&tooMany{message})
}

// describe says where a bad row is and why it is bad.
func (c *Collector) describe(b BadRow) string {
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

// NoneGood returns an error if there were rows and all of them were bad, nil
// otherwise.
func (c *Collector) NoneGood() error {
	if c.counts.rows == 0 || c.counts.rejected < c.counts.rows {
		return nil
	}
	message := fmt.Sprintf("none of %s is good, the first: %s", Count(int(c.counts.rows), "row"), c.first)
	if c.counts.rows == 1 {
		message = "the only row is bad: " + c.first
	}
	return c.tooMany(message)
}

// Rejected returns how many rows were bad.
func (c *Collector) Rejected() int { return int(c.counts.rejected) }

// Warnings returns how often each check of severity warn failed, nil when none
// did.
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

// Records returns the bad rows for the field they go to, in order of their
// numbers.
func (c *Collector) Records() []any {
	if c.list == nil {
		return []any{}
	}
	return c.list
}

// Close ends the work: it judges a share of bad rows and writes the rejects to their
// file and the report, whatever workErr says that the work ended with, unless the
// context is done. A report on work that ended early says so. Close returns the error
// the node should end with.
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
		_, judged := errors.AsType[*tooMany](workErr)
		if e := c.writeReport(ctx, workErr != nil && !judged); e != nil {
			err = errors.Join(err, fmt.Errorf("report: %s: %w", c.report, e))
		}
	}
	return err
}

// Discard leaves the files as they are: that of rejects without rows. It does nothing
// after Close.
func (c *Collector) Discard() {
	if c.file != nil {
		c.file.discard()
	}
}
