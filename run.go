package wavefold

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
)

// Result is the outcome of a run. Field.Get reads its state.
type Result struct{ *core.Report }

// RunOption is a starting value or a setting of one run.
type RunOption interface{ applyRun(*runSettings) }

// runSettings is what the options of a run say.
type runSettings struct {
	scheduler.Options
	values map[string]any
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

// Set is Field.Is for a field that is known by name only, as of a document. The value is
// checked against the field's type when the run begins.
func Set(name string, value any) Input { return Input{name, value} }

func (i Input) applyRun(s *runSettings) {
	if s.values == nil {
		s.values = map[string]any{}
	}
	s.values[i.name] = i.value
}

func (i Input) option() setting {
	return setting{name: "Is", set: func(s *settings) { s.passed = append(s.passed, passage{inner: i.name, value: i.value}) }}
}

// WithListener hands the events of the run to a function, in order, one at a time, on a
// goroutine of its own. It never holds the run back. Run waits at its end until all are
// delivered, at most as long as WithGrace says; then its error is a core.StrayError.
func WithListener(listen func(core.Event)) RunOption {
	return runOption(func(s *runSettings) { s.Listener = listen })
}

// WithBackpressure begins nothing new while the listener is more than some 16,000 events
// behind, unless it takes none for a second. Without it all events wait in memory, as many
// as there are: a fan-out makes a few for each item.
func WithBackpressure() RunOption { return runOption(func(s *runSettings) { s.Backpressure = true }) }

// WithStrict makes a warning of a node's logger (Input.Logger) the failure of that attempt:
// what it wrote does not reach the state, and kinds that put a file or rows in place do
// not. The result lists the warnings of a run in any case.
func WithStrict() RunOption { return runOption(func(s *runSettings) { s.Strict = true }) }

// WithInterviewer answers what the human gates of a walk ask. Package nodes/human has
// interviewers for a terminal, for functions and for tests. Without one nobody answers.
func WithInterviewer(i core.Interviewer) RunOption {
	return runOption(func(s *runSettings) { s.Interviewer = i })
}

// WithRouter picks the edges of walks that leave that to a model, in place of the engine's
// model.
func WithRouter(r core.Router) RunOption {
	return runOption(func(s *runSettings) { s.Router = r })
}

// WithBudget bounds what the calls to models may take that the run makes. A call that
// begins within the budget is finished; the next one fails the run, and what has ended by
// then is kept.
func WithBudget(b core.Budget) RunOption {
	return runOption(func(s *runSettings) { s.Budget = b })
}

// WithFailFast ends a walk that a model routes at the first visit that fails. Without it the
// walk goes on, and the run fails at its end.
func WithFailFast() RunOption { return runOption(func(s *runSettings) { s.FailFast = true }) }

// WithMaxVisits is how many visits of nodes a walk that a model routes may make in the run,
// in place of what its document says; 0 keeps that.
func WithMaxVisits(n int) RunOption { return runOption(func(s *runSettings) { s.MaxVisits = n }) }

// WithTracer tells a tracer where the run and each attempt of a node begin and end, and
// hands the functions the contexts it returns. Package telemetry makes OpenTelemetry
// spans and metrics of that.
func WithTracer(t core.Tracer) RunOption {
	return runOption(func(s *runSettings) { s.Tracer = t })
}

// WithConcurrency replaces the graph's own limit on nodes in flight.
func WithConcurrency(n int) RunOption { return runOption(func(s *runSettings) { s.Concurrency = n }) }

// WithMaxInFlight replaces the graph's own limit on functions in flight.
func WithMaxInFlight(n int) RunOption { return runOption(func(s *runSettings) { s.MaxInFlight = n }) }

// WithRunID gives the run an id. It begins every idempotency key; without it a run has a
// random one.
func WithRunID(id string) RunOption { return runOption(func(s *runSettings) { s.Run = id }) }

// WithGrace is how long functions may take to return after their context ended, before
// the run ends without them and its error names them: 10 s without it.
func WithGrace(d time.Duration) RunOption { return runOption(func(s *runSettings) { s.Grace = d }) }

// WithBarrier finishes each level of the graph before the next one starts. The results
// are the same; it is there to compare.
func WithBarrier() RunOption { return runOption(func(s *runSettings) { s.Barrier = true }) }
