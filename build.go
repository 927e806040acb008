package wavefold

import (
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/timelimit"
)

// builder collects parts into a workflow. It checks only what cannot be checked later,
// when the parts have become a workflow. Package plan makes all other checks.
type builder struct {
	w      *core.Workflow
	g      *Graph
	ds     source.Diagnostics
	specs  map[string]*spec
	phases map[string]bool

	nodes    []*node // parallel to w.Nodes
	settings []*settings
	vertexOf []int // the vertex of each node, or of the unit that contains the node
	units    map[int]*unit
	vertices int // number of vertices; they are numbered in the order of the parts

	walk   *Walk      // nil in a dag
	router WalkRouter // of the walk
}

// parts adds parts in order.
func (b *builder) parts(parts []Part) {
	for _, p := range parts {
		if !isNil(p) {
			p.addTo(b)
		}
	}
}

// vertex reserves a vertex and returns its number.
func (b *builder) vertex() int {
	b.vertices++
	return b.vertices - 1
}

// node adds a plain node.
func (b *builder) node(n *node, vertex int) {
	switch of := (subject{"node", n.id.Value}); {
	case b.walk != nil:
		b.checkWalkOptions(of, n.applied, extraOptions[n.constructor], walkNodeOptions)
		if n.run != nil && (n.run.writesTo != "" || n.run.readsFrom != "") {
			b.ds.Errorf(source.CodeStream, n.id.Pos, "%s: streams exist in dags only", of).WithHint("nest a graph of New (Sub)")
		}
	case n.run != nil && n.run.writesTo != "":
		checkOptions(&b.ds, of, n.constructor, n.applied, makerOptions)
	default:
		checkOptions(&b.ds, of, n.constructor, n.applied, nodeOptions)
	}
	if !n.isFanOut && n.constructor != "Parallel" && (n.limit != nil || n.maxFailures != nil || n.collect != nil) {
		b.ds.Errorf(source.CodeUnknownKey, n.id.Pos, "node %s: Limit, MaxFailures and Collect are for a fan-out", n.id.Value).
			WithHint("add Items, or Over for a Sub")
	}
	b.add(n, vertex, &n.settings)
}

// member adds a node of a unit. Conditions belong to the unit.
func (b *builder) member(n *node, vertex int, u *unit) {
	checkOptions(&b.ds, subject{"node", n.id.Value}, n.constructor, n.applied, memberOptions)
	first := len(b.nodes) == 0 || b.vertexOf[len(b.vertexOf)-1] != vertex
	b.add(n, vertex, &n.settings)
	if !first {
		return
	}
	// Edges into the unit lead to its first member.
	entry := *b.settings[len(b.settings)-1]
	entry.edges = append(slices.Clone(entry.edges), u.edges...)
	b.settings[len(b.settings)-1] = &entry
	if u.items != nil {
		with := *n
		with.needs = append(slices.Clone(with.needs), u.items)
		b.nodes[len(b.nodes)-1] = &with
	}
}

func (b *builder) add(n *node, vertex int, s *settings) {
	b.ds = append(b.ds, n.findings...)
	for _, fields := range [][]AnyField{n.view, n.needs, n.writes} {
		for _, f := range fields {
			b.field(f, subject{"node", n.id.Value})
		}
	}
	b.phase(n.phase)
	b.nodes = append(b.nodes, n)
	b.settings = append(b.settings, s)
	b.vertexOf = append(b.vertexOf, vertex)
	b.w.Nodes = append(b.w.Nodes, b.declare(n))
	if n.sub != nil {
		b.include(n)
	}
}

