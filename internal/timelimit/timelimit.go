// Package timelimit calls user code, such as methods of user-defined Go types, that may never
// return while a graph is built or compiled.
package timelimit

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// Limit is the maximum duration of a call. Calls during compilation normally take
// microseconds.
const Limit = 10 * time.Second

// Call calls f on a new goroutine and waits for it, for at most Limit. If f has not
// returned or has ended its goroutine, Call returns an error that begins with what. An
// abandoned call continues to run: after an error, the caller must not read anything that f
// may still write.
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

// Canonical is value.Canonical for a value of any Go type.
func Canonical(v any) (any, error) {
	switch v.(type) {
	case nil, bool, int, int64, float64, string:
		return value.Canonical(v)
	}
	type result struct {
		v   any
		err error
	}
	r := new(result)
	if err := Call(fmt.Sprintf("writing a value of type %T as JSON", v), func() { r.v, r.err = value.Canonical(v) }); err != nil {
		return nil, err
	}
	return r.v, r.err
}
