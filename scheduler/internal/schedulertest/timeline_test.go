package schedulertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/timeline"
)

// TestPropertyCriticalPath checks that the critical path of a run has no gaps: it leads from the start of
// the run to the end of its last execution, whatever the executions have waited for.
func TestPropertyCriticalPath(t *testing.T) {
	kinds := map[timeline.Wait]int{}
	slots := 0
	check := func(t *testing.T, g *Graph) []string {
		for _, s := range []Setting{{Concurrency: 1, Timing: 1 + g.Seed}, {Concurrency: 3, Timing: 2 + g.Seed, Barrier: g.Seed%4 == 0}, {Concurrency: 64, InFlight: 2, Timing: 3 + g.Seed}} {
			var want *Run
			if g.Walk == nil {
				want = OracleRun(g)
			}
			path, faults := pathFaults(g, EngineRun(t, g, want, s).Events)
			if len(faults) > 0 {
				return append([]string{s.String()}, faults...)
			}
			for _, l := range path {
				kinds[l.Wait]++
				if l.Waited > 0 {
					slots++
				}
			}
		}
		return nil
	}
	property(t, graphs()/4, dags(Shape{}), check)
	property(t, graphs()/8, GenerateWalk, check)
	t.Logf("links %v, waits for slots %d", kinds, slots)
	if *seedFlag == 0 && (kinds[timeline.RetryDelay] == 0 || slots == 0) {
		t.Errorf("links %v, waits for slots %d: the property checks too little", kinds, slots)
	}
}

// pathFaults returns the critical path of a run and what is wrong with it. The times of the run are
// multiplied, so that no wait is as short as the time that an engine takes.
func pathFaults(g *Graph, events []core.Event) (path []timeline.Link, faults []string) {
	// Executions that write a field whose merge can fail end when their writes are accepted, which may be long after they
	// have released their slots. No event says when that was.
	late := strings.Contains(g.String(), "merge: set_once") || strings.Contains(g.String(), "merge: cap")
	var line timeline.Run
	start := events[0].Time
	var last time.Duration
	for _, e := range events {
		e.Delay *= 1_000_000
		e.Time = start.Add(e.Time.Sub(start) * 1_000_000)
		line.Add(&e)
	}
	for _, x := range line.Executions() {
		last = max(last, x.Ended)
	}
	path = line.CriticalPath()
	at := time.Duration(0)
	for i, l := range path {
		if l.Started != at || l.Ended < l.Started {
			faults = append(faults, fmt.Sprintf("link %d, %s, is from %s to %s; the one before it ends at %s", i, linkName(l), l.Started, l.Ended, at))
		}
		if l.Wait == timeline.OtherWait && !late || l.Wait == timeline.Interrupted {
			faults = append(faults, fmt.Sprintf("link %d is from %s to %s: %s", i, l.Started, l.Ended, l.Wait))
		}
		at = l.Ended
	}
	if at != last {
		faults = append(faults, fmt.Sprintf("the path ends at %s, the run at %s", at, last))
	}
	if len(faults) > 0 {
		for i, l := range path {
			faults = append(faults, fmt.Sprintf("%d: %s %s-%s, %d attempts", i, linkName(l), l.Started, l.Ended, l.Count))
		}
	}
	return path, faults
}

func linkName(l timeline.Link) string {
	if l.Execution == nil {
		return string(l.Wait)
	}
	return fmt.Sprintf("%s attempt %d %s", l.Name(), l.Attempt, l.Wait)
}
