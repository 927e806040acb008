package wavefold

import (
	"time"

	"github.com/wavefold/wavefold/core"
)

// Option is a property of a part of a graph. Which options a part takes is said at its
// constructor; one that it does not take is an error when the graph is compiled.
type Option interface{ option() setting }

// setting is an option at work.
type setting struct {
	name string
	pos  core.Position
	set  func(*settings)
}

func (s setting) option() setting { return s }

func option(name string, set func(*settings)) Option {
	return setting{name: name, pos: here(), set: set}
}

// settings is what the options of a part say.
type settings struct {
	used []setting

	edges       []edge
	when        *core.Text
	otherwise   bool
	on          core.Text
	handles     *core.Located[bool]
	join        *core.Join
	race        *core.Position
	limit       *core.Int
	maxFailures *core.Int
	collect     AnyField
	preset      core.Text
	attempts    *core.Int
	backoff     Backoff
	retryOn     core.Text
	policy      core.Text
	timeout     *core.Located[time.Duration]
	flush       *core.Located[time.Duration]
	priority    core.Int
	phase       core.Text
	description string
	effects     *bool

	allowPartial, autoStatus bool

	reads, writes []AnyField
	args          map[string]any
	items         core.Text
	passed        []passage
	until         *core.Text
	maxIters      *core.Int
	failExhausted bool
}

// edge is an edge into a part, as the options say.
type edge struct {
	from      core.Text
	when      *core.Text
	otherwise bool
	on        core.Text
	handles   *core.Located[bool]
}

func (s *settings) apply(options []Option) {
	for _, o := range options {
		if o == nil {
			continue
		}
		x := o.option()
		s.used = append(s.used, x)
		x.set(s)
	}
}

// After makes the part come after others, by the ids of nodes, pipelines and loops, also
// where no value passes.
func After(ids ...string) Option {
	pos := here()
	return setting{name: "After", pos: pos, set: func(s *settings) {
		for _, id := range ids {
			s.edges = append(s.edges, edge{from: core.At(id, pos)})
		}
	}}
}

// From is After with conditions of its own for this one edge: When, Else, On and Handles. They
// replace what the part says for all of its edges.
func From(id string, conditions ...Option) Option {
	pos := here()
	var inner settings
	inner.apply(conditions)
	e := edge{from: core.At(id, pos), when: inner.when, otherwise: inner.otherwise, on: inner.on, handles: inner.handles}
	return setting{name: "From", pos: pos, set: func(s *settings) {
		s.edges = append(s.edges, e)
		for _, u := range inner.used {
			if !edgeOptions[u.name] {
				s.used = append(s.used, u) // nothing takes it inside From
			}
		}
	}}
}

// When is the condition under which the part runs, an expression on the state that it
// sees, such as "length($.scores) > 0". It stands on all edges into the part, those of
// After and those that a field brings along; without an edge it is an error.
func When(expression string) Option {
	text := core.At(expression, here())
	return setting{name: "When", pos: text.Pos, set: func(s *settings) { s.when = &text }}
}

// Else runs the part if no When on the other edges out of the same part is true.
func Else() Option { return option("Else", func(s *settings) { s.otherwise = true }) }

// Ending is how a part must have ended for an edge out of it to be followed.
type Ending string

// Endings. Without an On, a part follows Succeeded.
const (
	Succeeded Ending = "success" // also with a partial success
	Failed    Ending = "fail"    // it failed itself; see Handles
	Done      Ending = "done"    // in any way, skipped included
)

// On says how the parts before must have ended.
func On(e Ending) Option {
	pos := here()
	return setting{name: "On", pos: pos, set: func(s *settings) { s.on = core.At(string(e), pos) }}
}

// Handles makes On(Failed) handle the failure: if the part runs, the run is not failed but
// a partial success at best. Without it the part is an alert: it runs, and the run is
// failed all the same.
func Handles() Option {
	pos := here()
	return setting{name: "Handles", pos: pos, set: func(s *settings) { s.handles = new(core.At(true, pos)) }}
}

// AllDone runs the part once all parts before it have ended, in whatever way and whatever
// their conditions say.
func AllDone() Option {
	pos := here()
	return setting{name: "AllDone", pos: pos, set: func(s *settings) { s.join = core.JoinOf(core.At(core.JoinAllDone, pos)) }}
}

// AnyOf runs the part once one of the parts before it has succeeded: the first in their
// order by level and as they were added, so that time decides nothing. What the others
// send does not reach it; they run on. Those that failed, were skipped or whose conditions
// are false merely do not count; if none is left, the part is skipped. A failure that it
// gets over still fails the run, unless a policy tolerates it or an On(Failed) with
// Handles handles it.
func AnyOf() Option {
	pos := here()
	return setting{name: "AnyOf", pos: pos, set: func(s *settings) { s.join = core.JoinOf(core.At(core.JoinAny, pos)) }}
}

