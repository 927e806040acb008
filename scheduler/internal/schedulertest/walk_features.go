package schedulertest

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// Features of walks; they count if they occurred in the oracle's run.
const (
	Cycles         Feature = "nodes visited again"
	Conditionals   Feature = "conditionals passed"
	TransparentBad Feature = "conditionals after a stage that was not a success"
	WaitAll        Feature = "wait_all"
	FirstSuccess   Feature = "first_success"
	KOfN           Feature = "k_of_n"
	Quorum         Feature = "quorum"
	FailedJoins    Feature = "failed joins"
	EarlyJoins     Feature = "joins decided early"
	FailFasts      Feature = "fail_fast with a failed branch"
	Ignored        Feature = "ignore with a failed branch"
	GateJumps      Feature = "jumps from a gate"
	Targets        Feature = "failures sent to a target"
	Limits         Feature = "visit limits reached"
	Restarts       Feature = "restarts"
	WalkRetries    Feature = "attempts repeated"
	ByCondition    Feature = "edges by condition"
	ByLabel        Feature = "edges by preferred label"
	BySuggestion   Feature = "edges by suggestion"
	Unanswered     Feature = "unanswered people"
	Breakers       Feature = "failure cycles"
	NoRoutes       Feature = "no route"
	GateFailures   Feature = "gates that end the run"
	Blocked        Feature = "restarts blocked"
	Ends           Feature = "exits reached"
	Lifted         Feature = "statuses changed by settings of walks"
	Refused        Feature = "writes refused in walks"
)

func (g *Graph) walkFeatures(out *WalkOutcome) []Feature {
	var all features
	mark := all.mark
	for _, n := range g.Nodes {
		r := out.Nodes[n.ID]
		mark(r.Visits > 1, Cycles)
		mark(r.Visits > 0 && n.Role == core.RoleConditional, Conditionals)
		mark(r.Attempts > r.Visits && n.Role == core.RoleStage, WalkRetries)
		mark(r.Status == core.Fail && n.Role == core.RoleHuman, Unanswered)
		mark(r.Changed, Lifted)
		mark(r.Class == core.ClassMerge, Refused)
	}
	for _, f := range out.Forks {
		n := g.node(f.Fork)
		failed := slices.ContainsFunc(f.Branches, func(b BranchOutcome) bool { return b.Status == core.Fail && !b.Loser })
		mark(true, Feature(n.Join))
		mark(f.Status == core.Fail, FailedJoins)
		mark(f.Early, EarlyJoins)
		mark(failed && n.ErrorPolicy == "fail_fast", FailFasts)
		mark(failed && n.ErrorPolicy == "ignore", Ignored)
	}
	for _, c := range out.Choices {
		mark(c.Step == core.StepGoalGate, GateJumps)
		mark(c.Step == core.StepRetryTarget, Targets)
		mark(c.Step == core.StepCondition, ByCondition)
		mark(c.Step == core.StepPreferredLabel, ByLabel)
		mark(c.Step == core.StepSuggestedNext, BySuggestion)
		mark(c.Restart, Restarts)
		mark(g.node(c.From).Role == core.RoleConditional && c.After != core.Success, TransparentBad)
	}
	mark(out.Class == core.ClassVisitLimit, Limits)
	mark(out.Class == core.ClassFailureCycle, Breakers)
	mark(out.Class == core.ClassNoRoute, NoRoutes)
	mark(out.Class == core.ClassGoalGate, GateFailures)
	mark(out.Class == core.ClassRestartBlocked, Blocked)
	mark(out.Status == core.RunSuccess, Ends)
	return all
}
