package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/wavefold/wavefold/store"
)

// Options are the settings of a Store. The zero value is usable.
type Options struct {
	// Patience is the time for which a call waits for an unreachable server. 0 means 60 seconds.
	Patience time.Duration

	// Existing makes Open return a *store.MissingError if the schema has no tables of a store. Open creates
	// nothing then.
	Existing bool

	// Warn is called with one line when the server is unreachable, and when it is reachable again. Nil means
	// that outages are not reported. It must be safe for concurrent use.
	Warn func(message string)
}

const (
	defaultPatience = time.Minute
	defaultPort     = 5432
	// maxConns is the default number of connections.
	maxConns = 8
	// connectTime limits the time for a connection, unless the URL has connect_timeout.
	connectTime = 10 * time.Second
	// openTime limits the time for connecting to the server.
	openTime = 15 * time.Second
	// closeTime limits the time for releasing leases.
	closeTime = 5 * time.Second
)

// Store keeps runs in a database. Several Stores, in several processes, may use one schema.
type Store struct {
	pool     *pgxpool.Pool
	name     string
	schema   string // of the URL, "" if the search path decides
	patience time.Duration
	warn     func(string)
	process  string // identifies this process on its host, "" if that is not supported

	closing context.Context // ends when the store is closed
	close   context.CancelFunc
	watcher watcher

	mu        sync.Mutex // guards all below
	held      map[string]*hold
	awaySince time.Time // zero while the server answers
}

var _ store.Store = (*Store)(nil)

// Open connects to the database in a connection string, which is a URL (postgres://...) or key=value
// pairs, and creates or upgrades the tables of the store if necessary. In addition to the parameters of libpq and of
// pgxpool, the string may contain schema=NAME, the schema of the tables, which is created if it does not
// exist. Without it the tables are in the first schema of the search path. Open does not wait for an
// unreachable server. The caller closes the store.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	config, schema, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{name: nameOf(config.ConnConfig, schema), schema: schema, patience: o.Patience, warn: o.Warn, process: thisProcess(), held: map[string]*hold{}}
	if s.patience == 0 {
		s.patience = defaultPatience
	}
	if s.warn == nil {
		s.warn = func(string) {}
	}
	s.closing, s.close = context.WithCancel(context.Background())
	if s.pool, err = pgxpool.NewWithConfig(s.closing, config); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if err := s.migrate(ctx, o.Existing); err != nil {
		s.shut()
		return nil, fmt.Errorf("store %s: %w", s.name, err)
	}
	return s, nil
}

// parse returns the settings of a connection string. The errors do not contain the string, which may contain a
// password.
func parse(dsn string) (config *pgxpool.Config, schema string, err error) {
	if config, err = pgxpool.ParseConfig(dsn); err != nil {
		return nil, "", fmt.Errorf("the URL of the store cannot be read: %s", reason(err))
	}
	if err := checkQuery(dsn); err != nil {
		return nil, "", err
	}
	params := config.ConnConfig.RuntimeParams
	if schema = params["schema"]; schema != "" {
		if err := checkSchema(schema); err != nil {
			return nil, "", err
		}
		params["search_path"] = pgx.Identifier{schema}.Sanitize()
	}
	delete(params, "schema")
	if params["application_name"] == "" {
		params["application_name"] = "wavefold"
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = maxConns
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTime
	}
	config.AfterConnect = prepare
	return config, schema, nil
}

// checkQuery returns an error if a part of the query of a URL cannot be read: the driver ignores such parts, and the tables
// would be in another schema.
func checkQuery(dsn string) error {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" { // key=value pairs
		return nil
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		return errors.New("the URL of the store cannot be read: after ? it has NAME=VALUE pairs separated by &, in which ; is %3B")
	}
	return nil
}

// maxSchema is the maximum length of a name in PostgreSQL, in bytes. The server cuts longer ones.
const maxSchema = 63

// checkSchema returns an error if a schema cannot have a name. Any other name is quoted wherever it is used.
func checkSchema(name string) error {
	switch {
	case len(name) > maxSchema:
		return fmt.Errorf("the name of schema %q has %d bytes, at most %d are possible", name, len(name), maxSchema)
	case strings.ContainsFunc(name, unicode.IsControl), !utf8.ValidString(name):
		return fmt.Errorf("schema %q: a name has no control characters", name)
	case strings.HasPrefix(name, "pg_"):
		return fmt.Errorf("schema %q: names that begin with pg_ are reserved for PostgreSQL", name)
	}
	return nil
}

// prepare makes the commits of a connection durable if the server's default is that they are not. Stricter
// settings, such as remote_apply, stay. The forms of times and bytes matter to connections
// without prepared statements, to which values are sent as text.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('datestyle', 'ISO', false), set_config('bytea_output', 'hex', false),
		CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`)
	return err
}

// reason returns why a connection string cannot be parsed, without the string itself.
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

// nameOf returns the URL of a store without user and password.
func nameOf(c *pgx.ConnConfig, schema string) string {
	u := url.URL{Scheme: "postgres", Host: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), Path: "/" + c.Database}
	q := url.Values{}
	if strings.HasPrefix(c.Host, "/") { // the folder of a socket
		u.Host = ""
		q.Set("host", c.Host)
		if c.Port != defaultPort {
			q.Set("port", strconv.Itoa(int(c.Port)))
		}
	}
	if schema != "" {
		q.Set("schema", schema)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// String returns the URL of the store without user and password.
func (s *Store) String() string { return s.name }

// Close releases the leases of the store's holders and closes the connections. Every later call returns
// store.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closing.Err() != nil {
		s.mu.Unlock()
		return store.ErrClosed
	}
	var runs, holders []string
	for run, h := range s.held {
		runs, holders = append(runs, run), append(holders, h.holder)
	}
	s.held = map[string]*hold{}
	s.close()
	s.mu.Unlock()
	var err error
	if len(runs) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_, err = s.pool.Exec(ctx, `UPDATE wavefold_runs r SET expires = NULL FROM unnest($1::text[], $2::text[]) AS h (run, holder)
			WHERE r.run = h.run AND r.holder = h.holder`, runs, holders)
		err = s.failed(err)
	}
	s.shut()
	return err
}

// shut ends the goroutines and closes the connections.
func (s *Store) shut() {
	s.close()
	s.watcher.wait()
	s.pool.Close()
}
