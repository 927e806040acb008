// Package std lists the standard node kinds: the kinds of package basic, and the kinds that use
// files, databases and network connections.
//
//	registry := core.NewRegistry(std.Kinds()...)
//
// A program that imports this package links every kind and its dependencies: modernc.org/sqlite,
// which is SQLite in pure Go (about 5 MB), pgx for PostgreSQL, and parquet-go. A program that
// needs fewer kinds builds its registry from the packages of these kinds.
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
