package steps

import (
	"cmp"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Step is the number of the step that has decided.
type Step uint8

// Steps, in the order in which they are tried.
const (
	Jump Step = iota
	ToolLoop
	Route
	NextNode
	Edges
	Transitions
	DefaultNext
	End
)

var names = [...]string{"jump", "tool_loop", "route", "next_node", "edge", "transition", "default_next", "end"}

// String returns the name of the step, such as "tool_loop".
func (s Step) String() string { return names[s] }

// Targets of a Choice that are not nodes.
const (
	ToEnd   int32 = -1 // the walk ends
	Unknown int32 = -2 // the Choice names a node that the graph does not have
)

// Choice is where a walk continues.
type Choice struct {
	Step Step
	To   int32 // the index of a node, ToEnd or Unknown
	// Edge is the index of the edge, -1 unless Step is Edges.
	Edge int32
	// Key is the member of the output that has decided, of the steps Route and Transitions,
	// and Name the name of the target as the visit or the node has it. It is "" for edges.
	Key, Name string
}

// Node is what the steps know of a node.
type Node struct {
	Index       int32
	Edges       []Edge // in the order of Sort
	Transitions []core.Transition
	Default     string // "" if there is none
}

// Edge is an edge out of a node.
type Edge struct {
	Index    int32 // in the graph
	To       int32 // a node or ToEnd
	Priority int
	Test     Test
	// Key and Value are used by TestOutput, and Min by TestConfidence.
	Key   string
	Value any
	Min   float64
}

// Test is the kind of the condition of an edge.
type Test uint8

// Kinds of conditions.
const (
	Always     Test = iota // the edge has no condition
	Other                  // the condition is evaluated by Graph.Holds
	ToolCalled             // as core.CondToolCalled, and so on
	NoToolCall
	Output
	Failed
	Confidence
	GuardFailed
)

// TestOf returns the kind of a condition of core.Cond.
func TestOf(kind string) (t Test, ok bool) {
	switch kind {
	case core.CondToolCalled:
		return ToolCalled, true
	case core.CondNoToolCall:
		return NoToolCall, true
	case core.CondOutput:
		return Output, true
	case core.CondError:
		return Failed, true
	case core.CondConfidence:
		return Confidence, true
	case core.CondGuardFailed:
		return GuardFailed, true
	}
	return Always, false
}

// Sort puts the edges out of a node, which are in the order in which they were added, into
// the order in which they are tried: by descending priority, edges with a condition before
// those without one, and then as they were added.
func Sort(edges []Edge) {
	slices.SortStableFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.free(), b.free()))
	})
}

// free returns 1 if the edge has no condition.
func (e *Edge) free() int {
	if e.Test == Always {
		return 1
	}
	return 0
}

// Result is what the steps see of a visit.
type Result struct {
	// Jump is the target of an accepted jump, or "" if there is none.
	Jump string
	// ToolCalls is the number of tools called, and ToolLoop reports whether the visit wants
	// to see their results.
	ToolCalls int
	ToolLoop  bool
	// Output is what the visit sends, in canonical form.
	Output any
	// Next is the node that the code of the node has set, "" if none.
	Next                string
	Failed, GuardFailed bool
}

// Graph is the graph of a run.
type Graph interface {
	// Lookup returns the index of a node.
	Lookup(name string) (node int32, ok bool)
	// Holds reports whether the condition of an edge whose Test is Other holds after the
	// visit. Each edge is asked for once at most, in the order of Node.Edges.
	Holds(edge int32) bool
}

// Resolve returns where the walk continues after a visit of a node.
func Resolve(g Graph, n *Node, r *Result) Choice {
	if r.Jump != "" {
		return named(g, Choice{Step: Jump, Edge: -1, Name: r.Jump})
	}
	if r.ToolCalls > 0 && r.ToolLoop {
		return Choice{Step: ToolLoop, To: n.Index, Edge: -1}
	}
	output, _ := r.Output.(*value.Object)
	if c, ok := n.route(g, output); ok {
		return c
	}
	if r.Next != "" {
		return named(g, Choice{Step: NextNode, Edge: -1, Name: r.Next})
	}
	for i := range n.Edges {
		if e := &n.Edges[i]; e.holds(g, r, output) {
			return Choice{Step: Edges, To: e.To, Edge: e.Index}
		}
	}
	if output != nil {
		for i := range n.Transitions {
			if v, ok := output.Get(n.Transitions[i].Key.Value); ok && set(v) {
				return named(g, Choice{Step: Transitions, Edge: -1, Key: n.Transitions[i].Key.Value, Name: n.Transitions[i].To.Value})
			}
		}
	}
	if n.Default != "" {
		return named(g, Choice{Step: DefaultNext, Edge: -1, Name: n.Default})
	}
	return Choice{Step: End, To: ToEnd, Edge: -1}
}

// named sets the target of a choice that names it.
func named(g Graph, c Choice) Choice {
	if c.Name == core.EndNode {
		c.To = ToEnd
	} else if to, ok := g.Lookup(c.Name); ok {
		c.To = to
	} else {
		c.To = Unknown
	}
	return c
}

// route is the step Route. It ignores a member that does not name a node or transition.
func (n *Node) route(g Graph, output *value.Object) (c Choice, ok bool) {
	if output == nil {
		return c, false
	}
	for _, key := range core.RouteKeys {
		v, _ := output.Get(key)
		name, _ := v.(string)
		if name == "" {
			continue
		}
		if c = named(g, Choice{Step: Route, Edge: -1, Key: key, Name: name}); c.To != Unknown {
			return c, true
		}
		for i := range n.Transitions {
			if n.Transitions[i].Key.Value != name {
				continue
			}
			if c = named(g, Choice{Step: Route, Edge: -1, Key: key, Name: n.Transitions[i].To.Value}); c.To != Unknown {
				return c, true
			}
		}
	}
	return c, false
}

// holds reports whether the condition of the edge holds.
func (e *Edge) holds(g Graph, r *Result, output *value.Object) bool {
	switch e.Test {
	case Always:
		return true
	case Other:
		return g.Holds(e.Index)
	case ToolCalled:
		return r.ToolCalls > 0
	case NoToolCall:
		return r.ToolCalls == 0
	case Output:
		v, ok := output.Get(e.Key)
		return ok && value.Equal(v, e.Value)
	case Failed:
		return r.Failed
	case Confidence:
		v, _ := output.Get("confidence")
		return atLeast(v, e.Min)
	case GuardFailed:
		return r.GuardFailed
	}
	return false
}

// atLeast reports whether a value is a number of at least a minimum.
func atLeast(v any, least float64) bool {
	switch v := v.(type) {
	case int64:
		return value.CompareIntFloat(v, least) >= 0
	case float64:
		return v >= least
	}
	return false
}

// set reports whether a member of an output selects its transition: it is true or a
// non-empty string.
func set(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != ""
	}
	return false
}
