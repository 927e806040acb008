package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/wavefold/wavefold/scheduler/machine/internal/backoff"
)

func TestWait(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name                    string
		formula, longest, asked time.Duration
		spread                  bool
		draw                    float64
		want                    time.Duration
	}{
		{"the formula", 2 * s, 0, 0, false, 0.9, 2 * s},
		{"the cap holds for the product only", 2 * s, s, 0, false, 0.9, 2 * s},
		{"the least", 2 * s, 0, 0, true, 0, s},
		{"the middle", 2 * s, 0, 0, true, 0.5, 2 * s},
		{"three quarters", 2 * s, 0, 0, true, 0.75, 2500 * time.Millisecond},
		{"capped after the product", 2 * s, 2100 * time.Millisecond, 0, true, 0.75, 2100 * time.Millisecond},
		{"below the cap", 2 * s, 2100 * time.Millisecond, 0, true, 0.5, 2 * s},
		{"the failure asked for more", 2 * s, 0, 60 * s, true, 0.5, 60 * s},
		{"the failure asked for more than the cap", 2 * s, s, 60 * s, true, 0.5, 60 * s},
		{"the failure asked for less", 2 * s, 0, s / 2, false, 0, 2 * s},
		{"no wait", 0, s, 0, true, 0.9, 0},
		{"the longest there is", math.MaxInt64, 0, 0, true, 0.9, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := backoff.Wait(tt.formula, tt.longest, tt.asked, tt.spread, tt.draw); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Replays of recorded runs depend on these numbers, so they must not change.
func TestDraw(t *testing.T) {
	for _, tt := range []struct {
		seed  uint64
		parts []uint32
		want  float64
	}{
		{7, []uint32{0, 0, 0, 1}, 0.03409929747419027},
		{7, []uint32{0, 0, 0, 2}, 0.2823873628776743},
		{7, []uint32{1, 0, 0, 1}, 0.5382635902563484},
		{8, []uint32{0, 0, 0, 1}, 0.5382635902563484},
		{math.MaxUint64, []uint32{math.MaxUint32, 5}, 0.6116227408836783},
	} {
		if got := backoff.Draw(tt.seed, tt.parts...); got != tt.want {
			t.Errorf("Draw(%d, %v) is %v, want %v", tt.seed, tt.parts, got, tt.want)
		}
	}
}

// Numbers from parts that differ in one of a few values are spread over the whole range.
func TestDrawsAreSpread(t *testing.T) {
	var tenths [10]int
	const n = 1000
	for i := range uint32(n) {
		for _, x := range []float64{backoff.Draw(1, i, 0, 1), backoff.Draw(1, 0, i, 1), backoff.Draw(uint64(i)+1, 0, 0, 1)} {
			if x < 0 || x >= 1 {
				t.Fatalf("%v is out of range", x)
			}
			tenths[int(10*x)]++
		}
	}
	for i, got := range tenths {
		if got < 3*n/10*8/10 || got > 3*n/10*12/10 {
			t.Errorf("%d of %d numbers lie in tenth %d", got, 3*n, i)
		}
	}
}
