package plan

import "github.com/wavefold/wavefold/core"

// SetLint sets what the tests of this package pass as Options.Lint.
func SetLint(check func(*Facts) core.Diagnostics) { lint = check }
