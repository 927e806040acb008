package native

import (
	"cmp"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/formats/internal/unwritten"
)

// Write formats a workflow as a document. The keys are in the order of docs/format.md,
// with the keys of a node's kind between phase and args, in their original order.
// Defaults are left out. Parsing the result and writing it again gives the same bytes.
// Comments and positions are lost.
//
// Write fails if the workflow contains something that only exists in Go: a handler
// without a registered name, a custom merge function, or a default without a JSON form.
// The error names the node or field.
func Write(w *core.Workflow) ([]byte, error) {
	out, left, err := WritePart(w)
	if err := cmp.Or(left.Err(), err); err != nil {
		return nil, err
	}
	return out, nil
}

// WritePart formats what a document can hold of a workflow, and returns everything that it
// has left out.
func WritePart(w *core.Workflow) ([]byte, unwritten.List, error) {
	wr := &writer{at: w.Pos, sections: map[*source.Value]bool{}}
	tree := wr.document(w)
	out, err := document.Print(tree, func(v *source.Value) bool { return !wr.sections[v] })
	return out, wr.left, err
}

// writer builds the tree of a document.
type writer struct {
	// sections are the mappings that are never printed on one line.
	sections map[*source.Value]bool
	left     unwritten.List
	at       source.Position // of what is being written
}

func (w *writer) fail(format string, args ...any) { w.left.Addf(w.at, format, args...) }

// object is a mapping under construction. Its methods leave out empty values.
type object struct{ *source.Value }

func newObject() object { return object{&source.Value{Kind: source.ObjectValue}} }

func (w *writer) section() object {
	o := newObject()
	w.sections[o.Value] = true
	return o
}

func (o object) put(key string, v *source.Value) { o.Set(source.At(key, source.Position{}), v) }

func (o object) text(key string, t source.Text) {
	if t.Value != "" {
		o.put(key, stringValue(t.Value))
	}
}

// word adds a string unless it equals the default.
func (o object) word(key string, t source.Text, byDefault string) {
	if t.Value != byDefault {
		o.text(key, t)
	}
}

func (o object) number(key string, n *source.Int, byDefault int) {
	if n != nil && n.Value != byDefault {
		o.put(key, intValue(n.Value))
	}
}

func (o object) flag(key string, b bool) {
	if b {
		o.put(key, &source.Value{Kind: source.BoolValue, Scalar: true})
	}
}

// stringList adds a list of strings. An empty list is left out unless always is true.
func (o object) stringList(key string, list []string, always bool) {
	if len(list) == 0 && !always {
		return
	}
	v := &source.Value{Kind: source.ArrayValue}
	for _, s := range list {
		v.Items = append(v.Items, stringValue(s))
	}
	o.put(key, v)
}

// object adds a mapping unless it is empty.
func (o object) object(key string, v object) {
	if len(v.Keys) > 0 {
		o.put(key, v.Value)
	}
}

// list adds a list of mappings unless it is empty.
func (o object) list(key string, items []*source.Value) {
	if len(items) > 0 {
		o.put(key, &source.Value{Kind: source.ArrayValue, Items: items})
	}
}

// millis adds a duration in milliseconds, or as a duration string if it is not a whole
// number of milliseconds.
func (o object) millis(key string, d *source.Located[time.Duration], byDefault time.Duration) {
	switch {
	case d == nil || d.Value == byDefault:
	case d.Value%time.Millisecond == 0:
		o.put(key, intValue(int(d.Value/time.Millisecond)))
	default:
		o.put(key, stringValue(d.Value.String()))
	}
}

func stringValue(s string) *source.Value { return &source.Value{Kind: source.StringValue, Scalar: s} }

func intValue(n int) *source.Value { return &source.Value{Kind: source.IntValue, Scalar: int64(n)} }

