package story

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 340500: "341µs", 12345678: "12ms", 1254 * time.Millisecond: "1.25s", 123456 * time.Millisecond: "2m3s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
