package wavefold

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/missing"
	"github.com/wavefold/wavefold/nodes/tool"
	"github.com/wavefold/wavefold/nodes/wait"
	"github.com/wavefold/wavefold/nodes/workflow"
)

// DefaultKinds returns the kinds every engine starts with: those that need nothing but
// the standard library. The kinds that open databases and data files are in package
// nodes/std.
func DefaultKinds() []core.Kind {
	return append([]core.Kind{tool.Kind{}, workflow.Kind{}, wait.Kind{}}, missing.Kinds()...)
}
