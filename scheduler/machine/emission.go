package machine

import (
	"encoding/json"
	"math/bits"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Emission is an event, or the events of consecutive items that went the same way, in the form in
// which the machine emits them. Emitting the common events takes no allocation. Events converts
// them, which a driver does where its listener runs. An Emission refers to nothing that changes.
type Emission struct {
	// At is the instant of the first event, in nanoseconds since the start of the run.
	At    int64
	seq   int64       // of the first event
	whole *core.Event // the event, if it needs more than the fields below; At and seq are set here

	what           eventSet
	run            *Options
	path           string // of the frame
	node           *plan.Node
	unit           string // id
	level          core.Ordinal
	item           core.Ordinal
	last           core.Ordinal // the last item, if there are several
	round          core.Ordinal
	total          core.Ordinal
	visit, attempt int32
	status         core.Status
	took           int64 // the duration of a node, or the time between the start and the end of an item
	// wrote and null are sets of indexes in node.WriteFields.
	wrote, null uint64
	// ends are the instants at which the items have ended. If it is nil, the items have the times
	// of their range.
	ends []int64
	from int64 // the instant from which ends count
}

// eventSet is a set of types of events. An Emission represents one event of each type for each
// item.
type eventSet uint8

const (
	nodeReady eventSet = 1 << iota
	nodeStarted
	nodeFinished
	itemStarted
	itemFinished
	stateWritten // for each field in Emission.wrote
)

// EmissionOf returns the emission of an event of the driver.
func EmissionOf(e *core.Event) Emission { return Emission{whole: e, seq: e.Seq} }

// Shift moves the instants of the events: by the start of the run, they become times.
func (e *Emission) Shift(by int64) { e.At, e.from = e.At+by, e.from+by }

// Len returns the number of events.
func (e *Emission) Len() int64 {
	if e.whole != nil {
		return 1
	}
	n := bits.OnesCount8(uint8(e.what&^stateWritten)) + bits.OnesCount64(e.wrote)
	if e.last > e.item {
		n *= int(e.last-e.item) + 1
	}
	return int64(n)
}

// Events calls f with the events in order. The event is the caller's variable x, so that converting
// takes no allocation. Its Time is At after the Unix epoch, unless the driver has set it.
func (e *Emission) Events(x *core.Event, f func(*core.Event)) {
	if e.whole != nil {
		*x = *e.whole
		if x.Seq = e.seq; x.Time.IsZero() {
			x.Time = time.Unix(0, e.At)
		}
		f(x)
		return
	}
	name := func(id string) string {
		if e.path == "" {
			return id
		}
		return e.path + "/" + id
	}
	*x = core.Event{V: core.EventVersion, Run: e.run.Run, Node: name(e.node.ID), Kind: e.node.Kind, Phase: e.node.Phase,
		Level: e.level, Item: e.item, Round: e.round, Visit: int(e.visit)}
	if e.unit != "" {
		x.Unit = name(e.unit)
	}
	seq := e.seq
	next := func(t core.EventType, at int64) {
		x.Type, x.Seq, x.Time = t, seq, time.Unix(0, at)
		seq++
		f(x)
	}
	switch {
	case e.what == nodeReady:
		next(core.NodeReady, e.At)
	case e.what == nodeStarted:
		x.Attempt, x.Total = int(e.attempt), e.total
		next(core.NodeStarted, e.At)
	case e.what == nodeFinished:
		x.Status, x.Duration, x.Total = e.status.String(), time.Duration(e.took), e.total
		next(core.NodeFinished, e.At)
	default:
		e.items(x, next)
	}
}

// items is Events for events of items, and for writes.
func (e *Emission) items(x *core.Event, next func(core.EventType, int64)) {
	began, ended := e.At, e.At+e.took
	for i := 0; ; i++ {
		if e.ends != nil {
			ended = e.from + e.ends[i]
		}
		if e.what&itemStarted != 0 {
			x.Attempt = int(e.attempt)
			next(core.ItemStarted, began)
		}
		if e.what&itemFinished != 0 {
			x.Attempt, x.Status = int(e.attempt), e.status.String()
			next(core.ItemFinished, ended)
		}
		x.Attempt, x.Status = 0, ""
		for set := e.wrote; set != 0; set &= set - 1 {
			at := bits.TrailingZeros64(set)
			x.Field, x.Null = e.node.Writes[at], e.null>>at&1 != 0
			next(core.StateWritten, ended)
		}
		if x.Field, x.Null = "", false; x.Item >= e.last {
			return
		}
		x.Item++
		if e.ends != nil {
			began = ended
		}
	}
}

// continuedBy reports whether o is the same for the next item.
func (e *Emission) continuedBy(o *Emission) bool {
	if e.whole != nil || o.whole != nil || e.item == 0 || max(e.item, e.last)+1 != o.item || e.what != o.what || e.node != o.node || e.path != o.path ||
		e.wrote != o.wrote || e.null != o.null || e.attempt != o.attempt || e.status != o.status || e.unit != o.unit || (e.ends == nil) != (o.ends == nil) {
		return false
	}
	if e.ends == nil {
		return e.At == o.At && e.took == o.took
	}
	n := len(e.ends)
	return n < cap(e.ends) && &e.ends[:n+1][n] == &o.ends[0]
}

// emit emits an event of a kind that is rare.
func (m *Machine) emit(e core.Event) {
	e.V, e.Run = core.EventVersion, m.opts.Run
	m.note(Emission{whole: &e})
}

// note emits events.
func (m *Machine) note(e Emission) {
	e.At += m.instant
	e.seq, e.run = m.seq+1, &m.opts
	m.seq += e.Len()
	c := m.emitting()
	if c == nil {
		m.command(Command{Op: OpEmit})
		c = &m.out[len(m.out)-1]
	} else if last := &c.Events[len(c.Events)-1]; last.continuedBy(&e) {
		last.last = e.item
		if e.ends != nil {
			last.ends = last.ends[:len(last.ends)+1]
		}
		return
	}
	m.events = append(m.events, e)
	c.Events = m.events[len(m.events)-len(c.Events)-1:]
}

// emitting returns the latest command if it emits events, otherwise nil.
func (m *Machine) emitting() *Command {
	if n := len(m.out); n > 0 && m.out[n-1].Op == OpEmit {
		return &m.out[n-1]
	}
	return nil
}

// nodeNote returns the emission of an event of a node.
func (f *frame) nodeNote(what eventSet, n *plan.Node) Emission {
	e := Emission{what: what, path: f.Path, node: n}
	if !f.p.Mode.Visits {
		e.level = core.Nth(int(f.p.Vertices[n.Vertex].Level))
	}
	return e
}

// take adds the writes to the emission, and returns the writes for which it has no room.
func (e *Emission) take(writes []plan.Write) []plan.Write {
	for i := range writes {
		at := slices.Index(e.node.WriteFields, writes[i].Field)
		if at < 0 || at >= 64 || e.wrote>>at != 0 { // events of writes are in the order of the writes
			return writes[i:]
		}
		e.wrote |= 1 << at
		if writes[i].Value == nil {
			e.null |= 1 << at
		}
	}
	return nil
}

// Emissions are the emissions of a command. In JSON they are events, with the times of
// Emission.Events.
type Emissions []Emission

// Events calls f for each event, as Emission.Events does.
func (list Emissions) Events(x *core.Event, f func(*core.Event)) {
	for i := range list {
		list[i].Events(x, f)
	}
}

// MarshalJSON writes the events.
func (list Emissions) MarshalJSON() ([]byte, error) {
	var all []core.Event
	list.Events(new(core.Event), func(e *core.Event) {
		all = append(all, *e)
		all[len(all)-1].Time = e.Time.UTC()
	})
	return json.Marshal(all)
}

// UnmarshalJSON reads the events.
func (list *Emissions) UnmarshalJSON(data []byte) error {
	var all []*core.Event
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*list = make(Emissions, len(all))
	for i, e := range all {
		(*list)[i] = Emission{whole: e, At: e.Time.UnixNano(), seq: e.Seq}
		e.Time = time.Time{}
	}
	return nil
}
