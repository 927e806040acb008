package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
)

// ended makes a run that has ended and was last written some days before now.
func (c *clock) ended(t *testing.T, s *Store, run, status string, days int) {
	t.Helper()
	lease := begin(t, s, run, 0)
	end := store.Record{Seq: 2, Type: store.End, Data: fmt.Appendf(nil, `{"status":%q}`, status)}
	if err := s.Append(t.Context(), run, lease.Token, []store.Record{end}, false); err != nil {
		t.Fatal(err)
	}
	release(t, s, run)
	c.age(t, s, run, days)
}

// age sets the time at which a run was last written.
func (c *clock) age(t *testing.T, s *Store, run string, days int) {
	t.Helper()
	at := c.Now().AddDate(0, 0, -days)
	if err := os.Chtimes(filepath.Join(s.RunDir(run), journalName), at, at); err != nil {
		t.Fatal(err)
	}
}

// TestRetain: runs are removed when they are old enough, and not listed before.
func TestRetain(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		change func(c *clock, s *Store) // after a call that has removed nothing
		listed bool                     // by the next call
		want   string                   // what it removes
	}{
		"at once":                     {func(*clock, *Store) {}, false, "[]"},
		"before the first is 90 days": {func(c *clock, _ *Store) { c.advance(10*day - time.Minute) }, false, "[]"},
		"when the first is 90 days":   {func(c *clock, _ *Store) { c.advance(10*day + time.Minute) }, true, "[old]"},
		"when others follow":          {func(c *clock, _ *Store) { c.advance(90 * day) }, true, "[r11 r10 r1 r0 r24 old]"},
		"the first was changed":       {func(c *clock, s *Store) { c.age(t, s, "old", 100) }, true, "[old]"},
		"the first was removed":       {func(_ *clock, s *Store) { _ = os.RemoveAll(s.RunDir("old")) }, true, "[]"},
		"a run that is not old yet":   {func(c *clock, s *Store) { c.ended(t, s, "new", "failed", 0) }, false, "[]"},
		"the hint is missing":         {func(_ *clock, s *Store) { _ = os.Remove(s.retentionFile()) }, true, "[]"},
		"the hint is damaged":         {func(_ *clock, s *Store) { _ = os.Truncate(s.retentionFile(), 9) }, true, "[]"},
		"the hint cannot be replaced": {func(_ *clock, s *Store) {
			_ = errors.Join(os.Remove(s.retentionFile()), os.Mkdir(s.retentionFile(), 0o700))
		}, true, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			s := open(t, memoryDir(t), Options{Now: c.Now})
			c.ended(t, s, "old", "failed", 80)
			for i := range 24 {
				c.ended(t, s, fmt.Sprint("r", i), "success", 1)
			}
			c.ended(t, s, "r24", "cancelled", 2)
			interrupted := begin(t, s, "r25", 0)
			release(t, s, interrupted.Run)
			c.age(t, s, interrupted.Run, 1000)
			if pruned, err := s.Retain(t.Context(), "load"); err != nil || len(pruned.Runs) > 0 {
				t.Fatalf("the first call has removed %v, %v", pruned.Runs, err)
			}
			test.change(c, s)
			_ = os.Remove(s.indexFile()) // a list makes it again
			pruned, err := s.Retain(t.Context(), "load")
			if got := fmt.Sprint(pruned.Runs); got != test.want || err != nil {
				t.Errorf("removed %v, %v; want %s", got, err, test.want)
			}
			if _, err := os.Stat(s.indexFile()); (err == nil) != test.listed {
				t.Errorf("the runs were listed: %t, want %t", err == nil, test.listed)
			}
		})
	}
}

// TestRetainKept: runs that are old enough and are kept because they are the newest of their workflow are removed when newer ones
// have ended. Runs of other workflows list nothing.
func TestRetainKept(t *testing.T) {
	c := newClock()
	s := open(t, memoryDir(t), Options{Now: c.Now})
	for i := range 20 {
		c.ended(t, s, fmt.Sprintf("r%02d", i), "success", 31)
	}
	retain := func(workflow, want string, listed bool) {
		t.Helper()
		_ = os.Remove(s.indexFile()) // a list makes it again
		if pruned, err := s.Retain(t.Context(), workflow); fmt.Sprint(pruned.Runs) != want || err != nil {
			t.Errorf("removed %v, %v; want %s", pruned.Runs, err, want)
		}
		if _, err := os.Stat(s.indexFile()); (err == nil) != listed {
			t.Errorf("the runs were listed: %t, want %t", err == nil, listed)
		}
	}
	retain("load", "[]", true)
	c.ended(t, s, "zz", "success", 0)
	retain("other", "[]", false)
	retain("load", "[r00]", true)
	retain("load", "[]", true)
	for i := range 19 {
		c.ended(t, s, fmt.Sprint("z", i), "success", 0)
	}
	retain("load", "[r19 r18 r17 r16 r15 r14 r13 r12 r11 r10 r09 r08 r07 r06 r05 r04 r03 r02 r01]", true)
	retain("load", "[]", false)
}
