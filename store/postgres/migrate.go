package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/wavefold/wavefold/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// newest is the version of the last file in migrations: they are numbered from 1.
var newest = func() int64 {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		panic(err) // the files are part of the program
	}
	return int64(len(files))
}()

// versionTable has the version of the tables.
const versionTable = "wavefold_migrations"

// migrate brings the tables to the newest version. If they have it already, it costs one query and
// needs no right to create tables. If there are none and existing is true, it returns a *store.MissingError.
func (s *Store) migrate(ctx context.Context, existing bool) error {
	version, err := s.version(ctx)
	switch {
	case err != nil:
		return explain(err)
	case version == newest:
		return nil
	case version == 0 && existing:
		return s.noStore(ctx)
	case version > newest:
		return fmt.Errorf("the tables have version %d, and this program knows versions up to %d: use a newer program", version, newest)
	}
	if err := s.upgrade(ctx); err != nil {
		return fmt.Errorf("cannot create or change the tables, which have version %d and need version %d: %w", version, newest, explain(err))
	}
	return nil
}

// version returns the version of the tables, or 0 if there are none.
func (s *Store) version(ctx context.Context) (version int64, err error) {
	err = s.pool.QueryRow(ctx, "SELECT max(version_id) FROM "+versionTable+" WHERE is_applied").Scan(&version)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == undefinedTable {
		return 0, nil
	}
	return version, err
}

// noStore returns the error for a schema without tables. It names the schemas of the database that have them.
func (s *Store) noStore(ctx context.Context) error {
	text := "there is no store in the search path"
	if s.schema != "" {
		text = fmt.Sprintf("there is no store in schema %q", s.schema)
	}
	rows, err := s.pool.Query(ctx, `SELECT quote_ident(table_schema) FROM information_schema.tables WHERE table_name = $1 ORDER BY 1 LIMIT 5`, versionTable)
	if err == nil {
		if others, err := pgx.CollectRows(rows, pgx.RowTo[string]); err == nil && len(others) > 0 {
			text += "; these schemas have one: " + strings.Join(others, ", ")
		}
	}
	return &store.MissingError{What: text}
}

// upgrade applies the missing migrations. Several processes may call it at the same time.
func (s *Store) upgrade(ctx context.Context) error {
	if s.schema != "" {
		if err := s.createSchema(ctx); err != nil {
			return err
		}
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(s.pool)
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithTableName(versionTable), goose.WithSessionLocker(oneMigrates{}),
		goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// oneMigrates makes one process migrate a schema at a time. The others wait; the lock of goose itself is asked for
// once a second.
type oneMigrates struct{}

var _ lock.SessionLocker = oneMigrates{}

const lockKey = "hashtextextended('wavefold ' || current_schema(), 0)"

// SessionLock implements lock.SessionLocker.
func (oneMigrates) SessionLock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock("+lockKey+")")
	return err
}

// SessionUnlock implements lock.SessionLocker.
func (oneMigrates) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_unlock("+lockKey+")")
	return err
}

// createSchema creates the schema of the URL. CREATE SCHEMA IF NOT EXISTS needs the right to create it even
// if it exists.
func (s *Store) createSchema(ctx context.Context) error {
	var exists bool
	err := s.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", s.schema).Scan(&exists)
	if err != nil || exists {
		return err
	}
	_, err = s.pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{s.schema}.Sanitize())
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == uniqueViolation || pg.Code == duplicateSchema) {
		return nil // another process was first
	}
	return err
}
