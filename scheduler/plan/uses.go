package plan

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// expression compiles a string and adds what it refers to. It returns nil after an error.
func (c *compiler) expression(text source.Text, scope expressions.Scope, at place, use *References) *expressions.Program {
	tree, err := expressions.Parse(text.Value)
	if err != nil {
		_, ds := expressions.Compile(text, scope, at.String()) // reports the error
		c.ds = append(c.ds, ds...)
		c.invalid.references = true
		return nil
	}
	return c.expressionTree(tree, text, scope, at, use)
}

// expressionTree is expression for a string that has been parsed.
func (c *compiler) expressionTree(tree *expressions.Tree, text source.Text, scope expressions.Scope, at place, use *References) *expressions.Program {
	c.mentions(tree)
	p, ds := expressions.CompileTree(tree, text, scope, at.String())
	c.ds = append(c.ds, ds...)
	if p != nil {
		c.refer(use, p)
	}
	return p
}

// mentions records which fields an expression names, even if it is invalid otherwise.
func (c *compiler) mentions(tree *expressions.Tree) {
	for _, path := range tree.Paths() {
		switch path.Root {
		case expressions.RootState:
			if i, ok := c.p.Schema.Index(path.Steps[0].Name); ok {
				c.fieldUsed[i] = true
			} else if c.p.open {
				c.fieldUsed[c.p.context] = true
			} else {
				c.invalid.references = true
			}
		case expressions.RootInput:
			if c.inputUsed == nil {
				c.inputUsed = map[string]bool{}
			}
			c.inputUsed[path.Steps[0].Name] = true
		}
	}
}

// refer adds what an expression refers to, as far as it is known.
func (c *compiler) refer(u *References, p *expressions.Program) {
	for _, f := range p.FieldSlots() {
		if f >= 0 {
			u.Fields = append(u.Fields, int32(f))
		}
	}
	for _, n := range p.Nodes() {
		if n >= 0 {
			u.Nodes = append(u.Nodes, int32(n))
		}
	}
}
