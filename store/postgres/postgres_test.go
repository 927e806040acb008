package postgres

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wavefold/wavefold/internal/postgrestest"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// The tests share one server, which the first of them starts. Each has a schema for itself.
var shared struct {
	once    sync.Once
	server  *postgrestest.Server
	stop    func()
	err     error
	schemas atomic.Int32
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

// newDSN returns the URL of a new schema on the shared server.
func newDSN(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.stop, shared.err = postgrestest.Start() })
	if shared.err != nil {
		postgrestest.Missing(t, shared.err)
	}
	return shared.server.DSN("") + fmt.Sprintf("&pool_max_conns=2&schema=s%d", shared.schemas.Add(1))
}

func open(t testing.TB, dsn string, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	newDSN(t) // skips the test as a whole
	storetest.Test(t, func(t *testing.T) store.Store { return open(t, newDSN(t), Options{}) })
}
