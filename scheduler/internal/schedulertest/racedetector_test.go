//go:build race

package schedulertest

// some is how many are tried where so many are there to be tried. Under the race detector
// everything takes six times as long, and more graphs have no other races: most of these
// runs are those of the bare machine, which one goroutine drives.
func some(n uint64) uint64 { return max(1, n/8) }
