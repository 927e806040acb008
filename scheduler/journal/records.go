package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Format is the version of the form of records that this package writes.
const Format = store.Format

// Head is the first record of a run, or of a part of it that begins with a kept part of another
// one. It says what the run computes, and has all that is needed to compile it again.
type Head struct {
	Run      string `json:"run"`
	Workflow string `json:"workflow,omitempty"`
	// File is the document, relative to the folder that contains the store.
	File   string `json:"file,omitempty"`
	Format int    `json:"format"`
	// Engine is the version of the program, for messages. Logic and Cut are machine.Logic and
	// machine.Cut.
	Engine string `json:"engine,omitempty"`
	Logic  int    `json:"logic"`
	Cut    int    `json:"cut"`
	// Sources are the documents and files that the plan was compiled from.
	Sources []Source `json:"sources,omitempty"`
	// Plan is the fingerprint of the plan, and Order its order (plan.Plan.Order). Nodes are the
	// fingerprints of its nodes, pipelines and loops, and Fields describe the types of the state,
	// both by path; see plan.Recorded.
	Plan   string                          `json:"plan"`
	Order  string                          `json:"order"`
	Nodes  map[string]plan.PartFingerprint `json:"nodes,omitempty"`
	Fields map[string]string               `json:"fields,omitempty"`
	nodes  json.RawMessage                 // of Nodes, if they are not decoded
	of     *plan.Plan                      // the last plan for which IsOf was true
	// Inputs are the inputs of the run, after defaults.
	Inputs  *value.Object `json:"-"`
	Options Options       `json:"options"`
	// Seed is machine.Options.Seed, Events machine.Options.Events.
	Seed    uint64    `json:"seed,string"`
	Events  bool      `json:"events,omitempty"`
	Started time.Time `json:"started"`
	// Generations are the generations of the nodes that a resumed run has run again although they had
	// ended, by path; see core.Shared.Generation.
	Generations map[string]int `json:"generations,omitempty"`
	// Before is the number of the last event before this part of the journal.
	Before int64 `json:"before,omitempty"`
	// ConcurrencyKey is the evaluated key under which runs of the workflow do not overlap.
	ConcurrencyKey string  `json:"concurrency_key,omitempty"`
	Parent         *Parent `json:"parent,omitempty"`
	// Progress is the file that an incremental run replaces at its end.
	Progress string `json:"progress,omitempty"`
	// From is the cursor in that file when the run was started; nil if there was none.
	From json.RawMessage `json:"from,omitempty"`
	// Blobs are the blobs that Inputs refers to. The codec sets it.
	Blobs []string `json:"blobs,omitempty"`
}

// Source is a file that a plan was compiled from.
type Source struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"`
	Blob   string `json:"blob,omitempty"`
}

// SetPlan sets the members of the head that identify the plan of the run. r is p.Recorded.
func (h *Head) SetPlan(p *plan.Plan, r plan.Recorded) {
	h.Plan, h.Order, h.Nodes, h.Fields, h.of = r.Plan, p.Order(), r.Parts, r.Fields, nil
}

// Recorded returns what the head has of the plan, for plan.Plan.Since.
func (h *Head) Recorded() (plan.Recorded, error) {
	r := plan.Recorded{Plan: h.Plan, Parts: h.Nodes, Fields: h.Fields}
	if h.nodes == nil {
		return r, nil
	}
	err := json.Unmarshal(h.nodes, &r.Parts)
	return r, err
}

// Check returns a *store.FormatError if the journal has a later format than this package reads.
func (h *Head) Check() error {
	if h.Format > Format {
		return &store.FormatError{Format: h.Format}
	}
	return nil
}

// IsOf reports whether the run was started with the plan. It must not be called concurrently.
func (h *Head) IsOf(p *plan.Plan) bool {
	if h.of != p && h.Plan == p.Fingerprint() && h.Order == p.Order() {
		h.of = p
	}
	return h.of == p
}

// ParentReplay is the kind of a parent whose past a replay shares.
const ParentReplay = "replay"

// Parent is the run that a run continues.
type Parent struct {
	Run  string `json:"run"`
	From string `json:"from,omitempty"` // the node from which on it differs
	Kind string `json:"kind"`
	// Mock is the mock file that has given the answers of a replay, "" if its nodes have run.
	Mock string `json:"mock,omitempty"`
}

