package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Replay rebuilds the machine of a run from its journal:
//
//	r, err := journal.NewReplay(codec, head.Inputs, head.Machine())
//	for each record {
//		err = r.Batch(batch) // or r.Mark(mark)
//	}
//	open := r.Open()
//	... // give r.Machine() to a driver, together with the open commands
//
// A Replay is used by one goroutine at a time.
type Replay struct {
	// Listener is given what the machine emits, as the listener of the run was. It is only called
	// if the options of the machine contain Events.
	Listener func(machine.Emissions)
	// Answered, if it is not nil, is called with each event that the machine does not drop, after it
	// was applied. path is the path of the node, and ref the place where the event was first recorded.
	Answered func(ref Ref, path string, e *machine.Event)
	// Lost, if it is not nil, is called by Collect with each answer whose values are not in the store. The
	// answer is left out.
	Lost func(*LostError)
	// Misfit, if it is not nil, is called by Collect with each answer that the plan cannot have, because the
	// plan is not the one of the journal. The answer is left out.
	Misfit func(path string, err error)

	codec   *Codec
	m       *machine.Machine
	batches uint64
	issuer  Issuer
	open    []*Open // in the order of their issue
	readers map[readerKey]*readerState
	report  *core.Report
	decoded []decodedEvent // of the current batch
	kept    []Kept
	keep    bool
	// lastWork is the instant of the latest event inside a nested run, by its path.
	lastWork map[string]int64
}

// Open is a command that was issued and not answered.
type Open struct {
	machine.Command
	// Batch is the number of the batch that issued it, and Issued the time of the machine then.
	Batch  uint64
	Issued int64
	// Due is the instant at which a timer or deadline ends, in the time of the machine.
	Due int64
	// Cancelled reports that the machine has cancelled the command since: the answer does not
	// count, but it is awaited.
	Cancelled bool

	looked bool // see Memo.look
}

// DivergedError is the error of Replay.Batch if the machine has issued other commands than the
// journal says: it decides something else than the machine that has written the journal.
type DivergedError struct {
	Batch uint64
	// Node is the path of the first node for which the replay has issued a command, or else of the
	// node that was answered last; "" if there is neither.
	Node string
}

// Error returns the message.
func (e *DivergedError) Error() string {
	at := ""
	if e.Node != "" {
		at = " at node " + e.Node
	}
	return fmt.Sprintf("batch %d of the journal issued other commands%s than this version of the engine", e.Batch, at)
}

// LostError is the error of Replay.Batch and Collect for an answer with a value that is missing in the
// store, or is not what was stored.
type LostError struct {
	Path string     // of the node
	ID   machine.ID // of the event
	Err  *store.DamageError
}

// Error returns the message.
func (e *LostError) Error() string {
	return fmt.Sprintf("the result of node %s is lost: %v", e.Path, e.Err)
}

// Unwrap returns the damage.
func (e *LostError) Unwrap() error { return e.Err }

// UnknownKindsError reports that a run was allowed to add nodes of kinds, or with functions, that the program
// does not have.
type UnknownKindsError struct{ Names []string }

// Error returns the message.
func (e *UnknownKindsError) Error() string {
	return fmt.Sprintf("the run may add nodes of kinds that this program does not have: %s", strings.Join(e.Names, ", "))
}

// NewReplay returns the replay of a journal of the codec's plan without records. It returns an
// error if the inputs do not fit the plan, and an *UnknownKindsError if nodes could have been added that
// this program does not know.
func NewReplay(k *Codec, inputs *value.Object, o machine.Options) (*Replay, error) {
	if unknown := k.Plan.UnknownKinds(o.AddedKinds); len(unknown) > 0 {
		return nil, &UnknownKindsError{unknown}
	}
	m, err := machine.New(k.Plan, inputs, o)
	if err != nil {
		return nil, err
	}
	live := *k
	live.PlanAt = m.PlanAt
	k = &live
	return &Replay{codec: k, m: m, readers: map[readerKey]*readerState{}}, nil
}

// Machine returns the machine. It may be used once all records have been replayed.
func (r *Replay) Machine() *machine.Machine { return r.m }

// Report returns the result of the run, nil if it is not over.
func (r *Replay) Report() *core.Report { return r.report }

// Batches returns the number of the latest batch.
func (r *Replay) Batches() uint64 { return r.batches }

