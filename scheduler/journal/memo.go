package journal

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Memo runs a new machine with answers that are kept from an earlier run. Commands whose executions
// have a kept answer are answered, in recorded order; the others stay open. The plan may differ from
// the plan of the earlier run. The batches of a memo begin a new part of the journal, whose events
// refer to those of the earlier part.
//
// An execution that had ended is answered with its last answer, whatever its retry policy is now.
// The failed attempts of an execution that had not ended are answered in order, and the policy of
// the new plan is applied to them. Executions are the same if they have the same path, item, row,
// round or visit.
type Memo struct {
	r       *Replay
	kept    []*keptEvent
	of      map[execution][]int32 // the indexes of the kept events of an execution, ascending
	next    int                   // the first kept event that was not used
	later   []Kept                // of nodes that the plan does not have, but the run may add
	copies  bool                  // see NewFork
	answers []candidate           // to open commands
	batch   *Batch
	batches []*Batch
}

// candidate is an open command that may have a kept answer.
type candidate struct {
	*Open
	at    int
	event *machine.Event // nil if there is none yet
}

// execution identifies an execution. From is its item, row, round or visit.
type execution struct {
	frame      int64
	node, from int32
}

// keptEvent is an event that is kept, for the plan of the memo.
type keptEvent struct {
	Ref
	decodedEvent
	retried map[int32]bool
	pause   bool // see Kept
	waited  bool // the end of a wait node, not of a delay
	used    bool
}

// KeptError is the error of NewMemo if a kept answer does not fit the plan.
type KeptError struct {
	Node string // its path
	Err  error
}

// Error returns the message.
func (e *KeptError) Error() string {
	return fmt.Sprintf("the recorded result of node %s does not fit the workflow: %v", e.Node, e.Err)
}

// Unwrap returns what does not fit.
func (e *KeptError) Unwrap() error { return e.Err }

// NewMemo returns a memo of kept events and answers as many commands as possible. It returns an
// error if the inputs do not fit the plan, and a *KeptError if a kept answer does not, because it
// writes a field that the plan does not declare or that has another type. Events of nodes that the
// plan does not have are ignored.
func NewMemo(k *Codec, inputs *value.Object, o machine.Options, kept []Kept) (*Memo, error) {
	r, err := NewReplay(k, inputs, o)
	if err != nil {
		return nil, err
	}
	return newMemo(&Memo{r: r}, kept)
}

// NewFork is NewMemo for the first part of the journal of another run, which shares the past of the
// run that the events are kept of. Its batches contain the events themselves. listener is given what
// the machine emits; it may be nil.
func NewFork(k *Codec, inputs *value.Object, o machine.Options, kept []Kept, listener func(machine.Emissions)) (*Memo, error) {
	r, err := NewReplay(k, inputs, o)
	if err != nil {
		return nil, err
	}
	r.Listener = listener
	return newMemo(&Memo{r: r, copies: true}, kept)
}

func newMemo(m *Memo, kept []Kept) (*Memo, error) {
	m.of = map[execution][]int32{}
	for i := range kept {
		if err := m.add(&kept[i]); err != nil {
			return nil, err
		}
	}
	return m, m.run()
}

func (m *Memo) add(x *Kept) error {
	if !m.r.codec.has(x) {
		if m.r.codec.mayAdd(x) {
			m.later = append(m.later, *x)
		}
		return nil
	}
	d, err := m.r.codec.decodeEvent(x.Data)
	if err == nil && x.Event.Kind != machine.Cancel {
		d.event, err = part(d.event, x.Event.ID)
	}
	if err == nil {
		err = m.r.codec.fits(&d)
	}
	if err != nil {
		return &KeptError{x.Path, err}
	}
	switch d.event.Kind {
	case machine.Yielded, machine.Gone: // ranges are divided again, and only the last preparation of a result is used
		return nil
	}
	d.ref, d.data = x.Ref, x.Data
	at, id := int32(len(m.kept)), d.event.ID
	m.kept = append(m.kept, &keptEvent{Ref: x.Ref, decodedEvent: d, retried: x.retried, pause: x.pause, waited: m.waits(&d)})
	if d.event.Kind != machine.Cancel {
		for i := id.From; i == id.From || i < id.To; i++ {
			key := execution{id.Frame, id.Node, i}
			m.of[key] = append(m.of[key], at)
		}
	}
	return nil
}