// declare returns the node as a document would declare it.
func (b *builder) declare(n *node) *core.Node {
	d := &core.Node{
		ID: n.id, Kind: source.At(n.kind, n.id.Pos), Phase: n.phase, Description: source.At(n.description, n.id.Pos),
		Reads: names(n.view, n.id.Pos), Writes: names(n.writes, n.id.Pos), HasWrites: true,
		Args: n.args, Config: n.config, OnError: n.onError(), Timeout: n.timeout, Join: n.effectiveJoin(),
		AllowPartial: n.allowPartial, AutoStatus: n.autoStatus,
		Priority: n.priority, Effects: n.effects, Version: n.version, Pause: n.pause, Cache: n.cache, Pos: n.id.Pos,
	}
	if d.Config == nil {
		d.Config = &source.Value{Kind: source.ObjectValue, Pos: n.id.Pos}
	}
	if b.walk != nil {
		b.declareVisits(d, n)
	}
	if n.isFanOut {
		d.ForEach = &core.ForEach{Source: n.source, Concurrency: n.limit, MaxFailures: n.maxFailures, Lost: n.lost, Pos: n.id.Pos}
		if s := specOf(n.collect); s != nil {
			d.ForEach.Collect = source.At(s.decl.Name.Value, n.id.Pos)
		}
	}
	if n.run != nil {
		name := b.w.Name.Value + "." + n.id.Value
		d.Config.Set(source.At("impl", n.id.Pos), source.Tree(name, n.id.Pos))
		h := *n.run
		h.reads, h.writes, h.isFanOut = specs(n.view), specs(n.writes), n.isFanOut
		d.Handler = &h
		if h.writesTo != "" {
			d.OnError, d.Timeout = nil, nil // the builder itself reports that they have no effect here
		}
		b.g.tools = append(b.g.tools, namedTool{name, &h})
	}
	return d
}

// effectiveJoin returns the join of a part, nil for the default, which waits for all
// predecessors.
func (s *settings) effectiveJoin() *core.Join {
	if s.race == nil {
		return s.join
	}
	j := core.Join{Pos: *s.race}
	if s.join != nil {
		j = *s.join
	}
	j.Race = true
	return &j
}

// include adds the graph of a sub-workflow.
func (b *builder) include(n *node) {
	file := fileName(n.sub)
	if known, ok := b.g.subs[file]; ok && known != n.sub {
		b.ds.Errorf(source.CodeDuplicateID, n.id.Pos, "node %s: another sub-workflow is named %q too", n.id.Value, n.sub.w.Name.Value).
			WithHint("give the graphs names that differ in letters and digits")
		return
	}
	if b.g.subs == nil {
		b.g.subs = map[string]*Graph{}
	}
	b.g.subs[file] = n.sub
}

// field declares a field on first use, and reports fields that only have the same name.
func (b *builder) field(f AnyField, of subject) {
	s := specOf(f)
	if s == nil {
		b.ds.Errorf(source.CodeUnknownField, b.w.Pos, "%s: a field was not made by NewField or NewStream", of)
		return
	}
	name := s.decl.Name.Value
	known, ok := b.specs[name]
	switch {
	case !ok:
		b.specs[name] = s
		b.ds = append(b.ds, s.findings...)
		b.w.Fields = append(b.w.Fields, s.decl)
	case known != s && !same(known, s):
		b.ds.Errorf(source.CodeDuplicateID, s.decl.Pos, "state field %q is declared twice and not alike", name).
			WithHint("the other declaration is at %s; make the field once and use it in both places", known.decl.Pos)
	}
}

// same reports whether two declarations of a name are equal.
func same(a, b *spec) bool {
	return a.typ == b.typ && a.stream == b.stream && a.shared == b.shared && a.decl.Merge.Value == b.decl.Merge.Value && a.decl.Key.Value == b.decl.Key.Value &&
		a.decl.Reduce == nil && b.decl.Reduce == nil && sameValue(a.decl.Default, b.decl.Default)
}

// sameValue is value.Equal for values of any Go type.
func sameValue(a, b any) bool {
	if value.IsMissing(a) || value.IsMissing(b) {
		return value.IsMissing(a) && value.IsMissing(b)
	}
	x, err := timelimit.Canonical(a)
	y, err2 := timelimit.Canonical(b)
	return err == nil && err2 == nil && value.Equal(x, y)
}

// phase declares a phase on first use.
func (b *builder) phase(p source.Text) {
	if p.Value == "" || b.phases[p.Value] {
		return
	}
	b.phases[p.Value] = true
	b.w.Phases = append(b.w.Phases, core.Phase{ID: p})
}

