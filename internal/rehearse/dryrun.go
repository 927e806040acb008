package rehearse

import (
	"maps"
	"slices"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/nodes/human"
)

// DryVisits is the maximum number of visits of a node in a dry run, unless the graph sets a
// lower limit.
const DryVisits = 10

// DryRun simulates a walk in which each node succeeds, writes nothing and does not affect
// the choice of the next edge. A gate takes its first choice, and waits take no time; a
// walk that a model routes ends at its first decision. inputs are the inputs of the run.
// The findings are the findings of compiling the workflow, and findings about inputs that
// do not match it.
func DryRun(e *wavefold.Engine, w *core.Workflow, inputs map[string]any) (*Record, source.Diagnostics) {
	nothing := &mock.File{}
	e = noopEngine(e, nothing, true)
	w = w.LimitVisits(DryVisits)
	withTypes(e.Registry(), w)
	p, ds := e.Compile(w, false)
	if p == nil {
		return nil, ds
	}
	given := value.NewObject(len(inputs))
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		given.Set(name, inputs[name])
	}
	if _, ok := p.Router(); ok { // the decision of a model is unknown
		given.Set(core.InputDryRun, true)
	}
	rec, err := run(p, given, nothing, Options{Run: "dry"}, human.AutoApprove())
	if err == nil {
		return rec, ds
	}
	if found, ok := source.AsDiagnostics(err); ok {
		return nil, found
	}
	ds.Errorf(source.CodeInput, w.Pos, "%v", err)
	return nil, ds
}
