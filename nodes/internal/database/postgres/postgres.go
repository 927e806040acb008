// Package postgres is the database backend for PostgreSQL.
//
// Values are sent and received in text format. The text formats of the server's types
// are documented and the same in every version, and unknown types need no code.
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

// closeWait is the time that Close waits for the server to answer.
const closeWait = 2 * time.Second

// Open connects to the server in a connection string, which is a URL or key=value
// pairs.
func Open(ctx context.Context, dsn string) (*DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The message of the error contains the connection string.
		return nil, core.Permanent(fmt.Errorf("the dsn cannot be read: %s", reason(err)))
	}
	// Each statement is used once, so caching statements is useless.
	config.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "wavefold"
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, connectError(err)
	}
	return &DB{conn: conn}, nil
}

// connectError returns an error that explains why there is no connection. The driver's
// message lists every address that it tried, and it mistakes part of a password with an
// @ in it for an address.
func connectError(err error) error {
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

// reason returns the reason why a connection string cannot be parsed, without the
// string itself.
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

// Passwords returns the passwords in a connection string, in every form in which a
// message might contain them, so that they can be masked.
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
	// A string that cannot be parsed may contain a password, too.
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

// Close closes the connection at once, even if a statement is running.
func (d *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = d.conn.PgConn().Close(ctx) // if the server is gone, the connection is closed
	// After a cancellation, the driver closes the connection on a separate goroutine.
	select {
	case <-d.conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
	return nil
}

// Rules are the properties of PostgreSQL that do not need a server.
var Rules = database.Rules{Name: "PostgreSQL", CheckName: checkName, Fold: func(name string) string { return name }}

// Rules returns the rules of PostgreSQL.
func (d *DB) Rules() database.Rules { return Rules }

// maxName is the maximum length of a name, in bytes. The server truncates longer names.
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

// session makes the text format of values the same on every server. It applies only to
// the transaction, so that a pooled connection is returned unchanged.
const session = `SET LOCAL TimeZone TO 'UTC'; SET LOCAL DateStyle TO 'ISO, YMD'; SET LOCAL IntervalStyle TO 'postgres';
SET LOCAL bytea_output TO 'hex'; SET LOCAL extra_float_digits TO 1`

// Begin starts a transaction.
func (d *DB) Begin(ctx context.Context) error { return d.simple(ctx, "BEGIN; "+session) }

// Commit commits the transaction.
func (d *DB) Commit(ctx context.Context) error {
	tag, err := d.conn.PgConn().Exec(ctx, "COMMIT").ReadAll()
	if err == nil && len(tag) > 0 && tag[0].CommandTag.String() == "ROLLBACK" {
		return errors.New("the transaction was rolled back by an earlier error")
	}
	return explain(err)
}

// Rollback rolls the transaction back. If the connection is lost, the server has done
// so already.
func (d *DB) Rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = d.simple(ctx, "ROLLBACK")
}

// simple runs statements without results.
func (d *DB) simple(ctx context.Context, text string) error {
	_, err := d.conn.PgConn().Exec(ctx, text).ReadAll()
	return explain(err)
}

// explain includes the details of a server's error and marks errors as permanent that
// another attempt would repeat: bad data, violated constraints, wrong statements and
// names, rejected logins.
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

// uniqueViolation is the code of the error for a key that exists already.
const uniqueViolation = "23505"

// lost marks a network error as a lost connection.
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

// serverError is an error of the server with its details in the message.
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
