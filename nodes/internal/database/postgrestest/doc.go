// Package postgrestest starts a PostgreSQL server of its own for tests, where the
// programs of one are installed.
package postgrestest

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a server that a test has for itself.
type Server struct {
	Host     string
	Port     int
	Password string // of the user postgres

	kill    func()
	sockets string // folder of its socket
	mu      sync.Mutex
	conn    *pgconn.PgConn // of Query
}

// Missing ends a test for which Start found no server: it is skipped with the reason,
// and fails where the environment says CI, which installs one.
func Missing(t testing.TB, err error) {
	t.Helper()
	if !slices.Contains([]string{"", "0", "false"}, os.Getenv("CI")) {
		t.Fatalf("no PostgreSQL server, and CI is set: %v", err)
	}
	t.Skipf("no PostgreSQL server: %v", err)
}

// Kill ends the server at once, as a failing machine would.
func (s *Server) Kill() { s.kill() }
