package verify

import (
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// readValue is a value that a condition read. The log contains no other values of fields. Each one
// is the value of its field after a known number of the field's writers.
type readValue struct {
	line      int
	from, to  string
	threshold int32 // the number of preceding writers of the field
	value     any   // the value, or its length
	length    bool
	ok        bool
}

// checkRead checks the fields that a condition read as a whole from the state of a
// level.
func (f *frame) checkRead(edge *plan.Edge, level int32) {
	if f.parent != nil || f.c.start == nil {
		return // the log does not contain the initial and final state of nested runs
	}
	for _, slot := range edge.When.FieldSlots() {
		name := f.p.Schema.Fields[slot].Name
		s := readValue{line: f.c.line, from: f.c.e.From, to: f.c.e.To, threshold: f.p.Threshold(int32(slot), level)}
		if s.value, s.ok = f.c.e.Values.Get("$." + name); !s.ok {
			s.value, s.ok = f.c.e.Values.Get("length($." + name + ")")
			s.length = true
		}
		if s.ok {
			f.compareRead(slot, s)
		}
	}
}

func (f *frame) compareRead(slot int, s readValue) {
	w, name := &f.writes[slot], f.p.Schema.Fields[slot].Name
	if w.set {
		return
	}
	if w.count == 0 || w.first >= s.threshold {
		if start := canonical(f.c.start[slot]); !hasSecret(start) && !f.c.equalsRead(&s, start) {
			f.c.breaks(State, "the condition on %s -> %s read %s as %s, but no node before it wrote that: it was %s at the start",
				s.from, s.to, name, s.describe(), brief(start))
		}
		return
	}
	if seen := &w.lastRead; seen.ok && seen.threshold == s.threshold && seen.length == s.length && !equal(seen.value, s.value) {
		f.c.breaks(State, "the condition on %s -> %s read %s as %s, and that on %s -> %s, after the same writers, as %s",
			s.from, s.to, name, s.describe(), seen.from, seen.to, seen.describe())
	}
	if !w.lastRead.ok || s.threshold >= w.lastRead.threshold {
		w.lastRead = s
	}
}

// compareFinal compares the last value read from a field with its final value, if the
// field was not written in between.
func (f *frame) compareFinal(slot int, got any) {
	w := &f.writes[slot]
	if w.setWhole && !w.setLater && !equal(w.setTo, got) {
		f.c.breaks(State, "field %s is %s at the end, and the replay has set it to %s after its last writer",
			f.p.Schema.Fields[slot].Name, brief(got), brief(w.setTo))
	}
	if w.set {
		return
	}
	if s := &w.lastRead; s.ok && w.last < s.threshold && !f.c.equalsRead(s, got) {
		f.c.breaks(State, "field %s is %s at the end, and the condition on %s -> %s read it as %s after its last writer (line %d)",
			f.p.Schema.Fields[slot].Name, brief(got), s.from, s.to, s.describe(), s.line)
	}
}

// equalsRead reports whether a value equals the value that was read.
func (c *Checker) equalsRead(s *readValue, v any) bool {
	if s.length {
		v = c.lengthOf(v)
	}
	return equal(s.value, v)
}

func (s *readValue) describe() string {
	if s.length {
		return "of length " + brief(s.value)
	}
	return brief(s.value)
}

// equal compares values of a log, in which null and a missing value are the same.
func equal(a, b any) bool {
	if value.IsMissing(a) {
		a = nil
	}
	if value.IsMissing(b) {
		b = nil
	}
	return value.Equal(a, b)
}

// lengthOf returns length() of a value.
func (c *Checker) lengthOf(v any) any {
	return c.length.Value(expressions.MapEnv{State: value.ObjectOf("v", v)}.Bind(c.length))
}
