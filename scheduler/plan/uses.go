package plan

import (
	"slices"

	"github.com/wavefold/wavefold/expressions"
)

// uses collects which fields and nodes a part of a document refers to, each
// once, in order of first use.
type uses struct {
	fields []int32
	nodes  []int32
}

func (u *uses) field(f int32) {
	if !slices.Contains(u.fields, f) {
		u.fields = append(u.fields, f)
	}
}

func (u *uses) node(n int32) {
	if !slices.Contains(u.nodes, n) {
		u.nodes = append(u.nodes, n)
	}
}

func (u *uses) program(p *expressions.Program) {
	for _, f := range p.FieldSlots() {
		u.field(int32(f))
	}
	for _, n := range p.Nodes() {
		u.node(int32(n))
	}
}
