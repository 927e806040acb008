package wavefold

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/command"
	"github.com/wavefold/wavefold/nodes/fanin"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/missing"
	"github.com/wavefold/wavefold/nodes/script"
	"github.com/wavefold/wavefold/nodes/template"
	"github.com/wavefold/wavefold/nodes/tool"
	"github.com/wavefold/wavefold/nodes/transform"
	"github.com/wavefold/wavefold/nodes/wait"
	"github.com/wavefold/wavefold/nodes/walk"
	"github.com/wavefold/wavefold/nodes/workflow"
)

// DefaultKinds returns the kinds every engine of NewEngine has: those that need nothing
// but the standard library. Package nodes/std has them and those that open databases and
// data files.
func DefaultKinds() []core.Kind {
	return append([]core.Kind{
		tool.Kind,
		command.Kind,
		script.Kind,
		transform.Kind,
		template.Kind,
		wait.Kind,
		human.Kind,
		fanin.Kind,
		workflow.Kind,
		workflow.Experience,
	}, slices.Concat(agent.Kinds(nil), walk.Kinds(), missing.Kinds())...)
}
