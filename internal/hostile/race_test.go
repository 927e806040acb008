//go:build race

package hostile

// large is a size at which what grows faster than it should takes minutes. Under the
// race detector everything takes ten times as long, and there are no more races to be
// found in more of the same.
func large(n int) int { return n / 20 }
