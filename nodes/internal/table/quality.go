package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// maxExamples is how many rows a report shows of each way to be bad.
const maxExamples = 3

// add counts a row and reports whether it is to be an example.
func (f *failed) add() bool {
	f.rows++
	return len(f.examples) < maxExamples
}

// Quality is the report on the rows taken in so far: how many there were, and for
// each check how many passed and failed, with the first failures as examples. It
// depends on nothing but the rows.
func (c *Collector) Quality() *value.Object {
	list := make([]any, len(c.failed))
	for i, f := range c.failed {
		k := &c.policy.checks[i]
		severity := "error"
		if k.warning {
			severity = "warn"
		}
		o := value.ObjectOf("name", k.name, "expr", k.test.Source(), "severity", severity,
			"passed", c.counts.judged-f.rows, "failed", f.rows)
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

// badExample says where a bad row stood and what is the matter.
func badExample(p RowPlace, key string, v any) *value.Object {
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

// values returns what a condition saw, by path; long values are shortened.
func values(k *check, env *Row) *value.Object {
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

// reason says which condition failed, with the values it saw.
func reason(k *check, env *Row) string {
	s := k.test.Source() + " is false"
	for path, v := range k.test.Explain(env).All() {
		s += fmt.Sprintf(", %s = %s", path, text(v))
	}
	return s
}

// maxText is how many bytes of a value are shown.
const maxText = 60

// text shortens a value for a message.
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

// writeReport writes the report to its file, with the names of node and source in
// front. incomplete is whether the work ended before the last row.
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
