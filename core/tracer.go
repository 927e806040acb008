package core

import "context"

// Tracer is notified when each run and each attempt of a node begins and ends, at that time
// and on the same goroutine. Handlers see the values that it adds to a context: with the
// spans of package telemetry, spans of a handler's own calls become children of the span of
// the attempt.
//
// Its methods are called from many goroutines at once. The functions that they return are
// called once each and may be nil. Panics in them are ignored.
type Tracer interface {
	// StartRun is called before a run begins. The function that it returns is called with
	// the report when everything has ended.
	StartRun(ctx context.Context, run, workflow string) (context.Context, func(*Report))
	// StartAttempt is called before a handler, once for each attempt of a node, of an item
	// of a fan-out, of a stage of a pipeline or of a round of a loop. The function that it
	// returns is called with the outcome; the failure is nil if there was none.
	StartAttempt(ctx context.Context, kind string, in Input) (context.Context, func(Status, *Failure))
}
