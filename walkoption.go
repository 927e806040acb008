package wavefold

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// WalkRouter says how a walk chooses the edge after a visit. It is a setting of NewWalk; the
// default is BySteps.
type WalkRouter string

// Routers.
const (
	// BySteps tries seven steps in order: the tools that the visit called, a member of its
	// output that names the next node, Visit.Next, the edges, the transitions, the default
	// and the end. The walk begins at the node with the option Entry.
	BySteps WalkRouter = core.RouterSteps
	// ByOutcomes chooses by conditions on the outcome, labels, suggestions and weights. The
	// walk begins at the node made by Start and ends at the one made by Exit.
	ByOutcomes WalkRouter = core.RouterOutcomes
	// ByModel lets a model choose among conditions in plain language (CondText). The walk
	// begins at the node with the option Entry.
	ByModel WalkRouter = core.RouterModel
)

func (r WalkRouter) addTo(b *builder) {
	if b.walkOnly("the router") && r != b.router {
		b.ds.Errorf(source.CodeDuplicate, b.w.Pos, "the walk has two routers, %s and %s", r, b.router)
	}
}

// walkSettings are the values of the options of nodes and edges of walks.
type walkSettings struct {
	label, fidelity       source.Text
	maxVisits, maxFollows *source.Int
	transitions           []core.Transition
	defaultNext           source.Text
	critical              bool
	entry                 *source.Position
	goalGate, random      bool
	retryTarget, fallback source.Text
	branchErrors          source.Text
	before                core.BeforeHook
	after                 core.AfterHook
	weight                source.Int
	loopRestart, freeform bool
}

// Entry marks the node at which a walk by steps or by a model begins.
func Entry() Option {
	pos := here()
	return setting{name: "Entry", pos: pos, set: func(s *settings) { s.entry = &pos }}
}

// MaxVisits limits the visits of a node in a run. By default there is no limit in a walk by
// outcomes, and 10 visits in a walk by steps, where it cannot exceed MaxNodeVisits.
func MaxVisits(n int) Option {
	v := source.At(n, here())
	return setting{name: "MaxVisits", pos: v.Pos, set: func(s *settings) { s.maxVisits = &v }}
}

// Transition leads a walk by steps from a node to another one if the member key of its
// output is true or a non-empty string, and no edge is followed. Several transitions of a
// node are tried in the order of the options.
func Transition(key, to string) Option {
	pos := here()
	t := core.Transition{Key: source.At(key, pos), To: source.At(to, pos)}
	return setting{name: "Transition", pos: pos, set: func(s *settings) { s.transitions = append(s.transitions, t) }}
}

// DefaultNext is the node where a walk by steps continues after a node if nothing else
// decides.
func DefaultNext(to string) Option {
	t := source.At(to, here())
	return setting{name: "DefaultNext", pos: t.Pos, set: func(s *settings) { s.defaultNext = t }}
}

// Critical ends the run at once if a visit of the node fails. It is for walks by steps,
// which otherwise continue after a failure.
func Critical() Option { return option("Critical", func(s *settings) { s.critical = true }) }

// BeforeVisit is called before the first attempt of each visit of a node of a walk by
// steps, and may set fields, see core.BeforeHook. A graph with such a function cannot be
// saved as a document.
func BeforeVisit(fn core.BeforeHook) Option {
	return option("BeforeVisit", func(s *settings) { s.before = fn })
}

// AfterVisit is called after the last attempt of each visit of a node of a walk by steps,
// and may change the result, see core.AfterHook. A graph with such a function cannot be
// saved as a document.
func AfterVisit(fn core.AfterHook) Option {
	return option("AfterVisit", func(s *settings) { s.after = fn })
}

// GoalGate prevents a walk by outcomes from ending unless the last visit of the node
// succeeded.
func GoalGate() Option { return option("GoalGate", func(s *settings) { s.goalGate = true }) }

