package http

import (
	"context"
	"sync"
	"time"
)

// pace spaces the requests of a node, of all its executions together. A nil pace lets
// them start at any time.
type pace struct {
	every time.Duration

	mu   sync.Mutex
	next time.Time // when the next request may start
}

// wait waits until another request may start.
func (p *pace) wait(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	now := time.Now()
	start := now
	if p.next.After(now) {
		start = p.next
	}
	p.next = start.Add(p.every)
	p.mu.Unlock()
	if start.Equal(now) {
		return nil
	}
	t := time.NewTimer(start.Sub(now))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hold lets no request start for a while.
func (p *pace) hold(d time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.next) {
		p.next = until
	}
}
