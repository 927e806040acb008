package postgrestest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Start creates a database and starts a server on a free local port. settings are settings of the server,
// such as fsync=on; it is off otherwise. stop ends the server and removes the database. The error is the
// reason why there is no server.
func Start(settings ...string) (s *Server, stop func(), err error) {
	bin, err := programs()
	if err != nil {
		return nil, nil, err
	}
	attr, owner, err := account()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "wavefold-postgres-")
	if err != nil {
		return nil, nil, err
	}
	s = &Server{Host: "127.0.0.1", Password: "pass word/1", sockets: dir, kill: func() {}}
	stop = func() { s.kill(); os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			stop()
		}
	}()
	if err = s.initialize(bin, attr, owner); err != nil {
		return nil, nil, err
	}
	if s.Port, err = freePort(); err != nil {
		return nil, nil, err
	}
	args := []string{"-D", filepath.Join(dir, "data"), "-h", s.Host, "-p", strconv.Itoa(s.Port), "-k", dir, "-c", "fsync=off",
		// The tests must not depend on the server's output settings.
		"-c", "timezone=America/New_York", "-c", "datestyle=SQL, DMY", "-c", "intervalstyle=iso_8601", "-c", "bytea_output=escape", "-c", "extra_float_digits=-5"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.start = func() error { return s.run(filepath.Join(bin, "postgres"), args, attr) }
	if err = s.start(); err != nil {
		return nil, nil, err
	}
	return s, stop, nil
}

// initialize creates the files of the database.
func (s *Server) initialize(bin string, attr *syscall.SysProcAttr, owner []int) error {
	dir, password := s.sockets, filepath.Join(s.sockets, "password")
	if err := os.WriteFile(password, []byte(s.Password+"\n"), 0o644); err != nil {
		return err
	}
	if owner != nil {
		if err := errors.Join(os.Chown(dir, owner[0], owner[1]), os.Chown(password, owner[0], owner[1])); err != nil {
			return err
		}
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "postgres", "--auth-local=trust", "--auth-host=scram-sha-256",
		"--pwfile", password, "--no-sync", "-E", "UTF8", "--locale=C")
	initdb.Dir, initdb.SysProcAttr = dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// run starts the server and waits until it answers.
func (s *Server) run(program string, args []string, attr *syscall.SysProcAttr) error {
	var log bytes.Buffer
	server := exec.Command(program, args...)
	server.Dir, server.SysProcAttr, server.Stdout, server.Stderr = s.sockets, attr, &log, &log
	if err := server.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		server.Wait()
		close(ended)
	}()
	s.kill = func() {
		server.Process.Signal(syscall.SIGQUIT)
		<-ended
	}
	if err := s.await(ended); err != nil {
		s.kill()
		return fmt.Errorf("%w\n%s", err, log.String())
	}
	return nil
}

// programs returns the folder of the newest server that the distribution installed or,
// if there is none, of the server in the search path.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, byVersion)), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("no PostgreSQL is installed: there is no initdb")
}

// byVersion compares paths such as /usr/lib/postgresql/15/bin/initdb.
func byVersion(a, b string) int {
	version := func(path string) float64 {
		n, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
		return n
	}
	return cmp.Compare(version(a), version(b))
}

// account returns the attributes of a process that runs as a user that may run a
// server. root may not. The user is postgres, which the distribution's package creates,
// or nobody.
func account() (*syscall.SysProcAttr, []int, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() != 0 {
		return attr, nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("a server does not run as root: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, []int{uid, gid}, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// await waits until the server answers.
func (s *Server) await(ended <-chan struct{}) error {
	for range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		conn, err := pgconn.Connect(ctx, s.DSN(""))
		if err == nil {
			err = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("the server ended")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.New("the server does not answer")
}

// DSN returns the connection string for a schema, "" for the default schema.
func (s *Server) DSN(schema string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", s.Password), Host: net.JoinHostPort(s.Host, strconv.Itoa(s.Port)), Path: "/postgres"}
	q := url.Values{"sslmode": {"disable"}}
	if schema != "" {
		q.Set("search_path", schema)
	}
	return u.String() + "?" + q.Encode()
}

// Query runs statements and returns the rows of the last one as text: one line for each
// row, values separated by |, null as ~. All calls share one connection.
func (s *Server) Query(schema, statements string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if s.conn == nil || s.conn.IsClosed() {
		var err error
		if s.conn, err = pgconn.Connect(ctx, fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres", s.sockets, s.Port)); err != nil {
			return "", err
		}
	}
	results, err := s.conn.Exec(ctx, "RESET ALL; SET datestyle TO ISO; SET search_path TO "+schema+"; "+statements).ReadAll()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	for _, row := range results[len(results)-1].Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte('|')
			}
			if v == nil {
				v = []byte("~")
			}
			b.Write(v)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
