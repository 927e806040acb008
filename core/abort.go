package core

import "context"

type abortKey struct{}

// WithAbort returns a context for handlers that can be told twice to end. The end of
// the context asks them to end in good order, as always; when abort is closed after
// that, nobody waits any longer, and what a handler runs outside of this process is
// to be killed at once.
func WithAbort(ctx context.Context, abort <-chan struct{}) context.Context {
	return context.WithValue(ctx, abortKey{}, abort)
}

// Aborted returns the channel of WithAbort, or nil, which is never ready, where
// nobody set one.
func Aborted(ctx context.Context) <-chan struct{} {
	abort, _ := ctx.Value(abortKey{}).(<-chan struct{})
	return abort
}
