package plan

import "github.com/wavefold/wavefold/core/source"

// SetLint sets the function that the tests of this package use as Options.Lint.
func SetLint(check func(*Facts) source.Diagnostics) { lint = check }
