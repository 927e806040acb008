//go:build !linux

package postgrestest

import "errors"

var errLinux = errors.New("a server is started on Linux only")

// Start is supported on Linux only.
func Start(...string) (s *Server, stop func(), err error) { return nil, nil, errLinux }

// DSN is supported on Linux only.
func (s *Server) DSN(string) string { return "" }

// Query is supported on Linux only.
func (s *Server) Query(string, string) (string, error) { return "", errLinux }
