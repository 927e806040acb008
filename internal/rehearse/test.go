package rehearse

import (
	"errors"
	"os"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
)

// ReadMock reads a mock file.
func ReadMock(path string) (*mock.File, source.Diagnostics) {
	data, err := os.ReadFile(path)
	if err != nil {
		var ds source.Diagnostics
		ds.Errorf(source.CodeMissingFile, source.Position{File: path}, "the mock file cannot be read: %v", errors.Unwrap(err))
		return nil, ds
	}
	return mock.Parse(path, data)
}

// Test rehearses a workflow file with the kinds of an engine and returns the expectations
// of the mock file that were not met. The diagnostics report files that cannot be used.
func Test(e *wavefold.Engine, workflow string, f *mock.File, o Options) ([]Miss, source.Diagnostics) {
	e = noopEngine(e, f, false)
	w, ds := Read(e, workflow)
	if w == nil {
		return nil, ds
	}
	withTypes(e.Registry(), w)
	w, inputs, ds := Prepare(w, f)
	p, found := e.Compile(w, false)
	if ds = append(found, ds...); p == nil || ds.Failed(false) {
		return nil, ds.Sorted()
	}
	if ds := append(Names(p, f), p.Refused...); ds.Failed(false) {
		return nil, ds.Sorted()
	}
	rec, err := Run(p, inputs, f, o)
	if err != nil {
		if ds, ok := source.AsDiagnostics(err); ok {
			return nil, ds
		}
		var ds source.Diagnostics
		ds.Errorf(source.CodeInput, source.Position{File: workflow}, "%v", err)
		return nil, ds
	}
	return rec.Check(f.Expect), nil
}

// noopEngine returns an engine whose kinds do nothing and that reads documents like e.
func noopEngine(e *wavefold.Engine, f *mock.File, dry bool) *wavefold.Engine {
	return e.WithRegistry(registry(e.Registry(), f, dry))
}
