package plan

import (
	"math"
	"testing"
	"time"
)

func TestDelay(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name    string
		retry   Retry
		attempt int
		want    time.Duration
	}{
		{"linear", Retry{Base: 100 * ms}, 1, 100 * ms},
		{"linear", Retry{Base: 100 * ms}, 2, 200 * ms},
		{"linear", Retry{Base: 100 * ms}, 19, 1900 * ms},
		{"linear, capped", Retry{Base: 100 * ms, Max: 250 * ms}, 3, 250 * ms},
		{"exponential", Retry{Base: 100 * ms, Exponential: true}, 1, 100 * ms},
		{"exponential", Retry{Base: 100 * ms, Exponential: true}, 2, 200 * ms},
		{"exponential", Retry{Base: 100 * ms, Exponential: true}, 5, 1600 * ms},
		{"exponential, capped", Retry{Base: 100 * ms, Exponential: true, Max: time.Second}, 5, time.Second},
		{"exponential, capped below the base", Retry{Base: time.Second, Exponential: true, Max: 300 * ms}, 1, 300 * ms},
		{"no wait", Retry{Exponential: true}, 9, 0},
		// The wait once stopped growing above 18 minutes.
		{"exponential, long", Retry{Base: 10 * time.Minute, Exponential: true}, 4, 80 * time.Minute},
		{"too long for a duration", Retry{Base: time.Duration(math.MaxInt64 / 2), Exponential: true}, 19, math.MaxInt64},
		{"too long for a duration, capped", Retry{Base: time.Duration(math.MaxInt64 / 2), Max: time.Hour}, 19, time.Hour},
		{"far out", Retry{Base: 1, Exponential: true}, 200, 1 << 62},
	} {
		if got := tt.retry.Delay(tt.attempt); got != tt.want {
			t.Errorf("%s: after attempt %d: got %v, want %v", tt.name, tt.attempt, got, tt.want)
		}
	}
}
