package verify

import (
	"math"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func (c *Checker) runStarted() error {
	if c.started {
		c.breaks(Sequence, "the run begins again")
		return nil
	}
	c.started = true
	if c.e.Reason != c.p.Name {
		return c.mismatch("the log belongs to workflow %q, not to %q%s", c.e.Reason, c.p.Name, near(c.e.Reason, []string{c.p.Name}))
	}
	if c.limits = c.e.Limits; c.limits != nil {
		c.root.group.limit, c.root.barrier = c.limits.Concurrency, c.limits.Barrier
	} else {
		c.root.group.limit = 0
		c.unchecked(Limits, "how many nodes may run at once: the log does not contain the limits of the run")
	}
	start, given, err := c.p.Start(c.e.Inputs)
	if err != nil && !hasSecret(c.e.Inputs) {
		c.breaks(State, "the inputs do not fit: %v", err)
	}
	c.inputs = given
	c.root.start(start)
	return nil
}

// start records the starting values.
func (f *frame) start(values []any) {
	f.c.start = values
	for i := range values {
		if s := f.p.Schema.Fields[i].Strategy(); s.Name == "set_once" && values[i] != nil && !value.IsMissing(values[i]) {
			f.writes[i].setBy = "the start"
		}
	}
}

// hasSecret reports whether a value contains a masked secret.
func hasSecret(v any) bool { return strings.Contains(value.JSON(v), mask) }

func (c *Checker) runFinished() {
	c.ended, c.report.Status = true, c.e.Status
	f := c.root
	cancelled := c.e.Status == string(core.RunCancelled)
	f.unended(f.walk == nil && f.flow == nil || !cancelled)
	for _, in := range c.openFrames() {
		in.parent.doubts = append(in.parent.doubts, in.doubts...)
	}
	if !cancelled && !f.failRun {
		c.report.Violations = append(c.report.Violations, f.doubts...)
	}
	f.tolerated()
	c.runStatus(cancelled)
	c.finalState(cancelled)
}

// openFrames returns the nested runs that have not ended, inner ones first.
func (c *Checker) openFrames() []*frame {
	var list []*frame
	for _, f := range c.frames { // sorted below
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *frame) int { return strings.Compare(b.path, a.path) })
	return list
}

// tolerated reports failures that the policy tolerates but for which there is no event.
func (f *frame) tolerated() {
	for i := range f.v {
		if v := &f.v[i]; v.status == core.Fail && !v.tolerationReported && f.tolerates(int32(i)) && !f.streams(int32(i)) {
			f.faultOf(f.name(f.p.Vertices[i].ID), Statuses, "failed under a policy that tolerates it, and no event says so")
		}
	}
}

// runStatus compares the status of the run with the statuses of its nodes. A cancelled
// run may have any statuses.
func (c *Checker) runStatus(cancelled bool) {
	e := c.e
	want, first := c.root.status()
	switch {
	case cancelled:
	case e.Status == string(core.RunFailed) && want != core.RunFailed && c.mergeFailed():
	case e.Status != string(want):
		c.breaks(Statuses, "the run ends with the status %s, want %s%s", e.Status, want, because(first))
	case first != "" && !strings.HasPrefix(e.Reason, "node "+first) && !strings.Contains(e.Reason, mask):
		c.breaks(Statuses, "the reason of the run's end does not begin with node %s, which failed first in canonical order: %s", first, e.Reason)
	}
}

func because(first string) string {
	if first == "" {
		return ""
	}
	return ": " + first + " failed"
}

// mergeFailed reports whether a field was written but has no value at the end, because
// a merge failed. A failed merge fails the run even if no node failed.
func (c *Checker) mergeFailed() bool {
	for i := range c.p.Schema.Fields {
		if _, ok := c.e.State.Get(c.p.Schema.Fields[i].Name); !ok && c.root.writes[i].count > 0 {
			return true
		}
	}
	return false
}

