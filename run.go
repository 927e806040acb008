package wavefold

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// Result is the result of a run. Field.Get reads its state.
type Result struct{ *core.Report }

// RunOption is a starting value or a setting of one run.
type RunOption interface{ applyRun(*runSettings) }

// runSettings holds the values of a run's options.
type runSettings struct {
	scheduler.Options
	values     map[string]any
	asRecorded bool // see AsRecorded
	assume     []machine.Assumption
	set        []machine.Assignment
}

type runOption func(*runSettings)

func (o runOption) applyRun(s *runSettings) { o(s) }

// Input is the starting value of a field. It is an option of a run and of a Sub.
type Input struct {
	name  string
	value any
}

var (
	_ RunOption = Input{}
	_ Option    = Input{}
)

// Set is Field.Is for a field that is known only by name, such as a field of a
// document. The value is checked against the field's type when the run begins.
func Set(name string, value any) Input { return Input{name, value} }

func (i Input) applyRun(s *runSettings) {
	if s.values == nil {
		s.values = map[string]any{}
	}
	s.values[i.name] = i.value
}

func (i Input) option() setting {
	return setting{name: "Is", set: func(s *settings) { s.passages = append(s.passages, passage{inner: i.name, value: i.value}) }}
}

// WithListener calls a function with the events of the run, in order, one at a time, on
// a separate goroutine. The listener never blocks the run. At its end, Run waits until
// all events are delivered, but no longer than the grace period (WithGrace); if events
// are then left, its error is a core.StrayError.
func WithListener(listen func(core.Event)) RunOption {
	return runOption(func(s *runSettings) { s.Listener = listen })
}

// WithBackpressure starts no new work while the listener is more than about 16,000
// events behind, unless it accepts none for a second. Without this option, pending
// events are kept in memory without a limit; a fan-out creates several for each item.
func WithBackpressure() RunOption { return runOption(func(s *runSettings) { s.Backpressure = true }) }

// WithStrict makes an attempt fail if its node logs a warning (Input.Logger): its
// writes do not reach the state, and kinds that put files or rows in place do not do
// so. The result lists the warnings of a run in any case.
func WithStrict() RunOption { return runOption(func(s *runSettings) { s.Strict = true }) }

// WithoutCache makes parts with the option Cached or CacheKey run as if they had none.
func WithoutCache() RunOption { return runOption(func(s *runSettings) { s.NoCache = true }) }

// WithRefresh makes parts with the option Cached or CacheKey run, given by id. Their results
// replace earlier ones.
func WithRefresh(ids ...string) RunOption {
	return runOption(func(s *runSettings) { s.Refresh = append(s.Refresh, ids...) })
}

// WithInterviewer sets the interviewer that answers the human gates of a walk. Package
// nodes/human has interviewers for a terminal, for functions and for tests. Without
// one, gates get no answer.
func WithInterviewer(i core.Interviewer) RunOption {
	return runOption(func(s *runSettings) { s.Interviewer = i })
}

// WithRouter sets the router of walks whose edges are chosen by a model. It replaces
// the engine's model.
func WithRouter(r core.Router) RunOption {
	return runOption(func(s *runSettings) { s.Router = r })
}

// WithBudget limits the number, the tokens and the cost of the run's model calls. A
// call that begins within the budget is completed. The next one fails the run, which
// keeps the results so far.
func WithBudget(b core.Budget) RunOption {
	return runOption(func(s *runSettings) { s.Budget = b })
}

// WithFailFast ends a walk that a model routes at the first visit that fails. Without
// it the walk continues, and the run fails at its end.
func WithFailFast() RunOption { return runOption(func(s *runSettings) { s.FailFast = true }) }

// WithMaxVisits limits the visits of all nodes of a walk together, and overrides the limit
// of the graph; 0 keeps that limit. The visit after the last one fails the run.
func WithMaxVisits(n int) RunOption { return runOption(func(s *runSettings) { s.MaxVisits = n }) }

// WithTracer notifies a tracer of the beginning and end of the run and of each attempt
// of a node, and passes the contexts that the tracer returns to the functions. Package
// telemetry provides a tracer for OpenTelemetry spans and metrics.
func WithTracer(t core.Tracer) RunOption {
	return runOption(func(s *runSettings) { s.Tracer = t })
}

// WithConcurrency overrides the graph's limit on nodes in flight.
func WithConcurrency(n int) RunOption { return runOption(func(s *runSettings) { s.Concurrency = n }) }

// WithMaxInFlight overrides the graph's limit on functions in flight.
func WithMaxInFlight(n int) RunOption { return runOption(func(s *runSettings) { s.MaxInFlight = n }) }

// WithRunID sets the id of the run, which is the prefix of every idempotency key. The
// default is a random id.
func WithRunID(id string) RunOption { return runOption(func(s *runSettings) { s.Run = id }) }

// WithGrace sets the grace period: the time that functions have to return after their
// context has ended. After that, the run ends without them and its error names them.
// The default is 10 s.
func WithGrace(d time.Duration) RunOption { return runOption(func(s *runSettings) { s.Grace = d }) }

// WithBarrier finishes each level of the graph before the next one starts. The results
// are the same; the option exists for comparison.
func WithBarrier() RunOption { return runOption(func(s *runSettings) { s.Barrier = true }) }
