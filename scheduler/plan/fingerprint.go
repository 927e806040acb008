package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"
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
func (p *Plan) PartFingerprints() map[string]PartFingerprint {
	parts := newPrinter().parts(p)
	all := make(map[string]PartFingerprint, len(parts))
	for i := range parts {
		all[parts[i].id] = parts[i].print()
	}
	return all
}

// Order identifies the order of the parts of the plan, including nested workflows. In plans with
// equal fingerprints and orders the indexes of nodes, edges and fields have the same meaning.
func (p *Plan) Order() string {
	names := 0
	var nested []string
	for i := range p.Nodes {
		if f := p.Nodes[i].Frame; f != nil {
			nested = append(nested, f.Plan.Order())
		}
		names += len(p.Nodes[i].ID)
	}
	b := append(make([]byte, 0, 100+6*names), '[')
	b = append(appendStrings(b, len(p.Schema.Fields), func(i int) string { return p.Schema.Fields[i].Name }), ',')
	b = append(appendStrings(b, len(p.Vertices), func(i int) string { return p.Vertices[i].ID }), ',')
	b = append(appendStrings(b, len(p.Nodes), func(i int) string { return p.Nodes[i].ID }), ',')
	b = append(appendStrings(b, 2*len(p.edgeDecls), func(i int) string {
		if d := p.edgeDecls[i/2]; i%2 == 0 {
			return d.From.Value
		} else {
			return d.To.Value
		}
	}), ',')
	b = appendStrings(b, len(nested), func(i int) string { return nested[i] })
	return digestOf(append(b, ']'))
}

// printer computes fingerprints. It keeps the fingerprints of nested plans, because several nodes
// may run the same plan.
type printer struct {
	plans map[*Plan]string
	known map[*Plan][]part
	hows  map[how]string // How by what it covers, which most nodes have in common
	// prefixes are the digests of the first writers of fields with many writers, see firstWriters.
	prefixes map[writersOf][]string
	brief    bool   // parts need neither Own nor Members
	buf      []byte // the form of the last part
}

// part is a part of a plan with its fingerprint.
type part struct {
	id   string
	what [sha256.Size]byte
	how  string
	// own and members are empty in brief.
	own, members string
}

func newPrinter() *printer {
	return &printer{plans: map[*Plan]string{}, known: map[*Plan][]part{}, hows: map[how]string{}, prefixes: map[writersOf][]string{}}
}

func (x *printer) plan(p *Plan) string {
	if sum, ok := x.plans[p]; ok {
		return sum
	}
	parts := x.parts(p)
	_, routed := p.Router()
	sum := sha256.New()
	f := form{b: append(make([]byte, 0, 2*flushFrom), '{')}
	if p.Barrier {
		f.bool("barrier", true) // the results are the same, but a snapshot counts what is left of a level
	}
	if p.Flow != nil {
		f.value("flow", int64(p.Flow.MaxArrivals))
	}
	if p.Incremental != nil {
		f.value("incremental", incrementalPrint(p.Incremental))
	}
	f.value("inputs", inputsPrint(p))
	f.string("mode", modePrint(p))
	f.key("parts")
	f.b = appendParts(f.b, parts, sum)
	f.bool("routed", routed)
	f.value("schema", schemaPrint(p))
	if p.Walk != nil {
		f.value("walk", walkSettingsPrint(p))
	}
	sum.Write(f.end())
	x.plans[p] = hex.EncodeToString(sum.Sum(nil))
	return x.plans[p]
}

// flushFrom is the size from which a form is moved to its hash, because that of a large plan would need much memory.
const flushFrom = 16 << 10

