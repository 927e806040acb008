package journal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// DecodeEvent returns the event whose JSON form AppendEvent has written. Rows that were not written
// are of type machine.Row.
func (k *Codec) DecodeEvent(data []byte) (*machine.Event, error) {
	x, err := k.decodeEvent(data)
	if err != nil {
		return nil, err
	}
	return x.event, nil
}

// DecodeOutcome returns the outcome whose JSON form AppendOutcome has written.
func (k *Codec) DecodeOutcome(p *plan.Plan, data []byte) (machine.Outcome, error) {
	v, err := value.ParseJSON(data)
	if err != nil {
		return machine.Outcome{}, err
	}
	o, ok := v.(*value.Object)
	if !ok {
		return machine.Outcome{}, fmt.Errorf("an outcome is %s, want an object", value.TypeName(v))
	}
	d := decoder{codec: k}
	out := d.outcome(p, o)
	return out, d.err
}

// decodedEvent is an event of a journal.
type decodedEvent struct {
	event *machine.Event
	path  string      // of the node, or of the run as a whole
	read  *readRecord // the rows that were read, nil if none were
	// ref and data are the reference and the JSON form of the event of an earlier part that it
	// repeats. data is nil if it repeats none.
	ref  Ref
	data []byte
}

func (k *Codec) decodeEvent(data []byte) (decodedEvent, error) {
	v, err := value.ParseJSON(data)
	if err != nil {
		return decodedEvent{}, err
	}
	o, ok := v.(*value.Object)
	if !ok {
		return decodedEvent{}, fmt.Errorf("an event is %s, want an object", value.TypeName(v))
	}
	d := decoder{codec: k}
	if kept, ok := member[*value.Object](&d, o, "kept"); ok {
		return d.kept(kept, o)
	}
	e := d.event(o)
	return decodedEvent{event: e, path: d.path, read: d.read}, d.err
}

// kept reads an event that repeats one of an earlier part.
func (d *decoder) kept(ref, o *value.Object) (decodedEvent, error) {
	r := Ref{uint64(d.int(ref, "seq")), int(d.int(ref, "event"))}
	id := machine.ID{From: d.int32(o, "from"), To: d.int32(o, "to"), Attempt: d.int32(o, "attempt")}
	switch {
	case d.err != nil:
		return decodedEvent{}, d.err
	case d.codec.Kept == nil:
		return decodedEvent{}, errors.New("the codec has no earlier part of the journal")
	}
	data, err := d.codec.Kept(r)
	if err != nil {
		return decodedEvent{}, err
	}
	x, err := d.codec.decodeEvent(data)
	if err != nil || x.data != nil {
		return x, fmt.Errorf("event %d of record %d, which is kept: %w", r.Event, r.Seq, err)
	}
	x.ref, x.data = r, data
	x.event, err = part(x.event, id)
	return x, err
}

// part returns an event for another attempt or a part of its items.
func part(e *machine.Event, id machine.ID) (*machine.Event, error) {
	out := *e
	out.ID.From, out.ID.To, out.ID.Attempt = id.From, id.To, id.Attempt
	if id.From == e.ID.From && id.To == e.ID.To {
		return &out, nil
	}
	if id.From < e.ID.From || id.To > e.ID.To || id.To <= id.From {
		return nil, fmt.Errorf("the items %d to %d of an event of %s", id.From, id.To, e.ID)
	}
	at, n := int(id.From-e.ID.From), int(id.To-id.From)
	if e.Items != nil {
		out.Items = e.Items[at : at+n]
	}
	if len(e.Ends) > at {
		out.Ends = e.Ends[at:min(at+n, len(e.Ends))]
	}
	out.Writes = nil
	for _, w := range e.Writes {
		var own *state.ItemWrites
		if w != nil {
			own = w.SameForm(n)
			own.Copy(0, w, at, n)
		}
		out.Writes = append(out.Writes, own)
	}
	return &out, nil
}