// Batch applies the events of a batch and takes the commands that the machine then issues. The
// error is a *DivergedError if they are not the commands of the batch. After an error the replay
// must not be used, except for Collect. A *LostError does not change it.
func (r *Replay) Batch(b *Batch) error {
	if b.N != r.batches+1 {
		return fmt.Errorf("batch %d follows batch %d", b.N, r.batches)
	}
	r.decoded = r.decoded[:0]
	for i, data := range b.Each() {
		x, err := r.decode(b, i, data)
		if late, ok := errors.AsType[*UnknownNodeError](err); ok && r.m.Over(late.Frame) {
			x, err = decodedEvent{event: &machine.Event{ID: machine.ID{Frame: late.Frame}}, path: late.Path}, nil // which the machine drops
		}
		if err != nil {
			return err
		}
		r.decoded = append(r.decoded, x)
	}
	last := ""
	for i := range r.decoded {
		r.apply(&r.decoded[i])
		last = r.decoded[i].path
	}
	clear(r.decoded)
	r.batches = b.N
	commands := r.m.Next()
	if issued := r.issuer.Issued(commands); issued != b.Issued {
		return &DivergedError{Batch: b.N, Node: firstNode(commands, last)}
	}
	r.take(commands)
	return nil
}

// Collect adds the events of a batch to the events of Kept, without passing them to the machine. It
// is called for the batches after the batch for which Batch has returned a *DivergedError, or for the
// batch for which Batch has returned a *LostError and all batches after it.
func (r *Replay) Collect(b *Batch) error {
	for i, data := range b.Each() {
		x, err := r.decode(b, i, data)
		if lost, ok := errors.AsType[*LostError](err); ok && r.Lost != nil {
			r.Lost(lost)
			continue
		}
		if err == nil && r.Misfit != nil && x.event.Kind != machine.Cancel {
			err = r.codec.fits(&x)
		}
		if path := r.codec.pathOf(data); err != nil && r.Misfit != nil && path != "" && !isLoss(err) {
			r.Misfit(path, err)
			continue
		}
		if err != nil {
			return err
		}
		kept := Kept{Ref: x.ref, Data: x.data, Path: x.path, Event: x.event, pause: x.event.ID.Attempt == machine.PauseAttempt}
		r.kept = append(r.kept, kept.undecided())
	}
	return nil
}

// isLoss reports whether an event could not be read because a secret or a blob is missing.
func isLoss(err error) bool {
	_, secretMissing := errors.AsType[*secret.MissingError](err)
	_, lost := errors.AsType[*LostError](err)
	_, damaged := errors.AsType[*store.DamageError](err)
	return secretMissing || lost || damaged
}

// pathOf returns the path of the node that an event of a journal answers, "" if it answers none.
func (k *Codec) pathOf(data []byte) string {
	var e struct {
		Node string `json:"node"`
		Kept *struct {
			Seq   uint64 `json:"seq"`
			Event int    `json:"event"`
		} `json:"kept"`
	}
	if json.Unmarshal(data, &e) != nil {
		return ""
	}
	if e.Kept == nil || k.Kept == nil {
		return e.Node
	}
	earlier, err := k.Kept(Ref{e.Kept.Seq, e.Kept.Event})
	if err != nil {
		return ""
	}
	return k.pathOf(earlier)
}

// decode reads event i of a batch.
func (r *Replay) decode(b *Batch, i int, data []byte) (decodedEvent, error) {
	x, err := r.codec.decodeEvent(data)
	if damage, ok := errors.AsType[*store.DamageError](err); ok && x.event != nil {
		return x, &LostError{Path: x.path, ID: x.event.ID, Err: damage}
	}
	if err != nil {
		return x, fmt.Errorf("batch %d, event %d: %w", b.N, i+1, err)
	}
	if x.data == nil {
		x.ref, x.data = Ref{b.Seq, i}, data
	}
	return x, nil
}

// firstNode returns the path of the first node in commands, or else of the node that was answered
// last.
func firstNode(commands []machine.Command, last string) string {
	for i := range commands {
		c := &commands[i]
		if c.Op == machine.OpRun && c.Node != nil {
			return c.Call.Name(c.Node)
		}
	}
	return last
}

// apply applies an event. An event that the machine drops has no effect.
func (r *Replay) apply(x *decodedEvent) {
	e, dropped := x.event, r.m.Dropped()
	at := slices.IndexFunc(r.open, func(o *Open) bool { return o.answeredBy(e) })
	var retried map[int32]bool
	pause := at >= 0 && isPause(&r.open[at].Command)
	if r.keep && !pause {
		retried = r.retried(e)
	}
	r.m.Apply(e)
	if r.m.Dropped() > dropped {
		return
	}
	if r.keep {
		r.kept = append(r.kept, Kept{Ref: x.ref, Data: x.data, Path: x.path, Event: e, pause: pause, retried: retried})
	}
	if r.Answered != nil {
		r.Answered(x.ref, x.path, e)
	}
	r.worked(x.path, e.Ended)
	if x.read != nil {
		r.note(e.ID, x.read)
	}
	switch {
	case at < 0:
	case e.Kind == machine.Yielded:
		r.open[at].ID.To = min(r.open[at].ID.To, e.ID.To)
	default:
		r.open = slices.Delete(r.open, at, at+1)
	}
}

