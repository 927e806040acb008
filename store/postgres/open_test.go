package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

func TestParse(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://ann:geheim@db.example.com/app?schema=w":              `postgres://db.example.com:5432/app?schema=w "w"`,
		"postgresql://ann:geheim@db:6000/app":                            "postgres://db:6000/app ",
		"host=/run/pg user=ann password=geheim dbname=app schema='a\"b'": `postgres:///app?host=%2Frun%2Fpg&schema=a%22b "a""b"`,
		"postgres://db/app?search_path=a,b":                              "postgres://db:5432/app a,b",
		"postgres:///app?host=/run/pg&port=6000&schema=a%3Bb":            `postgres:///app?host=%2Frun%2Fpg&port=6000&schema=a%3Bb "a;b"`,
	} {
		config, schema, err := parse(dsn)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		if got := nameOf(config.ConnConfig, schema) + " " + config.ConnConfig.RuntimeParams["search_path"]; got != want {
			t.Errorf("%s: %s, want %s", dsn, got, want)
		}
	}
	for _, dsn := range []string{"postgres://ann:geheim@db:port/app", "postgres://ann:ge heim@db/app", "host=db password=geheim port=x", "postgres://ann:geheim@db/app?sslmode=geheim&pool_max_conns=x",
		"postgres://ann:geheim@db/app?schema=a;b", "postgres://ann:geheim@db/app?schema=" + strings.Repeat("x", 64), "postgres://ann:geheim@db/app?schema=a%0Ab", "postgres://ann:geheim@db/app?schema=pg_w"} {
		if _, _, err := parse(dsn); err == nil || strings.Contains(err.Error(), "heim") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	u, _ := url.Parse(dsn)
	wrong := *u
	wrong.User = url.UserPassword("postgres", "geheim")
	gone := *u
	gone.Host = "127.0.0.1:1"
	unknown := *u
	unknown.Path = "/unknown"
	for u, want := range map[*url.URL]string{
		&wrong:   "password authentication failed",
		&gone:    "connection refused",
		&unknown: `database "unknown" does not exist`,
	} {
		begun := time.Now()
		_, err := Open(t.Context(), u.String(), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") || !strings.HasPrefix(err.Error(), "store postgres://127.0.0.1:") || time.Since(begun) > 5*time.Second {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestOpenExisting: a store that does not exist is not created, and the error names stores that do.
func TestOpenExisting(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	schema := dsn[strings.LastIndex(dsn, "=")+1:]
	count := func() string {
		t.Helper()
		n, err := shared.server.Query("public", "SELECT count(*) FROM pg_namespace WHERE nspname = '"+schema+"'")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(n)
	}
	missing := func(what string) {
		t.Helper()
		_, err := Open(t.Context(), dsn, Options{Existing: true})
		if _, ok := errors.AsType[*store.MissingError](err); !ok || !strings.Contains(err.Error(), "there is no store in schema \""+schema+"\"") {
			t.Errorf("%s: %v", what, err)
		}
	}
	missing("no schema")
	if n := count(); n != "0" {
		t.Errorf("there are %s schemas", n)
	}
	if _, err := shared.server.Query("public", "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	missing("no tables")
	open(t, dsn, Options{})
	open(t, dsn, Options{Existing: true})
	_, err := Open(t.Context(), strings.Replace(dsn, "schema="+schema, "schema=other_"+schema, 1), Options{Existing: true})
	if err == nil || !strings.Contains(err.Error(), "these schemas have one: ") {
		t.Errorf("another schema: %v", err)
	}
}

// Many processes may open an empty schema at the same time.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	dsn := strings.Replace(newDSN(t), "pool_max_conns=2", "pool_max_conns=1", 1)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s, err := Open(t.Context(), dsn, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			begin(t, s, fmt.Sprint("r", i))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := open(t, dsn, Options{})
	if n := len(listOf(t, s, store.Query{})); n != 8 {
		t.Errorf("listed %d runs", n)
	}
}

// A role without the right to create tables uses the existing tables, and gets
// an error that names missing ones.
func TestPermissions(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	schema := dsn[strings.LastIndex(dsn, "=")+1:]
	role := "app_" + schema
	query := func(statement string) {
		t.Helper()
		if _, err := shared.server.Query("public", statement); err != nil {
			t.Fatal(err)
		}
	}
	query(fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'p'", role))
	u, _ := url.Parse(dsn)
	u.User = url.UserPassword(role, "p")
	if _, err := Open(t.Context(), u.String(), Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("cannot create or change the tables, which have version 0 and need version %d: permission denied for database postgres", newest)) {
		t.Errorf("without a schema: %v", err)
	}
	open(t, dsn, Options{})
	query(fmt.Sprintf("GRANT USAGE ON SCHEMA %[1]s TO %[2]s; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[1]s TO %[2]s", schema, role))
	s := open(t, u.String(), Options{})
	begin(t, s, "r1")
	if _, err := s.Acquire(t.Context(), "r1", ann, 0); err != nil {
		t.Error(err)
	}
	if p, err := s.Prune(t.Context(), store.Query{Status: []string{store.StatusInterrupted}}); err != nil || len(p.Runs) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestOpenAgain opens tables that exist, in the newest version.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	for range 3 {
		s := open(t, dsn, Options{})
		if version, err := s.version(t.Context()); err != nil || version != newest {
			t.Errorf("version %d, want %d (%v)", version, newest, err)
		}
	}
}

func TestNewerTables(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	s := open(t, dsn, Options{})
	if _, err := s.pool.Exec(t.Context(), "INSERT INTO "+versionTable+" (version_id, is_applied) VALUES (99, true)"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dsn, Options{}); err == nil || !strings.Contains(err.Error(), "the tables have version 99, and this program knows versions up to ") {
		t.Error(err)
	}
}

// Commits are durable even if the server does not make them durable by default.
func TestDurability(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"off": "on", "local": "local", "on": "on"} {
		s := open(t, newDSN(t)+"&synchronous_commit="+given, Options{})
		var got string
		if err := s.pool.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, %v", given, got, err)
		}
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	s := open(t, dsn, Options{})
	lease := begin(t, s, "r1")
	ended := make(chan error)
	go func() {
		for _, err := range s.Watch(context.Background(), "r1") {
			ended <- err
		}
		close(ended)
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil && !errors.Is(err, store.ErrClosed) {
		t.Errorf("watch: %v", err)
	}
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(2, 1), true); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Acquire(t.Context(), "r1", ann, ttl); !errors.Is(err, store.ErrClosed) {
		t.Errorf("acquire: %v", err)
	}
	if _, err := s.Prune(t.Context(), store.Query{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("prune: %v", err)
	}
	if err := s.Close(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("close: %v", err)
	}
	other := store.Holder{ID: "b"}
	if l, err := open(t, dsn, Options{}).Acquire(t.Context(), "r1", other, ttl); err != nil || l.Token != 2 {
		t.Errorf("the lease was not released: %+v, %v", l, err)
	}
}