// RandomEdge chooses among the edges out of a node of a walk by outcomes at random, by
// weight.
func RandomEdge() Option { return option("RandomEdge", func(s *settings) { s.random = true }) }

// RetryTarget is the node where a walk by outcomes continues after a failure that no edge
// follows, or from the exit if a goal gate is not satisfied. If that node does not exist,
// it is fallback, which may be left out. As an option it applies to a node, as a setting of
// NewWalk to all nodes.
func RetryTarget(target string, fallback ...string) RetryTargets {
	pos := here()
	r := RetryTargets{pos: pos, target: source.At(target, pos)}
	if len(fallback) > 0 {
		r.fallback = source.At(fallback[0], pos)
	}
	if len(fallback) > 1 {
		r.extra = true
	}
	return r
}

// RetryTargets is the result of RetryTarget: an option of a node, or a setting of a walk.
type RetryTargets struct {
	pos              source.Position
	target, fallback source.Text
	extra            bool
}

var (
	_ Option = RetryTargets{}
	_ Part   = RetryTargets{}
)

func (r RetryTargets) option() setting {
	return setting{name: "RetryTarget", pos: r.pos, set: func(s *settings) { s.retryTarget, s.fallback = r.target, r.fallback }}
}

func (r RetryTargets) addTo(b *builder) {
	if b.walkSetting("RetryTarget", r.pos, ByOutcomes) {
		b.w.Walk.RetryTarget, b.w.Walk.FallbackRetryTarget = r.target, r.fallback
	}
	if r.extra {
		b.ds.Errorf(source.CodeBadValue, r.pos, "RetryTarget: takes one target and one fallback")
	}
}

// Label is the display name of a node or edge of a walk. In a walk by outcomes a node may
// also prefer an edge by its label.
func Label(text string) Option {
	t := source.At(text, here())
	return setting{name: "Label", pos: t.Pos, set: func(s *settings) { s.label = t }}
}

// Fidelity says how much of a walk by outcomes is described to a node that asks a model:
// one of core.Fidelities. An edge overrides the node that it leads to.
func Fidelity(name string) Option {
	t := source.At(name, here())
	return setting{name: "Fidelity", pos: t.Pos, set: func(s *settings) { s.fidelity = t }}
}

// Weight decides between edges of a walk by outcomes that could all be followed: the
// highest weight wins.
func Weight(n int) Option {
	v := source.At(n, here())
	return setting{name: "Weight", pos: v.Pos, set: func(s *settings) { s.weight = v }}
}

// Restart is an option of an edge of a walk by outcomes: the walk begins again at its
// target, with an empty context.
func Restart() Option { return option("Restart", func(s *settings) { s.loopRestart = true }) }

// Freeform is an option of an edge out of a human gate: it is followed for answers that
// match no choice.
func Freeform() Option { return option("Freeform", func(s *settings) { s.freeform = true }) }

// MaxFollows limits how often a walk by a model may move along any edge from a node to
// another one before the edge with this option may no longer be followed.
func MaxFollows(n int) Option {
	v := source.At(n, here())
	return setting{name: "MaxFollows", pos: v.Pos, set: func(s *settings) { s.maxFollows = &v }}
}

// BranchErrors says what the failure of a branch means for a node made by Parallel.
func BranchErrors(p BranchPolicy) Option {
	t := source.At(string(p), here())
	return setting{name: "BranchErrors", pos: t.Pos, set: func(s *settings) { s.branchErrors = t }}
}

// BranchPolicy says what the failure of a branch means.
type BranchPolicy string

// Policies for branches. Without one, a failed branch counts against the node.
const (
	FailFast       BranchPolicy = "fail_fast" // the first failure cancels the other branches
	IgnoreFailures BranchPolicy = "ignore"    // failures do not count
)

// Start is the node where a walk by outcomes begins.
func Start(id string, options ...Option) Part { return direct("Start", id, "start", options) }

// Exit is the node where a walk by outcomes ends.
func Exit(id string, options ...Option) Part { return direct("Exit", id, "exit", options) }

