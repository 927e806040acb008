package wavefold

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Walk builds a graph that visits one node at a time along edges that are chosen one by
// one, and that may return to a node. NewWalk makes one from the same parts as New; the
// methods add its edges and return the Walk, so that calls can be chained. Graph returns
// the graph.
//
// The edge after a visit is chosen in one of three ways, see WalkRouter. No method fails:
// Compile of the graph reports all errors at once, with the lines of the program.
//
// A Walk can be changed and used again after Graph, which returns another graph each
// time. Graphs that were returned before do not change. A Walk must not be used by several
// goroutines at once; its graphs may be.
type Walk struct {
	name  source.Text
	parts []Part
	edges []walkEdge
	loops []walkLoop
}

// walkEdge is an edge under construction.
type walkEdge struct {
	method   string
	from, to source.Text
	cond     Condition
	options  settings
}

// walkLoop is a LoopUntil under construction.
type walkLoop struct {
	node, exit source.Text
	until      Condition
	max        source.Int
}

// End is the name that ends a walk by steps or outcomes wherever a node can be named, such
// as the target of an edge.
const End = core.EndNode

// NewWalk begins a walk with nodes and settings. It never fails; see Walk.
//
// The nodes are Source, Map, Map2, Map3, Sink, Do, Func, Node and Sub, as in New, and
// Step, whose function also says where the walk continues. The edges are added by the
// methods of Walk: reading a field implies no order here, and the options After, From,
// When, Else, On and Handles are errors. Fan-outs, streams, pipelines and loops are
// errors, too. They exist only in graphs made by New, and Sub nests such a graph.
func NewWalk(name string, parts ...Part) *Walk {
	return &Walk{name: source.At(name, here()), parts: slices.Clone(parts)}
}

// Add adds nodes and settings.
func (w *Walk) Add(parts ...Part) *Walk {
	w.parts = append(w.parts, parts...)
	return w
}

// Edge adds an edge with a condition, or without one if c is the zero Condition. It takes
// Label, and in a walk by steps Priority; by outcomes Weight, Restart, Freeform and
// Fidelity; by a model MaxFollows. The edges out of a node with the same priority are tried
// in the order in which they were added, those with conditions first.
func (w *Walk) Edge(from, to string, c Condition, options ...Option) *Walk {
	return w.edge("Edge", from, to, c, options)
}

// Always adds an edge without a condition. See Edge for the options of this and all other
// methods.
func (w *Walk) Always(from, to string, options ...Option) *Walk {
	return w.edge("Always", from, to, Condition{}, options)
}

// When adds an edge with a condition.
func (w *Walk) When(from, to string, c Condition, options ...Option) *Walk {
	return w.edge("When", from, to, c, options)
}

// OnToolCall adds an edge that is followed if the visit called at least one tool and its
// node does not want to see the results.
func (w *Walk) OnToolCall(from, to string, options ...Option) *Walk {
	return w.edge("OnToolCall", from, to, condKind(core.CondToolCalled), options)
}

// OnNoToolCall adds an edge that is followed if the visit called no tool. A visit that
// failed without calling one counts, too.
func (w *Walk) OnNoToolCall(from, to string, options ...Option) *Walk {
	return w.edge("OnNoToolCall", from, to, condKind(core.CondNoToolCall), options)
}

// OnOutput adds an edge that is followed if the output of the visit is an object with the
// member key, and that member equals a value. Numbers are compared by value.
func (w *Walk) OnOutput(from, to, key string, equals any, options ...Option) *Walk {
	c := condKind(core.CondOutput)
	c.cond.Key, c.cond.Value = source.At(key, c.pos), c.literal(equals)
	return w.edge("OnOutput", from, to, c, options)
}

// OnError adds an edge that is followed if the visit failed.
func (w *Walk) OnError(from, to string, options ...Option) *Walk {
	return w.edge("OnError", from, to, condKind(core.CondError), options)
}

// OnConfidence adds an edge that is followed if the member confidence of the output is a
// number of at least least.
func (w *Walk) OnConfidence(from, to string, least float64, options ...Option) *Walk {
	c := condKind(core.CondConfidence)
	c.cond.Min = new(source.At(least, c.pos))
	return w.edge("OnConfidence", from, to, c, options)
}

// OnGuardFail adds an edge that is followed if at least one guard of the visit failed.
func (w *Walk) OnGuardFail(from, to string, options ...Option) *Walk {
	return w.edge("OnGuardFail", from, to, condKind(core.CondGuardFailed), options)
}

// Sequential adds an edge without a condition from each node to the next one. The last one
// gets no edge.
func (w *Walk) Sequential(nodes ...string) *Walk {
	for i := 1; i < len(nodes); i++ {
		w.edge("Sequential", nodes[i-1], nodes[i], Condition{}, nil)
	}
	return w
}

// LoopUntil repeats a node of a walk by steps until a condition holds after a visit, at
// most maxVisits times in a run. Then the walk continues at exit. It adds an edge to exit
// with the priority 10 and an edge from the node to itself with the priority 0. maxVisits
// replaces the limit of the node itself, unless that is set and lower.
func (w *Walk) LoopUntil(node, exit string, until Condition, maxVisits int) *Walk {
	pos := here()
	w.loops = append(w.loops, walkLoop{source.At(node, pos), source.At(exit, pos), until, source.At(maxVisits, pos)})
	return w
}

func (w *Walk) edge(method, from, to string, c Condition, options []Option) *Walk {
	pos := here()
	e := walkEdge{method: method, from: source.At(from, pos), to: source.At(to, pos), cond: c}
	e.options.apply(options)
	w.edges = append(w.edges, e)
	return w
}

// Graph returns the walk as a graph. Later changes of the Walk do not affect it.
func (w *Walk) Graph() *Graph {
	g, b := newGraph(w.name, len(w.parts))
	b.walk = w
	b.router = w.routerOf()
	g.w.Mode = core.ModeWalk
	g.w.Walk = &core.Walk{Router: source.At(string(b.router), w.name.Pos), Pos: w.name.Pos}
	b.parts(w.parts)
	b.walkEdges()
	b.walkLoops()
	// Without fields there is nothing that a run could declare its inputs by. A walk by
	// outcomes has no such inputs in documents.
	g.w.OpenInputs = len(g.w.Fields) == 0 && b.router == ByModel
	g.w.Findings = b.ds
	return g
}

// routerOf returns the router that the parts set.
func (w *Walk) routerOf() WalkRouter {
	router := BySteps
	for _, p := range w.parts {
		if r, ok := p.(WalkRouter); ok {
			router = r
		}
	}
	return router
}
