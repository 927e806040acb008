package core

import "context"

type abortKey struct{}

// WithAbort returns a context for handlers that have a second, stronger signal to stop. As
// always, the end of the context asks a handler to end gracefully. When abort is closed
// after that, the handler must not wait any longer and must kill at once whatever it runs
// outside of this process.
func WithAbort(ctx context.Context, abort <-chan struct{}) context.Context {
	return context.WithValue(ctx, abortKey{}, abort)
}

// Aborted returns the channel that was passed to WithAbort. If there is none, it returns
// nil, which is never ready.
func Aborted(ctx context.Context) <-chan struct{} {
	abort, _ := ctx.Value(abortKey{}).(<-chan struct{})
	return abort
}