// KOfN is AnyOf for k parts instead of one. With 0 the part waits for nobody; more than
// there are never succeed. Both are warnings.
func KOfN(k int) Option {
	n := core.At(k, here())
	return setting{name: "KOfN", pos: n.Pos, set: func(s *settings) {
		s.join = &core.Join{Policy: core.At(core.JoinKOfN, n.Pos), Count: &n, Pos: n.Pos}
	}}
}

// Quorum is AnyOf for a share of the parts, from 0 to 1, rounded up: 0.5 of three are two.
func Quorum(share float64) Option {
	f := core.At(share, here())
	return setting{name: "Quorum", pos: f.Pos, set: func(s *settings) {
		s.join = &core.Join{Policy: core.At(core.JoinQuorum, f.Pos), Fraction: &f, Pos: f.Pos}
	}}
}

// Race makes AnyOf, KOfN or Quorum take the parts that are first in time. What lies only
// on the way to the part is then given up: its context ends, it is awaited, what it wrote
// is dropped, and it counts as skipped. So two runs of the same input may differ.
func Race() Option {
	pos := here()
	return setting{name: "Race", pos: pos, set: func(s *settings) { s.race = &pos }}
}

// Limit is how many items of a fan-out, or rows of a pipeline, may be in flight at a time;
// 1 without it. The result does not depend on it.
func Limit(n int) Option {
	v := core.At(n, here())
	return setting{name: "Limit", pos: v.Pos, set: func(s *settings) { s.limit = &v }}
}

// MaxFailures is how many items of a fan-out may fail before the rest is given up. Without
// it all are tried. The part fails in either case; the items that went well keep their
// results.
func MaxFailures(n int) Option {
	v := core.At(n, here())
	return setting{name: "MaxFailures", pos: v.Pos, set: func(s *settings) { s.maxFailures = &v }}
}

// Collect gives a field the results of a fan-out's items as one list, in item order: each
// item that ends well and writes the field adds one element. The field must be a slice or
// untyped. It is written once, at the end of the fan-out, and merged by its strategy: none
// (the list replaces the value before it), Append, SetOnce or Union.
func Collect(f AnyField) Option {
	return option("Collect", func(s *settings) { s.collect = f })
}

// Backoff is how long Retry waits between attempts: Base, 2 Base, 3 Base and so on, or
// doubling each time.
type Backoff struct {
	Base        time.Duration // 100 ms if zero
	Max         time.Duration // the longest wait; no limit if zero
	Exponential bool          // double the wait each time
	Factor      float64       // make each wait so many times the one before
	Jitter      bool          // multiply each wait by a random factor from 0.5 to 1.5
}

// Preset is the name of a retry policy: one of those below, or one made by RetryPolicy.
type Preset string

// Presets. Their waits are spread by a random factor from 0.5 to 1.5.
const (
	NoRetry         Preset = "none"       // one attempt
	StandardRetry   Preset = "standard"   // 5 attempts, after 200, 400, 800 and 1600 ms
	AggressiveRetry Preset = "aggressive" // 5 attempts, after 500 ms, 1, 2 and 4 s
	LinearRetry     Preset = "linear"     // 3 attempts, after 500 ms each
	PatientRetry    Preset = "patient"    // 3 attempts, after 2 and 6 s
)

// RetryPreset tries a failed part, or a failed item of it, again as a retry policy says. A
// Retry beside it changes the number of attempts, and of the waits what its Backoff sets.
func RetryPreset(p Preset) Option {
	pos := here()
	return setting{name: "RetryPreset", pos: pos, set: func(s *settings) { s.preset = core.At(string(p), pos) }}
}

// RetryTransient tries again only failures after which trying again can help: timeouts,
// lost connections, servers that are busy, and what core.Retryable marks. See
// core.CategoryOf.
func RetryTransient() Option {
	pos := here()
	return setting{name: "RetryTransient", pos: pos, set: func(s *settings) { s.retryOn = core.At("transient", pos) }}
}

// RetryPolicy makes a retry policy of the graph's own of Retry, RetryPreset and
// RetryTransient, which parts name by RetryPreset.
func RetryPolicy(name string, options ...Option) Part {
	pos := here()
	return graphOption(func(b *builder) {
		var s settings
		s.apply(options)
		checkOptions(&b.ds, "retry policy "+name, "RetryPolicy", s.used, retryOptions)
		r := &core.RetryPolicy{Pos: pos}
		if e := s.onError(); e != nil {
			r = e.Retry()
		}
		r.Name = core.At(name, pos)
		b.w.RetryPolicies = append(b.w.RetryPolicies, r)
	})
}

