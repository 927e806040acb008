// Package std lists the standard set of node kinds, so that what a program
// contains can be read in one place:
//
//	registry := core.NewRegistry(std.Kinds()...)
//
// Whoever imports it links every kind and what they need: besides the standard
// library modernc.org/sqlite, a pure Go SQLite of about 5 MB, pgx for PostgreSQL, and
// parquet-go. A program
// that does without builds its registry from the kinds it wants.
package std

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/command"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/fanin"
	"github.com/wavefold/wavefold/nodes/http"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/missing"
	"github.com/wavefold/wavefold/nodes/route"
	"github.com/wavefold/wavefold/nodes/script"
	"github.com/wavefold/wavefold/nodes/sink"
	"github.com/wavefold/wavefold/nodes/sql"
	"github.com/wavefold/wavefold/nodes/template"
	"github.com/wavefold/wavefold/nodes/tool"
	"github.com/wavefold/wavefold/nodes/transform"
	"github.com/wavefold/wavefold/nodes/wait"
	"github.com/wavefold/wavefold/nodes/walk"
	"github.com/wavefold/wavefold/nodes/workflow"
)

// Kinds returns the standard kinds: those that do something, then those that
// validate and have no handler here. The list is new at each call.
func Kinds() []core.Kind {
	return append([]core.Kind{
		tool.Kind,
		command.Kind,
		script.Kind,
		dataset.Kind,
		transform.Kind,
		sink.Kind,
		sql.Kind,
		http.Kind,
		template.Kind,
		wait.Kind,
		human.Kind,
		fanin.Kind,
		route.Kind,
		workflow.Kind,
		workflow.Experience,
	}, slices.Concat(agent.Kinds(nil), walk.Kinds(), missing.Kinds())...)
}
