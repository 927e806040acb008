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
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// DB is a connection to a database file.
type DB struct {
	path    string
	options url.Values
	attach  bool
	made    bool // the file did not exist before
	stored  bool // a transaction was committed

	db   *sql.DB
	conn *sql.Conn // the only connection of db
	tx   *sql.Tx
	row  *sql.Stmt // inserts one row
	key  []string
	of   string // the name of the table
	// args holds the values of a row as types of the driver.
	args []any
}

var _ database.Conn = (*DB)(nil)

// Options control how a file is opened for writing.
type Options struct {
	// Attach allows statements to open other files.
	Attach bool
	// Pragmas are set on the connection.
	Pragmas []string
}

// Open returns a connection to a file. It creates the file if it does not exist; Close
// removes the new file if nothing was stored in it.
func Open(path string, o Options) (*DB, error) {
	return open(path, o.Attach, url.Values{"_txlock": {"immediate"}, "_dqs": {"0"}, "_pragma": append([]string{"busy_timeout(1000)"}, o.Pragmas...)})
}

// OpenReader returns a connection to an existing file that does not change the file.
func OpenReader(path string) (*DB, error) {
	// A file that another program is writing with a log next to it cannot be opened in
	// read-only mode. So the connection is read-only, not the file.
	return open(path, false, url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_pragma": {"busy_timeout(1000)", "query_only(1)"}})
}

// parameters are the end of a URI of SQLite: x.db?mode=ro.
var parameters = lazyregexp.New(`\?[A-Za-z_]+=[^/]*$`)

// CheckPath reports why a name is not the path of a database: it is a URI, or ends in the
// parameters of one and no such file exists.
func CheckPath(place files.Place, name string) error {
	if err := files.NotURI(name); err != nil {
		return err
	}
	at := parameters.FindStringIndex(name)
	if at == nil {
		return nil
	}
	if _, err := place.Stat(name); err == nil {
		return nil
	}
	return fmt.Errorf("%q ends in parameters of a connection, which have no effect here: write %s", name, name[:at[0]])
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

// connect opens the file. The pool has only one connection, which is kept, because
// limits apply to a connection.
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
	// With this limit, ATTACH and VACUUM INTO cannot open a file.
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

// Close closes the connection. It removes the file if Open created it and nothing was
// stored in it.
func (d *DB) Close() error {
	if d.made && !d.stored && d.conn != nil {
		d.remove()
	}
	return d.disconnect()
}

// remove removes an empty file while it is locked against other writers. Another DB
// that waits for the lock then finds that the file is gone, see begin.
func (d *DB) remove() {
	if _, err := d.conn.ExecContext(context.Background(), "BEGIN EXCLUSIVE"); err != nil {
		return
	}
	if info, err := os.Stat(d.path); err == nil && info.Size() == 0 {
		_ = os.Remove(d.path)
	}
	_, _ = d.conn.ExecContext(context.Background(), "ROLLBACK")
}

// lockTries is the number of times that a statement waits one second for other writers.
const lockTries = 60

// Begin starts a write transaction.
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
		// The transaction is not bound to ctx, because each statement of a bound
		// transaction costs a goroutine. Loops over rows check ctx.
		tx, err := d.conn.BeginTx(context.Background(), nil)
		if _, gone := os.Stat(d.path); !errors.Is(gone, os.ErrNotExist) {
			d.tx = tx
			return err
		}
		// Another writer created the file, failed and removed it. Data that this
		// connection stored would be lost.
		if err == nil {
			_ = tx.Rollback()
		}
		if err := d.disconnect(); err != nil {
			return err
		}
		d.made = true
	}
}

// patiently calls f until the database is not locked by another program. f waits at
// most one second, which limits the delay of a cancellation.
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

// unopened adds the reason why a file cannot be opened, which SQLite does not report.
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
	if cause == nil { // then check the journal
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