// appendParts appends the canonical form of a mapping of the parts to What and How. It moves b to the hash when it is
// large.
func appendParts(b []byte, parts []part, sum hash.Hash) []byte {
	order := make([]int32, len(parts))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Compare(parts[i].id, parts[j].id) })
	b = append(b, '{')
	for n, i := range order {
		if n > 0 {
			b = append(b, ',')
		}
		if len(b) >= flushFrom {
			sum.Write(b)
			b = b[:0]
		}
		part := &parts[i]
		b = append(value.AppendString(b, part.id), `:["`...)
		b = append(hex.AppendEncode(b, part.what[:]), `","`...)
		b = append(append(b, part.how...), `"]`...)
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

// parts returns the parts of a plan with their fingerprints.
func (x *printer) parts(p *Plan) []part {
	if parts, ok := x.known[p]; ok {
		return parts
	}
	list := make([]part, 0, len(p.Nodes))
	in, out := edgesBy(p, func(e *Edge) int32 { return e.ToNode }), [][]int32(nil)
	if p.Mode.Visits {
		out = edgesBy(p, func(e *Edge) int32 { return e.FromNode })
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		var leaving []int32
		if out != nil {
			leaving = out[i]
		}
		nested := ""
		if n.Frame != nil {
			nested = x.plan(n.Frame.Plan) // before x.buf is used
		}
		part := x.part(n.ID, x.what(p, n, in[i], leaving, nested), x.how(n))
		if n.Frame != nil && !x.brief {
			own := x.what(p, n, in[i], leaving, string(n.Frame.Plan.Mode.Name))
			part.own, part.members = digestOf(own), membersOf(own)
		}
		list = append(list, part)
	}
	for i := range p.Vertices {
		if u := p.Vertices[i].Unit; u != nil && !p.Mode.Visits { // a walk or a flow as a whole is not a part of itself
			x.buf = canonical(x.buf[:0], x.unitWhat(p, u))
			list = append(list, x.part(u.ID, x.buf, digest(unitHow(p, u))))
		}
	}
	x.known[p] = list
	return list
}

// part returns a part whose computation has the given canonical form.
func (x *printer) part(id string, what []byte, how string) part {
	part := part{id: id, what: sha256.Sum256(what), how: how}
	if !x.brief {
		part.members = membersOf(what)
	}
	return part
}

// print returns the fingerprint of a part.
func (p *part) print() PartFingerprint {
	return PartFingerprint{What: hex.EncodeToString(p.what[:]), How: p.how, Own: p.own, Members: p.members}
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

// what returns the canonical form of what a node computes. in and out are its edges, out only in a walk or a
// flow. nested identifies the workflow that it runs. The form is valid until the next call.
func (x *printer) what(p *Plan, n *Node, in, out []int32, nested string) []byte {
	f := newForm(x.buf)
	f.tree("args", n.Decl.Args)
	if n.Collect >= 0 {
		f.string("collect", p.Schema.Fields[n.Collect].Name)
	}
	f.tree("config", n.Decl.Config)
	if len(n.View) > 0 {
		f.strings("declared", n.View)
	}
	f.bool("effects", n.Effects)
	if files := p.files[n.Index]; files != nil {
		f.value("files", files)
	}
	if p.Flow != nil {
		f.value("flow", flowPrint(&p.Flow.Nodes[n.Index], n.Decl))
	}
	if len(in) > 0 {
		f.forms("in", len(in), true, func(i int, f *form) { edgePrint(p, int(in[i]), f) }) // their declared order has no meaning
	}
	if n.Member < 0 {
		f.set("join", joinPrint(p, &p.Vertices[n.Vertex]))
	}
	f.string("kind", n.Kind)
	if p.Walk == nil && n.Asks {
		f.string("name", n.Decl.Label.Value) // the person who is asked sees it
	}
	if n.Frame != nil {
		f.value("nested", nestedPrint(p, n, nested))
	}
	if len(out) > 0 { // a walk prefers the first of several edges of equal weight
		f.forms("out", len(out), false, func(i int, f *form) { edgePrint(p, int(out[i]), f) })
	}
	f.value("reads", x.reads(p, n.OwnReads()))
	f.set("source", sourcePrint(n.Source))
	if n.Decl.Version.Value != "" {
		f.string("version", n.Decl.Version.Value)
	}
	if n.Wait != nil {
		f.value("wait", int64(n.Wait.Duration))
	}
	if p.Walk != nil {
		walk := walkPrint(p, &p.Walk.Nodes[n.Index])
		if p.Walk.Routed || p.Walk.Nodes[n.Index].Role == core.RoleHuman {
			walk.Set("name", n.Decl.Label.Value) // the router, or the person who is asked, sees it
		}
		if s := p.Walk.Steps; s != nil {
			walk.Set("steps", stepPrint(&s.Nodes[n.Index], n.Decl))
		}
		f.value("walk", walk)
	}
	f.strings("writes", n.Writes)
	x.buf = f.end()
	return x.buf
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
		return digest(howPrint(n))
	}
	key := how{*n.Retry, n.Policy, n.Timeout, n.Concurrency, n.MaxFailures, n.Decl.Priority.Value, n.AllowPartial, n.AutoStatus, n.Pause}
	sum, ok := x.hows[key]
	if !ok {
		sum = digest(howPrint(n))
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

// edgePrint writes the canonical form of an edge. Its label is in the form that a walk compares,
// and as written if it is a choice of a person, whose answer puts it into the context.
func edgePrint(p *Plan, i int, f *form) {
	e, d := &p.Edges[i], p.edgeDecls[i]
	f.bool("else", e.Else)
	f.string("from", d.From.Value)
	if p.Flow != nil {
		f.string("handle", d.Label.Value)
	}
	f.bool("handles", e.Handles)
	f.string("on", e.On.String())
	f.string("to", d.To.Value)
	if p.Walk != nil {
		w := &p.Walk.Edges[i]
		walk := value.ObjectOf("label", w.Key, "weight", int64(w.Weight), "restart", w.LoopRestart, "freeform", w.Freeform,
			"fidelity", w.Fidelity, "condition", w.Condition, "follows", int64(w.MaxFollows))
		if p.Walk.Nodes[e.FromNode].Role == core.RoleHuman {
			walk.Set("choice", w.Label)
		}
		if p.Walk.Steps != nil {
			walk.Set("priority", int64(d.Priority.Value))
			if cond := condPrint(d.Cond); cond != nil {
				walk.Set("cond", cond)
			}
		}
		f.value("walk", walk)
	}
	f.value("when", programPrint(e.When))
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

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
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
