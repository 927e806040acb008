package schedulertest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Journal is the record of a run, as a driver writes it.
type Journal struct {
	codec   journal.Codec
	inputs  *value.Object
	options machine.Options
	issuer  journal.Issuer
	batch   journal.Batch
	records []record // of the current part
	all     map[journal.Ref][]byte
	seq     uint64
	parts   int              // that a memo has begun
	memo    *journal.Memo    // of the part, nil for the first part
	rows    map[stream][]any // what was read of each stream
	events  []string         // what a listener saw
	open    ledger
	live    *journal.Replay // of all records, while Check is set and no stream is read
	emitted []string        // by live
	// Kept and Dropped count the answers that memos repeated or dropped, and Later the answers that
	// were repeated after the run had continued.
	Kept, Dropped, Later int
	// Again counts how often a run went on that was cancelled or had failed.
	Again int
	// Check replays the journal after each batch: the replay must be the machine of the run, with
	// the same open commands and events.
	Check bool
	// Points counts the batches after which the journal was replayed, by what was open then, if it
	// is not nil. A run may be killed at each of them.
	Points KillPoints
}

// record is the payload of a batch or a mark.
type record struct {
	mark bool
	seq  uint64
	data []byte
}

// stream identifies a reader of a stream.
type stream struct {
	frame int64
	node  int32
}

func (j *Journal) begin(p *plan.Plan, inputs *value.Object, o machine.Options) {
	j.all = map[journal.Ref][]byte{}
	j.codec = journal.Codec{Plan: p, Kept: func(ref journal.Ref) ([]byte, error) {
		if data, ok := j.all[ref]; ok {
			return data, nil
		}
		return nil, fmt.Errorf("no event %d in record %d", ref.Event, ref.Seq)
	}}
	j.inputs, j.options, j.rows = inputs, o, map[stream][]any{}
}

// add records an event.
func (j *Journal) add(c *machine.Command, e *machine.Event) error {
	var x journal.Encoded
	if err := j.codec.AppendEvent(&x, c, e); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	j.batch.Add(&x)
	if c != nil && c.Op == machine.OpRun && c.Node.Pull && e.Outcome.HasOutput {
		rows, of := []any{e.Outcome.Output}, stream{e.ID.Frame, e.ID.Node}
		if list, ok := e.Outcome.Output.([]any); ok {
			rows = list
		}
		from := int(e.ID.From)
		if c.Plan.Vertices[c.Plan.Nodes[e.ID.Node].Vertex].Unit != nil {
			from = c.Call.Taken
		}
		j.rows[of] = append(j.rows[of], make([]any, max(0, from+len(rows)-len(j.rows[of])))...)
		copy(j.rows[of][from:], rows)
	}
	return nil
}

// next records a call of Next.
func (j *Journal) next(m *machine.Machine, commands []machine.Command) error {
	if len(commands) == 0 && len(j.batch.Events) == 0 && len(j.records) > 0 {
		return nil
	}
	j.batch.N++
	j.batch.At, j.batch.Issued = m.Now(), j.issuer.Issued(commands)
	if err := j.write(&j.batch); err != nil {
		return err
	}
	j.batch.Reset()
	for i := range commands {
		if commands[i].Op == machine.OpEmit {
			j.events = appendEvents(j.events, commands[i].Events)
		}
	}
	j.open = j.open.take(commands)
	if j.Check {
		return j.check(m)
	}
	return nil
}

// write appends a batch.
func (j *Journal) write(b *journal.Batch) error {
	j.seq++
	for i, data := range b.Each() {
		j.all[journal.Ref{Seq: j.seq, Event: i}] = data
	}
	j.records = append(j.records, record{seq: j.seq, data: b.AppendJSON(nil)})
	return nil
}

// check replays the journal and compares the replay with the machine. A replay whose rows were
// filled in cannot continue, so each batch needs a new one if a stream is read.
func (j *Journal) check(m *machine.Machine) error {
	r := j.live
	if r == nil || len(j.rows) > 0 {
		var err error
		j.emitted = nil
		if r, err = j.replay(0, func(e machine.Emissions) { j.emitted = appendEvents(j.emitted, e) }); err != nil {
			return err
		}
		j.live = r
		for _, rec := range j.records[:len(j.records)-1] {
			if err := j.replayRecord(r, rec); err != nil {
				return err
			}
		}
	}
	if err := j.replayRecord(r, j.records[len(j.records)-1]); err != nil {
		return err
	}
	if len(j.rows) > 0 {
		if _, err := j.fill(r); err != nil {
			return err
		}
	}
	if err := j.compare(m, r); err != nil || !m.Done() {
		return err
	}
	if err := sameLines("event", j.events, j.emitted); err != nil {
		return err
	}
	return j.otherwise()
}

