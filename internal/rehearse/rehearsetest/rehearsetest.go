// Package rehearsetest runs workflows with scripted answers, for tests of how a run is
// displayed.
package rehearsetest

import (
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/rehearse"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Run runs a workflow with the answers of a mock file. Errors in either of them fail the
// test.
func Run(t *testing.T, flow, answers string) (*plan.Plan, *rehearse.Record) {
	t.Helper()
	file, ds := mock.Parse("mock.yaml", []byte(answers))
	sound(t, ds)
	e := wavefold.EngineOf(rehearse.Registry(wavefold.NewEngine().Registry(), file))
	w, ds := e.Parse("", []byte(flow))
	sound(t, ds)
	p, ds := e.Compile(w, false)
	sound(t, ds)
	record, err := rehearse.Run(p, nil, file, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p, record
}

func sound(t *testing.T, ds source.Diagnostics) {
	t.Helper()
	if ds.Failed(false) {
		t.Fatal(ds)
	}
}