func (w *writer) document(d *core.Workflow) *source.Value {
	if d.Mode != "" && d.Mode != core.ModeDAG && d.Mode != core.ModeWalk {
		w.fail("workflow %s: mode %s cannot be written in this format", d.Name.Value, d.Mode)
	}
	o := w.section()
	o.text("name", d.Name)
	if d.Mode == core.ModeWalk {
		o.put("mode", stringValue(string(d.Mode)))
	}
	o.text("version", d.Version)
	o.text("description", d.Description)
	w.inputs(o, d)
	w.state(o, d)
	o.object("incremental", w.incremental(d.Incremental))
	phases := make([]*source.Value, len(d.Phases))
	for i, p := range d.Phases {
		ph := newObject()
		ph.text("id", p.ID)
		ph.text("title", p.Title)
		phases[i] = ph.Value
	}
	o.list("phases", phases)
	r := w.section()
	r.number("concurrency", d.Runtime.Concurrency, 1)
	r.number("max_in_flight", d.Runtime.MaxInFlight, 0)
	r.word("schedule", d.Runtime.Schedule, "dataflow")
	r.word("durability", d.Runtime.Durability, string(core.DurabilityBatch))
	r.text("concurrency_key", d.Runtime.ConcurrencyKey)
	r.word("overlap", d.Runtime.Overlap, string(core.OverlapQueue))
	o.object("runtime", r)
	o.object("retry_policies", w.retryPolicies(d))
	if d.Mode == core.ModeWalk {
		o.put("graph", w.walk(d))
	} else {
		o.put("graph", w.graph(d))
	}
	return o.Value
}

func (w *writer) retryPolicies(d *core.Workflow) object {
	o := w.section()
	for _, p := range d.RetryPolicies {
		policy := newObject()
		retryTree(policy, p)
		o.put(p.Name.Value, policy.Value)
	}
	return o
}

func (w *writer) incremental(d *core.Incremental) object {
	o := w.section()
	if d == nil {
		return o
	}
	o.text("file", d.File)
	if c := d.Cursor; c != nil {
		cursor := newObject()
		cursor.text("input", c.Input)
		cursor.text("from", c.From)
		o.object("cursor", cursor)
	}
	if p := d.Partitions; p != nil {
		partitions := newObject()
		partitions.text("input", p.Input)
		partitions.text("node", p.Node)
		o.object("partitions", partitions)
	}
	return o
}

func (w *writer) graph(d *core.Workflow) *source.Value {
	o := w.section()
	nodes := make([]*source.Value, len(d.Nodes))
	for i, n := range d.Nodes {
		nodes[i] = w.dagNode(n)
	}
	o.list("nodes", nodes)
	edges := make([]*source.Value, len(d.Edges))
	for i, e := range d.Edges {
		edges[i] = edgeTree(e)
	}
	o.list("edges", edges)
	units := make([]*source.Value, len(d.Pipelines))
	for i, p := range d.Pipelines {
		units[i] = w.pipeline(p)
	}
	o.list("pipelines", units)
	loops := make([]*source.Value, len(d.Loops))
	for i, l := range d.Loops {
		loops[i] = w.loop(l)
	}
	o.list("loops", loops)
	return o.Value
}

func (w *writer) dagNode(n *core.Node) *source.Value {
	o := w.nodeHead(n, nodeShape{})
	if f := n.ForEach; f != nil {
		fe := newObject()
		fe.text("source", f.Source)
		fe.number("concurrency", f.Concurrency, 1)
		fe.number("max_failures", f.MaxFailures, -1)
		fe.text("collect", f.Collect)
		o.put("for_each", fe.Value)
	}
	nodeRunTree(o, n)
	joinTree(o, n.Join, core.JoinAll)
	o.number("priority", &n.Priority, 0)
	nodeTailTree(o, n)
	return o.Value
}

// nodeHead begins a node: the keys of nodeHead, and the keys of its kind. shape has the keys
// that all nodes have.
func (w *writer) nodeHead(n *core.Node, shape any) object {
	w.at = n.Pos
	if impl, _ := n.Config.Get("impl").Plain().(string); n.Handler != nil && impl == "" {
		w.fail("node %s: its Go function has no registered name, so a document cannot refer to it", n.ID.Value)
	}
	o := w.section()
	o.text("id", n.ID)
	o.text("kind", n.Kind)
	o.text("description", n.Description)
	o.text("phase", n.Phase)
	if n.Config != nil {
		common := source.KeyNames(shape)
		for i, k := range n.Config.Keys {
			if slices.Contains(common, k.Value) {
				w.fail("node %s: key %q of kind %s is one that all nodes have", n.ID.Value, k.Value, n.Kind.Value)
			}
			o.Set(k, n.Config.Values[i])
		}
	}
	if n.Args != nil && len(n.Args.Keys) > 0 {
		o.put("args", n.Args)
	}
	o.stringList("reads", source.Strings(n.Reads), false)
	o.stringList("writes", source.Strings(n.Writes), n.HasWrites)
	return o
}

