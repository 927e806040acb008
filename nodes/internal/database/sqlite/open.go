package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/database"
)

// DB is a connection to a file.
type DB struct {
	path    string
	options url.Values
	attach  bool
	made    bool // the file was not there before
	stored  bool // a transaction was committed

	db   *sql.DB
	conn *sql.Conn // the only one of db
	tx   *sql.Tx
	row  *sql.Stmt // stores one row
	key  []string
	of   string // the table's name
	// args are the values of a row in the driver's types.
	args []any
}

var _ database.Conn = (*DB)(nil)

// Options say how a file is opened for writing.
type Options struct {
	// Attach allows statements to open other files.
	Attach bool
	// Pragmas are set on the connection.
	Pragmas []string
}

// Open returns a connection to the file, which is made when it is not there and removed
// by Close if nothing was stored in it.
func Open(path string, o Options) (*DB, error) {
	return open(path, o.Attach, url.Values{"_txlock": {"immediate"}, "_dqs": {"0"}, "_pragma": append([]string{"busy_timeout(1000)"}, o.Pragmas...)})
}

// OpenReader returns a connection to a file that must be there and is not changed.
func OpenReader(path string) (*DB, error) {
	// Read-only mode could not open a file that another program is writing with a
	// log beside it, so the mode is not that of the file but of the connection.
	return open(path, false, url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_pragma": {"busy_timeout(1000)", "query_only(1)"}})
}

func open(path string, attach bool, options url.Values) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(abs)
	d := &DB{path: abs, options: options, attach: attach, made: errors.Is(err, os.ErrNotExist)}
	if err := d.connect(); err != nil {
		return nil, errors.Join(d.explain(err), d.Close())
	}
	return d, nil
}

// connect opens the file. The pool has one connection, which is held, because limits
// belong to a connection.
func (d *DB) connect() error {
	slashed := filepath.ToSlash(d.path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slashed, RawQuery: d.options.Encode()}).String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	d.db = db
	if d.conn, err = db.Conn(context.Background()); err != nil || d.attach {
		return err
	}
	// Neither ATTACH nor VACUUM INTO opens a file.
	_, err = sqlite.Limit(d.conn, sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	return err
}

func (d *DB) disconnect() error {
	var err error
	if d.conn != nil {
		err = d.conn.Close()
		d.conn = nil
	}
	return errors.Join(err, d.db.Close())
}

// Close ends the connection. A file that Open made and in which nothing was stored is
// removed.
func (d *DB) Close() error {
	if d.made && !d.stored && d.conn != nil {
		d.remove()
	}
	return d.disconnect()
}

// remove removes an empty file while nobody else can write it. Another writer of ours
// that waits for the lock finds that the file is gone, see begin.
func (d *DB) remove() {
	if _, err := d.conn.ExecContext(context.Background(), "BEGIN EXCLUSIVE"); err != nil {
		return
	}
	if info, err := os.Stat(d.path); err == nil && info.Size() == 0 {
		_ = os.Remove(d.path)
	}
	_, _ = d.conn.ExecContext(context.Background(), "ROLLBACK")
}

// lockTries is how many times a statement waits a second for others that write.
const lockTries = 60

// Begin starts a transaction as a writer.
func (d *DB) Begin(ctx context.Context) error {
	return d.explain(d.patiently(ctx, d.begin))
}

func (d *DB) begin() error {
	for {
		if d.conn == nil {
			if err := d.connect(); err != nil {
				return err
			}
		}
		// The transaction is not bound to ctx: statements of a bound one cost
		// a goroutine each. Whoever loops over rows looks at ctx.
		tx, err := d.conn.BeginTx(context.Background(), nil)
		if _, gone := os.Stat(d.path); !errors.Is(gone, os.ErrNotExist) {
			d.tx = tx
			return err
		}
		// Another writer made the file, failed and removed it: what this connection
		// stored would be gone.
		if err == nil {
			_ = tx.Rollback()
		}
		if err := d.disconnect(); err != nil {
			return err
		}
		d.made = true
	}
}

// patiently calls f until the database is not locked by another program. f waits a
// second, so that a cancelled run does not wait longer.
func (d *DB) patiently(ctx context.Context, f func() error) error {
	var err error
	for range lockTries {
		switch {
		case ctx.Err() != nil && err != nil:
			return fmt.Errorf("the database is locked by another program that writes it: %w", ctx.Err())
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err = f(); err == nil {
			return nil
		}
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
	}
	return fmt.Errorf("another program has been writing the database for %d seconds: %w", lockTries, err)
}

// unopened says why a file cannot be opened, which SQLite does not.
func (d *DB) unopened(err error) error {
	reason := func(name string, flag int) error {
		f, err := os.OpenFile(name, flag, 0o666)
		if err != nil {
			return errors.Unwrap(err)
		}
		f.Close()
		if flag&os.O_CREATE != 0 {
			_ = os.Remove(name)
		}
		return nil
	}
	_, gone := os.Stat(filepath.Dir(d.path))
	cause, what := error(nil), ""
	switch {
	case errors.Is(gone, os.ErrNotExist):
		return core.Permanent(errors.New("the folder of the database is not there"))
	case d.made:
		cause, what = reason(d.path, os.O_RDWR|os.O_CREATE|os.O_EXCL), "the database cannot be made"
	default:
		cause, what = reason(d.path, os.O_RDWR), "the database cannot be opened"
	}
	if cause == nil { // the journal, then
		cause, what = reason(d.path+"-journal", os.O_RDWR|os.O_CREATE|os.O_EXCL), "the journal of the database cannot be made next to it"
	}
	if cause == nil {
		return err
	}
	err = fmt.Errorf("%s: %w", what, cause)
	if errors.Is(cause, os.ErrPermission) {
		return core.Permanent(err)
	}
	return err
}
