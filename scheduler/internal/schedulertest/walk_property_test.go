package schedulertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// TestPropertyWalkEqualsOracle checks that a walk follows the rules, visit by visit, at
// every limit and however slow its branches are.
func TestPropertyWalkEqualsOracle(t *testing.T) {
	property(t, graphs(), GenerateWalk, walkFaults)
}

// TestPropertyWalkHostile is the same for the interface of the machine.
func TestPropertyWalkHostile(t *testing.T) {
	property(t, graphs()/8, GenerateWalk, hostileWalkFaults)
}

func walkFaults(t *testing.T, g *Graph) []string {
	// The bare machine comes first: there, a violated invariant is a fault with a seed; in
	// the engine it would end the process.
	if faults := hostileWalk(t, g, Hostile{Seed: g.Seed}, machine.Options{Concurrency: 8, Events: true}); len(faults) > 0 {
		return faults
	}
	if g.Seed%8 > 0 && *seedFlag == 0 {
		return nil
	}
	for _, s := range []Setting{{Concurrency: 1, Timing: 1 + g.Seed}, {InFlight: 2, Timing: 2 + g.Seed}, {Timing: 3 + g.Seed, Silent: true}} {
		var recorded []core.Event
		if s.InFlight > 0 || g.Walk.MaxRetries > 0 { // branches wait for a slot, or have random durations
			if s.Silent {
				continue
			}
			s.Concurrency = 8
		}
		got := EngineRun(t, g, nil, s)
		if s.Concurrency == 8 {
			recorded = got.Events
		}
		inFlight := s.InFlight
		if slices.ContainsFunc(g.Nodes, func(n *Node) bool { return n.Role == core.RoleHuman }) {
			inFlight = 0 // a node that waits for a person holds no slot
		}
		want := OracleWalk(g, s.Timing, recorded)
		if want.Walk.Tied {
			continue
		}
		faults := append(Differences(want, got), got.Recorder.overlaps(g.limits(), 0, inFlight)...)
		if len(faults) > 0 {
			return append([]string{s.String()}, faults...)
		}
	}
	return nil
}

func hostileWalkFaults(t *testing.T, g *Graph) []string {
	for _, c := range faultModes(g.Seed) {
		c.Events, c.Barrier = true, false
		if faults := hostileWalk(t, g, c.Hostile, c.Options); len(faults) > 0 {
			return faults
		}
	}
	return nil
}

// TestPropertyWalkCancelled cancels walks at random times: the events until then are a
// prefix of the complete walk.
func TestPropertyWalkCancelled(t *testing.T) {
	cancelled := 0
	property(t, graphs()/4, GenerateWalk, func(t *testing.T, g *Graph) []string {
		for i, c := range faultModes(g.Seed) {
			if (uint64(i)+g.Seed)%3 != 0 { // each case is used for a part of the graphs
				continue
			}
			c.Cancel, c.Events = 1+int(draw(g.Seed, fmt.Sprint(c))%12), true
			head := fmt.Sprintf("%+v %+v", c.Hostile, c.Options)
			got, err := HostileRun(t, g, nil, c.Hostile, c.Options)
			if err != nil {
				return []string{head, err.Error()}
			}
			want := OracleWalk(g, 0, got.Events)
			if got.Walk.Status != core.RunCancelled {
				if d := Differences(want, got); len(d) > 0 {
					return append([]string{head}, d...)
				}
				continue
			}
			cancelled++
			if d := walkBeginning(want, got); len(d) > 0 {
				return append([]string{head}, d...)
			}
		}
		return nil
	})
	if cancelled == 0 && *seedFlag == 0 {
		t.Error("no walk was cancelled")
	}
}

// walkBeginning lists the differences between a run that was cut short and the beginning of
// the complete run.
func walkBeginning(want, got *Run) []string {
	var d differences
	w, o := want.Walk, got.Walk
	beginning := func(what string, whole, part []string) {
		if len(part) > len(whole) || !slices.Equal(whole[:len(part)], part) {
			d.compare(what, fmt.Sprint(whole), fmt.Sprint(part))
		}
	}
	beginning("path", w.Path, o.Path)
	beginning("ways", ways(w.Choices), ways(o.Choices))
	for e, saw := range got.Recorder.seen {
		if !w.Losers[e] {
			d.compare("execution "+e.String(), want.Recorder.saw(e), saw)
		}
	}
	if n := got.Recorder.total; n > 0 {
		d.compare("executions alive at the end", 0, n)
	}
	return append(d, violations(got.Plan, got.Events)...)
}

func hostileWalk(t *testing.T, g *Graph, h Hostile, o machine.Options) []string {
	head := fmt.Sprintf("%+v %+v", h, o)
	got, err := HostileRun(t, g, nil, h, o)
	if err != nil {
		return []string{head, err.Error()}
	}
	if faults := Differences(OracleWalk(g, 0, got.Events), got); len(faults) > 0 {
		return append([]string{head}, faults...)
	}
	return nil
}