// Options are the settings of a run: the settings of the machine, and the settings of the driver
// that change what a run does.
type Options struct {
	Concurrency int  `json:"concurrency,omitempty"`
	MaxInFlight int  `json:"max_in_flight,omitempty"`
	Barrier     bool `json:"barrier,omitempty"`
	FailFast    bool `json:"fail_fast,omitempty"`
	MaxVisits   int  `json:"max_visits,omitempty"`
	SingleItems bool `json:"single_items,omitempty"`
	// AddedKinds are the kinds of nodes that walks by steps may add.
	AddedKinds []string `json:"added_kinds,omitempty"`
	// Assume are the nodes of a replay that have a status without running.
	Assume []machine.Assumption `json:"assume,omitempty"`
	// Set are the values that a replay gives to fields.
	Set []machine.Assignment `json:"set,omitempty"`

	Durability  string      `json:"durability,omitempty"`
	Budget      core.Budget `json:"budget,omitzero"`
	AutoApprove bool        `json:"auto_approve,omitempty"`
	Model       string      `json:"model,omitempty"`
	Parallel    int         `json:"parallel,omitempty"`
	Strict      bool        `json:"strict,omitempty"`
}

// SetMachine sets the members of the head that come from the options of the machine.
func (h *Head) SetMachine(o machine.Options) {
	h.Run, h.Seed, h.Events = o.Run, o.Seed, o.Events
	s := &h.Options
	s.Concurrency, s.MaxInFlight, s.Barrier, s.FailFast, s.MaxVisits, s.SingleItems = o.Concurrency, o.MaxInFlight, o.Barrier, o.FailFast, o.MaxVisits, o.SingleItems
	s.Assume, s.Set, s.AddedKinds = o.Assume, o.Set, o.AddedKinds
}

// Machine returns the options of the machine, without a guard.
func (h *Head) Machine() machine.Options {
	s := &h.Options
	return machine.Options{Run: h.Run, Seed: h.Seed, Events: h.Events, Concurrency: s.Concurrency, MaxInFlight: s.MaxInFlight, Barrier: s.Barrier,
		FailFast: s.FailFast, MaxVisits: s.MaxVisits, SingleItems: s.SingleItems, Assume: s.Assume, Set: s.Set, AddedKinds: s.AddedKinds}
}

// Batch is a call of machine.Machine.Next, and the events that were applied since the call before.
// The first batch of a run has no events. A later call without events and commands has no batch.
type Batch struct {
	// N counts from 1 in each part of a journal.
	N uint64
	// Seq is the number of the record in the journal. It is not part of the payload; a caller that
	// reads a journal sets it if answers are to be kept, see Replay.Keep.
	Seq uint64
	// At is the time of the machine.
	At int64
	// Events are the events in the form of Codec.AppendEvent, with commas between them.
	Events []byte
	// Issued is the checksum of the commands that Next returned; see Issuer.
	Issued uint32
	Blobs  []string
}

// Add appends an event.
func (b *Batch) Add(x *Encoded) {
	if len(b.Events) > 0 {
		b.Events = append(b.Events, ',')
	}
	b.Events = append(b.Events, x.JSON...)
	b.Blobs = append(b.Blobs, x.Blobs...)
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.Events, b.Blobs = b.Events[:0], b.Blobs[:0] }

