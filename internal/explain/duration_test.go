package explain

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 340500: "341µs", 12345678: "12ms", 1254 * time.Millisecond: "1.25s", 123456 * time.Millisecond: "2m3s",
		10 * time.Minute: "10m", 70 * time.Second: "1m10s", 2 * time.Hour: "2h", 2*time.Hour + 10*time.Minute: "2h10m", 2*time.Hour + 10*time.Second: "2h0m10s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
