package plan

import "github.com/wavefold/wavefold/core"

// checkUnusedFields mentions state fields that nobody reads or writes.
func (c *compiler) checkUnusedFields() {
	if c.unknown.reads || c.unknown.writes {
		return
	}
	for _, d := range c.w.Fields {
		i, ok := c.p.Schema.Index(d.Name.Value)
		_, isInput := c.p.inputIndex[d.Name.Value]
		if ok && isID(d.Name.Value) && !c.fieldUsed[i] && !isInput && !c.given[d.Name.Value] && !c.inputUsed[d.Name.Value] {
			c.ds.Hintf(core.CodeUnused, d.Name.Pos, "state field %q is neither read nor written", d.Name.Value)
		}
	}
}