// isPause reports whether a command asks a person to continue before or after the node.
func isPause(c *machine.Command) bool {
	return c.Op == machine.OpRun && c.ID.Node >= 0 && !c.Node.Pull && c.Node != &c.Plan.Nodes[c.ID.Node]
}

// retried returns the items of an answer, or the execution, that get another attempt.
func (r *Replay) retried(e *machine.Event) map[int32]bool {
	if e.Kind != machine.Finished && e.Kind != machine.Placed || e.ID.Attempt <= 0 {
		return nil
	}
	var list map[int32]bool
	add := func(id machine.ID, o *machine.Outcome) {
		if r.m.Retries(id, o) {
			if list == nil {
				list = map[int32]bool{}
			}
			list[id.From] = true
		}
	}
	if e.Items == nil {
		add(e.ID, &e.Outcome)
	}
	for i := range e.Items {
		add(itemID(e.ID, e.ID.From+int32(i)), &e.Items[i])
	}
	return list
}

// worked notes that something happened in the nested runs around a node.
func (r *Replay) worked(path string, at int64) {
	for {
		path, _ = plan.CutPath(path)
		if r.lastWork == nil {
			r.lastWork = map[string]int64{}
		}
		r.lastWork[path] = max(r.lastWork[path], at)
		if path == "" {
			return
		}
	}
}

// resetIdle extends the timeouts of nested runs, parallel nodes and walks with a stall timeout by
// the time in which nothing was done in them, because later answers of other executions were kept.
func (r *Replay) resetIdle() {
	for _, o := range r.open {
		if !limitsWork(&o.Command) {
			continue
		}
		if idle := r.m.Now() - max(o.Issued, r.lastWork[o.Path()]); idle > 0 {
			r.m.ExtendRun(o.ID, time.Duration(idle))
		}
	}
}

// answeredBy reports whether an event answers the command. The end of a range may differ.
func (o *Open) answeredBy(e *machine.Event) bool {
	a, b := o.ID, e.ID
	if e.Kind == machine.Cancel || a.Frame != b.Frame || a.Node != b.Node || a.From != b.From || a.Attempt != b.Attempt || a.Node < 0 && a != b {
		return false
	}
	switch e.Kind {
	case machine.Finished, machine.Yielded:
		return o.Op == machine.OpRun
	case machine.Placed, machine.Gone:
		return o.Op == machine.OpPlace
	case machine.TimerFired:
		return o.Op == machine.OpTimer
	case machine.Expired:
		return o.Op == machine.OpDeadline
	}
	return false
}

// take keeps the commands that are to be answered, and applies the others to them.
func (r *Replay) take(commands []machine.Command) {
	for i := range commands {
		switch c := &commands[i]; c.Op {
		case machine.OpRun, machine.OpTimer, machine.OpDeadline, machine.OpPlace:
			r.open = append(r.open, &Open{Command: *c, Batch: r.batches, Issued: r.m.Now()})
		case machine.OpFinish:
			r.report = c.Report
		case machine.OpEmit:
			if r.Listener != nil {
				r.Listener(c.Events)
			}
		case machine.OpMet:
			r.open = slices.DeleteFunc(r.open, func(o *Open) bool { return o.Op == machine.OpDeadline && o.ID == c.ID })
		case machine.OpCancel:
			for _, o := range r.open {
				o.Cancelled = o.Cancelled || o.Op == machine.OpRun && o.ID.Frame == c.ID.Frame
			}
		case machine.OpGiveUp:
			for _, o := range r.open {
				o.Cancelled = o.Cancelled || o.inside(c.ID)
			}
		}
	}
}

// inside reports whether OpGiveUp with an ID cancels the command. The items of a range are
// cancelled together: the item before the first cancelled one has ended.
func (o *Open) inside(id machine.ID) bool {
	return o.Op == machine.OpRun && o.ID.Frame == id.Frame && o.ID.Node == id.Node && (o.ID.To == 0 || o.ID.From >= id.From || o.Node.Source == nil && o.ID.To > id.From)
}

// Mark replays a mark. What has an effect is the time without a process before store.MarkResumed, and
// Mark.Kept.
func (r *Replay) Mark(m *Mark) {
	if m.Kept {
		r.resetIdle()
	}
	if m.Kind == store.MarkResumed {
		r.m.Extend(m.Down)
	}
}

// Open returns the commands that were issued and not answered, in canonical order. Timers that the
// machine does not wait for any more are left out. The calls have the rows that Fill has given to
// the machine.
func (r *Replay) Open() []Open {
	list := make([]Open, 0, len(r.open))
	for _, o := range r.open {
		c := *o
		if o.Op == machine.OpTimer || o.Op == machine.OpDeadline {
			due, ok := r.m.Timer(o.ID)
			if !ok {
				continue
			}
			c.Due = due
		}
		r.m.FillRows(&c.Command)
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Open) int { return r.m.Compare(a.ID, b.ID) })
	return list
}
