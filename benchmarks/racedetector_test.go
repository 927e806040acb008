//go:build race

package benchmarks

// raceDetector reports whether the race detector is linked in.
const raceDetector = true
