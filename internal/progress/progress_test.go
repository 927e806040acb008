package progress

import (
	"math"
	"testing"
	"time"
)

var start = time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// At first there is no rate; later it is the rate of the last ten seconds, and it falls
// when progress stops.
func TestRateOverASlidingWindow(t *testing.T) {
	var p Estimator
	p.Begin(at(0))
	p.Step(at(0.5), 500, 10_000)
	if _, ok := p.Rate(at(0.9)); ok {
		t.Error("a rate in the first second")
	}
	for i := 1; i <= 20; i++ { // 100 per second
		p.Step(at(float64(i)), int64(i*100), 10_000)
	}
	for i := 1; i <= 20; i++ { // 200 per second
		p.Step(at(20+float64(i)), int64(2000+i*200), 10_000)
	}
	for _, now := range []float64{40, 45, 60} {
		rate, ok := p.Rate(at(now))
		left, known := p.Remaining(at(now))
		switch now {
		case 40:
			if !ok || math.Abs(rate-200) > 1 || !known || left.Round(time.Second) != 20*time.Second {
				t.Errorf("%v a second, %v left", rate, left)
			}
		case 45: // no progress in half of the window
			if !ok || rate < 90 || rate > 140 || left < 30*time.Second {
				t.Errorf("behind 5 s of nothing: %v a second, %v left", rate, left)
			}
		case 60:
			if ok || known {
				t.Errorf("behind 20 s of nothing: %v a second, %v left", rate, left)
			}
		}
	}
	if n := len(p.samples); n > 25 {
		t.Errorf("%d samples are kept", n)
	}
}

// If the number of steps is unknown, the input determines the remaining time.
func TestLeftByInput(t *testing.T) {
	var p Estimator
	p.Begin(at(0))
	for i := 1; i <= 10; i++ {
		p.Step(at(float64(i)), int64(i*1000), 0)
		p.Input(at(float64(i)), int64(i), 40)
	}
	part, ok := p.Fraction()
	left, known := p.Remaining(at(10))
	rate, _ := p.Rate(at(10))
	if !ok || part != 0.25 || !known || left.Round(time.Second) != 30*time.Second || math.Abs(rate-1000) > 1 {
		t.Errorf("%v done, %v left, %v a second", part, left, rate)
	}
	p.Input(at(11), 99, 40) // a file that grew
	if part, _ := p.Fraction(); part != 1 {
		t.Errorf("%v done", part)
	}
	if _, ok := p.Remaining(at(11)); ok {
		t.Error("something is left of a whole")
	}
	var nothing Estimator
	if _, ok := nothing.Fraction(); ok {
		t.Error("a part of nothing")
	}
	if _, ok := nothing.Rate(at(9)); ok {
		t.Error("a rate of nothing")
	}
}

func TestTexts(t *testing.T) {
	for x, want := range map[float64]string{
		1_340_000: "1.3M/s", 52_300: "52k/s", 1000: "1.0k/s", 994: "994/s", 12: "12/s", 1.44: "1.4/s", 0.5: "30/min", 0.02: "1.2/min", 0.001: "3.6/h",
	} {
		if got := Rate(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		300 * time.Millisecond: "1s left", 41 * time.Second: "41s left", 83 * time.Second: "1m25s left", 17*time.Minute + 40*time.Second: "18m left",
		3*time.Hour + 5*time.Minute: "3h05m left",
	} {
		if got := Remaining(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for part, want := range map[float64]string{0: "  0%", 0.999: " 99%", 1: "100%"} {
		if got := Percent(part); got != want {
			t.Errorf("%v: %q, want %q", part, got, want)
		}
	}
}
