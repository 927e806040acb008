package scheduler

import "testing"

func TestPoolSize(t *testing.T) {
	const all = int(^uint(0) >> 1)
	for _, c := range []struct {
		name  string
		times []int64
		want  int
	}{
		{"nothing measured", nil, all},
		{"a clock that does not advance", []int64{0, 0}, all},
		{"empty handlers", []int64{60, 80, 60}, 1},
		{"just short", []int64{shortHandler - 1}, 1},
		{"not short", []int64{shortHandler}, 4},
		{"just not long", []int64{longHandler - 1}, 4},
		{"long", []int64{longHandler}, all},
		{"one long handler after short ones", []int64{60, 60, 60, 1_000_000}, 1},
		{"two long handlers after short ones", []int64{60, 60, 60, 1_000_000, 1_000_000}, all},
		{"short ones after long ones", []int64{50_000, 50_000, 60, 60, 60, 60, 60, 60, 60, 60, 60}, 1},
	} {
		s := poolSize{procs: 4}
		for _, d := range c.times {
			s.add(d)
		}
		if got := s.workers(); got != c.want {
			t.Errorf("%s: %d workers, want %d", c.name, got, c.want)
		}
	}
}