// Branch is a node of a walk by outcomes that only chooses among its edges. Their
// conditions see the outcome of the node before it.
func Branch(id string, options ...Option) Part { return direct("Branch", id, "conditional", options) }

// Parallel is a node of a walk by outcomes whose edges without a condition lead to branches
// that run at the same time. The walk continues where the branches meet. It takes AnyOf,
// KOfN or Quorum, which say how many branches must succeed (by default all), Limit, the
// number of branches in flight (by default 4), and BranchErrors.
func Parallel(id string, options ...Option) Part {
	n := direct("Parallel", id, "parallel", options)
	if n.join != nil && n.join.Word() == core.JoinAny {
		n.join = core.JoinOf(source.At(core.JoinFirstSuccess, n.join.Pos))
	}
	return n
}

// direct returns a node of a kind that only directs a walk.
func direct(what, id, kind string, options []Option) *node {
	n := newNode(what, id, options)
	n.kind = kind
	return n
}

// MaxRunVisits limits the visits of all nodes of a run together. The default is 50 in a walk
// by steps, 200 by a model, and no limit by outcomes. WithMaxVisits overrides it.
func MaxRunVisits(n int) Part {
	return countSetting("MaxRunVisits", n, func(w *core.Walk, v *source.Int) { w.MaxSteps = v })
}

// MaxNodeVisits limits the visits of each node of a run. The default is 25 in a walk by
// steps, and no limit in one by outcomes.
func MaxNodeVisits(n int) Part {
	return countSetting("MaxNodeVisits", n, func(w *core.Walk, v *source.Int) { w.MaxVisits = v }, BySteps, ByOutcomes)
}

// MaxMutations limits the changes of the graph that a run of a walk by steps may make. The
// default is 10.
func MaxMutations(n int) Part {
	return countSetting("MaxMutations", n, func(w *core.Walk, v *source.Int) { w.MaxMutations = v }, BySteps)
}

// FixedGraph forbids the nodes of a walk by steps to change the graph. The members of
// outputs that would request such changes are then ordinary data.
func FixedGraph() Part {
	pos := here()
	return graphOption(func(b *builder) {
		if b.walkSetting("FixedGraph", pos, BySteps) {
			b.w.Walk.FixedGraph = new(source.At(true, pos))
		}
	})
}

// MaxJumps limits how often an unsatisfied goal gate may send a walk by outcomes back. The
// default is 10.
func MaxJumps(n int) Part {
	return countSetting("MaxJumps", n, func(w *core.Walk, v *source.Int) { w.MaxJumps = v }, ByOutcomes)
}

// RepeatLimit is the number of times that the same failure may recur before a run of a walk
// by outcomes fails. The default is 3.
func RepeatLimit(n int) Part {
	return countSetting("RepeatLimit", n, func(w *core.Walk, v *source.Int) { w.RepeatLimit = v }, ByOutcomes)
}

// StallTimeout is the longest time that a run of a walk may show no sign of progress. The
// default is 30 minutes, and 0 means no limit.
func StallTimeout(d time.Duration) Part {
	v := source.At(d, here())
	return graphOption(func(b *builder) {
		if b.walkSetting("StallTimeout", v.Pos) {
			b.w.Walk.StallTimeout = &v
		}
	})
}

// RoutingModel names the model that chooses the edges of a walk by a model. The default is
// the model of the engine.
func RoutingModel(name string) Part {
	t := source.At(name, here())
	return graphOption(func(b *builder) {
		if b.walkSetting("RoutingModel", t.Pos, ByModel) {
			b.w.Walk.Model = t
		}
	})
}

func countSetting(name string, n int, set func(*core.Walk, *source.Int), routers ...WalkRouter) Part {
	v := source.At(n, here())
	return graphOption(func(b *builder) {
		if b.walkSetting(name, v.Pos, routers...) {
			set(b.w.Walk, &v)
		}
	})
}
