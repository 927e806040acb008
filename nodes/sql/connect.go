package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/database"
	"github.com/wavefold/wavefold/nodes/internal/database/postgres"
	"github.com/wavefold/wavefold/nodes/internal/database/sqlite"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// connector opens the database of a node. It is immutable.
type connector struct {
	driver  string
	dialect dialect
	dsn     secret.Value
	lookup  func(string) (string, bool)
	dir     string
	outside bool
}

// connection is an open database, with the secrets that must not be shown.
type connection struct {
	database.Conn
	mask secret.Masker
	// name is the name of the database in messages; it contains nothing from a secret
	// connection string.
	name string
}

// open opens the database for one execution. If read is true, the database must exist.
func (c *connector) open(ctx context.Context, in core.Shared, read bool) (*connection, error) {
	dsn := c.dsn.Text.Value
	out := &connection{}
	if c.dsn.IsSecret() {
		var err error
		if dsn, err = c.dsn.Read(c.lookup); err != nil {
			return nil, fmt.Errorf("dsn: %w", err)
		}
	}
	var err error
	if c.driver == postgresDriver {
		err = c.server(ctx, dsn, out)
	} else {
		err = c.file(in, fileOf(dsn), read, out)
	}
	if err != nil {
		return nil, out.about(err)
	}
	return out, nil
}

// server connects to PostgreSQL.
func (c *connector) server(ctx context.Context, dsn string, out *connection) error {
	hidden := postgres.Passwords(dsn)
	if c.dsn.IsSecret() {
		hidden, out.name = append(append(hidden, dsn), postgres.Hosts(dsn)...), c.driver
	} else {
		out.name = displayName(dsn)
	}
	out.mask = secret.NewMasker(hidden...)
	db, err := postgres.Open(ctx, dsn)
	if err != nil {
		return err
	}
	out.Conn = db
	return nil
}

// secrets returns what must never be shown: a secret connection string, or the password in
// any other one.
func (c *connector) secrets() []core.Secret {
	name, read := source.At("dsn", c.dsn.Text.Pos), func() (string, bool) { return c.dsn.Text.Value, true }
	var out []core.Secret
	if c.dsn.IsSecret() {
		ref := c.dsn.Ref(c.lookup)
		name, read, out = ref.Name, ref.Read, append(out, ref)
	}
	if c.driver == postgresDriver {
		name.Value = "password in " + name.Value
		out = append(out, core.Secret{Name: name, Read: func() (string, bool) {
			dsn, _ := read()
			for _, p := range postgres.Passwords(dsn) {
				if p != "" {
					return p, true
				}
			}
			return "", false
		}})
	}
	return out
}

// displayName returns the host and database of a connection string.
func displayName(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return postgresDriver
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// file opens an SQLite file below the workflow's folder.
func (c *connector) file(in core.Shared, name string, read bool, out *connection) error {
	out.name = name
	if c.dsn.IsSecret() {
		out.name, out.mask = c.driver, secret.NewMasker(name)
	}
	place := files.Place{Dir: cmp.Or(in.Dir, c.dir), Outside: c.outside}
	if name == ":memory:" {
		return core.Permanent(errors.New("a database in memory would be gone with the node"))
	}
	if err := sqlite.CheckPath(place, name); err != nil {
		if c.dsn.IsSecret() { // the error contains a part of it
			err = errors.New("the dsn is a URI or ends in parameters of a connection: write the path of the file")
		}
		return core.Permanent(err)
	}
	db, err := openFile(place, name, read)
	if err != nil {
		return err
	}
	out.Conn = db
	return nil
}

func openFile(place files.Place, name string, read bool) (*sqlite.DB, error) {
	if !read {
		path, err := place.Path(name)
		if err != nil {
			return nil, err
		}
		return sqlite.Open(path, sqlite.Options{Attach: place.Outside})
	}
	f, err := place.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such database")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return sqlite.OpenReader(f.Name())
}

// masked returns the error with its secrets masked.
func (c *connection) masked(err error) error {
	hidden := c.mask.Error(err)
	if hidden != err && core.FailureOf(err).Permanent {
		return core.Permanent(hidden)
	}
	return hidden
}

// about adds the name of the database to an error and masks its secrets.
func (c *connection) about(err error) error { return c.masked(fmt.Errorf("%s: %w", c.name, err)) }
