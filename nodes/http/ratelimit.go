package http

import (
	"context"
	"sync"
	"time"
)

// rateLimiter limits the rate of requests over all visits of a node. A nil rateLimiter does not limit it.
type rateLimiter struct {
	every time.Duration

	mu   sync.Mutex
	next time.Time // when the next request may start
}

// wait waits until the next request may start.
func (p *rateLimiter) wait(ctx context.Context) error {
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

// delay delays all requests by d from now.
func (p *rateLimiter) delay(d time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.next) {
		p.next = until
	}
}
