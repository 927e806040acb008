package verify

import (
	"slices"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// writes summarizes the writes of a field in the log.
type writes struct {
	count     int64
	first     int32  // the lowest slot that wrote
	last      int32  // the highest slot that wrote
	discarded bool   // some writes were discarded
	setBy     string // the source of a set_once field's value, empty if it has none
	set       bool   // a replay has given the field another value
	setTo     any    // that value, if setWhole is set
	setAt     int32  // the number of the writers before that, if set is set in a dag
	setWhole  bool
	setLater  bool      // a writer after that has written
	lastRead  readValue // by the condition that read it after the most writers
}

// written handles a write.
func (f *frame) written(n *plan.Node) {
	e := f.c.e
	at := slices.Index(n.Writes, e.Field)
	if at < 0 {
		names := n.Writes
		if _, ok := f.p.Schema.Index(e.Field); !ok {
			names = f.p.Schema.FieldNames()
		}
		f.c.breaks(Writes, "writes %s, which it does not declare%s", e.Field, near(e.Field, names))
		return
	}
	field := n.WriteFields[at]
	i := n.Vertex
	v := &f.v[i]
	switch {
	case n.Member >= 0:
		if u := f.runningUnit(i); u != nil {
			u.written(n, field)
		}
	case n.Source != nil && v.fan != nil:
		v.fan.written(field)
	case v.phase != running:
		f.c.breaks(Writes, "writes %s %s", e.Field, f.after(v))
	case e.Item > 0 || e.Round > 0:
		f.c.breaks(Writes, "writes %s in an item or round, and has none", e.Field)
	default:
		v.wrote = f.once(v.wrote, field)
	}
	f.merged(i, field)
}

// set handles the event of a field that a replay has given another value. Values that were read before and
// after it are not compared.
func (f *frame) set() {
	e := f.c.e
	field, ok := f.p.Schema.Index(e.Field)
	if !ok {
		f.c.breaks(Writes, "the replay sets %s, which the workflow does not declare%s", e.Field, near(e.Field, f.p.Schema.FieldNames()))
		return
	}
	w := &f.writes[field]
	w.set, w.setBy = true, "the replay"
	w.count++
	if e.Null {
		w.setBy = ""
	}
	level, inDag := e.Level.Get()
	if !inDag {
		return
	}
	w.setAt = f.p.Threshold(int32(field), int32(level))
	if whole, ok := e.Values.Get(e.Field); ok && !hasSecret(whole) {
		w.setTo, w.setWhole = whole, true
	}
}

// once records a write of an execution, which may write each field only once.
func (f *frame) once(wrote []int32, field int32) []int32 {
	if slices.Contains(wrote, field) {
		f.c.breaks(Writes, "writes %s twice in one execution", f.c.e.Field)
	}
	return append(wrote, field)
}

// merged checks a write against the other writes of the field.
func (f *frame) merged(i, field int32) {
	e, w := f.c.e, &f.writes[field]
	slot := f.slot(i, field)
	if w.count == 0 {
		w.first, w.last = slot, slot
	}
	w.first, w.last = min(w.first, slot), max(w.last, slot)
	w.count++
	w.setLater = w.setLater || slot >= w.setAt
	decl := &f.p.Schema.Fields[field]
	if !decl.MayReject {
		return
	}
	if k, ok := f.missing(field, slot); !ok {
		f.c.breaks(Writes, "writes %s before %s is resolved, whose write comes first in canonical order", e.Field, k)
	}
	if decl.Strategy().Name != "set_once" || w.set && slot < w.setAt { // merged before the replay has set it
		return
	}
	if w.setBy != "" {
		f.c.breaks(Writes, "writes %s, which is set once and has its value from %s", e.Field, w.setBy)
	}
	if !e.Null {
		w.setBy = e.Node
	}
}

// slot returns the slot of a vertex among the writers of a field, or -1 if it does not
// write the field.
func (f *frame) slot(i, field int32) int32 {
	for _, s := range f.p.Vertices[i].Writes {
		if s.Field == field {
			return s.Slot
		}
	}
	return -1
}

// written checks a write of an item. Items are merged in order, once all items that
// count have ended.
func (t *fanOut) written(field int32) {
	c := t.f.c
	if field == t.n.Collect {
		t.collected()
		return
	}
	i, ok := c.e.Item.Get()
	if !ok || i >= t.total {
		c.breaks(Writes, "writes %s in no item", c.e.Field)
		return
	}
	if phase, _ := t.at(i); *phase != itemGood {
		c.breaks(Writes, "writes %s in item %d, which has not ended well", c.e.Field, i)
	}
	if i >= t.cut() {
		c.breaks(Writes, "writes %s in item %d, which does not count: too many before it failed", c.e.Field, i)
	}
	switch {
	case i < t.lastWriter:
		c.breaks(Writes, "writes %s in item %d after item %d, items are merged in their order", c.e.Field, i, t.lastWriter)
	case i > t.lastWriter:
		t.lastWriter, t.wrote = i, t.wrote[:0]
	}
	t.wrote = t.f.once(t.wrote, field)
}

// collected checks the write of the collected results.
func (t *fanOut) collected() {
	c := t.f.c
	switch {
	case c.e.Item > 0:
		c.breaks(Writes, "writes %s in an item, and collects the results of all", c.e.Field)
	case t.collectedWritten:
		c.breaks(Writes, "writes %s twice", c.e.Field)
	case t.begun > t.ended:
		c.breaks(Writes, "writes %s before all of its items have ended", c.e.Field)
	}
	t.collectedWritten = true
}

// written checks a write of a member. A stage writes when it ends, and the body of a
// loop when the round ends.
func (t *unit) written(n *plan.Node, field int32) {
	c := t.f.c
	i, ok := t.index()
	switch last := &t.last; {
	case !ok:
		c.breaks(Writes, "writes %s in no %s", c.e.Field, t.what())
	case i != last.pass || !last.good:
		c.breaks(Writes, "writes %s in %s %d, which has not just ended well", c.e.Field, t.what(), i)
	case !t.u.IsLoop && last.place != int(n.Member):
		c.breaks(Writes, "writes %s, and %s has ended last", c.e.Field, t.member(last.place))
	case t.u.IsLoop && last.place != len(t.u.Members)-1:
		c.breaks(Writes, "writes %s before its round is over", c.e.Field)
	case t.u.IsLoop:
		t.writtenInRound(n, field)
	default:
		last.wrote = t.f.once(last.wrote, field)
	}
}

// writtenInRound records a write with its member and field. Members must write in
// order.
func (t *unit) writtenInRound(n *plan.Node, field int32) {
	key := n.Member*int32(len(t.f.p.Schema.Fields)) + field
	wrote := t.last.wrote
	if len(wrote) > 0 && key/int32(len(t.f.p.Schema.Fields)) < wrote[len(wrote)-1]/int32(len(t.f.p.Schema.Fields)) {
		t.f.c.breaks(Writes, "writes %s after a later member of the round", t.f.c.e.Field)
	}
	t.last.wrote = t.f.once(wrote, key)
}

// canonical returns a value in its JSON form.
func canonical(v any) any {
	if c, err := value.Canonical(v); err == nil {
		return c
	}
	return v
}
