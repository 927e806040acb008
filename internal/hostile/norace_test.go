//go:build !race

package hostile

// large is a size at which what grows faster than it should takes minutes.
func large(n int) int { return n }
