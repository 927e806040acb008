package schedulertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Graph is a workflow together with the behaviour of its nodes, as plain data: it can be
// printed, reduced and converted to a core.Workflow any number of times. The behaviour of a
// node depends only on Seed and its input.
type Graph struct {
	Seed      uint64
	Fields    []Field
	Inputs    []Input
	Nodes     []*Node // in declared order, including the members of units
	Edges     []*Edge
	Pipelines []*Unit
	Loops     []*Unit
	// Concurrency is runtime.concurrency, 0 for the default. The property tests override it
	// for the outermost graph.
	Concurrency int
	// Walk makes the graph one of mode walk; nil for a dag.
	Walk *WalkSettings
}

// WalkSettings are the settings of a walk. A setting that is 0 or "" is not set.
type WalkSettings struct {
	MaxRetries, MaxVisits, MaxJumps, RepeatLimit int
	RetryTarget, Fallback                        string
}

// Field is a state field. Merge is a merge strategy or "cap", a custom reducer that adds
// and rejects sums above [capLimit].
type Field struct {
	Name    string
	Merge   string
	Type    value.TypeKind
	Default any // value.Missing if there is none
	// Large makes the written numbers so large that the sum of a few overflows.
	Large bool
}

// Input is an initial value that the caller passes.
type Input struct {
	Field string
	Value any
}

// Node is a node and its behaviour.
type Node struct {
	ID     string
	Reads  []string
	Writes []string

	Source      string // of for_each; "" for a plain node
	Concurrency int    // of for_each, 0 for the default
	MaxFailures int    // -1 if not set
	Collect     string // of for_each, "" if not set

	Args []Arg
	// Sub makes the node a nested run; Outputs maps its fields to the fields that the node
	// writes.
	Sub     *Graph
	Outputs []Output
	// Timeout limits a nested run to an hour, which none exceeds. Expires is the number of
	// its first attempts that time out before anything inside them begins.
	Timeout bool
	Expires int

	Policy   string // on_error
	Attempts int
	Preset   string // its waits have no jitter; Waits sets short ones
	Waits    bool
	Then     string
	AllDone  bool
	// Join is any, k_of_n or quorum, and for a parallel node also wait_all or
	// first_success, with Take and Share as its numbers; "" if not set.
	Join     string
	Take     int
	Share    float64
	Race     bool
	Priority int

	Pause                    string // before or after, or "" if there is none
	AllowPartial, AutoStatus bool
	OnlyTransient            bool // only transient failures are retried

	// Chances in percent, drawn from a digest of an execution's input: to fail in every
	// attempt, to fail in the first attempts only, to be a partial success, to send an edge
	// output, to omit a declared write.
	Fail, Flaky, Partial, Send, Silent int

	// Settings of walks.
	Role                  core.Role
	Gate                  bool
	RetryTarget, Fallback string
	MaxVisits             int
	MaxParallel           int // of parallel nodes, like ErrorPolicy
	ErrorPolicy           string

	// More chances in walks: to end with an error, to request a retry in every attempt, to
	// be skipped, to prefer a label, to suggest nodes. Transient is the percentage of
	// failures that are transient.
	Error, Again, Skip, Label, Suggest, Transient int
}

// Arg is an argument that is a path.
type Arg struct{ Name, Path string }

// Output maps a field of a nested run to the field of the outer graph that it is written
// to.
type Output struct{ Outer, Inner string }

// Edge is an edge between two nodes.
type Edge struct {
	From, To string
	When     string // "" if there is none
	Else     bool
	On       string
	Handles  bool // with On fail

	// In walks.
	Label   string
	Weight  int
	Restart bool
}

// Unit is a pipeline or a loop.
type Unit struct {
	ID          string
	Members     []string
	Items       string // of a pipeline
	Concurrency int    // of a pipeline, 0 for the default
	Until       string // of a loop, or "" if there is none
	MaxIters    int    // of a loop
	OnExhausted string
	Policy      string // on_error for faults of the unit itself
}

