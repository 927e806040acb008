package plan

import "github.com/wavefold/wavefold/core/source"

// SetLint sets what the tests of this package pass as Options.Lint.
func SetLint(check func(*Facts) source.Diagnostics) { lint = check }