// onError returns the failure policy, nil for the default.
func (s *settings) onError() *core.OnError {
	var pos source.Position
	switch {
	case s.attempts != nil:
		pos = s.attempts.Pos
	case s.preset.Value != "":
		pos = s.preset.Pos
	case s.retryOn.Value != "":
		pos = s.retryOn.Pos
	case s.policy.Value != "":
		return &core.OnError{Policy: s.policy, Pos: s.policy.Pos}
	default:
		return nil
	}
	e := &core.OnError{Policy: source.At("retry", pos), Preset: s.preset, Attempts: s.attempts, RetryOn: s.retryOn, Then: s.policy, Pos: pos}
	if s.backoff.Exponential {
		e.Backoff = source.At("exponential", pos)
	}
	if s.backoff.Factor != 0 {
		f := source.At(s.backoff.Factor, pos)
		e.Factor = &f
	}
	if s.backoff.Base != 0 {
		d := source.At(s.backoff.Base, pos)
		e.Base = &d
	}
	if s.backoff.Max != 0 {
		d := source.At(s.backoff.Max, pos)
		e.Max = &d
	}
	if s.backoff.Jitter {
		e.Jitter = new(true)
	}
	return e
}

// specOf returns the spec of a field, nil if NewField did not make it.
func specOf(f AnyField) *spec {
	if f == nil {
		return nil
	}
	return f.field()
}

func specs(fields []AnyField) []*spec {
	var out []*spec
	for _, f := range fields {
		if s := specOf(f); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func names(fields []AnyField, pos source.Position) []source.Text {
	var out []source.Text
	for _, s := range specs(fields) {
		if !slices.ContainsFunc(out, func(t source.Text) bool { return t.Value == s.decl.Name.Value }) {
			out = append(out, source.At(s.decl.Name.Value, pos))
		}
	}
	return out
}

// graphOption makes a setting of the graph a part.
type graphOption func(b *builder)

func (o graphOption) addTo(b *builder) { o(b) }

// Declare adds fields that no part reads or writes, such as fields that occur only in
// conditions.
func Declare(fields ...AnyField) Part {
	return graphOption(func(b *builder) {
		for _, f := range fields {
			b.field(f, subject{what: "Declare"})
		}
	})
}

// Concurrency limits the nodes of the graph that are in flight at a time. A fan-out,
// pipeline or loop counts as one. The default is the number of processors (GOMAXPROCS).
func Concurrency(n int) Part {
	v := source.At(n, here())
	return graphOption(func(b *builder) { b.w.Runtime.Concurrency = &v })
}

// MaxInFlight limits the functions that are in flight at a time in the whole run:
// nodes, items and rows, also in sub-workflows.
func MaxInFlight(n int) Part {
	v := source.At(n, here())
	return graphOption(func(b *builder) { b.w.Runtime.MaxInFlight = &v })
}

// ConcurrencyKey lets one run of the graph at a time have the key, among all runs of all workflows in a
// store. key is a template over the inputs, such as "load-{{$input.day}}". overlap says what a run does
// while another one has the key; "" means core.OverlapQueue. A run that does not begin ends with a
// core.OverlapError. The key has no effect on runs without WithStore.
func ConcurrencyKey(key string, overlap core.Overlap) Part {
	at := here()
	return graphOption(func(b *builder) {
		b.w.Runtime.ConcurrencyKey, b.w.Runtime.Overlap = source.At(key, at), source.At(string(overlap), at)
	})
}

// Dir sets the folder to which paths in the configuration of a Node are relative.
func Dir(path string) Part { return graphOption(func(b *builder) { b.w.Dir = path }) }

// Using sets the engine whose kinds the graph's Nodes use. The default is an engine
// with DefaultKinds.
func Using(e *Engine) Part { return graphOption(func(b *builder) { b.g.engine = e }) }

// Strict treats warnings as errors.
func Strict() Part { return graphOption(func(b *builder) { b.g.strict = true }) }

// isNil reports whether a part is nil or holds a nil pointer.
func isNil(p Part) bool {
	if p == nil {
		return true
	}
	v := reflect.ValueOf(p)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}
