package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Fingerprint identifies what a run of the plan does: the mode, the state schema, the inputs,
// the settings of a walk, what an incremental run stores, and every node, pipeline and loop by
// its id, including nested workflows. Two plans with equal fingerprints compute the same. It is
// the SHA-256, in hexadecimal, of a canonical form, so it is the same in every process. The order
// in which a document declares its parts counts only if a field has several writers. Positions,
// comments, the order of keys, names of phases, descriptions, labels that are only displayed and
// the attributes of drawings do not count, and neither do the name and the folder of the document.
// The limits of a whole run on concurrency do not count, because results do not depend on them.
// The code of a Go function does not count either.
//
// It costs about as much as compiling the plan, so callers that need it often should store it.
func (p *Plan) Fingerprint() string {
	x := newPrinter()
	x.brief = true
	return x.plan(p)
}

// PartFingerprint identifies a node, pipeline or loop.
type PartFingerprint struct {
	// What covers the computation of the part: its kind, configuration and arguments, what it reads
	// and writes, the contents of the files that its kind read, and the edges that lead to it.
	What string `json:"what"`
	// How covers its execution: retries, timeout, limits and priority.
	How string `json:"how"`
	// Own is What without the nested workflow of the node, or "" if it has none.
	Own string `json:"own,omitempty"`
	// Members are short hashes of the members of What, which only serve to name the ones that
	// differ; see Changes.
	Members string `json:"members,omitempty"`
}

// PartFingerprints returns the fingerprints of the nodes, pipelines and loops of the plan, by id.
// The parts of a nested workflow belong to What of the node around it.
func (p *Plan) PartFingerprints() map[string]PartFingerprint { return newPrinter().parts(p) }

// Order identifies the order of the parts of the plan, including nested workflows. In plans with
// equal fingerprints and orders the indexes of nodes, edges and fields have the same meaning.
func (p *Plan) Order() string { return digest(p.order()) }

func (p *Plan) order() []any {
	var fields, vertices, nodes, edges, nested []any
	for i := range p.Schema.Fields {
		fields = append(fields, p.Schema.Fields[i].Name)
	}
	for i := range p.Vertices {
		vertices = append(vertices, p.Vertices[i].ID)
	}
	for i := range p.Nodes {
		nodes = append(nodes, p.Nodes[i].ID)
		if f := p.Nodes[i].Frame; f != nil {
			nested = append(nested, f.Plan.Order())
		}
	}
	for _, d := range p.edgeDecls {
		edges = append(edges, d.From.Value, d.To.Value)
	}
	return []any{fields, vertices, nodes, edges, nested}
}

// printer computes fingerprints. It keeps the fingerprints of nested plans, because several nodes
// may run the same plan.
type printer struct {
	plans map[*Plan]string
	known map[*Plan]map[string]PartFingerprint // the results of parts
	hows  map[how]string                       // How by what it covers, which most nodes have in common
	// prefixes are the digests of the first writers of fields with many writers, see firstWriters.
	prefixes map[writersOf][]string
	brief    bool   // parts need neither Own nor Members
	buf      []byte // what digest has written last
}

func newPrinter() *printer {
	return &printer{plans: map[*Plan]string{}, known: map[*Plan]map[string]PartFingerprint{}, hows: map[how]string{},
		prefixes: map[writersOf][]string{}}
}

func (x *printer) plan(p *Plan) string {
	if sum, ok := x.plans[p]; ok {
		return sum
	}
	_, routed := p.Router()
	o := value.ObjectOf("mode", modePrint(p), "routed", routed, "schema", schemaPrint(p), "inputs", inputsPrint(p))
	if p.Walk != nil {
		o.Set("walk", walkSettingsPrint(p))
	}
	if p.Flow != nil {
		o.Set("flow", int64(p.Flow.MaxArrivals))
	}
	if p.Barrier {
		o.Set("barrier", true) // the results are the same, but a snapshot counts what is left of a level
	}
	if p.Incremental != nil {
		o.Set("incremental", incrementalPrint(p.Incremental))
	}
	o.Set("parts", partsPrint(x.parts(p)))
	sum := x.digest(o)
	x.plans[p] = sum
	return sum
}

