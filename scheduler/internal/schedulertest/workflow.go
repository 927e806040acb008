package schedulertest

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// capLimit is the sum above which a "cap" field rejects a write.
const capLimit = 14

// retryBase is the wait before a second attempt. It only has to be short: tests run in
// virtual time or accept the wait.
const retryBase = 20 * time.Microsecond

// Workflow returns the graph as a workflow whose handlers record into rec, and the registry
// it runs with.
func (g *Graph) Workflow(rec *Recorder) (*core.Workflow, *core.Registry) {
	rec.begin(g.limits())
	k := kinds{nestedKind{}, gateKind{}}
	reg := core.NewRegistry(k.nested, k.gates)
	for i, name := range roleNames {
		reg.AddKind(&roleKind{name: name, role: core.Role(i), g: g, rec: rec})
	}
	return g.workflow(rec, k), reg
}

// nestedKind is the kind of nodes that are nested runs.
type nestedKind map[*core.Node]*core.Frame

func (nestedKind) Name() string   { return "nested" }
func (nestedKind) Keys() []string { return nil }

func (k nestedKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Frame: k[n]}, nil
}

// gateKind is the kind of nodes of a dag that ask a person, who is their handler.
type gateKind map[*core.Node]core.Handler

func (gateKind) Name() string   { return "gate" }
func (gateKind) Keys() []string { return nil }

func (k gateKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Handler: k[n], Role: core.RoleHuman}, nil
}

// kinds are the kinds of the nodes of a dag that do not have their handlers themselves.
type kinds struct {
	nested nestedKind
	gates  gateKind
}

func (g *Graph) workflow(rec *Recorder, k kinds) *core.Workflow {
	w := &core.Workflow{Name: text(fmt.Sprintf("seed%d", g.Seed)), Mode: core.ModeDAG}
	if s := g.Walk; s != nil {
		w.Mode, w.Walk = core.ModeWalk, &core.Walk{MaxRetries: number(s.MaxRetries), MaxVisits: number(s.MaxVisits), MaxJumps: number(s.MaxJumps),
			RepeatLimit: number(s.RepeatLimit), RetryTarget: text(s.RetryTarget), FallbackRetryTarget: text(s.Fallback), Fidelity: text(g.fidelity("default"))}
	}
	for _, f := range g.Fields {
		w.Fields = append(w.Fields, f.decl())
	}
	w.Runtime.Concurrency = number(g.Concurrency)
	for _, n := range g.Nodes {
		w.Nodes = append(w.Nodes, g.declared(n, rec, k))
	}
	for _, e := range g.Edges {
		w.Edges = append(w.Edges, g.edge(e))
	}
	for _, p := range g.Pipelines {
		w.Pipelines = append(w.Pipelines, &core.Pipeline{ID: text(p.ID), Items: text(p.Items),
			Stages: texts(p.Members), Concurrency: number(p.Concurrency), OnError: policy(p.Policy, 0, "")})
	}
	for _, l := range g.Loops {
		w.Loops = append(w.Loops, &core.Loop{ID: text(l.ID), Body: texts(l.Members), BodyIsList: len(l.Members) > 1,
			Until: condition(l.Until), MaxIters: number(l.MaxIters), OnExhausted: text(l.OnExhausted), OnError: policy(l.Policy, 0, "")})
	}
	return w
}

func (f Field) decl() core.FieldDecl {
	d := core.FieldDecl{Name: text(f.Name), Merge: text(f.Merge), Default: f.Default}
	if f.Type != value.AnyType {
		d.Type = &value.Type{Kind: f.Type}
	}
	if f.Merge == "cap" {
		d.Merge = source.Text{}
		d.Reduce = addUpTo
	}
	return d
}

// addUpTo is a reducer that can reject a write, so that the order of commits matters.
func addUpTo(old, v any) (any, error) {
	sum, _ := old.(int64)
	n, ok := v.(int64)
	if !ok {
		return nil, fmt.Errorf("want an integer, got %s", value.TypeName(v))
	}
	if sum += n; sum > capLimit {
		return nil, fmt.Errorf("sum %d is above %d", sum, capLimit)
	}
	return sum, nil
}

