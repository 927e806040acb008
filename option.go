package wavefold

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Option is a property of a part of a graph. The constructor of a part documents which
// options it takes. Other options are errors when the graph is compiled.
type Option interface{ option() setting }

// setting is the implementation of an option.
type setting struct {
	name  string
	pos   source.Position
	edges int // number of edges that set adds
	set   func(*settings)
}

func (s setting) option() setting { return s }

func option(name string, set func(*settings)) Option {
	return setting{name: name, pos: here(), set: set}
}

// settings holds the values of a part's options.
type settings struct {
	applied []setting

	edges []edge
	conditions
	walkSettings
	join        *core.Join
	race        *source.Position
	limit       *source.Int
	maxFailures *source.Int
	collect     AnyField
	preset      source.Text
	attempts    *source.Int
	backoff     Backoff
	retryOn     source.Text
	policy      source.Text
	timeout     *source.Located[time.Duration]
	flush       *source.Located[time.Duration]
	priority    source.Int
	phase       source.Text
	description string
	effects     *bool
	version     source.Text
	pause       source.Text
	cache       *core.Cache

	allowPartial, autoStatus bool

	reads, writes []AnyField
	args          map[string]any
	items         source.Text
	passages      []passage
	until         *source.Text
	maxIters      *source.Int
	failExhausted bool
}

// edge is an edge into a part, as set by its options.
type edge struct {
	from source.Text
	own  *conditions // nil if the edge has the conditions of its part
}

// conditions decide whether an edge is followed.
type conditions struct {
	when    *source.Text
	isElse  bool
	on      source.Text
	handles *source.Located[bool]
}

func (c *conditions) empty() bool {
	return c.when == nil && !c.isElse && c.on.Value == "" && c.handles == nil
}

func (s *settings) apply(options []Option) {
	edges := 0
	for _, o := range options {
		if o != nil {
			edges += o.option().edges
		}
	}
	s.applied, s.edges = slices.Grow(s.applied, len(options)), slices.Grow(s.edges, edges)
	for _, o := range options {
		if o == nil {
			continue
		}
		x := o.option()
		s.applied = append(s.applied, x)
		x.set(s)
	}
}

// After makes the part run after others, given by the ids of nodes, pipelines and
// loops, even if no value is passed between them.
func After(ids ...string) Option {
	pos := here()
	return setting{name: "After", pos: pos, edges: len(ids), set: func(s *settings) {
		for _, id := range ids {
			s.edges = append(s.edges, edge{from: source.At(id, pos)})
		}
	}}
}

// From is After for one id, with options for this edge: When, Else, On and Handles.
// They replace the conditions that the part sets for all of its edges.
func From(id string, options ...Option) Option {
	pos := here()
	var inner settings
	inner.apply(options)
	e := edge{from: source.At(id, pos)}
	if !inner.conditions.empty() {
		e.own = &inner.conditions
	}
	return setting{name: "From", pos: pos, edges: 1, set: func(s *settings) {
		s.edges = append(s.edges, e)
		for _, u := range inner.applied {
			if !edgeOptions[u.name] {
				s.applied = append(s.applied, u) // From does not take it, so it is reported
			}
		}
	}}
}

// When sets the condition under which the part runs: an expression on the state that it
// sees, such as "length($.scores) > 0". It applies to all edges into the part, whether
// they come from After or are implied by a field. It is an error if there is no edge.
func When(expression string) Option {
	text := source.At(expression, here())
	return setting{name: "When", pos: text.Pos, set: func(s *settings) { s.when = &text }}
}

// Else runs the part if no When on the other edges out of the same part is true.
func Else() Option { return option("Else", func(s *settings) { s.isElse = true }) }

// Ending is a way in which a part can end. On uses it to select the edges to follow.
type Ending string

// Without an On, a part follows Succeeded.
const (
	Succeeded Ending = "success" // including a partial success
	Failed    Ending = "fail"    // the part itself failed; see Handles
	Done      Ending = "done"    // in any way, including skipped
)

// On sets how the preceding parts must have ended.
func On(e Ending) Option {
	pos := here()
	return setting{name: "On", pos: pos, set: func(s *settings) { s.on = source.At(string(e), pos) }}
}