// decoder reads members of parsed JSON. It keeps the first error, after which it returns zero
// values.
type decoder struct {
	codec *Codec
	path  string
	read  *readRecord
	err   error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// member returns a member of an object as a T, and whether there is one.
func member[T any](d *decoder, o *value.Object, name string) (v T, ok bool) {
	x, ok := o.Get(name)
	if !ok {
		return v, false
	}
	if v, ok = x.(T); !ok {
		d.fail("%s is %s", name, value.TypeName(x))
	}
	return v, ok
}

func (d *decoder) int(o *value.Object, name string) int64 {
	i, _ := member[int64](d, o, name)
	return i
}

// int32 reads a number of items, rounds or attempts.
func (d *decoder) int32(o *value.Object, name string) int32 {
	i := d.int(o, name)
	if int64(int32(i)) != i {
		d.fail("%s is %d", name, i)
	}
	return int32(i)
}

func (d *decoder) flag(o *value.Object, name string) bool {
	b, _ := member[bool](d, o, name)
	return b
}

func (d *decoder) text(o *value.Object, name string) string {
	s, _ := member[string](d, o, name)
	return d.string(s)
}

// string is the inverse of writer.string.
func (d *decoder) string(s string) string {
	if coded, ok := strings.CutPrefix(s, bytesPrefix); ok {
		raw, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			d.fail("a string that is not valid: %w", err)
		}
		s = string(raw)
	}
	s, err := d.codec.Secrets.Open(s)
	if err != nil {
		d.fail("%w", err)
	}
	return s
}

func (d *decoder) event(o *value.Object) *machine.Event {
	e := &machine.Event{Started: d.int(o, "started"), Ended: d.int(o, "ended")}
	kind := slices.Index(kindNames[:], d.text(o, "kind"))
	if kind < 0 {
		d.fail("the kind of event %q is unknown", d.text(o, "kind"))
		return e
	}
	e.Kind = machine.EventKind(kind)
	if e.Kind == machine.Cancel {
		return e
	}
	p := d.id(o, e)
	if d.err != nil {
		return e
	}
	if pos, ok := member[*value.Object](d, o, "position"); ok {
		e.Position, _ = d.value(pos).(*value.Object)
	}
	if out, ok := member[*value.Object](d, o, "outcome"); ok {
		e.Outcome = d.outcome(p, out)
	}
	if rows, ok := member[*value.Object](d, o, "rows"); ok {
		d.rows(p, rows, e)
	}
	d.items(p, o, e)
	return e
}

// id reads the ID of an event, and returns the plan of its frame.
func (d *decoder) id(o *value.Object, e *machine.Event) *plan.Plan {
	e.ID = machine.ID{Frame: d.int(o, "frame"), From: d.int32(o, "from"), To: d.int32(o, "to"), Attempt: d.int32(o, "attempt")}
	if path, ok := member[string](d, o, "watch"); ok {
		e.ID.Node, e.ID.To, d.path = -1, -1, path
		return d.frame(path)
	}
	if path, ok := member[string](d, o, "run"); ok {
		e.ID.Node, d.path = -1, path
		return d.frame(path)
	}
	path, ok := member[string](d, o, "node")
	if !ok {
		d.fail("the event names no node")
		return nil
	}
	d.path = path
	name := path[strings.LastIndexByte(path, '/')+1:]
	p := d.frame(strings.TrimSuffix(path[:len(path)-len(name)], "/"))
	if p == nil {
		return nil
	}
	n, ok := p.Node(name)
	if !ok {
		if d.err == nil {
			d.err = &UnknownNodeError{Path: path, Frame: e.ID.Frame}
		}
		return nil
	}
	e.ID.Node = n.Index
	if e.ID.To < e.ID.From || e.ID.From < 0 {
		d.fail("the items %d to %d of node %q", e.ID.From, e.ID.To, path)
	}
	return p
}

// UnknownNodeError is the error about an event of a node that the plan of its frame does not have. The
// node may have been added by a nested run that has ended: the event is then too late, and a duplicate.
type UnknownNodeError struct {
	Path  string
	Frame int64
}

// Error returns the message.
func (e *UnknownNodeError) Error() string { return fmt.Sprintf("the workflow has no node %q", e.Path) }

// frame returns the plan of the frame at a path such as "outer[3]/mid".
func (d *decoder) frame(path string) *plan.Plan {
	p, err := d.codec.planAt(path)
	if err != nil {
		d.fail("%w", err)
	}
	return p
}

