package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// claims marks the nodes that might replace the same files and tables as other nodes, items or rows.
// A name that is rendered from a template is known only when the node runs. Nodes with distinct fixed
// names need not wait for each other. A nested workflow may replace what the graph around it
// replaces, so its nodes are marked in any case.
func (c *compiler) claims() {
	if !c.has.replaces {
		return
	}
	nested := len(c.common.nested) > 1
	kinds := make([]core.Replaces, len(c.p.Vertices))
	equal := c.equalTargets()
	rows := false
	tables := slices.ContainsFunc(c.p.Nodes, func(n Node) bool { return n.replaces == core.ReplacesRenderedTable })
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		kind := n.replaces
		switch {
		case kind != core.ReplacesNothing && equal[n.Index]:
			kind = max(kind, core.ReplacesRendered)
		case kind == core.ReplacesTable && (tables || nested): // there may be a rendered name in the workflow around it
			kind = core.ReplacesFixed
		case kind == core.ReplacesTable: // which no other node can mean
			kind, n.replaces = core.ReplacesNothing, core.ReplacesNothing
		}
		kinds[n.Vertex] = max(kinds[n.Vertex], kind)
		c.p.replaces = max(c.p.replaces, kind)
		rows = rows || kind != core.ReplacesNothing && (n.Source != nil || n.Member >= 0)
	}
	rendered := int32(0) // number of claimers up to the last one with a rendered name
	for v := range c.p.Vertices {
		pv := &c.p.Vertices[v]
		if kinds[v] == core.ReplacesNothing {
			continue
		}
		pv.Claims = true
		own := Claimer{int32(v), rendered}
		if kinds[v] >= core.ReplacesRendered {
			own.After = int32(len(c.p.Claimers))
			rendered = own.After + 1
		}
		c.p.Claimers = append(c.p.Claimers, own)
	}
	if !nested && (rendered == 0 && !rows || len(c.p.Claimers) == 1 && !rows && c.p.Vertices[c.p.Claimers[0].Vertex].Shape == Plain && !c.nestedClaims()) {
		for _, own := range c.p.Claimers {
			c.p.Vertices[own.Vertex].Claims = false
		}
		c.p.Claimers = nil
	}
	c.markClaims()
}

// markUpserts marks the nodes that upsert rows and may use the same keys as others: other items, rows
// or nodes, or the workflow around a nested run.
func (c *compiler) markUpserts() {
	if !c.has.upserts {
		return
	}
	several, nested := 0, len(c.common.nested) > 1
	for i := range c.p.Nodes {
		if c.p.Nodes[i].upserts {
			several++
		}
	}
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		c.p.upserts = c.p.upserts || n.upserts
		n.Upserts = n.upserts && n.Frame == nil && (nested || several > 1 || n.Source != nil || n.Member >= 0)
	}
}

// nestedClaims reports whether a nested run may replace a file or table.
func (c *compiler) nestedClaims() bool {
	for i := range c.p.Nodes {
		if n := &c.p.Nodes[i]; n.Frame != nil && n.replaces != core.ReplacesNothing {
			return true
		}
	}
	return false
}

// markClaims marks the nodes of the claimers.
func (c *compiler) markClaims() {
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		pv := &c.p.Vertices[n.Vertex]
		if !pv.Claims || n.replaces == core.ReplacesNothing {
			continue
		}
		n.Claims = n.Frame == nil
		if pv.Unit != nil {
			pv.Unit.LastClaim = max(pv.Unit.LastClaim, n.Member)
		}
	}
}

// equalTargets returns the nodes that replace a file or table that another node replaces as well.
func (c *compiler) equalTargets() map[int32]bool {
	type key struct{ file, table string }
	first, equal := map[key]int32{}, map[int32]bool{}
	for _, t := range c.p.outputs {
		if t.Adds {
			continue
		}
		k := key{t.Key, t.Table}
		if other, ok := first[k]; ok && other != t.Node {
			equal[other], equal[t.Node] = true, true
		} else if !ok {
			first[k] = t.Node
		}
	}
	return equal
}
