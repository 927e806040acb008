package plan

import (
	"math"
	"testing"
)

// 28 % of 25 is 7, although the product of the floating-point numbers is larger.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		f    float64
		n    int
		want int
	}{
		{0.28, 25, 7}, {0.55, 20, 11}, {0.07, 100, 7}, {0.5, 3, 2}, {0.34, 3, 2}, {1. / 3, 3, 1}, {2. / 3, 3, 2},
		{0, 3, 0}, {1, 3, 3}, {0.5, 0, 0}, {-0.5, 3, 0}, {1.5, 3, 4}, {math.Inf(1), 3, 4}, {math.NaN(), 3, 0},
	} {
		if got := share(tt.f, tt.n); got != tt.want {
			t.Errorf("%v of %d is %d, want %d", tt.f, tt.n, got, tt.want)
		}
	}
}
