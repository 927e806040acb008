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

// A record that somebody has removed is damage. What was cut off stays in the database until the run is pruned.
func TestSalvage(t *testing.T) {
	s := open(t, newDSN(t), Options{})
	storetest.Salvage(t, s, func(run string, seq uint64) {
		if _, err := s.pool.Exec(t.Context(), `DELETE FROM wavefold_records WHERE run = $1 AND seq = $2`, run, int64(seq)); err != nil {
			t.Fatal(err)
		}
	})
	kept := func() (n int) {
		if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM wavefold_damaged_records`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := kept(); n != 3+2+1 {
		t.Errorf("%d records that were cut off are kept", n)
	}
	if _, err := s.Prune(t.Context(), store.Query{}); err != nil || kept() != 0 {
		t.Errorf("after a prune: %d, %v", kept(), err)
	}
}
