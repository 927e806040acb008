package scheduler

import (
	"context"
	"log/slog"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// handler returns the handler for the log records of an attempt.
func (r *run) handler(in core.Input, a *alarm) slog.Handler {
	_, index := in.Element()
	return &logHandler{run: r, alarm: a, node: in.Node(), index: index, attempt: in.Attempt()}
}

// logHandler converts the log records of a node into events and counts its warnings.
type logHandler struct {
	run     *run
	alarm   *alarm // nil unless warnings are failures
	node    string
	index   core.Ordinal
	attempt int
	attrs   []slog.Attr
	prefix  string
}

// Enabled accepts all records if there is a listener, which may filter them. It always accepts
// warnings.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	h.run.signOfLife()
	return h.run.logged() || level >= slog.LevelWarn
}

// Handle converts a record into an event. The attributes of the record become the values of the
// event.
func (h *logHandler) Handle(_ context.Context, rec slog.Record) error {
	e := core.Event{V: core.EventVersion, Type: core.LogLine, Run: h.run.opts.Run, Time: rec.Time, Node: h.node,
		Item: h.index, Attempt: h.attempt, Log: value.CutText(rec.Message), Severity: rec.Level.String()}
	if e.Time.IsZero() { // which tells a handler to ignore it
		e.Time = h.run.time()
	}
	values := &value.Object{}
	for _, a := range h.attrs {
		setAttr(values, a.Key, a.Value)
	}
	rec.Attrs(func(a slog.Attr) bool {
		setAttr(values, h.prefix+a.Key, a.Value)
		return true
	})
	if values.Len() > 0 {
		e.Values = values
	}
	if rec.Level >= slog.LevelWarn {
		text := value.CutText(warningText(e.Log, values))
		h.run.warned.add(h.node, text)
		if h.alarm != nil {
			h.alarm.warn(h.node, text)
		}
	}
	if h.run.logged() {
		h.run.log(e)
	}
	return nil
}

// setAttr stores an attribute as a run-time value. The members of a group are stored under the
// group's name. An error is stored as its text, and a value without a JSON form as the reason why
// it has none.
func setAttr(o *value.Object, key string, v slog.Value) {
	v = v.Resolve()
	if v.Kind() == slog.KindGroup {
		if key != "" && !strings.HasSuffix(key, ".") { // a group without a name has the name of the group around it, which ends in a dot
			key += "."
		}
		for _, a := range v.Group() {
			setAttr(o, key+a.Key, a.Value)
		}
		return
	}
	x := v.Any()
	if err, ok := x.(error); ok {
		x = err.Error()
	}
	c, err := value.Canonical(x)
	if err != nil {
		c = "<" + err.Error() + ">" // printing the value might never end
	}
	o.Set(key, limited(c))
}

// limited returns a value of a log record in the size that an event may hold: a large value becomes
// a truncated string.
func limited(v any) any {
	switch v := v.(type) {
	case string:
		return value.CutText(v)
	case []any, *value.Object:
		if text := value.JSON(v); len(text) > value.MaxText {
			return value.CutText(text)
		}
	}
	return v
}

// WithAttrs returns a handler that adds the attributes to its records.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append([]slog.Attr(nil), h.attrs...)
	for _, a := range attrs {
		a.Key = h.prefix + a.Key
		c.attrs = append(c.attrs, a)
	}
	return &c
}

// WithGroup returns a handler that puts the name before the keys of its records.
func (h *logHandler) WithGroup(name string) slog.Handler {
	c := *h
	c.prefix += name + "."
	return &c
}
