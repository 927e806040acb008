package checks

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Bad is a row that cannot be used, with the reason. Row counts the rows of the
// table from 1; Line is the line in its file, 0 when it has none.
type Bad struct {
	Row, Line int
	Check     string // the check that failed; "" when the row could not be read
	Reason    string
	Data      any // the row, or what could be read of it
}

// Collector takes the bad rows of one attempt. It is used by one goroutine.
type Collector struct {
	policy *Policy
	// source names the table in messages: a file, or "" for rows without one.
	source   string
	list     []Bad
	total    int
	warnings []int // by check
}

// Collector returns a collector for one attempt.
func (p *Policy) Collector(source string) *Collector {
	return &Collector{policy: p, source: source, warnings: make([]int, len(p.checks))}
}

// tooMany is the error that ends the work when max_failures is exceeded. The
// rejects are written nevertheless: they say what is wrong.
type tooMany struct{ message string }

func (e *tooMany) Error() string { return e.message }

// Reject takes a bad row. Its error ends the work: the policy is to fail, or
// there are too many.
func (c *Collector) Reject(b Bad) error {
	if c.policy.fail {
		return core.Permanent(errors.New(c.describe(b)))
	}
	c.total++
	if c.policy.field != "" || c.policy.file != nil || c.total == 1 {
		c.list = append(c.list, b)
	}
	if c.policy.max >= 0 && c.total > c.policy.max {
		return core.Permanent(&tooMany{fmt.Sprintf("more than %d bad rows (max_failures), the first: %s", c.policy.max, c.describe(c.list[0]))})
	}
	return nil
}

// describe says where a bad row is and why it is bad.
func (c *Collector) describe(b Bad) string {
	var s strings.Builder
	switch {
	case b.Line > 0:
		fmt.Fprintf(&s, "%s:%d: row %d", c.source, b.Line, b.Row)
	case c.source != "":
		fmt.Fprintf(&s, "%s: row %d", c.source, b.Row)
	default:
		fmt.Fprintf(&s, "row %d", b.Row)
	}
	if b.Check != "" {
		fmt.Fprintf(&s, ": check %q", b.Check)
	}
	return s.String() + ": " + b.Reason
}

// Rejected returns how many rows were bad.
func (c *Collector) Rejected() int { return c.total }

// Filter runs the checks over rows and returns the good ones; place tells where
// the i-th row stood.
func (c *Collector) Filter(ctx context.Context, rows []any, env *eval.Row, place func(i int) (row, line int)) ([]any, error) {
	if !c.policy.HasChecks() {
		return rows, nil
	}
	var good []any // a copy is made at the first bad row
	for i, r := range rows {
		if err := table.Tick(ctx, i); err != nil {
			return nil, err
		}
		failed := c.judge(env.At(r, i))
		if failed == nil {
			if good != nil {
				good = append(good, r)
			}
			continue
		}
		if good == nil {
			good = append(make([]any, 0, len(rows)), rows[:i]...)
		}
		row, line := place(i)
		if err := c.Reject(Bad{row, line, failed.name, reason(failed, env), r}); err != nil {
			return nil, err
		}
	}
	if good == nil {
		return rows, nil
	}
	return good, nil
}

// judge returns the first check that makes a row bad, and counts the warnings
// of a good one.
func (c *Collector) judge(env *eval.Row) *check {
	list := c.policy.checks
	for i := range list {
		if !list[i].warning && !list[i].test.Test(env) {
			return &list[i]
		}
	}
	for i := range list {
		if list[i].warning && !list[i].test.Test(env) {
			c.warnings[i]++
		}
	}
	return nil
}

// reason says which condition failed, with the values it saw.
func reason(k *check, env *eval.Row) string {
	s := k.test.Source() + " is false"
	for path, v := range k.test.Explain(env).All() {
		s += fmt.Sprintf(", %s = %s", path, text(v))
	}
	return s
}

// text shortens a value for a message.
func text(v any) string {
	if core.IsMissing(v) {
		return "missing"
	}
	s := core.JSON(v)
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

// Warnings returns how often each check of severity warning failed, nil when
// none did.
func (c *Collector) Warnings() *core.Object {
	var out *core.Object
	for i, n := range c.warnings {
		if n > 0 {
			if out == nil {
				out = &core.Object{}
			}
			out.Set(c.policy.checks[i].name, int64(n))
		}
	}
	return out
}

// Close writes the rejects to their file, also when there are none, so that
// yesterday's file does not speak for today. workErr is what the work ended
// with; after any error but too many bad rows nothing is written. It returns
// the error the node should end with.
func (c *Collector) Close(ctx context.Context, in core.Shared, place files.Place, workErr error) error {
	if _, ok := errors.AsType[*tooMany](workErr); workErr != nil && !ok || c.policy.file == nil {
		return workErr
	}
	name, err := c.policy.file.Text(in)
	if err == nil {
		layout := table.Layout{Format: c.policy.format, Columns: c.columns()}
		err = files.Writer{Place: place}.Write(ctx, name, func(w *bufio.Writer) error {
			return table.Write(ctx, w, c.Records(), layout)
		})
	}
	if err != nil {
		err = fmt.Errorf("rejects: %w", err)
	}
	return errors.Join(workErr, err)
}

func (c *Collector) columns() []string {
	if c.source == "" {
		return []string{"row", "check", "reason", "data"}
	}
	return []string{"row", "line", "check", "reason", "data"}
}

// Records returns the bad rows in order of their numbers, each as an object of
// row, line (when the table is a file), check, reason and data.
func (c *Collector) Records() []any {
	slices.SortStableFunc(c.list, func(a, b Bad) int { return cmp.Compare(a.Row, b.Row) })
	keys, err := core.NewKeys(c.columns())
	if err != nil {
		panic(err) // the columns are distinct
	}
	out := make([]any, len(c.list))
	for i, b := range c.list {
		values := []any{int64(b.Row), nil, nil, b.Reason, b.Data}
		if b.Line > 0 {
			values[1] = int64(b.Line)
		}
		if b.Check != "" {
			values[2] = b.Check
		}
		if c.source == "" {
			values = slices.Delete(values, 1, 2)
		}
		out[i] = core.NewRow(keys, values)
	}
	return out
}