// rows reads what is known of rows that were read.
func (d *decoder) rows(p *plan.Plan, o *value.Object, e *machine.Event) {
	from, n, sum := d.int(o, "from"), d.int(o, "n"), d.int(o, "sum")
	if n < 1 || n > maxRows || from < 0 || e.ID.Node < 0 || int64(uint32(sum)) != sum {
		d.fail("%d rows from %d on", n, from)
		return
	}
	d.read = &readRecord{from, RowSum{n, uint32(sum)}, e.Position}
	if e.Outcome.HasOutput { // the rows were written, too
		return
	}
	list := make([]any, n)
	for i := range list {
		list[i] = machine.Row(from + int64(i))
	}
	e.Outcome.Output, e.Outcome.HasOutput = list, true
	if u := p.Vertices[p.Nodes[e.ID.Node].Vertex].Unit; u != nil && u.Batch == 0 {
		e.Outcome.Output = list[0]
	}
}

// maxRows limits the rows of one answer. A driver reads far fewer at a time; a larger number is
// damage, and would take all memory.
const maxRows = 1 << 24

func (d *decoder) items(p *plan.Plan, o *value.Object, e *machine.Event) {
	n := max(0, int(e.ID.To)-int(e.ID.From))
	if items, ok := member[*value.Object](d, o, "items"); ok {
		if n > maxRows {
			d.fail("%d items", n)
			return
		}
		e.Items = make([]machine.Outcome, n)
		for name, v := range items.All() {
			at, err := strconv.Atoi(name)
			out, ok := v.(*value.Object)
			if err != nil || at < 0 || at >= n || !ok {
				d.fail("the outcome of item %q of %d", name, n)
				return
			}
			e.Items[at] = d.outcome(p, out)
		}
	}
	if writes, ok := member[*value.Object](d, o, "writes"); ok && e.ID.Node >= 0 {
		d.columns(p, writes, e, n)
	}
	if ends, ok := member[[]any](d, o, "ends"); ok {
		at := e.Started
		for _, v := range ends {
			by, ok := v.(int64)
			if !ok {
				d.fail("an instant is %s", value.TypeName(v))
				return
			}
			at += by
			e.Ends = append(e.Ends, at)
		}
	}
}

func (d *decoder) columns(p *plan.Plan, writes *value.Object, e *machine.Event, n int) {
	fields := p.Nodes[e.ID.Node].WriteFields
	e.Writes = make([]*state.ItemWrites, len(fields))
	for name, v := range writes.All() {
		list, ok := v.([]any)
		field := d.field(p, name)
		at := slices.Index(fields, field)
		if d.err == nil && at < 0 {
			d.fail("it writes %q, which is not among the writes of the node", name)
		}
		if d.err != nil || !ok || len(list) != n {
			d.fail("writes of %d items to %q: %d are written", n, name, len(list))
			return
		}
		column := state.NewItemWrites(&p.Schema.Fields[field], n)
		for i := range list {
			if x := d.restored(p, field, list[i]); !value.IsMissing(x) {
				column.Set(i, x)
			}
		}
		e.Writes[at] = column
	}
}

func (d *decoder) field(p *plan.Plan, name string) int32 {
	i, ok := p.Schema.Index(name)
	if !ok {
		d.fail("the state has no field %q", name)
		return -1
	}
	return int32(i)
}

// restored reads a value of a field.
func (d *decoder) restored(p *plan.Plan, field int32, v any) any {
	x := d.value(v)
	if d.err != nil {
		return nil
	}
	x, err := p.Schema.Fields[field].Restore(x)
	if err != nil {
		d.fail("field %q: %w", p.Schema.Fields[field].Name, err)
	}
	return x
}

func (d *decoder) outcome(p *plan.Plan, o *value.Object) machine.Outcome {
	out := machine.Outcome{Status: core.Status(d.int(o, "status")), Note: d.text(o, "note"), Text: d.text(o, "text"), Why: d.text(o, "why")}
	if writes, ok := member[*value.Object](d, o, "writes"); ok {
		for name, v := range writes.All() {
			field := d.field(p, name)
			if d.err != nil {
				return out
			}
			out.Writes = append(out.Writes, plan.Write{Field: field, Value: d.restored(p, field, v)})
		}
	}
	if v, ok := o.Get("output"); ok {
		out.Output, out.HasOutput = d.value(v), true
	}
	if f, ok := member[*value.Object](d, o, "failure"); ok {
		out.Failure = &core.Failure{Class: d.text(f, "class"), Message: d.text(f, "message"), Permanent: d.flag(f, "permanent"),
			Category: core.Category(d.text(f, "category")), Signature: d.text(f, "signature"), FailsRun: d.flag(f, "fails_run"),
			RetryAfter: time.Duration(d.int(f, "retry_after")), Node: d.text(f, "node"), Stack: d.text(f, "stack")}
	}
	if r, ok := member[*value.Object](d, o, "route"); ok {
		out.Route = d.route(r)
	}
	if u, ok := member[*value.Object](d, o, "usage"); ok {
		out.Usage = d.usage(u)
	}
	if c, ok := member[*value.Object](d, o, "claim"); ok {
		claim := d.claim(c)
		out.Claim = &claim
	}
	return out
}

