package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/internal/postgrestest"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// ttl is longer than a test.
const ttl = time.Hour

var ann = store.Holder{ID: "a", Host: "h", PID: 1, User: "ann"}

// begin acquires a run for ann and appends its head.
func begin(t testing.TB, s *Store, run string) store.Lease {
	t.Helper()
	lease, err := s.Acquire(t.Context(), run, ann, ttl)
	if err == nil {
		err = s.Append(t.Context(), run, lease.Token, []store.Record{storetest.Head("load", time.Unix(0, 0))}, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// count reads a run and returns the number of its records.
func count(t testing.TB, s *Store, run string) (n int) {
	t.Helper()
	for rec, err := range s.Read(t.Context(), run, 1) {
		if n++; err != nil || rec.Seq != uint64(n) {
			t.Fatalf("record %d of %s: %d, %v", n, run, rec.Seq, err)
		}
	}
	return n
}

// warnings collects what a store reports.
type warnings struct {
	mu   sync.Mutex
	list []string
}

func (w *warnings) add(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, message)
}

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.list, "\n")
}

// ownServer starts a server for one test.
func ownServer(t *testing.T, settings ...string) *postgrestest.Server {
	t.Helper()
	server, stop, err := postgrestest.Start(settings...)
	if err != nil {
		postgrestest.Missing(t, err)
	}
	t.Cleanup(stop)
	return server
}

// A server that is killed and started again during appends, renewals, posts and reads loses nothing, and
// no caller sees an error.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	var warned warnings
	s := open(t, server.DSN(""), Options{Warn: warned.add})
	const runs, records = 4, 400
	leases := make([]store.Lease, runs)
	for i := range leases {
		leases[i] = begin(t, s, fmt.Sprint("r", i))
	}
	var watched []string
	watching, stop := context.WithCancel(t.Context())
	var watcher, writers sync.WaitGroup
	watcher.Go(func() {
		for m, err := range s.Watch(watching, "r0") {
			if err != nil {
				t.Error(err)
			}
			if watched = append(watched, m.Name); m.Name == "last" {
				stop()
			}
		}
	})
	restarts := make(chan struct{}, 1)
	for _, l := range leases {
		writers.Go(func() {
			for seq := uint64(2); seq <= records; seq++ {
				if err := s.Append(t.Context(), l.Run, l.Token, storetest.Records(seq, 1), seq%2 == 0); err != nil {
					t.Errorf("record %d of %s: %v", seq, l.Run, err)
					return
				}
				if seq == records/2 && l.Run == "r1" {
					restarts <- struct{}{}
				}
				if seq%100 == 0 {
					if again, err := s.Acquire(t.Context(), l.Run, ann, ttl); err != nil || again.Token != l.Token {
						t.Errorf("renewed %s as %+v, %v", l.Run, again, err)
					}
				}
			}
		})
	}
	<-restarts
	server.Kill()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := s.Post(t.Context(), "r0", store.Message{Name: "last", Data: []byte("{}")}); err != nil {
		t.Error(err)
	}
	writers.Wait()
	watcher.Wait()
	for _, l := range leases {
		if n := count(t, s, l.Run); n != records {
			t.Errorf("%s has %d records, want %d", l.Run, n, records)
		}
	}
	if len(watched) != 1 {
		t.Errorf("watched %q", watched)
	}
	if text := warned.String(); !strings.Contains(text, "the server is unreachable, trying for 1m0s") || !strings.Contains(text, "the server is reachable again after ") {
		t.Errorf("warned of\n%s", text)
	}
}

