//go:build !race

package schedulertest

// some reduces a number of test cases under the race detector. Without it, some returns n.
func some(n uint64) uint64 { return n }
