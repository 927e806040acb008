package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/nodes/internal/database"
)

// markers returns the quoted name of the table of markers in the schema of a table.
func markers(t *database.Table) string {
	return name(&database.Table{Schema: t.Schema, Name: database.MarkerTable})
}

// createMarkers is the key of the lock under which the table of markers is created: two
// transactions that create a table at the same time fail, even with IF NOT EXISTS.
const createMarkers = "SELECT pg_advisory_xact_lock(hashtext('wavefold_commits'))"

// Committed returns the marker of a key. It creates the table of markers, because transactions
// that store rows and create it would wait for each other.
func (d *DB) Committed(ctx context.Context, t *database.Table, key string) (m database.Marker, ok bool, err error) {
	to := markers(t)
	var there bool
	if err := d.conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", to).Scan(&there); err != nil {
		return m, false, explain(err)
	}
	if !there {
		return m, false, d.simple(ctx, createMarkers+"; "+database.CreateMarkers(to))
	}
	var done int
	err = d.conn.QueryRow(ctx, numbered(database.FindMarker(to)), key).Scan(&m.Rows, &m.Position, &done, &m.Result)
	m.Done = done != 0
	if errors.Is(err, pgx.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, explain(err)
}

// Mark stores a marker.
func (d *DB) Mark(ctx context.Context, t *database.Table, m database.Marker, before int64) error {
	text, args := database.StoreMarker(markers(t), m, before)
	tag, err := d.conn.Exec(ctx, numbered(text), args...)
	if err == nil && tag.RowsAffected() != 1 {
		return database.ErrMarked
	}
	return explain(err)
}

// numbered returns a statement with parameters as PostgreSQL writes them.
func numbered(statement string) string { return strings.ReplaceAll(statement, "?", "$") }