// partsPrint returns the canonical form of a mapping of the parts to What and How.
func partsPrint(parts map[string]PartFingerprint) printed {
	b := make(printed, 0, 160*len(parts)+2)
	b = append(b, '{')
	for i, id := range slices.Sorted(maps.Keys(parts)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(value.AppendString(b, id), `:["`...)
		part := parts[id]
		b = append(append(append(append(b, part.What...), `","`...), part.How...), `"]`...)
	}
	return append(b, '}')
}

// modePrint returns the name of the mode, "" for the default mode.
func modePrint(p *Plan) string {
	if p.Mode == modes[0] {
		return ""
	}
	return string(p.Mode.Name)
}

// walkSettingsPrint returns the canonical form of the settings of a walk. What follows from its
// nodes and edges, such as its exit, is in theirs.
func walkSettingsPrint(p *Plan) *value.Object {
	w := p.Walk
	o := value.ObjectOf("max_steps", int64(w.MaxSteps), "jumps", int64(w.MaxJumps), "repeats", int64(w.RepeatLimit), "stall", int64(w.StallTimeout), "model", w.Model)
	if w.Start >= 0 {
		o.Set("start", p.Nodes[w.Start].ID)
	}
	if w.Steps != nil {
		o.Set("steps", value.ObjectOf("mutations", int64(w.Steps.MaxMutations), "fixed", w.Steps.Fixed))
	} else if !slices.Contains(routers, w.Router) { // the other routers of the engine differ in "routed"
		o.Set("router", w.Router.Name)
	}
	return o
}

// incrementalPrint returns the canonical form of what a run takes from the run before it and
// stores for the next one.
func incrementalPrint(i *Incremental) *value.Object {
	return value.ObjectOf("file", i.File, "cursor", i.Cursor, "from", programPrint(i.From), "partitions", i.Partitions, "node", i.Node)
}

func (x *printer) parts(p *Plan) map[string]PartFingerprint {
	if parts, ok := x.known[p]; ok {
		return parts
	}
	parts := make(map[string]PartFingerprint, len(p.Nodes)+1)
	in, out := edgesBy(p, func(e *Edge) int32 { return e.ToNode }), [][]int32{}
	if p.Mode.Visits {
		out = edgesBy(p, func(e *Edge) int32 { return e.FromNode })
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		what := x.what(p, n)
		set(what, "in", sorted(edgesPrint(p, in[i])))
		if p.Mode.Visits {
			set(what, "out", edgesPrint(p, out[i])) // the walk prefers the first of several edges of equal weight
		}
		part := PartFingerprint{What: x.digest(what), How: x.how(n)}
		if n.Frame != nil && !x.brief {
			what.Set("nested", nestedPrint(p, n, string(n.Frame.Plan.Mode.Name)))
			part.Own = x.digest(what)
		}
		if !x.brief {
			part.Members = membersOf(what)
		}
		parts[n.ID] = part
	}
	for i := range p.Vertices {
		if u := p.Vertices[i].Unit; u != nil && !p.Mode.Visits { // a walk or a flow as a whole is not a part of itself
			what := x.unitWhat(p, u)
			part := PartFingerprint{What: x.digest(what), How: x.digest(unitHow(p, u))}
			if !x.brief {
				part.Members = membersOf(what)
			}
			parts[u.ID] = part
		}
	}
	x.known[p] = parts
	return parts
}

// edgesBy returns the indexes of the edges of each node, in declared order. node returns the node of an edge.
func edgesBy(p *Plan, node func(*Edge) int32) [][]int32 {
	count := make([]int32, len(p.Nodes))
	for i := range p.Edges {
		if n := node(&p.Edges[i]); n != NoNode {
			count[n]++
		}
	}
	all, by := make([]int32, 0, len(p.Edges)), make([][]int32, len(p.Nodes))
	for i, n := range count {
		by[i] = all[len(all) : len(all) : len(all)+int(n)]
		all = all[:len(all)+int(n)]
	}
	for i := range p.Edges {
		if n := node(&p.Edges[i]); n != NoNode {
			by[n] = append(by[n], int32(i))
		}
	}
	return by
}

