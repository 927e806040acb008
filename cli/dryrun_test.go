package cli

import (
	"strings"
	"testing"
)

// TestRepetition finds the period in which the steps of a dry run end.
func TestRepetition(t *testing.T) {
	for _, c := range []struct {
		list          string
		shown, period int
	}{
		{"", 0, 0}, {"a", 1, 1}, {"ab", 2, 2}, {"abc", 3, 3},
		{"aaaa", 1, 1}, {"xaaaa", 2, 1}, {"ababab", 2, 2}, {"xyababab", 4, 2},
		{"xyababa", 4, 2}, // it ends in the middle of a period
		{"abcabc", 3, 3}, {"abcabx", 6, 6}, {"xaabaab", 4, 3}, {"aabaabaaab", 10, 10},
	} {
		list := strings.Split(c.list, "")
		if shown, period := repetition(list); shown != c.shown || period != c.period {
			t.Errorf("%s: %d shown, period %d; want %d, %d", c.list, shown, period, c.shown, c.period)
		}
	}
}
