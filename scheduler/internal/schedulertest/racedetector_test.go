//go:build race

package schedulertest

// some reduces a number of test cases. Under the race detector everything takes six times
// as long, and more graphs do not have other races: in most of these runs, one goroutine
// drives the bare machine.
func some(n uint64) uint64 { return max(1, n/8) }