// finalState compares the final state with the starting values and the writes.
func (c *Checker) finalState(cancelled bool) {
	if c.e.State == nil {
		c.unchecked(State, "the log does not hold the final state")
		return
	}
	for name := range c.e.State.All() {
		if _, ok := c.p.Schema.Index(name); !ok {
			c.breaks(State, "the state has a field %s, which is not declared%s", name, near(name, c.p.Schema.FieldNames()))
		}
	}
	for i := range c.p.Schema.Fields {
		if c.start != nil && !c.p.Schema.Fields[i].IsStream() {
			c.finalField(i, cancelled)
		}
	}
}

func (c *Checker) finalField(i int, cancelled bool) {
	f, w := &c.p.Schema.Fields[i], &c.root.writes[i]
	start := canonical(c.start[i])
	got, ok := c.e.State.Get(f.Name)
	if !ok {
		got = value.Missing
	}
	switch {
	case w.discarded:
		c.unchecked(State, "field %s: what was written of it is partly given up", f.Name)
		return
	case hasSecret(got):
		c.unchecked(State, "field %s: a secret is hidden in it", f.Name)
		return
	case w.count == 0:
		if !value.Equal(got, start) {
			c.breaks(State, "field %s is %s at the end, but no node wrote it and it was %s at the start", f.Name, brief(got), brief(start))
		}
	case !ok:
		if c.e.Status != string(core.RunFailed) && !cancelled {
			c.breaks(State, "field %s was written and has no value at the end", f.Name)
		}
	case w.set: // compareFinal compares it
	default:
		c.folded(i, got, start)
	}
	c.root.compareFinal(i, got)
}

// folded checks a final value as far as possible without the written values, which are
// not in the log.
func (c *Checker) folded(i int, got, start any) {
	f, w := &c.p.Schema.Fields[i], &c.root.writes[i]
	if err := f.Type.Check(got); err != nil {
		c.breaks(State, "field %s: %v", f.Name, err)
		return
	}
	whole := false
	switch f.Strategy().Name {
	case "count":
		from, ok := start.(int64)
		if whole = ok || value.IsMissing(start) || start == nil; whole && from <= math.MaxInt64-w.count && !value.Equal(got, from+w.count) {
			c.breaks(State, "field %s is %s at the end, want %d: %d at the start and %s", f.Name, brief(got), from+w.count, from, count(int(w.count), "write"))
		}
	case "set_once":
		if whole = w.setBy == ""; whole && got != nil {
			c.breaks(State, "field %s is %s at the end, and only null was written", f.Name, brief(got))
		}
	case "array_append", "union":
		list, isList := got.([]any)
		before, _ := start.([]any)
		if !isList || len(list) < len(before) || !value.Equal(list[:len(before)], before) {
			c.breaks(State, "field %s does not begin with what it was at the start: %s", f.Name, brief(start))
		}
	}
	if !whole {
		c.uncheckedFields = append(c.uncheckedFields, f.Name)
	}
}

// brief formats a value for a message and truncates it.
func brief(v any) string {
	if value.IsMissing(v) {
		return "without a value"
	}
	const maxRunes = 60
	s := []rune(value.JSON(v))
	if len(s) > maxRunes {
		return string(s[:maxRunes]) + "…"
	}
	return string(s)
}

// noteHiddenSlots records a node if the log does not show when its handlers release
// their slots.
func (f *frame) noteHiddenSlots(n *plan.Node) {
	if holdsSlots(n) && !f.visible(n) {
		f.c.hiddenSlots[f.name(n.ID)] = true
	}
}

// reportUnchecked reports what could not be checked.
func (c *Checker) reportUnchecked() {
	if c.lacksTimes {
		c.unchecked(Retries, "how long waits took: events without a time")
	}
	if len(c.hiddenSlots) > 0 {
		c.unchecked(Limits, "the slots of %s: they may wait for their turn to write or for a person, and the log does not say when their work is done", listed(c.hiddenSlots))
	}
	if len(c.uncheckedFields) > 0 {
		c.unchecked(State, "the folded values of %s: the log does not hold what was written", strings.Join(c.uncheckedFields, ", "))
	}
}

// listed returns the first few elements of a set, sorted and joined.
func listed(set map[string]bool) string {
	var names []string
	for name := range set { // sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	const maxNames = 5
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], ", ") + " and " + count(len(names)-maxNames, "more node")
	}
	return strings.Join(names, ", ")
}