// AppendJSON appends the payload of the record. It takes no allocation if dst is large enough.
func (b *Batch) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendUint(append(dst, `{"n":`...), b.N, 10)
	dst = strconv.AppendInt(append(dst, `,"at":`...), b.At, 10)
	if len(b.Events) > 0 {
		dst = append(append(append(dst, `,"events":[`...), b.Events...), ']')
	}
	dst = strconv.AppendUint(append(dst, `,"issued":`...), uint64(b.Issued), 10)
	for i, sum := range b.Blobs {
		if i == 0 {
			dst = append(dst, `,"blobs":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = value.AppendString(dst, sum)
	}
	if len(b.Blobs) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// DecodeBatch reads the payload of a batch, and uses its memory.
func DecodeBatch(data []byte) (*Batch, error) {
	b := &Batch{}
	err := eachMember(data, func(key string, v []byte) (err error) {
		switch key {
		case "n":
			b.N, err = strconv.ParseUint(string(v), 10, 64)
		case "at":
			b.At, err = strconv.ParseInt(string(v), 10, 64)
		case "issued":
			var n uint64
			n, err = strconv.ParseUint(string(v), 10, 32)
			b.Issued = uint32(n)
		case "blobs":
			err = json.Unmarshal(v, &b.Blobs)
		case "events":
			n := len(v)
			if n < 2 || v[0] != '[' || v[n-1] != ']' {
				return fmt.Errorf("events is %.20s, want a list", v)
			}
			b.Events = v[1 : n-1 : n-1]
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("batch %d: %w", b.N, err)
	}
	return b, nil
}

// EventOf returns the event with a reference from the payload of its batch.
func EventOf(batch []byte, ref Ref) ([]byte, error) {
	b, err := DecodeBatch(batch)
	if err != nil {
		return nil, err
	}
	list := b.Each()
	if ref.Event >= len(list) {
		return nil, fmt.Errorf("record %d has no event %d", ref.Seq, ref.Event)
	}
	return list[ref.Event], nil
}

// Each returns the JSON forms of the events. They do not share the memory of the batch.
func (b *Batch) Each() []json.RawMessage {
	events := bytes.Clone(b.Events)
	var list []json.RawMessage
	depth, from, quoted := 0, 0, false
	for i := 0; i < len(events); i++ {
		switch c := events[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 0:
			list, from = append(list, events[from:i:i]), i+1
		}
	}
	if len(events) > 0 {
		list = append(list, events[from:])
	}
	return list
}

// Side is an event that the driver has made, and not the machine: a question to a person or a
// model, its answer, or a call of a tool.
type Side struct {
	After uint64     `json:"after"` // the number of the batch before it
	Event core.Event `json:"event"`
}

// Mark is something that happened to a run and not in it.
type Mark struct {
	Kind string    `json:"kind"` // one of the Mark constants of package store
	At   int64     `json:"at"`   // time of the machine
	Wall time.Time `json:"wall"` // time of day
	Host string    `json:"host,omitempty"`
	By   string    `json:"by,omitempty"`
	PID  int       `json:"pid,omitempty"`
	// Down is the time without a process before the mark store.MarkResumed.
	Down time.Duration `json:"down,omitempty"`
	// Kept marks the place in a part of a journal after which there are no more kept answers of an
	// earlier part. Nested runs in which nothing was done since then have the same remaining time
	// as before.
	Kept bool `json:"kept,omitempty"`
	// Data is what else belongs to a mark of the kind, nil if there is nothing.
	Data *value.Object `json:"data,omitempty"`
	// Counts says how far a paused run has come, and Questions how many answers it waits for. Marks
	// of other kinds have neither.
	Counts    *Counts `json:"counts,omitempty"`
	Questions int     `json:"questions,omitempty"`
}

// Counts are the numbers of nodes of the root graph by status. Nodes that were not reached are only
// in Total.
type Counts struct {
	Total   int `json:"total"`
	Done    int `json:"done"` // success or partial success
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Running int `json:"running"`
	Waiting int `json:"waiting"` // for an answer of a person
}

// CountsOf counts the nodes of a report of a run of p. Nodes of a flow that no token can reach do not count. paused reports
// that the run ends in this process because every node that has begun and has not ended waits for an answer.
func CountsOf(p *plan.Plan, r *core.Report, paused bool) *Counts {
	c, reached := &Counts{}, p.TokensReach()
	for i, n := range r.Nodes() {
		if reached != nil && !reached[i] {
			continue
		}
		c.Total++
		switch n.Status {
		case core.Success, core.PartialSuccess:
			c.Done++
		case core.Fail:
			c.Failed++
		case core.Skipped:
			c.Skipped++
		default:
			switch begun := n.Attempts > 0 || n.Visits > 0; {
			case begun && paused:
				c.Waiting++
			case begun:
				c.Running++
			}
		}
	}
	return c
}

// End is the result of a part of a run.
type End struct {
	Status string     `json:"status"`
	Reason string     `json:"reason,omitempty"`
	At     int64      `json:"at"`
	Usage  core.Usage `json:"usage,omitzero"`
	Counts *Counts    `json:"counts,omitempty"`
	// Cursor has the members from and to: what an incremental run began after, and what the next
	// one is to begin after. It is nil for other runs.
	Cursor *value.Object `json:"cursor,omitempty"`
	Report *value.Object `json:"report,omitempty"`
}

// AppendHead appends the payload of a head.
func (k *Codec) AppendHead(dst []byte, h *Head) ([]byte, error) {
	with := *h
	inputs := writer{codec: k}
	if h.Inputs != nil {
		inputs.value(h.Inputs)
		if inputs.err != nil {
			return dst, fmt.Errorf("inputs: %w", inputs.err)
		}
		with.Blobs = inputs.blobs
	}
	n := len(dst)
	dst, err := k.appendRecord(dst, &with)
	if err != nil || h.Inputs == nil {
		return dst, err
	}
	rest := string(dst[n+1:])
	return append(append(append(append(dst[:n], `{"inputs":`...), inputs.buf...), ','), rest...), nil
}

// DecodeHead reads the payload of a head. What it has of the parts of the plan is decoded by Recorded.
func (k *Codec) DecodeHead(data []byte) (*Head, error) {
	h := &Head{}
	rest, err := h.withoutNodes(data)
	if err != nil {
		return nil, err
	}
	o, err := k.decodeRecord(rest, h)
	if err != nil {
		return nil, err
	}
	inputs, _ := o.Get("inputs")
	h.Inputs, _ = inputs.(*value.Object)
	return h, nil
}

// withoutNodes returns the payload of a head without its nodes, and keeps them for Recorded: in a large workflow they
// are most of the head, and few readers need them.
func (h *Head) withoutNodes(data []byte) ([]byte, error) {
	rest := []byte{'{'}
	err := eachMember(data, func(key string, v []byte) error {
		if key == "nodes" {
			h.nodes = v
			return nil
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(value.AppendString(rest, key), ':'), v...)
		return nil
	})
	return append(rest, '}'), err
}

// openInputs decodes the sealed inputs of a head.
func (k *Codec) openInputs(sealed []byte) (*value.Object, error) {
	if sealed == nil {
		return nil, nil
	}
	v, err := value.ParseJSON(sealed)
	if err != nil {
		return nil, err
	}
	d := decoder{codec: k}
	inputs, _ := d.value(v).(*value.Object)
	return inputs, d.err
}

// openAssignments decodes the sealed values of a head that a replay gives to fields.
func (k *Codec) openAssignments(list []machine.Assignment) error {
	d := decoder{codec: k}
	for i := range list {
		list[i].Value = d.value(list[i].Value)
	}
	return d.err
}

// SealedHead reads the payload of a head without its inputs. Secrets stay sealed, because the plan that
// has them is not known before the head is read. What it has of the parts of the plan is decoded by Recorded.
func SealedHead(data []byte) (*Head, error) {
	h, _, err := sealedHead(data)
	return h, err
}

// sealedHead is SealedHead, and returns the inputs in their sealed form.
func sealedHead(data []byte) (*Head, []byte, error) {
	h := struct {
		*Head
		Inputs json.RawMessage `json:"inputs"`
	}{Head: &Head{}}
	rest, err := h.withoutNodes(data)
	if err == nil {
		err = json.Unmarshal(rest, &h)
	}
	return h.Head, h.Inputs, err
}

// AppendSide appends the payload of a side record.
func (k *Codec) AppendSide(dst []byte, s *Side) ([]byte, error) { return k.appendRecord(dst, s) }

// AppendMark appends the payload of a mark.
func (k *Codec) AppendMark(dst []byte, m *Mark) ([]byte, error) { return k.appendRecord(dst, m) }

// AppendEnd appends the payload of an end.
func (k *Codec) AppendEnd(dst []byte, e *End) ([]byte, error) { return k.appendRecord(dst, e) }

// DecodeSide reads the payload of a side record.
func (k *Codec) DecodeSide(data []byte) (*Side, error) { return decodeAs[Side](k, data) }

// DecodeMark reads the payload of a mark.
func (k *Codec) DecodeMark(data []byte) (*Mark, error) { return decodeAs[Mark](k, data) }

// DecodeEnd reads the payload of an end.
func (k *Codec) DecodeEnd(data []byte) (*End, error) { return decodeAs[End](k, data) }

func decodeAs[T any](k *Codec, data []byte) (*T, error) {
	v := new(T)
	if _, err := k.decodeRecord(data, v); err != nil {
		return nil, err
	}
	return v, nil
}

// appendRecord appends a record other than a batch. Such records are rare.
func (k *Codec) appendRecord(dst []byte, record any) ([]byte, error) {
	plain, err := json.Marshal(record)
	if err != nil {
		return dst, err
	}
	v, err := value.ParseJSON(plain)
	if err != nil {
		return dst, err
	}
	w := writer{buf: slices.Grow(dst, len(plain)), codec: k}
	w.nested(v, 0)
	return w.buf, w.err
}

// decodeRecord reads what appendRecord has written, and returns it as an object, too.
func (k *Codec) decodeRecord(data []byte, record any) (*value.Object, error) {
	v, err := value.ParseJSON(data)
	if err != nil {
		return nil, err
	}
	d := decoder{codec: k}
	o, ok := d.value(v).(*value.Object)
	switch {
	case d.err != nil:
		return nil, d.err
	case !ok:
		return nil, fmt.Errorf("a record is %s, want an object", value.TypeName(v))
	}
	plain, err := value.AppendJSON(nil, o)
	if err != nil {
		return nil, err
	}
	return o, json.Unmarshal(plain, record)
}