var retryOptions = []string{"Retry", "RetryPreset", "RetryTransient"}

// Retry tries a failed part, or a failed item of it, again: attempts times at most, the
// first included. Errors marked by core.Permanent and panics are not tried again.
func Retry(attempts int, backoff ...Backoff) Option {
	v := core.At(attempts, here())
	return setting{name: "Retry", pos: v.Pos, set: func(s *settings) {
		s.attempts = &v
		for _, b := range backoff {
			s.backoff = b
		}
	}}
}

// AllowPartial makes a part a partial success when its last attempt still asks to be run
// again, by a Result of status core.Retry: what that attempt wrote counts. It changes
// nothing about errors. In a fan-out it holds for each item.
func AllowPartial() Option {
	return option("AllowPartial", func(s *settings) { s.allowPartial = true })
}

// AutoStatus makes a part a success whatever its attempts came to: an error, a panic, a
// timeout or a partial success. Only a write that the state refuses, or that others made
// unreadable, and the end of the run remain failures. In a fan-out it holds for each item.
func AutoStatus() Option { return option("AutoStatus", func(s *settings) { s.autoStatus = true }) }

// Timeout limits one attempt: its context ends then, and the attempt has failed.
func Timeout(d time.Duration) Option {
	v := core.At(d, here())
	return setting{name: "Timeout", pos: v.Pos, set: func(s *settings) { s.timeout = &v }}
}

// Flush is how long the first row of a batch waits for the others: then the batch goes on
// as it is. Without it a batch waits for as long as it takes.
func Flush(d time.Duration) Option {
	v := core.At(d, here())
	return setting{name: "Flush", pos: v.Pos, set: func(s *settings) { s.flush = &v }}
}

// Policy is what the failure of a part does to the run. By default what depends on the
// part is skipped, everything else goes on, and the run has failed in the end.
type Policy string

// Policies.
const (
	Skip    Policy = "skip"     // the failure is tolerated: the run ends as a partial success
	FailRun Policy = "fail_run" // the run is stopped at once
)

// OnError sets the policy of a part. With Retry it applies once the attempts are used up.
func OnError(p Policy) Option {
	pos := here()
	return setting{name: "OnError", pos: pos, set: func(s *settings) { s.policy = core.At(string(p), pos) }}
}

// Priority orders parts that may start at the same time, the highest first. It affects
// time only, never results.
func Priority(n int) Option {
	pos := here()
	return setting{name: "Priority", pos: pos, set: func(s *settings) { s.priority = core.At(n, pos) }}
}

// Phase is a label for displays.
func Phase(name string) Option {
	pos := here()
	return setting{name: "Phase", pos: pos, set: func(s *settings) { s.phase = core.At(name, pos) }}
}

// Effects marks a part whose work is visible outside of the run, so that it starts only
// when what it builds on is safe. Sink, ForEach and Do are marked by themselves.
func Effects() Option { return option("Effects", func(s *settings) { s.effects = new(true) }) }

// Args are arguments of a Func or Node. A text that is a path, such as "$.orders[0].id",
// is replaced by the value; a text that begins with "$." is written "$$.".
func Args(args map[string]any) Option { return option("Args", func(s *settings) { s.args = args }) }

// Items makes a Func or Node a fan-out: it runs once for each element of the array that
// the path leads to, such as "$.orders".
func Items(path string) Option {
	text := core.At(path, here())
	return setting{name: "Items", pos: text.Pos, set: func(s *settings) { s.items = text }}
}

// Reads names fields that a Node sees.
func Reads(fields ...AnyField) Option {
	return option("Reads", func(s *settings) { s.reads = append(s.reads, fields...) })
}

// Writes names fields that a Node may write.
func Writes(fields ...AnyField) Option {
	return option("Writes", func(s *settings) { s.writes = append(s.writes, fields...) })
}

// Until ends a Loop: an expression, judged after each round on the state with the loop's
// own writes.
func Until(expression string) Option {
	text := core.At(expression, here())
	return setting{name: "Until", pos: text.Pos, set: func(s *settings) { s.until = &text }}
}

// MaxIters is the largest number of rounds of a Loop: 100 without it if there is an Until.
func MaxIters(n int) Option {
	v := core.At(n, here())
	return setting{name: "MaxIters", pos: v.Pos, set: func(s *settings) { s.maxIters = &v }}
}

// FailExhausted makes a Loop fail when MaxIters rounds have not made Until true.
func FailExhausted() Option {
	return option("FailExhausted", func(s *settings) { s.failExhausted = true })
}