// Handles makes On(Failed) handle the failure: if the part runs, the run is a partial
// success at best instead of failed. Without Handles the part is an alert: it runs, but
// the run still fails.
func Handles() Option {
	pos := here()
	return setting{name: "Handles", pos: pos, set: func(s *settings) { s.handles = new(source.At(true, pos)) }}
}

// AllDone runs the part once all preceding parts have ended, regardless of how they
// ended and of their conditions.
func AllDone() Option {
	pos := here()
	return setting{name: "AllDone", pos: pos, set: func(s *settings) { s.join = core.JoinOf(source.At(core.JoinAllDone, pos)) }}
}

// AnyOf runs the part once one of the preceding parts has succeeded. It takes the first
// one in the order of levels and then of declaration, so the result does not depend on
// timing. The part does not receive the outputs of the others, which continue to run.
// Parts that failed, were skipped or whose conditions are false are not counted; if
// none is left, the part is skipped. A failed predecessor still fails the run, unless a
// policy tolerates the failure or an On(Failed) with Handles handles it.
func AnyOf() Option {
	pos := here()
	return setting{name: "AnyOf", pos: pos, set: func(s *settings) { s.join = core.JoinOf(source.At(core.JoinAny, pos)) }}
}

// KOfN is AnyOf for k parts instead of one. With 0 the part does not wait. With more
// than the number of preceding parts it never runs. Both are warnings.
func KOfN(k int) Option {
	n := source.At(k, here())
	return setting{name: "KOfN", pos: n.Pos, set: func(s *settings) {
		s.join = &core.Join{Policy: source.At(core.JoinKOfN, n.Pos), Count: &n, Pos: n.Pos}
	}}
}

// Quorum is AnyOf for a share of the parts, from 0 to 1, rounded up: 0.5 of three parts
// is two.
func Quorum(share float64) Option {
	f := source.At(share, here())
	return setting{name: "Quorum", pos: f.Pos, set: func(s *settings) {
		s.join = &core.Join{Policy: source.At(core.JoinQuorum, f.Pos), Fraction: &f, Pos: f.Pos}
	}}
}

// Race makes AnyOf, KOfN or Quorum take the parts that finish first. Nodes whose only
// paths lead to the part are then cancelled: their contexts end, the run waits for
// them, their writes are discarded, and they count as skipped. Two runs with the same
// input may therefore differ.
func Race() Option {
	pos := here()
	return setting{name: "Race", pos: pos, set: func(s *settings) { s.race = &pos }}
}

// Limit limits the items of a fan-out, or the rows of a pipeline, that are in flight at
// a time. The default is 1. The result does not depend on it.
func Limit(n int) Option {
	v := source.At(n, here())
	return setting{name: "Limit", pos: v.Pos, set: func(s *settings) { s.limit = &v }}
}

// MaxFailures limits the items of a fan-out that may fail before the remaining ones are
// cancelled. By default, all items run. The part fails in either case. Items that
// succeeded keep their results.
func MaxFailures(n int) Option {
	v := source.At(n, here())
	return setting{name: "MaxFailures", pos: v.Pos, set: func(s *settings) { s.maxFailures = &v }}
}

// Collect writes the results of a fan-out's items to a field as one list, in item
// order. Each item that succeeds and writes the field adds one element. The field must
// be a slice or untyped. It is written once, at the end of the fan-out, and merged by
// its strategy: none (the list replaces the previous value), Append, SetOnce or Union.
func Collect(f AnyField) Option {
	return option("Collect", func(s *settings) { s.collect = f })
}

// Backoff sets the delays between attempts of Retry: Base, 2 Base, 3 Base and so on, or
// doubled each time.
type Backoff struct {
	Base        time.Duration // 100 ms if zero
	Max         time.Duration // the longest delay; no limit if zero
	Exponential bool          // double the delay each time
	Factor      float64       // ratio of each delay to the previous one
	Jitter      bool          // multiply each delay by a random factor from 0.5 to 1.5
}

// Preset is the name of a retry policy: one of the constants below, or one defined by
// RetryPolicy.
type Preset string

