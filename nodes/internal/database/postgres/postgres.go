// Package postgres is the database backend for PostgreSQL.
//
// Values travel as text in both directions: what the server reads and writes for
// each of its types is documented and the same in every version, and types that
// nobody here knows need no code.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/database"
)

// DB is a connection to a server.
type DB struct {
	conn *pgx.Conn
	load load
}

var _ database.Conn = (*DB)(nil)

// closeWait is how long Close waits for the server to answer.
const closeWait = 2 * time.Second

// Open connects to the server that a connection string names, as a URL or as
// key=value pairs.
func Open(ctx context.Context, dsn string) (*DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The text of the error holds the connection string.
		return nil, core.Permanent(fmt.Errorf("the dsn cannot be read: %s", reason(err)))
	}
	// Statements are used once each, so there is nothing to cache.
	config.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "wavefold"
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, refused(err)
	}
	return &DB{conn: conn}, nil
}

// refused says why there is no connection. The driver's text goes on about every
// address it tried, and a password with an @ in it is taken for a part of one.
func refused(err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok {
		return explain(err)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("cannot connect: %s", dns.Err)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("cannot connect: %w", op.Err)
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return fmt.Errorf("cannot connect: %w", err)
}

// reason returns why a connection string cannot be read, without the string.
func reason(err error) string {
	e, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok {
		return "its form is unknown"
	}
	text := e.Error()
	if i := strings.LastIndex(text, "`: "); i >= 0 {
		text = text[i+len("`: "):]
	}
	text, _, _ = strings.Cut(text, " (") // the cause, which may quote the string
	return text
}

// Hosts returns the names of the servers in a connection string.
func Hosts(dsn string) []string {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil
	}
	out := []string{config.Host}
	for _, f := range config.Fallbacks {
		out = append(out, f.Host)
	}
	return out
}

// Passwords returns the passwords in a connection string, in every spelling in
// which a message might hold them, so that they can be hidden.
func Passwords(dsn string) []string {
	var out []string
	if u, err := url.Parse(dsn); err == nil {
		if p, ok := u.User.Password(); ok {
			out = append(out, p, url.QueryEscape(p), url.PathEscape(p))
		}
		out = append(out, u.Query().Get("password"))
	}
	if config, err := pgx.ParseConfig(dsn); err == nil {
		out = append(out, config.Password)
	}
	// A string that cannot be read may hold a password all the same.
	if _, rest, ok := strings.Cut(dsn, "://"); ok {
		if user, _, ok := cutLast(rest, "@"); ok {
			if _, p, ok := strings.Cut(user, ":"); ok {
				out = append(out, p)
			}
		}
	}
	if _, rest, ok := strings.Cut(dsn, "password="); ok {
		p, _, _ := strings.Cut(rest, "&")
		word, _, _ := strings.Cut(p, " ")
		out = append(out, word, strings.Trim(word, "'"))
		if quoted, ok := strings.CutPrefix(rest, "'"); ok {
			p, _, _ := strings.Cut(quoted, "'")
			out = append(out, p)
		}
	}
	return out
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Close ends the connection at once, whatever goes on there.
func (d *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = d.conn.PgConn().Close(ctx) // the server may be gone, which is as good
	// After a cancellation the driver says good-bye on a goroutine of its own.
	select {
	case <-d.conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
	return nil
}

// Rules are what is known of PostgreSQL without a server.
var Rules = database.Rules{Name: "PostgreSQL", CheckName: checkName, Fold: func(name string) string { return name }}

// Rules returns the rules of PostgreSQL.
func (d *DB) Rules() database.Rules { return Rules }

// maxName is the length in bytes after which the server cuts names.
const maxName = 63

func checkName(name string) error {
	switch {
	case strings.Contains(name, "\x00"):
		return errors.New("the name contains a NUL byte")
	case len(name) > maxName:
		return fmt.Errorf("the name has %d bytes, PostgreSQL cuts it after %d", len(name), maxName)
	}
	return nil
}

// session makes the texts of values the same on every server. It holds for the
// transaction, so that a pooled connection goes back as it was.
const session = `SET LOCAL TimeZone TO 'UTC'; SET LOCAL DateStyle TO 'ISO, YMD'; SET LOCAL IntervalStyle TO 'postgres';
SET LOCAL bytea_output TO 'hex'; SET LOCAL extra_float_digits TO 1`

// Begin starts a transaction.
func (d *DB) Begin(ctx context.Context) error { return d.simple(ctx, "BEGIN; "+session) }

// Commit makes everything since Begin visible.
func (d *DB) Commit(ctx context.Context) error {
	tag, err := d.conn.PgConn().Exec(ctx, "COMMIT").ReadAll()
	if err == nil && len(tag) > 0 && tag[0].CommandTag.String() == "ROLLBACK" {
		return errors.New("the transaction was rolled back by an earlier error")
	}
	return explain(err)
}

// Rollback undoes everything since Begin. A connection that is gone has done it.
func (d *DB) Rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = d.simple(ctx, "ROLLBACK")
}

// simple runs statements that have no result.
func (d *DB) simple(ctx context.Context, text string) error {
	_, err := d.conn.PgConn().Exec(ctx, text).ReadAll()
	return explain(err)
}

// explain shows the whole of a server's error and marks those that another
// attempt meets again: bad data, violated constraints, wrong statements and names,
// refused logins.
func explain(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return lost(err)
	}
	text := e.Message
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	if !strings.Contains(text, e.Code) {
		text += " [" + e.Code + "]"
	}
	var out error = &serverError{text: text, err: e}
	if e.Code == uniqueViolation {
		out = &database.DuplicateError{Err: out}
	}
	if len(e.Code) == 5 {
		switch e.Code[:2] {
		case "22", "23", "42", "28", "3D", "3F", "0A", "25", "2B", "44":
			return core.Permanent(out)
		}
	}
	return out
}

// uniqueViolation is the code of a row whose key is there.
const uniqueViolation = "23505"

// lost says of an error of the connection that it is one.
func lost(err error) error {
	op, ok := errors.AsType[*net.OpError](err)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case ok:
		return fmt.Errorf("the connection to the server was lost: %w", op.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return fmt.Errorf("the connection to the server was lost: %w", err)
	}
	return err
}

// serverError is an error of the server with its details in the text.
type serverError struct {
	text string
	err  *pgconn.PgError
}

func (e *serverError) Error() string { return e.text }
func (e *serverError) Unwrap() error { return e.err }

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}
