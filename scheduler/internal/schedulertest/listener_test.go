package schedulertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/scheduler/machine"
)

// TestPropertyListenersChangeNothing: the commands of a run with events and of the same run without
// them are equal, one by one, and so are the reports. As soon as somebody listened, the items of a
// fan-out were issued alone.
func TestPropertyListenersChangeNothing(t *testing.T) {
	ranges := 0
	for _, tt := range []struct {
		name     string
		generate func(seed uint64) *Graph
	}{
		{"dags", dags(Shape{})},
		{"ranges", dags(Shape{Elements: 3, Long: true})},
		{"stopped", dags(Shape{Elements: 3, Long: true, FailRun: true})},
		{"races", dags(Shape{Elements: 5, Long: true, Race: true})},
		{"walks", GenerateWalk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/20, tt.generate, func(t *testing.T, g *Graph) []string {
				for _, h := range []Hostile{{Seed: g.Seed}, {Seed: g.Seed, Split: true, Yield: true, Double: true, Cancel: int(g.Seed % 40)}} {
					silent, want, n, err := trace(t, g, h, false)
					if err != nil {
						return []string{err.Error()}
					}
					heard, got, _, err := trace(t, g, h, true)
					if err != nil {
						return []string{"with events", err.Error()}
					}
					ranges += n
					if !slices.Equal(silent, heard) {
						at := 0
						for at < min(len(silent), len(heard)) && silent[at] == heard[at] {
							at++
						}
						return []string{fmt.Sprintf("command %d is %q, with events %q", at+1, nth(silent, at), nth(heard, at))}
					}
					if want != got {
						return []string{"without events", want, "with events", got}
					}
				}
				return nil
			})
		})
	}
	if ranges == 0 && *seedFlag == 0 {
		t.Error("no range was issued")
	}
}

// trace returns the commands of a run except its events, its report, and the number of ranges.
func trace(t *testing.T, g *Graph, h Hostile, events bool) (commands []string, report string, ranges int, err error) {
	h.Trace = func(c machine.Command) {
		commands = append(commands, fmt.Sprint(c.Op, " ", c.ID, " ", c.Delay, " ", c.Keep))
		if c.Op == machine.OpRun && c.ID.To > c.ID.From+1 {
			ranges++
		}
	}
	var want *Run
	if g.Walk == nil {
		want = OracleRun(g)
	}
	run, err := HostileRun(t, g, want, h, machine.Options{Concurrency: 4, Events: events, Seed: g.Seed})
	if err != nil {
		return nil, "", 0, err
	}
	return commands, ReportText(run.Report), ranges, nil
}

// nth returns the command at an index, or a text that says that there is none.
func nth(list []string, at int) string {
	if at < len(list) {
		return list[at]
	}
	return "absent"
}
