package plan

import (
	"math"
	"time"
)

// Retry is the attempt loop of a node.
type Retry struct {
	Attempts    int // all tries, at least 1
	Exponential bool
	Base        time.Duration
	Max         time.Duration // 0: no cap
	Jitter      bool
}

// Delay returns the wait after the given failed attempt (counted from 1),
// before jitter: base*k, or base*2^(k-1), capped.
func (r Retry) Delay(attempt int) time.Duration {
	attempt = max(1, attempt)
	factor := int64(attempt)
	if r.Exponential {
		factor = int64(1) << min(62, attempt-1)
	}
	d := time.Duration(math.MaxInt64)
	if r.Base == 0 || factor <= math.MaxInt64/int64(r.Base) {
		d = r.Base * time.Duration(factor)
	}
	if r.Max > 0 {
		d = min(d, r.Max)
	}
	return d
}