func (d *decoder) route(o *value.Object) *machine.Route {
	r := &machine.Route{Label: d.text(o, "label")}
	r.Next = d.strings(o, "next")
	if evals, ok := member[*value.Object](d, o, "evals"); ok {
		r.Evals, _ = d.value(evals).(*value.Object)
	}
	if s, ok := member[*value.Object](d, o, "visited"); ok {
		r.Visited = d.visited(s)
	}
	if a, ok := member[*value.Object](d, o, "answer"); ok {
		r.Answer = &core.RouteAnswer{Choice: int(d.int(a, "choice")), Unusable: d.flag(a, "unusable"), Raw: d.text(a, "raw"), ViewHash: d.text(a, "view_hash")}
	}
	return r
}

func (d *decoder) usage(o *value.Object) *core.Usage {
	u := &core.Usage{Calls: d.int(o, "calls"), Input: d.int(o, "input_tokens"), CachedInput: d.int(o, "cached_input_tokens"),
		Output: d.int(o, "output_tokens"), Reasoning: d.int(o, "reasoning_tokens"), Estimated: d.int(o, "estimated")}
	if v, ok := o.Get("cost"); ok {
		u.Cost, _ = d.value(v).(float64)
	}
	return u
}

func (d *decoder) claim(o *value.Object) machine.Claim {
	c := machine.Claim{Target: d.text(o, "target"), Name: d.text(o, "name"), Always: d.flag(o, "always")}
	more, _ := member[[]any](d, o, "more")
	for _, v := range more {
		inner, ok := v.(*value.Object)
		if !ok {
			d.fail("a claim is %s", value.TypeName(v))
			return c
		}
		c.More = append(c.More, d.claim(inner))
	}
	return c
}

// value is the inverse of writer.value.
func (d *decoder) value(v any) any {
	if d.err != nil {
		return nil
	}
	switch x := v.(type) {
	case string:
		return d.string(x)
	case []any:
		for i := range x {
			x[i] = d.value(x[i])
		}
	case *value.Object:
		return d.object(x)
	}
	return v
}

func (d *decoder) object(o *value.Object) any {
	if o.Len() == 0 {
		return o
	}
	switch k, v := o.At(0); k {
	case markMissing:
		return value.Missing
	case markValue:
		if inner, ok := v.(*value.Object); ok {
			return d.members(inner)
		}
		d.fail("%s is %s", markValue, value.TypeName(v))
		return nil
	case markSecret:
		s, _ := v.(string)
		return d.secret(s)
	case markBlob:
		s, _ := v.(string)
		return d.blob(s)
	}
	return d.members(o)
}

// members decodes the members of an object.
func (d *decoder) members(o *value.Object) any {
	out := value.NewObject(o.Len())
	for k, v := range o.All() {
		out.Set(d.string(k), d.value(v))
	}
	return out
}

func (d *decoder) secret(name string) any {
	if d.codec.Secrets.Hides() {
		return secret.Mask
	}
	name, float := strings.CutPrefix(name, floatPrefix)
	digits, err := d.codec.Secrets.Value(name)
	if err != nil {
		d.fail("%w", err)
		return nil
	}
	if float {
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			d.fail("the secret %s is no longer a number", name)
		}
		return f
	}
	i, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		d.fail("the secret %s is no longer a number", name)
	}
	return i
}

func (d *decoder) blob(sum string) any {
	if d.codec.Get == nil {
		d.fail("%w", errNoBlobs)
		return nil
	}
	data, err := d.codec.Get(sum)
	if err == nil {
		var v any
		if v, err = value.ParseJSON(data); err == nil {
			return d.value(v)
		}
	}
	d.fail("blob %s: %w", sum, err)
	return nil
}

var errNoBlobs = errors.New("the codec has no blobs")
