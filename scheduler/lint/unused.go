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

// checkUnusedInputs mentions declared inputs that nothing reads. An input that fills a
// declared field of the state is in the result of the run, and a nested workflow may declare
// an input for its callers.
func (c *checker) checkUnusedInputs() {
	if x := c.f.Invalid(); x.References || x.Nodes || c.f.Nested() {
		return
	}
	declared := make(map[string]bool, len(c.w.Fields))
	for _, d := range c.w.Fields {
		declared[d.Name.Value] = true
	}
	for i := range c.w.Inputs {
		name := c.w.Inputs[i].Name
		f, ok := c.p.Schema.Index(name.Value)
		if ok && !declared[name.Value] && !c.f.Mentioned(int32(f)) && !c.f.MayReadInput(name.Value) {
			c.ds.Hintf(source.CodeUnused, name.Pos, "input %q is not read", name.Value)
		}
	}
}
