// Package retryafter parses the delay that a server requests before the next attempt.
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Parse parses the header Retry-After: a number of seconds, or a date. The number may have
// any number of digits; the result is at most a year.
func Parse(s string, now time.Time) (time.Duration, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		const year = 365 * 24 * 3600
		return time.Duration(min(max(n, 0), year)) * time.Second, true
	}
	t, err := http.ParseTime(s)
	if err != nil {
		return 0, false
	}
	return max(t.Sub(now), 0), true
}
