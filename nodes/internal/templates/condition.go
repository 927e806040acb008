package templates

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// Condition compiles an expression over what the templates of the node may refer to. key is the key
// of the expression in messages. Condition returns nil after an error.
func (s *Set) Condition(src source.Text, key string) *Condition {
	scope, places := s.scope(src)
	if scope.Fields == nil {
		scope.Fields = &expressions.Open{}
	}
	p, ds := expressions.Compile(src, scope, s.subject+": "+key)
	s.Found = append(s.Found, ds...)
	if p == nil {
		return nil
	}
	for _, field := range p.Fields() {
		s.Reads = appendOnce(s.Reads, source.At(field, src.Pos))
	}
	for _, i := range p.Nodes() {
		s.Nodes = appendOnce(s.Nodes, place(places, p.NodeNames()[i], src.Pos))
	}
	return &Condition{p}
}

// Condition is a compiled condition. It is immutable and safe for concurrent use.
type Condition struct{ program *expressions.Program }

// Test reports whether the condition holds for the input of an attempt.
func (c *Condition) Test(in core.Input) bool {
	return c.program.Test(roundEnv{expressions.ForInput(in.Values(), c.program.SlotNames(), c.program.NodeNames()), in})
}

// roundEnv adds $iter and $loop to an environment.
type roundEnv struct {
	expressions.Env
	in core.Input
}

// Extra returns $iter and $loop in the round of a loop.
func (e roundEnv) Extra(root expressions.Root) any {
	if v, ok := ofRound(e.in, root); ok {
		return v
	}
	return e.Env.Extra(root)
}

// ofRound returns $iter and $loop of an input.
func ofRound(in core.Input, root expressions.Root) (v any, ok bool) {
	switch {
	case in.Loop() == "":
	case root == expressions.RootIter:
		return int64(in.Round()), true
	case root == expressions.RootLoop:
		return in.Loop(), true
	}
	return nil, false
}
