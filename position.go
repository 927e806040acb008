package wavefold

import (
	"runtime"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// packagePrefix is the prefix of the names of this package's functions.
const packagePrefix = "github.com/wavefold/wavefold."

// here returns the line of the program that called into this package. Findings about a
// graph built in Go refer to such lines. There is no column, because the runtime does
// not record columns.
func here() source.Position {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, packagePrefix) {
			return source.Position{File: f.File, Line: int32(f.Line)}
		}
		if !more {
			return source.Position{}
		}
	}
}