// what returns the canonical form of what a node computes.
func (x *printer) what(p *Plan, n *Node) *value.Object {
	o := value.ObjectOf("kind", n.Kind, "config", n.Decl.Config.Plain(), "args", n.Decl.Args.Plain(), "effects", n.Effects, "writes", anys(slices.Sorted(slices.Values(n.Writes))))
	if n.Decl.Version.Value != "" {
		o.Set("version", n.Decl.Version.Value)
	}
	set(o, "declared", anys(slices.Sorted(slices.Values(n.View))))
	set(o, "reads", x.reads(p, n.OwnReads()))
	set(o, "source", sourcePrint(n.Source))
	if n.Collect >= 0 {
		o.Set("collect", p.Schema.Fields[n.Collect].Name)
	}
	if files := p.files[n.Index]; files != nil {
		o.Set("files", files)
	}
	if n.Frame != nil {
		o.Set("nested", nestedPrint(p, n, x.plan(n.Frame.Plan)))
	}
	if n.Wait != nil {
		o.Set("wait", int64(n.Wait.Duration))
	}
	if n.Member < 0 {
		set(o, "join", joinPrint(p, &p.Vertices[n.Vertex]))
	}
	if p.Walk == nil && n.Asks {
		o.Set("name", n.Decl.Label.Value) // the person who is asked sees it
	}
	if p.Walk != nil {
		walk := walkPrint(p, &p.Walk.Nodes[n.Index])
		if p.Walk.Routed || p.Walk.Nodes[n.Index].Role == core.RoleHuman {
			walk.Set("name", n.Decl.Label.Value) // the router, or the person who is asked, sees it
		}
		if s := p.Walk.Steps; s != nil {
			walk.Set("steps", stepPrint(&s.Nodes[n.Index], n.Decl))
		}
		o.Set("walk", walk)
	}
	if p.Flow != nil {
		o.Set("flow", flowPrint(&p.Flow.Nodes[n.Index], n.Decl))
	}
	return o
}

// nestedPrint returns the canonical form of the nested workflow of a node, in which inner identifies
// the workflow.
func nestedPrint(p *Plan, n *Node, inner string) *value.Object {
	outputs := value.NewObject(len(n.Frame.Outputs))
	for _, out := range n.Frame.Outputs {
		outer, inner := p.Schema.Fields[out.Outer].Name, n.Frame.Plan.Schema.Fields[out.Inner].Name
		if p.open {
			outer += "." + out.Name
		}
		if out.Member != "" {
			inner += "." + out.Member
		}
		outputs.Set(outer, inner)
	}
	return value.ObjectOf("plan", inner, "outputs", outputs, "send", n.Frame.Send)
}

// joinPrint returns the canonical form of the join of a vertex, nil if it needs all predecessors.
func joinPrint(p *Plan, v *Vertex) any {
	switch {
	case v.AllDone:
		return "all_done"
	case v.Join >= 0:
		j := &p.Joins[v.Join]
		return value.ObjectOf("need", int64(j.Need), "race", j.Race)
	}
	return nil
}

// walkPrint returns the canonical form of the role of a node in a walk.
func walkPrint(p *Plan, n *WalkNode) *value.Object {
	o := value.ObjectOf("role", int64(n.Role), "gate", n.GoalGate, "random", n.Random, "visits", int64(n.MaxVisits), "fidelity", n.Fidelity)
	if n.ViewMembers != nil {
		o.Set("shown", anys(n.ViewMembers))
	}
	targets := []any{}
	for _, t := range n.Targets {
		targets = append(targets, p.Nodes[t].ID)
	}
	o.Set("targets", targets)
	if f := n.Parallel; f != nil {
		o.Set("parallel", value.ObjectOf("join", f.Join, "all", f.WaitAll, "need", int64(f.Need), "most", int64(f.MaxParallel), "fail_fast", f.FailFast, "ignore", f.Ignore))
	}
	return o
}

