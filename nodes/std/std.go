// Package std lists the standard set of node kinds: those of package basic, and those that
// open files, databases and connections.
//
//	registry := core.NewRegistry(std.Kinds()...)
//
// A program that imports it links every kind and what the kinds need: besides the standard
// library modernc.org/sqlite, which is SQLite in pure Go (about 5 MB), pgx for PostgreSQL,
// and parquet-go. A program that does without them builds its registry from the kinds it
// wants.
package std

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/basic"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/http"
	"github.com/wavefold/wavefold/nodes/route"
	"github.com/wavefold/wavefold/nodes/sink"
	"github.com/wavefold/wavefold/nodes/sql"
)

// Kinds returns the standard kinds in a new list.
func Kinds() []core.Kind {
	return append(basic.Kinds(), dataset.Kind, sink.Kind, sql.Kind, http.Kind, route.Kind)
}
