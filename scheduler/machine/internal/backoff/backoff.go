// Package backoff computes the delay between two attempts. Randomness is derived from a seed: the
// same seed and attempt give the same delay.
package backoff

import (
	"math"
	"time"
)

// Wait returns the delay after a failed attempt. formula is the delay of the retry policy. If
// spread is set, it is multiplied by a factor from 0.5 to 1.5 that depends on draw, a number in
// [0,1), and limited to longest unless longest is 0. The delay is at least asked, the delay that
// the failure requested.
func Wait(formula, longest, asked time.Duration, spread bool, draw float64) time.Duration {
	d := formula
	if spread {
		d = Spread(d, draw)
		if longest > 0 {
			d = min(d, longest)
		}
	}
	return max(d, asked)
}

// Spread multiplies a delay by 0.5 + draw. A product that overflows becomes the maximum delay.
func Spread(d time.Duration, draw float64) time.Duration {
	x := float64(d) * (0.5 + draw)
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(x)
}

// Draw derives a number in [0,1) from a seed and parts with the mixing function of splitmix64.
func Draw(seed uint64, parts ...uint32) float64 {
	return float64(Mix(seed, parts...)>>11) / (1 << 53)
}

// Mix derives a number from a seed and parts. Each of its bits depends on all of them.
func Mix(seed uint64, parts ...uint32) uint64 {
	x := seed
	for _, part := range parts {
		x += 0x9e3779b97f4a7c15 + uint64(part)
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
