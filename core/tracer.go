package core

import "context"

// Tracer is told where each run and each attempt of a node begins and ends, at the time
// and on the goroutine where it does. What it puts into a context is there for the
// handlers: the spans of package telemetry make those of a handler's own calls their
// children.
//
// Its methods are called from many goroutines at once. The functions they return are
// called once each and may be nil. A panic in one of them is ignored.
type Tracer interface {
	// StartRun is called before a run begins; the function it returns gets the report
	// when everything has ended.
	StartRun(ctx context.Context, run, workflow string) (context.Context, func(*Report))
	// StartAttempt is called before a handler: once for each attempt of a node, of an
	// item of a fan-out, a stage of a pipeline or a round of a loop. The function it
	// returns gets the outcome, a failure being nil when it ended well.
	StartAttempt(ctx context.Context, kind string, in Input) (context.Context, func(Status, *Failure))
}
