package wavefold

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/basic"
)

// DefaultKinds returns the kinds of every engine made by NewEngine: the kinds that need only the
// standard library. Package nodes/std has these kinds and the kinds that open files, databases and
// connections.
func DefaultKinds() []core.Kind { return basic.Kinds() }
