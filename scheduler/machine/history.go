package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// This file keeps what model nodes of a walk are told: the stages that have finished, as the
// token visited them. It is a part of the progress of the run like any other: a replay and a
// snapshot have it.

// toldStages is the record of finished stages.
type stageHistory struct {
	Stages  []core.FinishedStage `json:"stages,omitempty"`
	Earlier int                  `json:"earlier,omitempty"` // stages before them
}

// tell adds a visit of the token that has ended.
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
	// A call may hold the list: what it sees does not change.
	list := append(slices.Clip(t.History.Stages), s)
	if more := len(list) - core.MaxToldStages; more > 0 {
		list = slices.Clone(list[more:])
		t.History.Earlier += more
	}
	t.History.Stages = list
}

// tellBranches describes the branches of a parallel node.
func (t *walk) branchStages(v *visit) []core.FinishedStage {
	var out []core.FinishedStage
	for i := range v.Fork.Branches[:min(len(v.Fork.Branches), core.MaxToldStages)] {
		b := &v.Fork.Branches[i]
		out = append(out, core.FinishedStageOf(t.id(t.parallel(v).Branches[i]), 0, b.finalStatus(), b.Note, b.Output.v))
	}
	return out
}

// noteOf is why a visit failed, else what it said beside its status.
func noteOrError(o *Outcome) string {
	if o.Failure != nil {
		return o.Failure.Message
	}
	return o.Note
}

// output is what a visit put out: what it sent, else its text; Missing for nothing.
func (o *Outcome) outputOrText() any {
	switch {
	case o.HasOutput:
		return o.Output
	case o.Text != "":
		return o.Text
	}
	return value.Missing
}

// briefing is what a visit is told, nil for nothing.
func (t *walk) briefing(v *visit) *core.Briefing {
	switch fidelity := t.f.p.Told(v.Node, v.Via); fidelity {
	case core.FidelityCompact:
		return &core.Briefing{Fidelity: fidelity, Stages: t.History.Stages, Earlier: t.History.Earlier}
	case core.FidelityTruncate:
		return &core.Briefing{Fidelity: fidelity}
	}
	return nil
}