// Clone returns a deep copy.
func (g *Graph) Clone() *Graph {
	c := *g
	c.Fields = slices.Clone(g.Fields)
	c.Inputs = slices.Clone(g.Inputs)
	c.Nodes = cloneAll(g.Nodes)
	for _, n := range c.Nodes {
		n.Reads, n.Writes = slices.Clone(n.Reads), slices.Clone(n.Writes)
		n.Args, n.Outputs = slices.Clone(n.Args), slices.Clone(n.Outputs)
		if n.Sub != nil {
			n.Sub = n.Sub.Clone()
		}
	}
	c.Edges = cloneAll(g.Edges)
	c.Pipelines, c.Loops = cloneAll(g.Pipelines), cloneAll(g.Loops)
	for _, u := range slices.Concat(c.Pipelines, c.Loops) {
		u.Members = slices.Clone(u.Members)
	}
	if g.Walk != nil {
		w := *g.Walk
		c.Walk = &w
	}
	return &c
}

func cloneAll[T any](list []*T) []*T {
	out := make([]*T, len(list))
	for i, p := range list {
		v := *p
		out[i] = &v
	}
	return out
}

// Values returns the initial values as a caller passes them.
func (g *Graph) Values() map[string]any {
	m := make(map[string]any, len(g.Inputs))
	for _, in := range g.Inputs {
		m[in.Field] = in.Value
	}
	return m
}

func (g *Graph) field(name string) Field {
	i := slices.IndexFunc(g.Fields, func(f Field) bool { return f.Name == name })
	return g.Fields[i]
}

func (g *Graph) node(id string) *Node {
	return g.Nodes[slices.IndexFunc(g.Nodes, func(n *Node) bool { return n.ID == id })]
}

// out lists the edges that leave a node, in declared order.
func (g *Graph) out(id string) []*Edge {
	var list []*Edge
	for _, e := range g.Edges {
		if e.From == id {
			list = append(list, e)
		}
	}
	return list
}

// String formats the graph like a workflow document.
func (g *Graph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# seed %d\nstate:\n", g.Seed)
	for _, f := range g.Fields {
		fmt.Fprintf(&b, "  %s: {type: %s, merge: %s", f.Name, f.Type, f.Merge)
		if f.Large {
			b.WriteString(", large")
		}
		if !value.IsMissing(f.Default) {
			fmt.Fprintf(&b, ", default: %s", value.JSON(f.Default))
		}
		b.WriteString("}\n")
	}
	if g.Concurrency > 0 {
		fmt.Fprintf(&b, "runtime: {concurrency: %d}\n", g.Concurrency)
	}
	if w := g.Walk; w != nil {
		fmt.Fprintf(&b, "mode: walk%s\n", optional("max_retries", w.MaxRetries)+optional("max_visits", w.MaxVisits)+optional("max_jumps", w.MaxJumps)+
			optional("repeat_limit", w.RepeatLimit)+named("retry_target", w.RetryTarget)+named("fallback_retry_target", w.Fallback))
	}
	for _, in := range g.Inputs {
		fmt.Fprintf(&b, "# input %s = %s\n", in.Field, value.JSON(in.Value))
	}
	b.WriteString("graph:\n  nodes:\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "    - {%s}\n", n)
		if n.Sub != nil {
			b.WriteString("      | " + strings.ReplaceAll(strings.TrimSpace(n.Sub.String()), "\n", "\n      | ") + "\n")
		}
	}
	b.WriteString("  edges:\n")
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "    - {%s}\n", e)
	}
	for _, p := range g.Pipelines {
		fmt.Fprintf(&b, "  pipeline: {id: %s, items: %s, stages: [%s]%s}\n",
			p.ID, p.Items, strings.Join(p.Members, ", "), optional("concurrency", p.Concurrency)+named("on_error", p.Policy))
	}
	for _, l := range g.Loops {
		fmt.Fprintf(&b, "  loop: {id: %s, body: [%s]%s}\n", l.ID, strings.Join(l.Members, ", "),
			named("until", l.Until)+optional("max_iters", l.MaxIters)+named("on_exhausted", l.OnExhausted)+named("on_error", l.Policy))
	}
	return b.String()
}

