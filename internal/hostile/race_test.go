//go:build race

package hostile

// large returns a size at which an algorithm with superlinear cost takes minutes. It is
// smaller under the race detector, which makes everything ten times slower and finds no
// additional races in larger inputs.
func large(n int) int { return n / 20 }
