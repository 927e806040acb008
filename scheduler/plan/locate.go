package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// spot is the place where a document refers to a field or node. Spots are computed only when there
// is something to report: keeping one for every reference would cost more than all checks together.
type spot struct {
	at  place
	pos source.Position
}

// findPath returns the position where an expression refers to a field (with RootState) or a node
// (with RootNodes).
func findPath(p *expressions.Program, text source.Text, root expressions.Root, name string) (source.Position, bool) {
	for _, path := range p.Tree().Paths() {
		if path.Root == root && path.Steps[0].Name == name {
			return source.Inside(text, path.Start()), true
		}
	}
	return text.Pos, false
}

func (s *Source) find(root expressions.Root, name string) (source.Position, bool) {
	switch {
	case s == nil:
		return source.Position{}, false
	case s.program != nil:
		return findPath(s.program, s.Text, root, name)
	case s.path != nil && root == expressions.RootState && s.path.Root() == name:
		return s.Text.Pos, true
	}
	return s.Text.Pos, false
}

// vertexSpot returns the first place where a vertex refers to a field or node.
func (c *compiler) vertexSpot(d *vertexDecl, root expressions.Root, name string) spot {
	if d.unit == nil {
		return c.nodeSpot(&c.p.Nodes[d.node], root, name)
	}
	at := place{what: d.shape.String(), id: d.id}
	if pos, ok := d.unit.Items.find(root, name); ok {
		return spot{at.at("items"), pos}
	}
	for _, m := range d.unit.Members {
		if s, ok := c.findInNode(&c.p.Nodes[m], root, name); ok {
			return s
		}
	}
	if l := d.use.loop; l != nil && d.unit.Until != nil {
		if pos, ok := findPath(d.unit.Until, *l.Until, root, name); ok {
			return spot{at.at("until"), pos}
		}
	}
	return spot{at, d.use.pos()}
}

func (u *unitUse) pos() source.Position {
	if u.loop != nil {
		return u.loop.ID.Pos
	}
	return u.pipeline.ID.Pos
}

// nodeSpot returns the first place where a node refers to a field or node.
func (c *compiler) nodeSpot(n *Node, root expressions.Root, name string) spot {
	s, _ := c.findInNode(n, root, name)
	return s
}

func (c *compiler) findInNode(n *Node, root expressions.Root, name string) (spot, bool) {
	at := nodePlace(n.ID)
	byKind := c.kindRefs[n.Index].nodes
	if root == expressions.RootState {
		if pos, ok := findText(n.Decl.Reads, name); ok {
			return spot{at.at("reads"), pos}, true
		}
		byKind = c.kindRefs[n.Index].fields
	}
	if pos, ok := n.Source.find(root, name); ok {
		return spot{at.at("for_each.source"), pos}, true
	}
	if n.Args != nil {
		if s, ok := n.Args.root.find(at.at("args"), root, name); ok {
			return s, true
		}
	}
	if pos, ok := findText(byKind, name); ok {
		return spot{at, pos}, true
	}
	return spot{at, n.Decl.ID.Pos}, false
}

// find searches a tree of arguments for the reference.
func (a *argument) find(at place, root expressions.Root, name string) (spot, bool) {
	if pos, ok := a.source.find(root, name); ok {
		return spot{at, pos}, true
	}
	for i := range a.members {
		inner := at
		if !a.isList {
			inner = at.sub(a.keys[i])
		}
		if s, ok := a.members[i].find(inner, root, name); ok {
			return s, true
		}
	}
	return spot{}, false
}

// edgeSpot returns the place where the condition of an edge refers to a field or node.
func (c *compiler) edgeSpot(edge int, root expressions.Root, name string) spot {
	d := c.p.edgeDecls[edge]
	pos, _ := findPath(c.p.Edges[edge].When, *d.When, root, name)
	return spot{edgePlace(d).at("when"), pos}
}

func findText(list []source.Text, name string) (source.Position, bool) {
	if i := slices.IndexFunc(list, func(t source.Text) bool { return t.Value == name }); i >= 0 {
		return list[i].Pos, true
	}
	return source.Position{}, false
}