// how describes the execution of a node, apart from its cache.
type how struct {
	retry                    Retry
	policy                   Policy
	timeout                  time.Duration
	concurrency, maxFailures int
	priority                 int
	allowPartial, autoStatus bool
	pause                    Pause
}

// how returns the fingerprint of how a node is executed.
func (x *printer) how(n *Node) string {
	if n.Cache() != nil {
		return x.digest(howPrint(n))
	}
	key := how{*n.Retry, n.Policy, n.Timeout, n.Concurrency, n.MaxFailures, n.Decl.Priority.Value, n.AllowPartial, n.AutoStatus, n.Pause}
	sum, ok := x.hows[key]
	if !ok {
		sum = x.digest(howPrint(n))
		x.hows[key] = sum
	}
	return sum
}

// howPrint returns the canonical form of how a node is executed.
func howPrint(n *Node) *value.Object {
	r := n.Retry
	o := value.ObjectOf("policy", int64(n.Policy), "attempts", int64(r.Attempts), "factor", r.Factor, "base", int64(r.Base), "max", int64(r.Max),
		"cap", int64(r.Cap), "jitter", r.Jitter, "transient", r.Transient, "timeout", int64(n.Timeout), "concurrency", int64(n.Concurrency),
		"max_failures", int64(n.MaxFailures), "priority", int64(n.Decl.Priority.Value), "allow_partial", n.AllowPartial, "auto_status", n.AutoStatus)
	if n.Pause != NoPause {
		o.Set("pause", n.Pause.String())
	}
	if c := n.Cache(); c != nil {
		o.Set("cache", value.ObjectOf("key", programPrint(c.Key), "ttl", int64(c.TTL), "version", n.Decl.Cache.Version.Value))
	}
	return o
}

func (x *printer) unitWhat(p *Plan, u *Unit) *value.Object {
	members := make([]any, len(u.Members))
	for i, m := range u.Members {
		members[i] = p.Nodes[m].ID
	}
	return value.ObjectOf("loop", u.IsLoop, "members", members, "items", sourcePrint(u.Items), "batch", int64(u.Batch), "until", programPrint(u.Until),
		"max_iters", int64(u.MaxIters), "fail_exhausted", u.FailExhausted, "reads", x.reads(p, u.Reads))
}

func unitHow(_ *Plan, u *Unit) *value.Object {
	return value.ObjectOf("policy", int64(u.Policy), "concurrency", int64(u.Concurrency), "flush", int64(u.Flush))
}

// edgePrint returns the canonical form of an edge. Its label is in the form that a walk compares,
// and as written if it is a choice of a person, whose answer puts it into the context.
func edgePrint(p *Plan, i int) *value.Object {
	e, d := &p.Edges[i], p.edgeDecls[i]
	o := value.ObjectOf("from", d.From.Value, "to", d.To.Value, "when", programPrint(e.When), "else", e.Else, "on", e.On.String(), "handles", e.Handles)
	if p.Flow != nil {
		o.Set("handle", d.Label.Value)
	}
	if p.Walk != nil {
		w := &p.Walk.Edges[i]
		walk := value.ObjectOf("label", w.Key, "weight", int64(w.Weight), "restart", w.LoopRestart, "freeform", w.Freeform,
			"fidelity", w.Fidelity, "condition", w.Condition, "follows", int64(w.MaxFollows))
		if p.Walk.Nodes[e.FromNode].Role == core.RoleHuman {
			walk.Set("choice", w.Label)
		}
		if p.Walk.Steps != nil {
			walk.Set("priority", int64(d.Priority.Value))
			set(walk, "cond", condPrint(d.Cond))
		}
		o.Set("walk", walk)
	}
	return o
}