// The delays of the presets are multiplied by a random factor from 0.5 to 1.5.
const (
	NoRetry         Preset = "none"       // one attempt
	StandardRetry   Preset = "standard"   // 5 attempts, after 200, 400, 800 and 1600 ms
	AggressiveRetry Preset = "aggressive" // 5 attempts, after 500 ms, 1, 2 and 4 s
	LinearRetry     Preset = "linear"     // 3 attempts, after 500 ms each
	PatientRetry    Preset = "patient"    // 3 attempts, after 2 and 6 s
)

// RetryPreset retries a failed part, or a failed item of it, according to a retry
// policy. An additional Retry overrides the number of attempts, and those delays that
// its Backoff sets.
func RetryPreset(p Preset) Option {
	pos := here()
	return setting{name: "RetryPreset", pos: pos, set: func(s *settings) { s.preset = source.At(string(p), pos) }}
}

// RetryTransient retries only after failures that may not recur in another attempt: timeouts, lost
// connections, busy servers, and errors marked by core.Retryable. See core.CategoryOf.
func RetryTransient() Option {
	pos := here()
	return setting{name: "RetryTransient", pos: pos, set: func(s *settings) { s.retryOn = source.At("transient", pos) }}
}

// RetryPolicy defines a retry policy of the graph with the options Retry, RetryPreset
// and RetryTransient. Parts refer to it with RetryPreset.
func RetryPolicy(name string, options ...Option) Part {
	pos := here()
	return graphOption(func(b *builder) {
		var s settings
		s.apply(options)
		checkOptions(&b.ds, subject{"retry policy", name}, "RetryPolicy", s.applied, retryOptions)
		r := &core.RetryPolicy{Pos: pos}
		if e := s.onError(); e != nil {
			r = e.Retry()
		}
		r.Name = source.At(name, pos)
		b.w.RetryPolicies = append(b.w.RetryPolicies, r)
	})
}

var retryOptions = []string{"Retry", "RetryPreset", "RetryTransient"}

// Retry retries a failed part, or a failed item of it. attempts is the maximum number
// of attempts, including the first. Errors marked by core.Permanent and panics are not
// retried.
func Retry(attempts int, backoff ...Backoff) Option {
	v := source.At(attempts, here())
	return setting{name: "Retry", pos: v.Pos, set: func(s *settings) {
		s.attempts = &v
		for _, b := range backoff {
			s.backoff = b
		}
	}}
}

// AllowPartial makes a part a partial success if its last attempt still requests
// another one, by a Result with status core.Retry: the writes of that attempt are kept.
// It does not affect errors. In a fan-out it applies to each item.
func AllowPartial() Option {
	return option("AllowPartial", func(s *settings) { s.allowPartial = true })
}

// AutoStatus makes a part a success regardless of the results of its attempts: an
// error, a panic, a timeout or a partial success. Only a write that the state rejects,
// a value that cannot be read, and the end of the run remain failures. In a fan-out it
// applies to each item.
func AutoStatus() Option { return option("AutoStatus", func(s *settings) { s.autoStatus = true }) }

// Timeout limits one attempt: its context ends after d, and the attempt has failed.
func Timeout(d time.Duration) Option {
	v := source.At(d, here())
	return setting{name: "Timeout", pos: v.Pos, set: func(s *settings) { s.timeout = &v }}
}

// Flush limits how long the first row of a batch waits for the others. After that the
// batch is passed on incomplete. Without Flush there is no limit.
func Flush(d time.Duration) Option {
	v := source.At(d, here())
	return setting{name: "Flush", pos: v.Pos, set: func(s *settings) { s.flush = &v }}
}

// Policy determines the effect of a part's failure on the run. By default, parts that
// depend on the failed part are skipped, all others run, and the run fails at the end.
type Policy string

const (
	Skip    Policy = "skip"     // the failure is tolerated: the run ends as a partial success
	FailRun Policy = "fail_run" // the run is stopped at once
)

// OnError sets the policy of a part. With Retry it applies after the last attempt.
func OnError(p Policy) Option {
	pos := here()
	return setting{name: "OnError", pos: pos, set: func(s *settings) { s.policy = source.At(string(p), pos) }}
}

// Priority orders parts that may start at the same time; higher priorities start first.
// It affects timing only, never results.
func Priority(n int) Option {
	pos := here()
	return setting{name: "Priority", pos: pos, set: func(s *settings) { s.priority = source.At(n, pos) }}
}

