package plan

import (
	"github.com/wavefold/wavefold/expressions"
)

// uses collects which fields and nodes a part of a document refers to, in order
// of use; a name may stand more than once.
type uses struct {
	fields []int32
	nodes  []int32
}

// refer adds what an expression refers to.
func (c *compiler) refer(u *uses, p *expressions.Program) {
	for _, f := range p.FieldSlots() {
		u.fields = append(u.fields, int32(f))
	}
	for _, n := range p.Nodes() {
		u.nodes = append(u.nodes, int32(n))
	}
	for _, path := range p.Tree().Paths() {
		if path.Root == expressions.RootInput {
			if c.inputUsed == nil {
				c.inputUsed = map[string]bool{}
			}
			c.inputUsed[path.Steps[0].Name] = true
		}
	}
}
