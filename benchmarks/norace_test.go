//go:build !race

package benchmarks

// raceDetector tells whether the race detector is linked in.
const raceDetector = false
