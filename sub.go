package wavefold

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/dot"
	"github.com/wavefold/wavefold/internal/timelimit"
)

// passage is a value that is passed into or out of a sub-workflow.
type passage struct {
	inner   string
	outer   AnyField // nil for a constant value
	value   any
	leaving bool
	item    bool // the item of a fan-out is passed in, or its result out
}

// Sub runs a graph as a node of another one, with its own state. In and Is set the
// starting values of its run, Out passes results back. A failure inside fails the node
// and names the inner node. With Over there is one run for each element of a field. It
// takes the options of all nodes and, with Over, Limit and MaxFailures.
func Sub(id string, g *Graph, options ...Option) Part {
	n := newNode("Sub", id, options)
	n.kind = "workflow"
	if g.missingWorkflow() != nil {
		n.findings.Errorf(source.CodeMissingKey, n.id.Pos, "node %s: Sub has no graph", id)
		return n
	}
	n.sub = g
	args := &source.Value{Kind: source.ObjectValue, Pos: n.id.Pos}
	outputs := &source.Value{Kind: source.ObjectValue, Pos: n.id.Pos}
	for _, p := range n.passages {
		name := source.At(p.inner, n.id.Pos)
		switch {
		case p.leaving:
			n.writes = append(n.writes, p.outer)
			if p.item {
				n.collect = p.outer
			}
			if s := specOf(p.outer); s != nil {
				outputs.Set(s.decl.Name, source.Tree(p.inner, n.id.Pos))
			}
		case p.item:
			n.fanOut(p.outer)
			args.Set(name, source.Tree("$item", n.id.Pos))
		case p.outer != nil:
			n.needs = append(n.needs, p.outer)
			if s := specOf(p.outer); s != nil {
				args.Set(name, source.Tree("$."+s.decl.Name.Value, n.id.Pos))
			}
		default:
			args.Set(name, n.literal(p))
		}
	}
	n.args = args
	n.config = &source.Value{Kind: source.ObjectValue, Pos: n.id.Pos}
	n.config.Set(source.At("file", n.id.Pos), source.Tree(fileName(g), n.id.Pos))
	if len(outputs.Keys) > 0 {
		n.config.Set(source.At("outputs", n.id.Pos), outputs)
	}
	return n
}

// literal converts a value to an argument: strings that look like paths are escaped.
func (n *node) literal(p passage) *source.Value {
	c, err := timelimit.Canonical(p.value)
	if err != nil {
		n.findings.Errorf(source.CodeBadValue, n.id.Pos, "node %s: the value of %q: %v", n.id.Value, p.inner, err)
		return &source.Value{Pos: n.id.Pos}
	}
	return escape(source.Tree(c, n.id.Pos))
}

func escape(v *source.Value) *source.Value {
	if s, ok := v.Scalar.(string); ok && strings.HasPrefix(s, "$") {
		v.Scalar = "$" + s
	}
	for _, e := range v.Items {
		escape(e)
	}
	for _, e := range v.Values {
		escape(e)
	}
	return v
}

// In starts a field of the sub-workflow with the value of a field of the outer graph.
func In[T any](inner, outer Field[T]) Option {
	return passOption("In", passage{inner: inner.Name(), outer: outer})
}

// Out writes a field of the outer graph with the final value of a field of the
// sub-workflow. If that field has no value, nothing is written.
func Out[T any](inner, outer Field[T]) Option {
	return passOption("Out", passage{inner: inner.Name(), outer: outer, leaving: true})
}

// OutEach collects the final values of a field of a Sub with Over. Each run that
// succeeds adds one value to the list, in the order of the elements. A Sub has at most
// one OutEach. See Collect.
func OutEach[T any](inner Field[T], outer Field[[]T]) Option {
	return passOption("OutEach", passage{inner: inner.Name(), outer: outer, leaving: true, item: true})
}

// Over makes a Sub a fan-out: it runs once for each element of items, which is the
// starting value of inner. The writes of Out are merged in the order of the elements.
func Over[T any](items Field[[]T], inner Field[T]) Option {
	return passOption("Over", passage{inner: inner.Name(), outer: items, item: true})
}

func passOption(name string, p passage) Option {
	return option(name, func(s *settings) { s.passages = append(s.passages, p) })
}

// fileName returns the file name of a graph's document.
func fileName(g *Graph) string {
	extension := ".yaml"
	if dot.Holds(g.w) {
		extension = ".dot"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			return r
		}
		return '_'
	}, g.w.Name.Value) + extension
}
