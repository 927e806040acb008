package database

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// MarkerTable is the table of markers. It is in the database of the rows; on a server, in
// their schema.
//
// An execution of a stored run that stores rows also stores a marker in the same
// transaction. An execution that is repeated after a crash finds the marker and stores only
// the rows that are not there. The row of an execution that has ended is not needed once
// its run has ended, and may be deleted by its column at.
const MarkerTable = "wavefold_commits"

// Statements about markers, in the syntax of SQLite, for the quoted name of MarkerTable. On
// another server "?" is replaced.
const (
	createMarkers = `CREATE TABLE IF NOT EXISTS %s (key TEXT PRIMARY KEY, run TEXT, node TEXT, rows BIGINT, position TEXT, done INTEGER, result TEXT, at TEXT)`
	findMarker    = `SELECT rows, position, done, result FROM %s WHERE key = ?1`
	storeMarker   = `INSERT INTO %s AS m (key, run, node, rows, position, done, result, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (key) DO UPDATE SET rows = excluded.rows, position = excluded.position, done = excluded.done, result = excluded.result, at = excluded.at
WHERE m.rows = ?9 AND m.done = 0`
)

// CreateMarkers returns the statement that creates MarkerTable under a quoted name.
func CreateMarkers(name string) string { return fmt.Sprintf(createMarkers, name) }

// FindMarker returns the statement that reads the members Rows, Position, Done and Result of
// the marker of a key.
func FindMarker(name string) string { return fmt.Sprintf(findMarker, name) }

// StoreMarker returns the statement of Backend.Mark and its arguments. It changes no row if
// there is another marker than expected.
func StoreMarker(name string, m Marker, before int64) (string, []any) {
	done := 0
	if m.Done {
		done = 1
	}
	return fmt.Sprintf(storeMarker, name), []any{m.Key, m.Run, m.Node, m.Rows, m.Position, done, m.Result, time.Now().UTC().Format(time.DateTime), before}
}

// Marker says what an execution has committed.
type Marker struct {
	// Key is the idempotency key of the execution, Run its run, and Node the path of its
	// node.
	Key, Run, Node string
	// Rows is the number of rows that were stored.
	Rows int64
	// Position is the place of the source after these rows, as JSON, or "" if there is
	// none.
	Position string
	// Done reports whether the execution has ended, and Result is its result as JSON.
	Done   bool
	Result string
}

// ErrMarked is the error of a transaction whose marker was changed by another process since
// it was read. The transaction must be rolled back.
var ErrMarked = core.FailRun(errors.New("another process has stored rows of the same execution at the same time"))

// Commits records what one execution of a stored run has committed. A nil *Commits records
// nothing.
type Commits struct {
	marker Marker
	stored int64 // Marker.Rows in the database, -1 if there is no marker
	off    bool  // no markers are stored
}

// Members of a checkpoint.
const (
	checkRows   = "rows"
	checkSource = "source"
)

// FindCommits returns what the execution has committed in an earlier process: its marker,
// or without markers its checkpoint. It returns nil if the run is not stored. t identifies
// the table that rows are stored in.
func FindCommits(ctx context.Context, b Backend, t *Table, in core.Input, markers bool) (c *Commits, err error) {
	if !in.Durable() {
		return nil, nil
	}
	c = &Commits{marker: Marker{Key: in.IdempotencyKey(), Run: in.Run(), Node: in.Node()}, stored: -1, off: !markers}
	if c.off {
		c.checkpointed(in.Checkpointed())
		return c, nil
	}
	m, ok, err := b.Committed(ctx, t, c.marker.Key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (markers: false does without this table)", MarkerTable, err)
	}
	if ok {
		c.marker.Rows, c.marker.Position, c.marker.Done, c.marker.Result, c.stored = m.Rows, m.Position, m.Done, m.Result, m.Rows
	}
	return c, nil
}

// checkpointed continues at a checkpoint, which may be nil.
func (c *Commits) checkpointed(p *value.Object) {
	rows, _ := p.Get(checkRows)
	c.marker.Rows, _ = rows.(int64)
	if at, ok := p.Get(checkSource); ok {
		c.marker.Position = value.JSON(at)
	}
}

// Checkpoint returns the position of the execution for Input.Checkpoint, after rows have
// been stored and with the source at a position.
func Checkpoint(rows int64, source *value.Object) *value.Object {
	return value.ObjectOf(checkRows, rows, checkSource, source)
}

// Kept reports whether another attempt finds what this one has committed.
func (c *Commits) Kept() bool { return c != nil && !c.off }

// Done returns the result of the execution if it has ended.
func (c *Commits) Done() (result *value.Object, ok bool) {
	if c == nil || !c.marker.Done {
		return nil, false
	}
	v, _ := value.ParseJSON([]byte(c.marker.Result))
	result, ok = v.(*value.Object)
	return result, ok
}

// Rows returns the number of rows that were committed.
func (c *Commits) Rows() int64 {
	if c == nil {
		return 0
	}
	return c.marker.Rows
}

// Position returns the position of the source after the rows that were committed, or nil.
func (c *Commits) Position() *value.Object {
	if c == nil || c.marker.Position == "" {
		return nil
	}
	v, _ := value.ParseJSON([]byte(c.marker.Position))
	p, _ := v.(*value.Object)
	return p
}

// Mark stores the marker in the open transaction: rows have been stored, and the source is
// at a position, which may be nil. A result that is not nil is the result of the execution,
// which has then ended.
func (c *Commits) Mark(ctx context.Context, b Backend, t *Table, rows int64, position, result *value.Object) error {
	if c == nil || c.off {
		return nil
	}
	m := c.marker
	m.Rows, m.Position, m.Done, m.Result = rows, "", result != nil, ""
	if position != nil {
		m.Position = value.JSON(position)
	}
	if result != nil {
		m.Result = value.JSON(result)
	}
	if err := b.Mark(ctx, t, m, c.stored); err != nil {
		if errors.Is(err, ErrMarked) {
			return err
		}
		return fmt.Errorf("%s: %w", MarkerTable, err)
	}
	c.marker, c.stored = m, rows
	return nil
}
