package wavefold

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/basic"
)

// DefaultKinds returns the kinds every engine of NewEngine has: those that need nothing
// but the standard library. Package nodes/std has them and those that open files, databases
// and connections.
func DefaultKinds() []core.Kind { return basic.Kinds() }
