//go:build !race

package schedulertest

// some is how many are tried where so many are there to be tried.
func some(n uint64) uint64 { return n }
