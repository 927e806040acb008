// Package bounded calls code of users, such as methods of their Go types, that may never
// return while a graph is built or compiled.
package bounded

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Limit is how long a call may take. What a compiler calls takes microseconds.
const Limit = 10 * time.Second

// Call calls f on a goroutine of its own and waits for it, for Limit at most. The error says
// that f has not returned, or has ended its goroutine, and begins with what. A call that is
// given up goes on: f must set nothing that is read after an error but through what it owns.
func Call(what string, f func()) error {
	done := make(chan bool, 1)
	go func() {
		returned := false
		defer func() { done <- returned }()
		f()
		returned = true
	}()
	limit := time.NewTimer(Limit)
	defer limit.Stop()
	select {
	case returned := <-done:
		if !returned {
			return fmt.Errorf("%s ended its goroutine with runtime.Goexit", what)
		}
		return nil
	case <-limit.C:
		return fmt.Errorf("%s has not returned within %s", what, Limit)
	}
}

// Canonical is core.Canonical for a value of any Go type.
func Canonical(v any) (any, error) {
	switch v.(type) {
	case nil, bool, int, int64, float64, string:
		return core.Canonical(v)
	}
	type result struct {
		v   any
		err error
	}
	r := new(result)
	if err := Call(fmt.Sprintf("writing a value of type %T as JSON", v), func() { r.v, r.err = core.Canonical(v) }); err != nil {
		return nil, err
	}
	return r.v, r.err
}