// edgesPrint returns the canonical forms of edges.
func edgesPrint(p *Plan, edges []int32) []any {
	list := make([]any, len(edges))
	for i, e := range edges {
		list[i] = edgePrint(p, int(e))
	}
	return list
}

func schemaPrint(p *Plan) *value.Object {
	o := value.NewObject(len(p.Schema.Fields))
	for i := range p.Schema.Fields {
		f := &p.Schema.Fields[i]
		d := value.ObjectOf("type", typePrint(f.Type), "merge", f.Strategy().Name, "key", f.Key(), "stream", f.IsStream())
		if !value.IsMissing(f.Default) {
			d.Set("default", printable(f.Default))
		}
		o.Set(f.Name, d)
	}
	return o
}

func inputsPrint(p *Plan) *value.Object {
	o := value.ObjectOf("declared", p.Workflow.HasInputs, "open", p.Workflow.OpenInputs)
	names := value.NewObject(len(p.Workflow.Inputs))
	for i := range p.Workflow.Inputs {
		in := &p.Workflow.Inputs[i]
		d := value.ObjectOf("type", typePrint(in.Type), "required", in.Required)
		if !value.IsMissing(in.Default) {
			d.Set("default", printable(in.Default))
		}
		names.Set(in.Name.Value, d)
	}
	o.Set("names", names)
	return o
}

func typePrint(t *value.Type) any {
	if t == nil {
		return nil
	}
	o := value.ObjectOf("kind", t.Kind.String(), "items", typePrint(t.Items), "enum", t.Enum, "ref", t.Ref)
	members := value.NewObject(len(t.Properties))
	for _, m := range t.Properties {
		members.Set(m.Name, typePrint(m.Type))
	}
	o.Set("members", members)
	if t.Required != nil {
		o.Set("required", anys(slices.Sorted(slices.Values(t.Required))))
	}
	return o
}

// sourcePrint returns the parsed form of a path, in which spacing does not count.
func sourcePrint(s *Source) any {
	switch {
	case s == nil:
		return nil
	case s.program != nil:
		return programPrint(s.program)
	}
	return s.Text.Value
}

func programPrint(p *expressions.Program) any {
	if p == nil {
		return nil
	}
	return p.Tree().String()
}

// set sets a member unless the value is empty.
func set(o *value.Object, key string, v any) {
	switch v := v.(type) {
	case nil:
		return
	case []any:
		if len(v) == 0 {
			return
		}
	}
	o.Set(key, v)
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// sorted sorts edges by their canonical form, because their declared order has no meaning.
func sorted(edges []any) []any {
	slices.SortFunc(edges, func(a, b any) int { return slices.Compare(canonical(nil, a), canonical(nil, b)) })
	return edges
}

// printable returns the JSON form of a value. A value of a Go type that has none is represented by
// its error.
func printable(v any) any {
	c, err := value.Canonical(v)
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return c
}

// Digest returns the SHA-256, in hexadecimal, of the JSON of a value with its keys sorted. Values of Go
// types must be in their canonical form, see value.Canonical.
func Digest(v any) string { return digest(v) }

func digest(v any) string { return new(printer).digest(v) }

// digest is Digest. It uses the same memory each time.
func (x *printer) digest(v any) string {
	x.buf = canonical(x.buf[:0], v)
	sum := sha256.Sum256(x.buf)
	return hex.EncodeToString(sum[:])
}

// printed is a value in its canonical form.
type printed []byte

// canonical appends the JSON of a value with its keys sorted.
func canonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case printed:
		return append(b, v...)
	case *value.Object:
		var few [24]string // most objects have fewer keys
		keys := append(few[:0], v.Keys()...)
		slices.Sort(keys)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			member, _ := v.Get(k)
			b = append(value.AppendString(b, k), ':')
			b = canonical(b, member)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = canonical(b, e)
		}
		return append(b, ']')
	}
	out, err := value.AppendJSON(b, v)
	if err != nil {
		return append(b, "<"+err.Error()+">"...)
	}
	return out
}
