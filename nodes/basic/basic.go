// Package basic lists the kinds of nodes that need nothing outside of the standard library
// and of this module. Every engine has them; package std adds the kinds that open files,
// databases and connections.
package basic

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/command"
	"github.com/wavefold/wavefold/nodes/fanin"
	"github.com/wavefold/wavefold/nodes/guard"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/router"
	"github.com/wavefold/wavefold/nodes/script"
	"github.com/wavefold/wavefold/nodes/template"
	"github.com/wavefold/wavefold/nodes/tool"
	"github.com/wavefold/wavefold/nodes/transform"
	"github.com/wavefold/wavefold/nodes/unhandled"
	"github.com/wavefold/wavefold/nodes/wait"
	"github.com/wavefold/wavefold/nodes/walk"
	"github.com/wavefold/wavefold/nodes/workflow"
)

// Kinds returns the kinds in a new list.
func Kinds() []core.Kind {
	return slices.Concat([]core.Kind{
		tool.Kind,
		command.Kind,
		script.Kind,
		transform.Kind,
		template.Kind,
		wait.Kind,
		human.Kind,
		fanin.Kind,
		guard.Kind,
		router.Kind(nil),
		workflow.Kind,
		workflow.Experience,
	}, agent.Kinds(nil), walk.Kinds(), unhandled.Kinds())
}
