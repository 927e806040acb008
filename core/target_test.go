package core

import "testing"

// Rule 79: ** is any number of folders, also none.
func TestMatchPath(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"in/*.csv", "in/a.csv", true},
		{"in/*.csv", "in/x/a.csv", false},
		{"in/**/*.csv", "in/a.csv", true},
		{"in/**/*.csv", "in/x/y/a.csv", true},
		{"in/**/*.csv", "in/x/y/a.json", false},
		{"**/a.csv", "a.csv", true},
		{"**/a.csv", "x/a.csv", true},
		{"in/**", "in/x/a.csv", true},
		{"in/**", "in/a", true},
		{"in/**", "in", false},
		{"in/**/y/**/a", "in/y/a", true},
		{"in/**/y/**/a", "in/x/y/z/y/b/a", true},
		{"in/**/y/**/a", "in/x/a", false},
		{"in/**/**/**/a", "in/a", true},
		{"a**b/c", "axxb/c", true},
		{"a**b/c", "a/b/c", false},
		{"/srv/in/[^._]*.csv", "/srv/in/_a.csv", false},
	} {
		if got := MatchPath(c.pattern, c.name); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.name, got)
		}
	}
}
