// Package postgrestest starts a PostgreSQL server of its own for tests, where the
// programs of one are installed.
package postgrestest

import (
	"sync"

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

// Kill ends the server at once, as a failing machine would.
func (s *Server) Kill() { s.kill() }
