package rowcheck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// maxExamples limits the number of example rows for each check in a report.
const maxExamples = 3

// add counts a row and reports whether it should become an example.
func (f *failed) add() bool {
	f.rows++
	return len(f.examples) < maxExamples
}

// Quality returns the report on the rows so far: their number, and for each check the
// number of rows that passed and failed, with the first failures as examples. It
// depends only on the rows.
func (c *Collector) Quality() *value.Object {
	list := make([]any, len(c.failed))
	for i, f := range c.failed {
		k := &c.policy.checks[i]
		severity := "error"
		if k.warning {
			severity = "warn"
		}
		o := value.ObjectOf("name", k.name, "expr", k.test.Source(), "severity", severity,
			"passed", c.counts.evaluated-f.rows, "failed", f.rows)
		list[i] = withExamples(o, f)
	}
	out := value.ObjectOf("rows", c.counts.rows, "good", c.counts.rows-c.counts.rejected, "rejected", c.counts.rejected)
	if c.bad.rows > 0 {
		out.Set("unreadable", withExamples(value.ObjectOf("failed", c.bad.rows), c.bad))
	}
	out.Set("checks", list)
	return out
}

func withExamples(o *value.Object, f failed) *value.Object {
	if len(f.examples) > 0 {
		o.Set("examples", append([]any(nil), f.examples...))
	}
	return o
}

// badExample returns an example with the place of a bad row and one more key.
func badExample(p table.RowPlace, key string, v any) *value.Object {
	o := value.ObjectOf("row", p.Row)
	if p.File != "" {
		o.Set("file", p.File)
	}
	if p.Line > 0 {
		o.Set("line", p.Line)
	}
	o.Set(key, v)
	return o
}

// values returns the values that a condition read, by path. Long values are shortened.
func values(k *check, env *table.Row) *value.Object {
	out := &value.Object{}
	for path, v := range k.test.Explain(env).All() {
		switch v := v.(type) {
		case nil, bool, int64, float64:
			out.Set(path, v)
		case string:
			if len(v) > maxText {
				v = cut(v)
			}
			out.Set(path, v)
		default:
			out.Set(path, text(v))
		}
	}
	return out
}

// reason returns a message about a failed condition with the values that it read.
func reason(k *check, env *table.Row) string {
	s := k.test.Source() + " is false"
	for path, v := range k.test.Explain(env).All() {
		s += fmt.Sprintf(", %s = %s", path, text(v))
	}
	return s
}

// maxText limits the length of values in messages, in bytes.
const maxText = 60

// text formats a value for a message and shortens it.
func text(v any) string {
	if value.IsMissing(v) {
		return "missing"
	}
	s := value.JSON(v)
	if len(s) > maxText {
		s = cut(s)
	}
	return s
}

func cut(s string) string { return strings.ToValidUTF8(s[:maxText], "") + "..." }

// writeReport writes the report to its file, with the names of the node and source
// first. incomplete is set if the work ended before the last row.
func (c *Collector) writeReport(ctx context.Context, incomplete bool) error {
	out := value.ObjectOf("node", c.task.Node)
	if c.task.Source != "" {
		out.Set("source", c.task.Source)
	}
	if incomplete {
		out.Set("incomplete", true)
	}
	for k, v := range c.Quality().All() {
		out.Set(k, v)
	}
	text, err := value.AppendJSON(nil, out)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, append(text, '\n'), "", "  "); err != nil {
		return err
	}
	fill := func(w *bufio.Writer) error {
		_, err := pretty.WriteTo(w)
		return err
	}
	later := c.task.Later
	if later == nil {
		return c.writer().Write(ctx, c.report, fill)
	}
	f, err := c.writer().Prepare(ctx, c.report, fill)
	if err == nil {
		later.take(f, "report", c.report)
	}
	return err
}
