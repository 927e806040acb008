// Package backoff computes how long to wait between two attempts. Chance arrives as a number
// that follows from a seed: the same seed and the same attempt give the same wait.
package backoff

import (
	"math"
	"time"
)

// Wait returns the wait after a failed attempt. Formula is the wait of the retry policy. With
// spread it is multiplied by 0.5 to 1.5 as draw, a number in [0,1), says, and longest caps the
// product unless it is 0. Asked is what the failure itself asked for; no wait is shorter.
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

// Spread multiplies a wait by 0.5 + draw. A product that does not fit is the longest wait
// there is.
func Spread(d time.Duration, draw float64) time.Duration {
	x := float64(d) * (0.5 + draw)
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(x)
}

// Draw makes a number in [0,1) of a seed and what it is for, by the mixing function of
// splitmix64.
func Draw(seed uint64, parts ...uint32) float64 {
	return float64(Mix(seed, parts...)>>11) / (1 << 53)
}

// Mix makes a number of a seed and some parts, each of whose bits depends on all of them.
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
