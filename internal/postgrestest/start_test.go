package postgrestest

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// ending is a testing.TB that records how the test would end.
type ending struct {
	testing.TB
	how string
}

func (e *ending) Helper()                           {}
func (e *ending) Skipf(format string, args ...any)  { e.end("skip: "+format, args) }
func (e *ending) Fatalf(format string, args ...any) { e.end("fail: "+format, args) }

func (e *ending) end(format string, args []any) {
	e.how = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// If CI is set, a missing server is not a reason to skip a test.
func TestMissing(t *testing.T) {
	for env, want := range map[string]string{
		"": "skip: no PostgreSQL server: gone", "false": "skip: no PostgreSQL server: gone",
		"true": "fail: no PostgreSQL server, and CI is set: gone", "1": "fail: no PostgreSQL server, and CI is set: gone",
	} {
		t.Setenv("CI", env)
		e, done := &ending{TB: t}, make(chan struct{})
		go func() {
			defer close(done)
			Missing(e, errors.New("gone"))
		}()
		if <-done; e.how != want {
			t.Errorf("CI=%s: %s, want %s", env, e.how, want)
		}
	}
}
