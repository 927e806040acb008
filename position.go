package wavefold

import (
	"runtime"
	"strings"
	"sync"

	"github.com/wavefold/wavefold/core/source"
)

// packagePrefix is the prefix of the names of this package's functions.
const packagePrefix = "github.com/wavefold/wavefold."

// callers are the program counters of the innermost frames of a stack. The program calls
// into this package within the first few.
type callers [3]uintptr

// lines has the positions that here has resolved, because graphs are often built in loops
// and a lookup takes a tenth of the time. It has an entry for each place of the program that
// builds a part.
var lines = struct {
	sync.RWMutex
	of map[callers]source.Position
}{of: map[callers]source.Position{}}

// here returns the line of the program that called into this package. Findings about a
// graph built in Go refer to such lines. There is no column, because the runtime does
// not record columns.
func here() source.Position {
	var pcs callers
	n := runtime.Callers(2, pcs[:])
	lines.RLock()
	pos, ok := lines.of[pcs]
	lines.RUnlock()
	if ok {
		return pos
	}
	first := pcs // the copy is on the heap, pcs is not
	if pos, ok = outside(first[:n]); !ok {
		var more [32]uintptr
		pos, _ = outside(more[:runtime.Callers(2, more[:])])
		return pos
	}
	lines.Lock()
	defer lines.Unlock()
	lines.of[pcs] = pos
	return pos
}

// outside returns the first line outside of this package.
func outside(pcs []uintptr) (source.Position, bool) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, packagePrefix) {
			return source.Position{File: f.File, Line: int32(f.Line)}, f.PC != 0
		}
		if !more {
			return source.Position{}, false
		}
	}
}
