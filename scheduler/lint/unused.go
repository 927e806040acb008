package lint

import "github.com/wavefold/wavefold/core/source"

// checkUnusedFields reports state fields that no node reads or writes.
func (c *checker) checkUnusedFields() {
	if c.f.Invalid().References {
		return
	}
	for _, d := range c.w.Fields {
		i, ok := c.p.Schema.Index(d.Name.Value)
		if ok && !c.f.Mentioned(int32(i)) && !c.f.IsInput(d.Name.Value) && !c.f.Given(d.Name.Value) {
			c.ds.Hintf(source.CodeUnused, d.Name.Pos, "state field %q is neither read nor written", d.Name.Value)
		}
	}
}
