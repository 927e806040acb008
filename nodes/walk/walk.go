package walk

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Kinds returns the kinds of this package.
func Kinds() []core.Kind {
	return []core.Kind{
		kind("start", core.RoleStart, "Begins a walk."),
		kind("exit", core.RoleExit, "Ends a walk."),
		kind("conditional", core.RoleConditional, "Branches a walk."),
		kind("parallel", core.RoleParallel, "Begins branches of a walk that run at the same time."),
	}
}

// kind returns a kind that runs nothing.
func kind(name string, role core.Role, doc string) core.Kind {
	return core.NewKind(core.KindOf[struct{}]{
		Name: name,
		Doc:  doc,
		Compile: func(n *core.Node, _ core.Env, _ *struct{}) (core.Compiled, source.Diagnostics) {
			ds := append(setting.UnusedWrites(n, "a node of kind "+name+" writes nothing"), setting.UnusedArgs(n, setting.NoArgs)...)
			return core.Compiled{Role: role}, ds
		},
	})
}