// compare compares a machine with a replay of its journal, and the open commands of the driver with
// the open commands of the replay.
func (j *Journal) compare(m *machine.Machine, r *journal.Replay) error {
	if err := sameMachine(m, r.Machine()); err != nil {
		return err
	}
	open := r.Open()
	j.Points.add(open)
	var got []string
	for i := range open {
		got = append(got, openKey(&open[i]))
	}
	if !slices.IsSortedFunc(open, func(a, b journal.Open) int { return m.Compare(a.ID, b.ID) }) {
		return fmt.Errorf("open commands are not in canonical order: %q", got)
	}
	slices.Sort(got)
	return sameLines("open command", j.open.keys(m), got)
}

// otherwise replays the whole journal without events, or with them if the run had none.
func (j *Journal) otherwise() error {
	other := *j
	other.options.Events = !other.options.Events
	r, err := other.replay(len(j.records), nil)
	if err == nil && !r.Machine().Done() {
		err = fmt.Errorf("the replay is not at its end")
	}
	if err != nil {
		return fmt.Errorf("events %t: %w", other.options.Events, err)
	}
	return nil
}

// KillPoints counts moments at which a run may be killed, by what was open then.
type KillPoints map[string]int

func (k KillPoints) add(open []journal.Open) {
	if k == nil {
		return
	}
	k["all"]++
	for _, what := range constructsOf(open) {
		k[what]++
	}
}

func appendEvents(list []string, emitted machine.Emissions) []string {
	emitted.Events(new(core.Event), func(e *core.Event) {
		line, err := e.AppendJSON(nil)
		if err != nil {
			line = []byte(err.Error())
		}
		list = append(list, string(line))
	})
	return list
}

