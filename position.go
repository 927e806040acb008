package wavefold

import (
	"runtime"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// inside is how the names of this package's functions begin.
const inside = "github.com/wavefold/wavefold."

// here is the line of the program that called into this package. Findings about a graph
// built in Go point at such lines. There is no column: Go does not tell it.
func here() core.Position {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, inside) {
			return core.Position{File: f.File, Line: int32(f.Line)}
		}
		if !more {
			return core.Position{}
		}
	}
}