// Phase sets a label for displays.
func Phase(name string) Option {
	pos := here()
	return setting{name: "Phase", pos: pos, set: func(s *settings) { s.phase = source.At(name, pos) }}
}

// Effects marks a part whose work is visible outside of the run, so that it starts only
// when its inputs are committed. Sink, ForEach and Do are marked implicitly.
func Effects() Option { return option("Effects", func(s *settings) { s.effects = new(true) }) }

// Version is the version of what a function computes, such as "3". The engine cannot see the code
// of a function. After a change that makes earlier results invalid, set another version:
// Graph.Resume then rejects runs in which the function has returned. The default is "".
func Version(v string) Option {
	pos := here()
	return setting{name: "Version", pos: pos, set: func(s *settings) { s.version = source.At(v, pos) }}
}

// PauseBefore makes each execution of a part wait until a person lets it continue, before its
// first attempt. The question goes to the interviewer of the run (WithInterviewer), or, in a
// stored run, to Running.Answer and the command.
func PauseBefore() Option { return pauseAt("PauseBefore", core.PauseBefore) }

// PauseAfter is PauseBefore, except that the execution waits after its last attempt.
func PauseAfter() Option { return pauseAt("PauseAfter", core.PauseAfter) }

// Cached keeps the results of a part in the store of the run (WithStore): a later execution, in any
// run on that store, with equal inputs and an equal version (Version) takes the result in place of
// calling the function. What counts are the values that the part reads, its arguments, and the item of
// a fan-out; for Func and Node also the index and all inputs of the run, because the function may read
// them. The code of the function is not seen. Results of ttl or older are not used; 0 means no limit.
// Failures are never kept.
func Cached(ttl time.Duration) Option {
	pos := here()
	return setting{name: "Cached", pos: pos, set: func(s *settings) {
		c := s.cacheAt(pos)
		if ttl != 0 {
			c.TTL = new(source.At(ttl, pos))
		}
	}}
}

// CacheKey is Cached without a limit, except that an expression decides which executions have the same
// result, such as "$item.id". Together with Cached, the ttl applies as well.
func CacheKey(expression string) Option {
	pos := here()
	return setting{name: "CacheKey", pos: pos, set: func(s *settings) { s.cacheAt(pos).Key = source.At(expression, pos) }}
}

func (s *settings) cacheAt(pos source.Position) *core.Cache {
	if s.cache == nil {
		s.cache = &core.Cache{Pos: pos}
	}
	return s.cache
}

func pauseAt(name, when string) Option {
	pos := here()
	return setting{name: name, pos: pos, set: func(s *settings) { s.pause = source.At(when, pos) }}
}

// Args sets the arguments of a Func or Node. A string that is a path, such as
// "$.orders[0].id", is replaced by the value; a string that begins with "$." is written
// as "$$.".
func Args(args map[string]any) Option { return option("Args", func(s *settings) { s.args = args }) }

// Items makes a Func or Node a fan-out: it runs once for each element of the array at
// the path, such as "$.orders".
func Items(path string) Option {
	text := source.At(path, here())
	return setting{name: "Items", pos: text.Pos, set: func(s *settings) { s.items = text }}
}

// Reads lists fields that a Node sees.
func Reads(fields ...AnyField) Option {
	return option("Reads", func(s *settings) { s.reads = append(s.reads, fields...) })
}

// Writes lists fields that a Node may write.
func Writes(fields ...AnyField) Option {
	return option("Writes", func(s *settings) { s.writes = append(s.writes, fields...) })
}

// Until sets the condition that ends a Loop. The expression is evaluated after each
// round, on the state with the loop's own writes.
func Until(expression string) Option {
	text := source.At(expression, here())
	return setting{name: "Until", pos: text.Pos, set: func(s *settings) { s.until = &text }}
}

// MaxIters limits the rounds of a Loop. The default is 100 if there is an Until.
func MaxIters(n int) Option {
	v := source.At(n, here())
	return setting{name: "MaxIters", pos: v.Pos, set: func(s *settings) { s.maxIters = &v }}
}

// FailExhausted makes a Loop fail if Until is still false after MaxIters rounds.
func FailExhausted() Option {
	return option("FailExhausted", func(s *settings) { s.failExhausted = true })
}
