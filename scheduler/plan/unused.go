package plan

import "github.com/wavefold/wavefold/core"

// checkUnusedFields mentions state fields that nobody reads or writes.
func (c *compiler) checkUnusedFields() {
	used := make([]bool, len(c.p.Schema.Fields))
	mark := func(fields []int32) {
		for _, f := range fields {
			used[f] = true
		}
	}
	for i := range c.decl {
		mark(c.decl[i].reads)
		mark(c.decl[i].writes)
	}
	for _, use := range c.edgeUse {
		if use != nil {
			mark(use.fields)
		}
	}
	for _, d := range c.w.Fields {
		i, ok := c.p.Schema.Index(d.Name.Value)
		_, isInput := c.p.inputIndex[d.Name.Value]
		if ok && !used[i] && !isInput && !c.given[d.Name.Value] && !c.inputUsed[d.Name.Value] {
			c.ds = append(c.ds, core.Diagnostic{Code: core.CodeUnused, Severity: core.Hint, Pos: d.Name.Pos,
				Message: "state field \"" + d.Name.Value + "\" is neither read nor written"})
		}
	}
}
