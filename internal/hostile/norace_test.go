//go:build !race

package hostile

// large returns a size at which an algorithm with superlinear cost takes minutes.
func large(n int) int { return n }