// String formats the node as a flow mapping without its braces.
func (n *Node) String() string {
	s := "id: " + n.ID
	if n.Role != core.RoleStage {
		s += ", kind: " + roleNames[n.Role]
	}
	if len(n.Reads) > 0 {
		s += ", reads: [" + strings.Join(n.Reads, ", ") + "]"
	}
	if len(n.Writes) > 0 {
		s += ", writes: [" + strings.Join(n.Writes, ", ") + "]"
	}
	for _, a := range n.Args {
		s += ", arg " + a.Name + ": " + a.Path
	}
	for _, o := range n.Outputs {
		s += ", output " + o.Outer + ": " + o.Inner
	}
	if n.Source != "" {
		s += ", for_each: {source: " + n.Source + optional("concurrency", n.Concurrency)
		if n.MaxFailures >= 0 {
			s += fmt.Sprint(", max_failures: ", n.MaxFailures)
		}
		s += named("collect", n.Collect) + "}"
	}
	if n.Policy != "" {
		s += ", on_error: {policy: " + n.Policy + optional("attempts", n.Attempts) + named("then", n.Then) + "}"
	}
	return s + n.joinText() + flags("retry_on_transient", n.OnlyTransient, "allow_partial", n.AllowPartial, "auto_status", n.AutoStatus,
		"waits", n.Waits, "goal_gate", n.Gate) + named("retry_policy", n.Preset) + named("retry_target", n.RetryTarget) +
		named("fallback_retry_target", n.Fallback) + named("error_policy", n.ErrorPolicy) + named("pause", n.Pause) + numbered(
		"max_visits", n.MaxVisits, "max_parallel", n.MaxParallel, "priority", n.Priority, "fail", n.Fail, "error", n.Error, "again", n.Again,
		"flaky", n.Flaky, "partial", n.Partial, "skip", n.Skip, "send", n.Send, "prefer", n.Label, "suggest", n.Suggest,
		"silent", n.Silent, "transient", n.Transient)
}

func (n *Node) joinText() (s string) {
	switch {
	case n.AllDone:
		s = ", join: all_done"
	case n.Join == "":
	case n.Join == core.JoinKOfN:
		s = fmt.Sprintf(", join: {k_of_n: %d}", n.Take)
	case n.Join == core.JoinQuorum:
		s = fmt.Sprintf(", join: {quorum: %v}", n.Share)
	default:
		s = ", join: " + n.Join
	}
	return s + flags("race", n.Race)
}

// String formats the edge as a flow mapping without its braces.
func (e *Edge) String() string {
	return "from: " + e.From + ", to: " + e.To + named("when", e.When) + flags("else", e.Else) + named("on", e.On) + flags("handles", e.Handles) +
		named("label", e.Label) + optional("weight", e.Weight) + flags("loop_restart", e.Restart)
}

// flags takes pairs of a name and a bool, and formats the names whose bool is set.
func flags(pairs ...any) (s string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1].(bool) {
			s += fmt.Sprintf(", %s: true", pairs[i])
		}
	}
	return s
}

// numbered takes pairs of a name and a number, and formats those whose number is not 0.
func numbered(pairs ...any) (s string) {
	for i := 0; i < len(pairs); i += 2 {
		s += optional(pairs[i].(string), pairs[i+1].(int))
	}
	return s
}

func optional(key string, v int) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(", %s: %d", key, v)
}

func named(key, v string) string {
	if v == "" {
		return ""
	}
	return fmt.Sprintf(", %s: %s", key, v)
}