// declared returns a node in the form of a workflow.
func (g *Graph) declared(n *Node, rec *Recorder, k kinds) *core.Node {
	out := &core.Node{ID: text(n.ID), Kind: text("fn"), Reads: texts(n.Reads), Writes: texts(n.Writes), HasWrites: true,
		OnError: n.onError(), Priority: source.Int{Value: n.Priority}, Join: n.join(),
		AllowPartial: n.AllowPartial, AutoStatus: n.AutoStatus, Pause: text(n.Pause)}
	switch {
	case g.Walk != nil:
		g.stop(n, out, rec)
	case n.Role == core.RoleHuman:
		out.Kind = text("gate")
		k.gates[out] = &behaviour{g: g, n: n, rec: rec}
	case n.Sub == nil:
		out.Handler = &behaviour{g: g, n: n, rec: rec}
	default:
		out.Kind, out.Timeout = text("nested"), n.timeout()
		frame := &core.Frame{Workflow: n.Sub.workflow(rec, k), Outputs: map[string]string{}}
		for _, o := range n.Outputs {
			frame.Outputs[o.Outer] = o.Inner
		}
		k.nested[out] = frame
	}
	if len(n.Args) > 0 {
		args := value.NewObject(len(n.Args))
		for _, a := range n.Args {
			args.Set(a.Name, a.Path)
		}
		out.Args = source.Tree(args, source.Position{})
	}
	if n.Source != "" {
		out.ForEach = &core.ForEach{Source: text(n.Source), Concurrency: number(n.Concurrency), Collect: text(n.Collect)}
		if n.MaxFailures >= 0 {
			out.ForEach.MaxFailures = &source.Int{Value: n.MaxFailures}
		}
	}
	return out
}

func (n *Node) join() *core.Join {
	switch n.Join {
	case "":
		if n.AllDone {
			return core.JoinOf(text("all_done"))
		}
		return nil
	case core.JoinKOfN:
		return &core.Join{Policy: text(n.Join), Count: &source.Int{Value: n.Take}, Race: n.Race}
	case core.JoinQuorum:
		return &core.Join{Policy: text(n.Join), Fraction: &source.Located[float64]{Value: n.Share}, Race: n.Race}
	}
	return &core.Join{Policy: text(n.Join), Race: n.Race}
}

// timeout returns the timeout of a nested run. A timeout of k nanoseconds means that k
// attempts expire, see expiring.
func (n *Node) timeout() *source.Located[time.Duration] {
	switch {
	case n.Expires > 0:
		return &source.Located[time.Duration]{Value: time.Duration(n.Expires)}
	case n.Timeout:
		return &source.Located[time.Duration]{Value: time.Hour}
	}
	return nil
}

// expiring reports whether an attempt of a nested run with that timeout expires at once.
func expiring(timeout time.Duration, attempt int) bool {
	return timeout < time.Microsecond && attempt <= int(timeout)
}

func (g *Graph) edge(e *Edge) *core.Edge {
	out := &core.Edge{From: text(e.From), To: text(e.To), When: condition(e.When), Else: e.Else, On: text(e.On), Label: text(e.Label),
		Weight: source.Int{Value: e.Weight}, LoopRestart: e.Restart, Fidelity: text(g.fidelity("edge", e.From, e.To, e.Label))}
	if e.Handles {
		out.Handles = &source.Located[bool]{Value: true}
	}
	return out
}

func policy(name string, attempts int, then string) *core.OnError {
	if name == "" {
		return nil
	}
	p := &core.OnError{Policy: text(name), Then: text(then)}
	if name == "retry" {
		p.Attempts = number(attempts)
		p.Base = &source.Located[time.Duration]{Value: retryBase}
	}
	return p
}

func (n *Node) onError() *core.OnError {
	p := policy(n.Policy, n.Attempts, n.Then)
	if p == nil {
		return nil
	}
	if n.Preset != "" {
		p.Preset, p.Jitter = text(n.Preset), new(bool)
		if !n.Waits {
			p.Base = nil
		}
	}
	if n.OnlyTransient {
		p.RetryOn = text("transient")
	}
	return p
}

func text(s string) source.Text { return source.Text{Value: s} }

func texts(list []string) []source.Text {
	var out []source.Text
	for _, s := range list {
		out = append(out, text(s))
	}
	return out
}

func number(n int) *source.Int {
	if n == 0 {
		return nil
	}
	return &source.Int{Value: n}
}

func condition(s string) *source.Text {
	if s == "" {
		return nil
	}
	return &source.Text{Value: s}
}