// replay returns the replay of the first n records. listener may be nil.
func (j *Journal) replay(n int, listener func(machine.Emissions)) (*journal.Replay, error) {
	r, err := journal.NewReplay(&j.codec, j.inputs, j.options)
	if err != nil {
		return nil, err
	}
	r.Listener = listener
	r.Keep()
	for _, rec := range j.records[:n] {
		if err := j.replayRecord(r, rec); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (j *Journal) replayRecord(r *journal.Replay, rec record) error {
	if rec.mark {
		m, err := j.codec.DecodeMark(rec.data)
		if err != nil {
			return err
		}
		r.Mark(m)
		return nil
	}
	b, err := journal.DecodeBatch(rec.data)
	if err != nil {
		return err
	}
	b.Seq = rec.seq
	if err := r.Batch(b); err != nil {
		return fmt.Errorf("%w\n%s", err, rec.data)
	}
	return nil
}

// fill gives the machine of a replay the rows that it still needs.
func (j *Journal) fill(r *journal.Replay) (int, error) {
	list := r.Readers()
	for i := range list {
		x := &list[i]
		rows := j.rows[stream{x.ID.Frame, x.ID.Node}]
		if int64(len(rows)) < x.From+x.Rows.Len() || x.Skipped.Len() != x.From {
			return 0, fmt.Errorf("reader %s: rows %d to %d of %d, skipping %d", x.ID, x.From, x.From+x.Rows.Len(), len(rows), x.Skipped.Len())
		}
		var skipped journal.RowSum
		for _, row := range rows[:x.From] {
			if err := skipped.Add(row); err != nil {
				return 0, err
			}
		}
		if skipped != x.Skipped {
			return 0, fmt.Errorf("reader %s: the sum of the %d rows before is wrong", x.ID, x.From)
		}
		if err := r.Fill(x, slices.Clone(rows[x.From:][:x.Rows.Len()])); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// openKey identifies an open command, with all that a driver needs to know of it.
func openKey(o *journal.Open) string {
	return fmt.Sprint(o.Op, " ", o.ID, " due ", o.Due, " cancelled ", o.Cancelled)
}

// ledger is the list of open commands as a driver keeps it that has never been killed.
type ledger []*journal.Open

// take adds commands and applies others to those before.
func (l ledger) take(commands []machine.Command) ledger {
	for _, c := range commands {
		switch c.Op {
		case machine.OpRun, machine.OpPlace, machine.OpTimer, machine.OpDeadline:
			l = append(l, &journal.Open{Command: c})
		case machine.OpMet:
			l = slices.DeleteFunc(l, func(o *journal.Open) bool { return o.Op == machine.OpDeadline && o.ID == c.ID })
		case machine.OpCancel:
			for _, o := range l {
				o.Cancelled = o.Cancelled || o.Op == machine.OpRun && o.ID.Frame == c.ID.Frame
			}
		case machine.OpGiveUp:
			for _, o := range l {
				if o.Op == machine.OpRun && o.ID.Frame == c.ID.Frame && o.ID.Node == c.ID.Node && (o.ID.To > c.ID.From || o.ID.To == 0) {
					o.Cancelled = true
				}
			}
		}
	}
	return l
}

// answered removes the command of an answer, or shortens it.
func (l ledger) answered(e *machine.Event) ledger {
	if e.Kind == machine.Cancel {
		return l
	}
	ops := map[machine.EventKind]machine.Op{machine.TimerFired: machine.OpTimer, machine.Expired: machine.OpDeadline, machine.Placed: machine.OpPlace, machine.Gone: machine.OpPlace}
	at := slices.IndexFunc(l, func(o *journal.Open) bool {
		a, b := o.ID, e.ID
		if a.Node >= 0 {
			a.To, b.To = 0, 0
		}
		return a == b && o.Op == ops[e.Kind]
	})
	switch {
	case at < 0:
		return l
	case e.Kind == machine.Yielded:
		l[at].ID.To = min(l[at].ID.To, e.ID.To)
		return l
	}
	return slices.Delete(l, at, at+1)
}

// keys returns the commands that the machine waits for, sorted.
func (l ledger) keys(m *machine.Machine) []string {
	var keys []string
	for _, o := range l {
		if o.Op == machine.OpTimer || o.Op == machine.OpDeadline {
			due, ok := m.Timer(o.ID)
			if !ok {
				continue
			}
			o.Due = due
		}
		keys = append(keys, openKey(o))
	}
	slices.Sort(keys)
	return keys
}

// construct returns the kind of work that a command belongs to.
func construct(o *journal.Open) string {
	n := o.Node
	unit := n != nil && o.ID.Node >= 0 && o.Plan.Vertices[n.Vertex].Unit != nil
	switch {
	case o.ID.IsWatch():
		return "stall timer"
	case o.ID.Node < 0:
		return "deadline of a nested run"
	case o.Op == machine.OpTimer && n.Wait == nil:
		return "delay of a retry"
	case o.Op == machine.OpTimer || o.Op == machine.OpDeadline && n.Wait != nil:
		return "wait"
	case o.Op == machine.OpDeadline:
		return "deadline of a parallel node"
	case o.Op == machine.OpPlace:
		return "placement"
	case n.Pull:
		return "read of a stream"
	case n != &o.Plan.Nodes[o.ID.Node]:
		return "pause"
	case n.Asks:
		return "question to a person"
	case o.Call != nil && o.Call.Route != nil:
		return "question to the router"
	case o.Plan.Walk != nil:
		return "visit"
	case unit && o.Plan.Vertices[n.Vertex].Unit.IsLoop:
		return "round"
	case unit:
		return "row"
	case n.Source != nil && o.ID.To-o.ID.From > 1:
		return "range of items"
	case n.Source != nil:
		return "item"
	}
	return "node"
}

// constructs returns the kinds of work that are open, each once, and what else is special about
// the moment.
func constructsOf(open []journal.Open) []string {
	seen := map[string]bool{}
	for i := range open {
		o := &open[i]
		seen[construct(o)] = true
		if o.ID.Frame != 0 {
			seen["in a nested run"] = true
		}
		if o.ID.Attempt > 1 {
			seen["later attempt"] = true
		}
		if o.Cancelled {
			seen["cancelled"] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), cmp.Compare[string])
}

// sameMachine returns an error if the snapshots of two machines differ.
func sameMachine(want, got *machine.Machine) error {
	a, err := want.Snapshot()
	if err != nil {
		return err
	}
	b, err := got.Snapshot()
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("the replayed machine differs:\n%s\n%s", a, b)
	}
	return nil
}

// sameLines returns an error that names the first difference of two lists.
func sameLines(what string, want, got []string) error {
	for i := range max(len(want), len(got)) {
		if a, b := nthLine(want, i), nthLine(got, i); a != b {
			return fmt.Errorf("%s %d of %d and %d: got\n%s\nwant\n%s\nall: %s", what, i+1, len(got), len(want), b, a, strings.Join(want, "; "))
		}
	}
	return nil
}

func nthLine(list []string, at int) string {
	if at < len(list) {
		return list[at]
	}
	return "absent"
}
