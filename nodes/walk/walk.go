package walk

import "github.com/wavefold/wavefold/core"

// Kind is a kind of node that runs nothing.
type Kind struct {
	name string
	role core.Role
}

// Kinds returns the kinds of this package.
func Kinds() []core.Kind {
	return []core.Kind{
		Kind{"start", core.RoleStart},
		Kind{"exit", core.RoleExit},
		Kind{"conditional", core.RoleConditional},
		Kind{"parallel", core.RoleParallel},
	}
}

// Name returns the name of the kind.
func (k Kind) Name() string { return k.name }

// Keys returns none.
func (Kind) Keys() []string { return nil }

// Compile returns the role of the kind.
func (k Kind) Compile(*core.Node, core.Env) (core.Compiled, core.Diagnostics) {
	return core.Compiled{Role: k.role}, nil
}
