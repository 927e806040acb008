package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// stageHistory is the list of finished stages, in the order of the token's visits. Model nodes of
// a walk are briefed with it. It is part of the progress of the run, so replays and snapshots
// have it.
type stageHistory struct {
	Stages  []core.FinishedStage `json:"stages,omitempty"`
	Earlier int                  `json:"earlier,omitempty"` // number of earlier stages that were dropped from the list
}

// recordStage adds an ended visit of the token.
func (t *walk) recordStage(v *visit, o *Outcome) {
	if !t.w.Briefs {
		return
	}
	switch t.w.Nodes[v.Node].Role {
	case core.RoleStart, core.RoleExit, core.RoleConditional:
		return
	}
	s := core.FinishedStageOf(t.id(v.Node), v.Count, statusOf(o), noteOrError(o), o.outputOrText())
	if v.Fork != nil {
		s.Note, s.Branches = "", t.branchStages(v)
	}
	// A call may share the list, so it must not change.
	list := append(slices.Clip(t.History.Stages), s)
	if more := len(list) - core.MaxBriefingStages; more > 0 {
		list = slices.Clone(list[more:])
		t.History.Earlier += more
	}
	t.History.Stages = list
}

// branchStages returns the stages of the branches of a parallel node.
func (t *walk) branchStages(v *visit) []core.FinishedStage {
	var out []core.FinishedStage
	for i := range v.Fork.Branches[:min(len(v.Fork.Branches), core.MaxBriefingStages)] {
		b := &v.Fork.Branches[i]
		out = append(out, core.FinishedStageOf(t.id(t.parallel(v).Branches[i]), 0, b.finalStatus(), b.Note, b.Output.v))
	}
	return out
}

// noteOrError returns the error of a failed visit, or the note of any other.
func noteOrError(o *Outcome) string {
	if o.Failure != nil {
		return o.Failure.Message
	}
	return o.Note
}

// outputOrText returns what a visit sent, or else its text, or else Missing.
func (o *Outcome) outputOrText() any {
	switch {
	case o.HasOutput:
		return o.Output
	case o.Text != "":
		return o.Text
	}
	return value.Missing
}

// briefing returns the briefing of a visit, nil if it gets none.
func (t *walk) briefing(v *visit) *core.Briefing {
	switch fidelity := t.f.p.Told(v.Node, v.Via); fidelity {
	case core.FidelityCompact:
		return &core.Briefing{Fidelity: fidelity, Stages: t.History.Stages, Earlier: t.History.Earlier}
	case core.FidelityTruncate:
		return &core.Briefing{Fidelity: fidelity}
	}
	return nil
}