// fits returns an error if the plan does not let the node of an event write what it wrote.
func (k *Codec) fits(d *decodedEvent) error {
	e := d.event
	if e.Kind != machine.Finished || e.ID.Node < 0 || e.ID.Attempt <= 0 {
		return nil
	}
	frame, _ := plan.CutPath(d.path)
	p, err := k.planAt(frame)
	if err != nil {
		return err
	}
	n := &p.Nodes[e.ID.Node]
	for i := range max(1, len(e.Items)) {
		o := &e.Outcome
		if e.Items != nil {
			o = &e.Items[i]
		}
		for _, w := range o.Writes {
			if err := p.Fits(n, w); err != nil {
				return err
			}
		}
	}
	for at, w := range e.Writes {
		for i := 0; w != nil && i < w.Len(); i++ {
			if !w.Wrote(i) {
				continue
			}
			if err := p.Fits(n, plan.Write{Field: n.WriteFields[at], Value: w.At(i)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// waits reports whether an event is about the timer of a wait node.
func (m *Memo) waits(d *decodedEvent) bool {
	e := d.event
	if e.Kind != machine.TimerFired && e.Kind != machine.Expired || e.ID.Node < 0 {
		return false
	}
	frame, _ := plan.CutPath(d.path)
	p, err := m.r.codec.planAt(frame)
	return err == nil && p.Nodes[e.ID.Node].Wait != nil
}

// has reports whether the plan has the node that an event answers.
func (k *Codec) has(x *Kept) bool {
	if x.Path == "" || x.Event.Kind == machine.Cancel {
		return true
	}
	frame, node := plan.CutPath(x.Path)
	if x.Event.ID.Node < 0 {
		frame, node = x.Path, ""
	}
	p, err := k.planAt(frame)
	if err != nil || node == "" {
		return err == nil
	}
	n, ok := p.Node(node)
	return ok && (n.Source != nil || p.Mode.Visits || p.Vertices[n.Vertex].Unit != nil) == (x.Event.ID.To > 0)
}

// mayAdd reports whether a run may add the node that an event answers.
func (k *Codec) mayAdd(x *Kept) bool {
	frame, _ := plan.CutPath(x.Path)
	p, err := k.planAt(frame)
	return err == nil && x.Event.ID.Node >= 0 && p.Conventions.Steps
}

// addLater adds the kept events of nodes that the run has added since, if the command is one of a run
// that has changed its graph.
func (m *Memo) addLater(c *machine.Command) error {
	if len(m.later) == 0 || c.Plan == nil || len(c.Plan.Changes()) == 0 {
		return nil
	}
	list := m.later
	m.later = nil
	for i := range list {
		if err := m.add(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// Machine returns the machine of the new part.
func (m *Memo) Machine() *machine.Machine { return m.r.m }

// Replay returns what has been replayed: the open commands and the readers of streams.
func (m *Memo) Replay() *Replay { return m.r }

// Batches returns the batches of the new part of the journal so far.
func (m *Memo) Batches() []*Batch { return m.batches }

// run answers commands until none of the open ones has a kept answer. Answers of the same batch are
// applied together, because a decision may depend on what is issued between two of them.
func (m *Memo) run() error {
	m.batch = &Batch{}
	for {
		commands := m.r.m.Next()
		m.take(commands)
		for i := range commands {
			if err := m.addLater(&commands[i]); err != nil {
				return err
			}
		}
		at, c, e := m.choose()
		if e == nil {
			return nil
		}
		for seq := m.seqOf(at, e); e != nil && m.seqOf(at, e) == seq; at, c, e = m.choose() {
			if err := m.apply(at, c, e); err != nil {
				return err
			}
		}
	}
}

// seqOf returns the record of an event that choose has returned, 0 for one that is not kept.
func (m *Memo) seqOf(at int, e *machine.Event) uint64 {
	if e.Kind == machine.Yielded {
		return 0
	}
	return m.kept[at].Seq
}

// take records a call of Next.
func (m *Memo) take(commands []machine.Command) {
	if len(m.batch.Events) == 0 && len(commands) == 0 && len(m.batches) > 0 {
		return
	}
	m.r.batches++
	m.batch.N, m.batch.At, m.batch.Issued = m.r.batches, m.r.m.Now(), m.r.issuer.Issued(commands)
	m.batches = append(m.batches, m.batch)
	m.batch = &Batch{}
	m.r.take(commands)
	if slices.ContainsFunc(commands, func(c machine.Command) bool {
		return c.Op == machine.OpCancel || c.Op == machine.OpGiveUp || c.Op == machine.OpMet
	}) {
		m.lookAgain()
	}
}

// choose returns the event to be applied next, with the command that it answers and the index of the
// kept event that it is a part of: of all open commands the one whose answer was recorded first. A
// Yielded event shortens a range to the items before the first one that has a kept answer. The event
// is nil if no open command has an answer.
func (m *Memo) choose() (at int, c *Open, e *machine.Event) {
	m.skipUsed()
	m.look()
	at = math.MaxInt
	for i := range m.answers {
		x := &m.answers[i]
		if limitsWork(&x.Command) {
			x.at, x.event = m.answerTo(&x.Command, x.Cancelled)
		}
		if x.event != nil && x.event.Kind == machine.Yielded {
			return 0, x.Open, x.event
		}
		if x.event != nil && (x.at < at || x.at == at && x.ID.From < c.ID.From) { // two may be parts of one range
			at, c, e = x.at, x.Open, x.event
		}
	}
	if m.next < len(m.kept) && m.next < at && m.kept[m.next].event.Kind == machine.Cancel {
		return m.next, nil, m.kept[m.next].event
	}
	return at, c, e
}

// look adds to answers what the commands have that were issued since the last call. Of a deadline it is
// found when it is due, because that depends on what was answered before.
func (m *Memo) look() {
	open := m.r.open
	for i := len(open) - 1; i >= 0 && !open[i].looked; i-- {
		o := open[i]
		o.looked = true
		at, e := m.answerTo(&o.Command, o.Cancelled)
		if e != nil || limitsWork(&o.Command) {
			m.answers = append(m.answers, candidate{o, at, e})
		}
	}
}

// lookAgain makes look consider all open commands: some were cancelled, or have other items.
func (m *Memo) lookAgain() {
	m.answers = m.answers[:0]
	for _, o := range m.r.open {
		o.looked = false
	}
}

// Answer returns the kept answer to a command that the machine has issued after NewMemo returned,
// and appends its form for the journal to x. It returns nil if there is none: the driver must then
// execute the command. Otherwise the driver applies the event without executing the command. If the
// event is of the kind Yielded, the driver executes the items up to Event.ID.To.
func (m *Memo) Answer(c *machine.Command, x *Encoded) (*machine.Event, error) {
	if c.Op != machine.OpRun && c.Op != machine.OpTimer && c.Op != machine.OpDeadline && c.Op != machine.OpPlace {
		return nil, nil
	}
	if err := m.addLater(c); err != nil {
		return nil, err
	}
	m.skipUsed()
	at, e := m.answerTo(c, false)
	if e == nil {
		return nil, nil
	}
	return e, m.encode(x, at, c, e)
}

func (m *Memo) skipUsed() {
	for m.next < len(m.kept) && m.kept[m.next].used {
		m.next++
	}
}

// encode appends the form of an event that answers a command. at is the index of the kept event that
// it is a part of.
func (m *Memo) encode(x *Encoded, at int, c *machine.Command, e *machine.Event) error {
	if e.Kind == machine.Yielded {
		return m.r.codec.AppendEvent(x, c, e)
	}
	k := m.kept[at]
	if !m.copies {
		m.r.codec.AppendKept(x, k.Ref, e.ID)
	} else if err := m.r.codec.appendEvent(x, c, e, k.read); err != nil {
		return err
	}
	k.used = k.used || c == nil || e.ID.To >= k.event.ID.To
	return nil
}

// apply applies an event that choose has returned, and records it.
func (m *Memo) apply(at int, c *Open, e *machine.Event) error {
	d := decodedEvent{event: e}
	if e.Kind != machine.Yielded {
		d = m.kept[at].decodedEvent
		d.event = e
	}
	var x Encoded
	var command *machine.Command
	if c != nil {
		command = &c.Command
	}
	if err := m.encode(&x, at, command, e); err != nil {
		return err
	}
	m.batch.Add(&x)
	m.r.apply(&d)
	if e.Kind == machine.Yielded {
		m.lookAgain()
	} else if at := slices.IndexFunc(m.answers, func(x candidate) bool { return x.Open == c }); at >= 0 {
		m.answers[at] = m.answers[len(m.answers)-1]
		m.answers = m.answers[:len(m.answers)-1]
	}
	return nil
}

// answerTo returns the kept answer to a command and its index. The answer is nil if there is none.
func (m *Memo) answerTo(c *machine.Command, cancelled bool) (int, *machine.Event) {
	ranged := c.Op == machine.OpRun && c.ID.Attempt > 0 && c.Node.Source != nil
	if !ranged {
		at := m.find(c, c.ID, cancelled)
		if at < 0 {
			return 0, nil
		}
		e := *m.kept[at].event
		e.ID = c.ID
		return at, &e
	}
	first := m.find(c, itemID(c.ID, c.ID.From), cancelled)
	to := c.ID.From + 1
	for to < c.ID.To && m.find(c, itemID(c.ID, to), cancelled) == first {
		to++
	}
	id := c.ID
	id.To = to
	switch {
	case first >= 0:
		e, err := part(m.kept[first].event, id)
		if err != nil {
			return 0, nil
		}
		return first, e
	case to < c.ID.To:
		return 0, &machine.Event{Kind: machine.Yielded, ID: id, Ended: m.r.m.Now()}
	}
	return 0, nil
}

func itemID(id machine.ID, item int32) machine.ID {
	id.From, id.To = item, item+1
	return id
}

// find returns the index of the kept event that answers a command, or an item of it, or -1 if there
// is none.
func (m *Memo) find(c *machine.Command, id machine.ID, cancelled bool) int {
	last, exact, ended := -1, -1, false
	for _, i := range m.of[execution{id.Frame, id.Node, id.From}] {
		e := m.kept[i].event
		if !m.kept[i].pause {
			ended = m.kept[i].ends(id.From)
		}
		if answers(c, e) && m.kept[i].pause == isPause(c) {
			if last = int(i); e.ID.Attempt == id.Attempt {
				exact = last
			}
		}
	}
	at := exact
	if ended && last != exact && (exact < 0 || c.Op == machine.OpRun && !m.r.m.Retries(id, m.outcome(exact, id.From))) {
		at = last
	}
	switch {
	case at < 0:
		return -1
	case limitsWork(c): // it passes only after all that was recorded before has happened
		if at != m.next || exact != at {
			return -1
		}
	case !cancelled && cancelledOutcome(m.outcome(at, id.From)): // the command is not cancelled, or not yet
		return -1
	}
	return at
}

// ends reports whether an execution had ended with the event.
func (x *keptEvent) ends(item int32) bool {
	switch e := x.event; e.Kind {
	case machine.TimerFired, machine.Expired:
		return x.waited
	case machine.Finished:
		return !x.retried[item] && (e.Items == nil && e.Outcome.Claim == nil || e.Items != nil && e.Items[item-e.ID.From].Claim == nil)
	}
	return !x.retried[item]
}

// limitsWork reports whether a command is the deadline of a nested run or parallel node, or a stall
// timer.
func limitsWork(c *machine.Command) bool {
	return c.Op == machine.OpDeadline && (c.ID.Node < 0 || c.Node == nil || c.Node.Wait == nil)
}

// outcome returns the outcome of a kept event, or of one of its items.
func (m *Memo) outcome(at int, item int32) *machine.Outcome {
	e := m.kept[at].event
	if e.Items != nil {
		return &e.Items[item-e.ID.From]
	}
	return &e.Outcome
}

// answers reports whether an event is an answer to a command of the same execution.
func answers(c *machine.Command, e *machine.Event) bool {
	switch e.Kind {
	case machine.Finished:
		return c.Op == machine.OpRun && (e.ID.Attempt == c.ID.Attempt || e.ID.Attempt > 0 && c.ID.Attempt > 0)
	case machine.Placed, machine.Gone:
		return c.Op == machine.OpPlace
	case machine.TimerFired:
		return c.Op == machine.OpTimer && (c.Node.Wait != nil || e.ID.Attempt == c.ID.Attempt)
	case machine.Expired:
		return c.Op == machine.OpDeadline
	}
	return false
}