// A server that stays away fails the append after the time in Options.Patience, and all later ones at once, until the lease
// is acquired again.
func TestServerStaysAway(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	s := open(t, server.DSN(""), Options{Patience: 300 * time.Millisecond})
	lease := begin(t, s, "r1")
	server.Kill()
	appending := func(seq uint64) (time.Duration, error) {
		begun := time.Now()
		err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(seq, 1), true)
		return time.Since(begun), err
	}
	took, err := appending(2)
	if err == nil || took < 100*time.Millisecond || took > 10*time.Second || !strings.Contains(err.Error(), "the server was unreachable for 300ms: ") || !strings.HasPrefix(err.Error(), "store postgres://127.0.0.1:") {
		t.Errorf("after %v: %v", took, err)
	}
	if strings.Contains(fmt.Sprint(err), "pass") {
		t.Errorf("the error has the password: %v", err)
	}
	if took, again := appending(2); !errors.Is(again, err) || took > 50*time.Millisecond {
		t.Errorf("after %v: %v", took, again)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if _, again := appending(2); !errors.Is(again, err) {
		t.Errorf("the server is reachable again: %v", again)
	}
	if _, err := s.Acquire(t.Context(), "r1", ann, 0); err != nil {
		t.Errorf("release: %v", err)
	}
	if lease, err = s.Acquire(t.Context(), "r1", ann, ttl); err != nil {
		t.Fatal(err)
	}
	if _, err := appending(2); err != nil {
		t.Errorf("acquired again: %v", err)
	}
	if n := count(t, s, "r1"); n != 2 {
		t.Errorf("%d records", n)
	}
}

// proxy passes connections on to a server. After cut it passes one more statement and closes its
// connection instead of passing on the result.
type proxy struct {
	listener net.Listener
	server   string

	mu  sync.Mutex
	cut int // the number of results that are not passed on
}

func newProxy(t *testing.T, server *postgrestest.Server) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{listener: l, server: fmt.Sprintf("%s:%d", server.Host, server.Port)}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	return p
}

func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	go io.Copy(server, client)
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil || p.loses() {
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) loses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut == 0 {
		return false
	}
	p.cut--
	return true
}

func (p *proxy) lose(results int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = results
}

// A statement whose result was lost was executed. It is repeated, and has its effect once.
func TestLostResults(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	p := newProxy(t, shared.server)
	direct := open(t, dsn, Options{})
	// Without cached statements, a call is one round trip even for the first statement of a connection.
	s := open(t, strings.Replace(dsn, fmt.Sprint(shared.server.Port), fmt.Sprint(p.listener.Addr().(*net.TCPAddr).Port), 1)+"&default_query_exec_mode=exec", Options{})
	lease := begin(t, s, "r1")
	for seq := uint64(2); seq < 10; seq++ {
		p.lose(1)
		if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(seq, 1), true); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, direct, "r1"); n != 9 {
		t.Errorf("%d records, want 9", n)
	}
	p.lose(1)
	if err := s.Post(t.Context(), "r1", store.Message{Name: "m", Data: []byte(`{"n":1}`)}); err != nil {
		t.Errorf("post: %v", err)
	}
	if err := s.Post(t.Context(), "r1", store.Message{Name: "m", Data: []byte(`{"n":1}`)}); !errors.Is(err, store.ErrTaken) {
		t.Errorf("post again: %v", err)
	}
	p.lose(1)
	if l, err := s.Acquire(t.Context(), "r2", ann, ttl); err != nil || l.Token != 1 {
		t.Errorf("acquire: %+v, %v", l, err)
	}
	p.lose(1)
	if _, err := s.Acquire(t.Context(), "r2", ann, 0); err != nil {
		t.Errorf("release: %v", err)
	}
	if l, err := direct.Acquire(t.Context(), "r2", ann, ttl); err != nil || l.Token != 2 {
		t.Errorf("acquire after a release: %+v, %v", l, err)
	}
	p.lose(1)
	if _, err := s.Put(t.Context(), []byte("blob")); err != nil {
		t.Errorf("put: %v", err)
	}
	// A holder that has lost the lease finds that out although the result of its first attempt was lost.
	if _, err := direct.Acquire(t.Context(), "r1", ann, 0); err != nil {
		t.Fatal(err)
	}
	p.lose(1)
	var fenced *store.FencedError
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(10, 1), true); !errors.As(err, &fenced) {
		t.Errorf("append without the lease: %v", err)
	}
}
