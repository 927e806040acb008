package journal

import (
	"fmt"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// MaxInline limits the length in bytes of the JSON of a value that is part of a record. A larger
// value becomes a blob.
const MaxInline = 64 << 10

// Codec writes the events of a run as JSON and reads them back. It is safe for concurrent use if
// Put and Get are.
type Codec struct {
	// Plan is the plan of the run.
	Plan *plan.Plan
	// Secrets replaces the values of secrets by their names.
	Secrets secret.Sealer
	// Put stores a blob before the record that refers to it, and returns its name. If it is nil,
	// all values are part of their records.
	Put func(data []byte) (sum string, err error)
	// Get returns a blob by the name that Put returned. It may be nil if there are no blobs.
	Get func(sum string) ([]byte, error)
	// Rows makes the answers to reads of streams contain the rows. A journal does without: its
	// events have the number and a checksum of the rows, and DecodeEvent returns a machine.Row for
	// each. The rows that nested runs get are always written, because what these runs do depends on
	// them.
	Rows bool
	// PlanAt returns the plan of the frame at a path. If PlanAt is nil, the frames have Plan and its
	// nested plans; a run that has changed its graph has other plans.
	PlanAt func(path string) (*plan.Plan, error)
	// Kept returns an event of an earlier part of the journal; see AppendKept. It may be nil if the
	// journal has one part.
	Kept func(Ref) ([]byte, error)
}

// Ref identifies an event of a journal.
type Ref struct {
	Seq   uint64 // of the record of its batch
	Event int    // index within the batch
}

// Encoded is the JSON form of an event, and the blobs that it refers to. Its buffers are used
// again by the next call of AppendEvent.
type Encoded struct {
	JSON  []byte
	Blobs []string
}

// kindNames are the names of kinds of events. The most frequent kind has no name.
var kindNames = [...]string{machine.Finished: "", machine.TimerFired: "fired", machine.Expired: "expired", machine.Cancel: "cancel",
	machine.Yielded: "yielded", machine.Placed: "placed", machine.Gone: "gone"}

// AppendEvent appends the JSON form of an event to x. c is the command that the event answers, nil
// for the event Cancel. An error means that a value has no JSON form or that a blob could not be
// stored; x then has its former length. Events without values of Go types other than numbers,
// strings and booleans take no allocation once the buffers are large enough.
func (k *Codec) AppendEvent(x *Encoded, c *machine.Command, e *machine.Event) error {
	return k.appendEvent(x, c, e, nil)
}

// appendEvent is AppendEvent for an event that may have been decoded. read are the rows that it has read,
// nil if it has the rows themselves or has read none.
func (k *Codec) appendEvent(x *Encoded, c *machine.Command, e *machine.Event, read *readRecord) error {
	w := writer{buf: x.JSON, blobs: x.Blobs, codec: k, read: read}
	w.event(c, e)
	if w.err != nil {
		return fmt.Errorf("answer to %s: %w", e.ID, w.err)
	}
	x.JSON, x.Blobs = w.buf, w.blobs
	return nil
}

// AppendKept appends an event that repeats one of an earlier part of the journal, for another range
// of items or another attempt. It contains only the reference to that event.
func (k *Codec) AppendKept(x *Encoded, ref Ref, id machine.ID) {
	w := writer{buf: x.JSON, codec: k}
	w.open('{')
	w.key("kept")
	w.open('{')
	w.int("seq", int64(ref.Seq))
	w.int("event", int64(ref.Event))
	w.close('}')
	w.int("from", int64(id.From))
	w.int("to", int64(id.To))
	w.int("attempt", int64(id.Attempt))
	w.close('}')
	x.JSON = w.buf
}

// AppendOutcome appends the JSON form of the outcome of an execution of a node of p, the plan of the run or of
// a workflow nested in it.
func (k *Codec) AppendOutcome(buf []byte, p *plan.Plan, o *machine.Outcome) ([]byte, error) {
	w := writer{buf: buf, codec: k}
	w.outcome(&machine.Command{Plan: p}, o)
	return w.buf, w.err
}

func (w *writer) event(c *machine.Command, e *machine.Event) {
	w.open('{')
	w.text("kind", kindNames[e.Kind])
	if c != nil {
		w.id(c, e.ID)
	}
	w.int("started", e.Started)
	w.int("ended", e.Ended)
	if c != nil {
		read := !w.codec.Rows && c.Op == machine.OpRun && c.Node.Pull && e.Outcome.HasOutput
		if read {
			w.rows(c, e)
		}
		if !e.Outcome.Empty() && (!read || machine.DependsOnRows(c.Plan, c.ID)) {
			w.key("outcome")
			w.outcome(c, &e.Outcome)
		}
		w.items(c, e)
	}
	if e.Position != nil {
		w.key("position")
		w.value(e.Position)
	}
	w.close('}')
}

// id writes the ID of an event.
func (w *writer) id(c *machine.Command, id machine.ID) {
	path := c.Path()
	switch {
	case id.IsWatch():
		w.key("watch")
		w.string(path)
		w.int("frame", id.Frame)
		w.int("attempt", int64(id.Attempt))
		return
	case id.Node < 0:
		w.key("run")
		w.string(path)
	case int(id.Node) >= len(c.Plan.Nodes):
		w.fail(fmt.Errorf("the plan has no node %d", id.Node))
		return
	default:
		w.key("node")
		w.buf = append(w.buf, '"')
		if path != "" {
			w.buf = append(append(w.buf, path...), '/')
		}
		w.buf = append(append(w.buf, c.Plan.Nodes[id.Node].ID...), '"') // an ID needs no escape
	}
	w.int("frame", id.Frame)
	w.int("from", int64(id.From))
	w.int("to", int64(id.To))
	w.int("attempt", int64(id.Attempt))
}

// rows writes the number of the rows that an answer has read, and their checksum.
func (w *writer) rows(c *machine.Command, e *machine.Event) {
	if w.read != nil {
		w.rowSum(w.read.from, w.read.sum)
		return
	}
	rows, from := readRows(c.Plan, e), int64(c.ID.From)
	if c.Call != nil && c.Plan.Vertices[c.Plan.Nodes[c.ID.Node].Vertex].Unit != nil {
		from = int64(c.Call.Taken)
	}
	var sum RowSum
	var room writer
	for _, row := range rows {
		if err := sum.add(row, &room); err != nil {
			w.fail(err)
			return
		}
	}
	w.rowSum(from, sum)
}

func (w *writer) rowSum(from int64, sum RowSum) {
	w.key("rows")
	w.open('{')
	w.int("from", from)
	w.int("n", sum.n)
	w.int("sum", int64(sum.sum))
	w.close('}')
}

// items writes the outcomes of the items of a range.
func (w *writer) items(c *machine.Command, e *machine.Event) {
	n := max(0, int(e.ID.To-e.ID.From))
	if e.Items != nil {
		if len(e.Items) != n {
			w.fail(fmt.Errorf("%d outcomes for %d items", len(e.Items), n))
			return
		}
		w.outcomes(c, e)
	}
	w.columns(c, e, n)
	if ends := e.Ends[:min(n, len(e.Ends))]; len(ends) > 0 {
		w.key("ends")
		w.open('[')
		before := e.Started
		for _, end := range ends { // each one relative to the one before it
			w.comma()
			w.buf = strconv.AppendInt(w.buf, end-before, 10)
			before = end
		}
		w.close(']')
	}
}

// outcomes writes the outcomes that are not empty, by their place in the range.
func (w *writer) outcomes(c *machine.Command, e *machine.Event) {
	any := !e.Outcome.Empty() // distinguishes an event with items from an event whose outcome applies to each item
	for i := range e.Items {
		any = any || !e.Items[i].Empty()
	}
	if !any {
		return
	}
	w.key("items")
	w.open('{')
	for i := range e.Items {
		if o := &e.Items[i]; !o.Empty() {
			w.comma()
			w.buf = append(strconv.AppendInt(append(w.buf, '"'), int64(i), 10), '"', ':')
			w.outcome(c, o)
		}
	}
	w.close('}')
}

func (w *writer) columns(c *machine.Command, e *machine.Event, n int) {
	opened := false
	for k, column := range e.Writes {
		if column == nil || column.Empty() {
			continue
		}
		if column.Len() < n {
			w.fail(fmt.Errorf("writes of %d items for %d", column.Len(), n))
			return
		}
		if !opened {
			w.key("writes")
			w.open('{')
			opened = true
		}
		w.key(c.Plan.Schema.Fields[c.Node.WriteFields[k]].Name)
		w.column(column, n)
	}
	if opened {
		w.close('}')
	}
}

func (w *writer) outcome(c *machine.Command, o *machine.Outcome) {
	w.open('{')
	w.int("status", int64(o.Status))
	if len(o.Writes) > 0 {
		w.key("writes")
		w.open('{')
		for i := range o.Writes {
			w.key(c.Plan.Schema.Fields[o.Writes[i].Field].Name)
			w.value(o.Writes[i].Value)
		}
		w.close('}')
	}
	if o.HasOutput {
		w.key("output")
		w.value(o.Output)
	}
	w.failure(o.Failure)
	w.text("note", o.Note)
	w.text("text", o.Text)
	w.route(o.Route)
	w.usage(o.Usage)
	if o.Claim != nil {
		w.key("claim")
		w.claim(o.Claim)
	}
	w.text("why", o.Why)
	w.close('}')
}

func (w *writer) failure(f *core.Failure) {
	if f == nil {
		return
	}
	w.key("failure")
	w.open('{')
	w.text("class", f.Class)
	w.text("message", f.Message)
	w.flag("permanent", f.Permanent)
	w.text("category", string(f.Category))
	w.text("signature", f.Signature)
	w.flag("fails_run", f.FailsRun)
	w.int("retry_after", int64(f.RetryAfter))
	w.text("node", f.Node)
	w.text("stack", f.Stack)
	w.close('}')
}

func (w *writer) route(r *machine.Route) {
	if r == nil {
		return
	}
	w.key("route")
	w.open('{')
	w.text("label", r.Label)
	w.strings("next", r.Next)
	if r.Evals != nil {
		w.key("evals")
		w.value(r.Evals)
	}
	if r.Visited != nil {
		w.key("visited")
		w.visited(r.Visited)
	}
	if a := r.Answer; a != nil {
		w.key("answer")
		w.open('{')
		w.int("choice", int64(a.Choice))
		w.flag("unusable", a.Unusable)
		w.text("raw", a.Raw)
		w.text("view_hash", a.ViewHash)
		w.close('}')
	}
	w.close('}')
}

func (w *writer) usage(u *core.Usage) {
	if u == nil {
		return
	}
	w.key("usage")
	w.open('{')
	w.int("calls", u.Calls)
	w.int("input_tokens", u.Input)
	w.int("cached_input_tokens", u.CachedInput)
	w.int("output_tokens", u.Output)
	w.int("reasoning_tokens", u.Reasoning)
	w.int("estimated", u.Estimated)
	if u.Cost != 0 {
		w.key("cost")
		w.float(u.Cost)
	}
	w.close('}')
}

func (w *writer) claim(c *machine.Claim) {
	w.open('{')
	w.text("target", c.Target)
	w.text("name", c.Name)
	if c.More != nil {
		w.key("more")
		w.open('[')
		for i := range c.More {
			w.comma()
			w.claim(&c.More[i])
		}
		w.close(']')
	}
	w.flag("always", c.Always)
	w.close('}')
}

// readRows returns the elements of the stream that an answer has read.
func readRows(p *plan.Plan, e *machine.Event) []any {
	u := p.Vertices[p.Nodes[e.ID.Node].Vertex].Unit
	if list, ok := e.Outcome.Output.([]any); ok && (u == nil || u.Batch > 0) {
		return list
	}
	return []any{e.Outcome.Output}
}
