package schedulertest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
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
	// Kept and Dropped count the answers that memos repeated or dropped, Later those that were repeated
	// after the run had gone on.
	Kept, Dropped, Later int
	// Uncancelled counts the runs that went on after they were cancelled.
	Uncancelled int
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
	events, err := b.Each()
	if err != nil {
		return err
	}
	j.seq++
	for i, data := range events {
		j.all[journal.Ref{Seq: j.seq, Event: i}] = data
	}
	j.records = append(j.records, record{seq: j.seq, data: b.AppendJSON(nil)})
	return nil
}

// check replays the journal and compares the replay with the machine. A replay whose rows were
// filled in cannot go on, so each batch needs a new one if a stream is read.
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
// those of the replay.
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

// replay kills the run: the machine is replaced by the replay of the journal, or by one that repeats
// the answers in it. Time passes until the run continues.
func (r *hostileRun) replay() error {
	j := r.journal
	j.batch.Reset() // what was applied since the last batch is lost
	again, err := j.replay(len(j.records), nil)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if r.h.Memo {
		if again, err = r.newPart(r.drop(again.Kept())); err != nil {
			return fmt.Errorf("memo: %w", err)
		}
	}
	return r.resume(again)
}

// uncancel goes on with a run that was cancelled.
func (r *hostileRun) uncancel() error {
	before, err := r.journal.replay(len(r.journal.records), nil)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	again, err := r.newPart(journal.Uncancelled(before.Kept()))
	if err != nil {
		return fmt.Errorf("memo: %w", err)
	}
	r.journal.Uncancelled++
	return r.resume(again)
}

// drop drops the answers of a node, and of the nodes that can see its effect. In a walk it drops
// none, because races could be decided otherwise then.
func (r *hostileRun) drop(kept []journal.Kept) []journal.Kept {
	j, p := r.journal, r.journal.codec.Plan
	if j.parts++; p.Walk != nil || j.parts > maxDrops || r.rng.IntN(3) == 0 {
		return kept
	}
	left := journal.Without(kept, journal.Affected(p, []string{p.Nodes[r.rng.IntN(len(p.Nodes))].ID}))
	j.Dropped += len(kept) - len(left)
	return left
}

// resume records that the run goes on, and goes on with a replay.
func (r *hostileRun) resume(again *journal.Replay) error {
	j := r.journal
	mark := journal.Mark{Kind: store.MarkResumed, At: again.Machine().Now(), Down: time.Duration(r.rng.IntN(3)), Kept: j.memo != nil}
	data, err := j.codec.AppendMark(nil, &mark)
	if err != nil {
		return err
	}
	j.records, j.live = append(j.records, record{mark: true, data: data}), nil
	again.Mark(&mark)
	if _, err := j.fill(again); err != nil {
		return err
	}
	return r.adopt(again)
}

// maxDrops limits how often answers of a run are dropped, so that it ends.
const maxDrops = 4

// newPart begins a new part of the journal, with a memo of kept answers.
func (r *hostileRun) newPart(kept []journal.Kept) (*journal.Replay, error) {
	j := r.journal
	j.Kept += len(kept)
	memo, err := journal.NewMemo(&j.codec, j.inputs, j.options, kept)
	if err != nil {
		return nil, err
	}
	j.memo, j.records, j.batch.N = memo, nil, uint64(len(memo.Batches()))
	for _, b := range memo.Batches() {
		if err := j.write(b); err != nil {
			return nil, err
		}
	}
	r.events = nil // those of the new part count
	exact, err := j.replay(len(j.records), func(e machine.Emissions) { r.hear(e) })
	if err != nil {
		return nil, fmt.Errorf("the new part: %w", err)
	}
	if err := sameMachine(memo.Machine(), exact.Machine()); err != nil {
		return nil, fmt.Errorf("the new part: %w", err)
	}
	return memo.Replay(), nil
}

// adopt goes on with the machine and the open commands of a replay.
func (r *hostileRun) adopt(again *journal.Replay) error {
	r.report = again.Report()
	r.m, r.now = again.Machine(), max(r.now, again.Machine().Now())
	r.open, r.deadlines, r.due, r.ended, r.givenUp = nil, nil, nil, map[int64]ending{}, nil
	r.late = nil // the process that would have repeated them is gone
	r.journal.open = nil
	open := again.Open()
	for i := range open {
		o := &open[i]
		r.journal.open = append(r.journal.open, o)
		switch {
		case o.Op == machine.OpDeadline && o.ID.Node < 0:
			r.deadlines = append(r.deadlines, o.Command)
			if r.journal.memo != nil && expiring(o.Delay, int(o.ID.Attempt)) {
				r.due = append(r.due, o.Command)
			}
		case !o.Cancelled:
			r.open = append(r.open, o.Command)
		}
	}
	for i := range open {
		if o := &open[i]; o.Cancelled { // it counts as returned
			if err := r.tell(&o.Command, cancelledAnswer(&o.Command, r.now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// cancelledAnswer answers a command that was cancelled.
func cancelledAnswer(c *machine.Command, now int64) *machine.Event {
	e := &machine.Event{Kind: machine.Finished, ID: c.ID, Started: now, Ended: now}
	fail := machine.Outcome{Failure: &core.Failure{Class: core.ClassCanceled, Message: "cancelled", Permanent: true}}
	if c.Node.Source == nil || c.Node.Pull {
		e.Outcome = fail
	} else {
		e.Items = slices.Repeat([]machine.Outcome{fail}, int(c.ID.To-c.ID.From))
	}
	return e
}

// answerKept answers new commands that a memo has kept answers for, and returns the others.
func (r *hostileRun) answerKept(commands []machine.Command) ([]machine.Command, error) {
	memo := r.journal.memo
	var rest []machine.Command
	for i := range commands {
		c := &commands[i]
		var x journal.Encoded
		e, err := memo.Answer(c, &x)
		if err != nil {
			return nil, err
		}
		if e == nil || e.Kind == machine.Yielded {
			rest = append(rest, *c)
			if e != nil {
				rest[len(rest)-1].ID.To = e.ID.To
			}
		}
		if e != nil {
			r.journal.Later++
			r.journal.batch.Add(&x)
			dropped := r.m.Dropped()
			if r.m.Apply(e); r.m.Dropped() == dropped {
				r.journal.open = r.journal.open.answered(e)
			}
		}
	}
	return rest, nil
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

// Killed returns a driver that answers several commands at once and is killed from time to time. The
// journal is checked after each batch. points may be nil.
func Killed(seed uint64, points KillPoints) Hostile {
	return Hostile{Seed: seed, Several: true, Double: seed%3 == 0, Split: true, Yield: true, Replay: true, Journal: &Journal{Check: true, Points: points}}
}
