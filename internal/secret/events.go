package secret

import (
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Value returns a run-time value with secrets masked in strings and in keys of objects, and
// numbers that are secrets replaced. Parts without secrets are shared with v.
func (m Masker) Value(v any) any {
	if m.None() {
		return v
	}
	switch x := v.(type) {
	case nil, bool:
		return v
	case string:
		return m.Text(x)
	case int64:
		return m.number(v, strconv.FormatInt(x, 10))
	case float64:
		return m.number(v, strconv.FormatFloat(x, 'f', -1, 64))
	case []any:
		return m.list(x)
	case *value.Object:
		return m.Object(x)
	}
	if c, err := value.Canonical(v); err == nil && !value.IsMissing(v) {
		return m.Value(c)
	}
	return v
}

// number replaces a number whose digits are a secret.
func (m Masker) number(v any, digits string) any {
	if slices.Contains(m.values, digits) {
		return Mask
	}
	return v
}

func (m Masker) list(list []any) any {
	var out []any
	for i, e := range list {
		masked := m.Value(e)
		if out == nil && !unchanged(masked, e) {
			out = append(make([]any, 0, len(list)), list[:i]...)
		}
		if out != nil {
			out = append(out, masked)
		}
	}
	if out == nil {
		return list
	}
	return out
}

// Object is Value for an object; nil stays nil.
func (m Masker) Object(o *value.Object) *value.Object {
	if o == nil || m.None() {
		return o
	}
	out, changed := value.NewObject(o.Len()), false
	for k, e := range o.All() {
		key, masked := m.Text(k), m.Value(e)
		changed = changed || key != k || !unchanged(masked, e)
		out.Set(key, masked)
	}
	if !changed {
		return o
	}
	return out
}

// unchanged reports whether masking left a value unchanged. masked must be the result of Value
// for v: a list without secrets is the identical list.
func unchanged(masked, v any) bool {
	switch x := v.(type) {
	case []any:
		y, ok := masked.([]any)
		return ok && len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
	case nil, bool, string, int64, float64, *value.Object:
		return masked == v
	}
	return false
}

// Failure returns a failure with masked strings and without its cause, or f itself if it
// contains no secret.
func (m Masker) Failure(f *core.Failure) *core.Failure {
	if f == nil || m.None() {
		return f
	}
	message, stack := m.Text(f.Message), m.Text(f.Stack)
	if message == f.Message && stack == f.Stack {
		return f
	}
	out := *f
	out.Message, out.Stack, out.Cause = message, stack, nil
	return &out
}

// Event returns an event with secrets masked. Names from the document are not masked.
func (m Masker) Event(e core.Event) core.Event {
	if m.None() {
		return e
	}
	e.Reason, e.When, e.Log = m.Text(e.Reason), m.Text(e.When), m.Text(e.Log)
	e.Error = m.Failure(e.Error)
	e.Values, e.State, e.Inputs = m.Object(e.Values), m.Object(e.State), m.Object(e.Inputs)
	return e
}

// Report returns a report with secrets masked: its state, errors, reasons, notes and edge
// outputs.
func (m Masker) Report(r *core.Report) *core.Report {
	if m.None() {
		return r
	}
	out := *r
	out.State, out.Err = m.Object(r.State), m.Error(r.Err)
	out.Warnings = slices.Clone(r.Warnings)
	for i := range out.Warnings {
		out.Warnings[i].Text = m.Text(out.Warnings[i].Text)
	}
	out.Nodes = func() []core.NodeReport {
		nodes := r.Nodes()
		for i := range nodes {
			n := &nodes[i]
			n.Reason, n.Note, n.Failure, n.Output = m.Text(n.Reason), m.Text(n.Note), m.Failure(n.Failure), m.Value(n.Output)
		}
		return nodes
	}
	out.Units = func() []core.UnitReport {
		units := r.Units()
		for i := range units {
			units[i].Reason = m.Text(units[i].Reason)
		}
		return units
	}
	return &out
}