// nodeRunTree adds the keys of nodeRun.
func nodeRunTree(o object, n *core.Node) {
	o.object("on_error", onErrorTree(n.OnError))
	o.flag("allow_partial", n.AllowPartial)
	o.flag("auto_status", n.AutoStatus)
	if n.Timeout != nil {
		o.put("timeout", stringValue(n.Timeout.Value.String()))
	}
	o.text("pause", n.Pause)
	if c := n.Cache; c != nil {
		cache := newObject()
		cache.text("key", c.Key)
		if c.TTL != nil {
			cache.put("ttl", stringValue(c.TTL.Value.String()))
		}
		cache.text("version", c.Version)
		o.put("cache", cache.Value)
	}
}

// nodeTailTree adds the keys of nodeTail.
func nodeTailTree(o object, n *core.Node) {
	o.text("version", n.Version)
	if n.Effects != nil { // false may override the kind
		o.put("effects", &source.Value{Kind: source.BoolValue, Scalar: *n.Effects})
	}
}

func onErrorTree(e *core.OnError) object {
	o := newObject()
	if e == nil {
		return o
	}
	o.text("policy", e.Policy)
	if e.Policy.Value != "retry" {
		return o
	}
	retryTree(o, e.Retry())
	o.text("then", e.Then)
	return o
}

// retryTree adds the keys of a retry policy. Over a preset, defaults are written as
// well, because they override it.
func retryTree(o object, r *core.RetryPolicy) {
	preset := r.Preset.Value != ""
	o.text("preset", r.Preset)
	o.number("attempts", r.Attempts, 0)
	if preset {
		o.text("backoff", r.Backoff)
	} else {
		o.word("backoff", r.Backoff, "linear")
	}
	if r.Factor != nil {
		o.put("factor", source.Tree(r.Factor.Value, source.Position{}))
	}
	base := 100 * time.Millisecond
	if preset {
		base = -1
	}
	o.millis("base_ms", r.Base, base)
	o.millis("max_ms", r.Max, -1)
	if r.Jitter != nil && (*r.Jitter || preset) {
		o.put("jitter", &source.Value{Kind: source.BoolValue, Scalar: *r.Jitter})
	}
	if preset {
		o.text("retry_on", r.RetryOn)
	} else {
		o.word("retry_on", r.RetryOn, "any")
	}
}

func edgeTree(e *core.Edge) *source.Value {
	o := newObject()
	o.text("from", e.From)
	o.text("to", e.To)
	switch {
	case e.Else:
		o.put("when", stringValue("else"))
	case e.When != nil:
		o.put("when", stringValue(e.When.Value))
	}
	o.word("on", e.On, "success")
	if e.Handles != nil {
		o.put("handles", &source.Value{Kind: source.BoolValue, Scalar: e.Handles.Value})
	}
	return o.Value
}

func (w *writer) pipeline(p *core.Pipeline) *source.Value {
	o := w.section()
	o.text("id", p.ID)
	o.text("items", p.Items)
	o.stringList("stages", source.Strings(p.Stages), true)
	o.number("concurrency", p.Concurrency, 1)
	o.number("batch", p.Batch, 0)
	if p.Flush != nil {
		o.put("flush", stringValue(p.Flush.Value.String()))
	}
	o.text("phase", p.Phase)
	o.object("on_error", onErrorTree(p.OnError))
	return o.Value
}

func (w *writer) loop(l *core.Loop) *source.Value {
	o := w.section()
	o.text("id", l.ID)
	if len(l.Body) == 1 && !l.BodyIsList {
		o.text("body", l.Body[0])
	} else {
		o.stringList("body", source.Strings(l.Body), true)
	}
	if l.Until != nil {
		o.put("until", stringValue(l.Until.Value))
	}
	o.number("max_iters", l.MaxIters, 0)
	o.word("on_exhausted", l.OnExhausted, "continue")
	o.text("phase", l.Phase)
	o.object("on_error", onErrorTree(l.OnError))
	return o.Value
}

// joinTree adds the join of a node, unless it is the default.
func joinTree(o object, j *core.Join, byDefault string) {
	if j == nil {
		return
	}
	switch keys := newObject(); j.Word() {
	case core.JoinKOfN:
		if j.Count != nil {
			keys.put("k_of_n", intValue(j.Count.Value))
		}
		o.object("join", keys)
	case core.JoinQuorum:
		if j.Fraction != nil {
			keys.put("quorum", source.Tree(j.Fraction.Value, source.Position{}))
		}
		o.object("join", keys)
	default:
		o.word("join", j.Policy, byDefault)
	}
	o.flag("race", j.Race)
}
