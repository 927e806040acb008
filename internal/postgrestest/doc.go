// Package postgrestest starts a PostgreSQL server for tests if PostgreSQL is installed.
package postgrestest

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a server that is used by one test only.
type Server struct {
	Host     string
	Port     int
	Password string // of the user postgres

	start   func() error
	kill    func()
	sockets string // the folder of its socket
	mu      sync.Mutex
	conn    *pgconn.PgConn // of Query
}

// Missing ends a test for which Start found no server. It skips the test with the
// reason, or fails it if the environment variable CI is set, because CI installs a
// server.
func Missing(t testing.TB, err error) {
	t.Helper()
	if !slices.Contains([]string{"", "0", "false"}, os.Getenv("CI")) {
		t.Fatalf("no PostgreSQL server, and CI is set: %v", err)
	}
	t.Skipf("no PostgreSQL server: %v", err)
}

// Kill ends the server at once, as if the machine had failed.
func (s *Server) Kill() { s.kill() }

// Restart starts the server again after Kill, with the same database and port.
func (s *Server) Restart() error {
	s.mu.Lock()
	s.conn = nil // it was lost
	s.mu.Unlock()
	return s.start()
}
