package retryafter

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		header string
		want   time.Duration
		ok     bool
	}{
		{"3", 3 * time.Second, true},
		{" 0 ", 0, true},
		{"-5", 0, true},
		{"99999999999999999999", 365 * 24 * time.Hour, true},
		{"Sun, 22 Nov 2026 09:01:00 GMT", time.Minute, true},
		{"Sun, 22 Nov 2026 08:00:00 GMT", 0, true},
		{"soon", 0, false},
		{"", 0, false},
	} {
		if got, ok := Parse(tt.header, now); got != tt.want || ok != tt.ok {
			t.Errorf("%q: got %v, %t", tt.header, got, ok)
		}
	}
}
