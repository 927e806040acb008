package schedulertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// TestPropertyWalkEqualsOracle: a walk takes the way that the rules say, visit by visit,
// whatever the limit and however slow its branches are.
func TestPropertyWalkEqualsOracle(t *testing.T) {
	for _, seed := range seeds(graphs()) {
		g := GenerateWalk(seed)
		if faults := walkFaults(t, g); len(faults) > 0 {
			reportWalk(t, g, func(g *WalkGraph) []string { return walkFaults(t, g) })
			return
		}
	}
}

// TestPropertyWalkHostile is the same for the machine's door.
func TestPropertyWalkHostile(t *testing.T) {
	for _, seed := range seeds(graphs() / 8) {
		g := GenerateWalk(seed)
		if faults := hostileWalkFaults(t, g); len(faults) > 0 {
			reportWalk(t, g, func(g *WalkGraph) []string { return hostileWalkFaults(t, g) })
			return
		}
	}
}

func walkFaults(t *testing.T, g *WalkGraph) []string {
	// The bare machine first: there a broken invariant is a fault with a seed, in the
	// engine it is the end of the process.
	if faults := hostileWalk(t, g, Hostile{Seed: g.Seed}, machine.Options{Concurrency: 8, Events: true}); len(faults) > 0 {
		return faults
	}
	if g.Seed%8 > 0 && *seedFlag == 0 {
		return nil
	}
	for _, s := range []Setting{{Concurrency: 1, Timing: 1 + g.Seed}, {InFlight: 2, Timing: 2 + g.Seed}, {Timing: 3 + g.Seed, Silent: true}} {
		var told []core.Event
		if s.InFlight > 0 || g.MaxRetries > 0 { // branches wait for their turn, or for times that are spread at random
			if s.Silent {
				continue
			}
			s.Concurrency = 8
		}
		got := EngineWalk(t, g, s)
		if s.Concurrency == 8 {
			told = got.Events
		}
		faults := append(WalkDifferences(OracleWalk(g, s.Timing, told), got), got.Recorder.overlaps(g.limits(), 0, s.InFlight)...)
		if len(faults) > 0 {
			return append([]string{s.String()}, faults...)
		}
	}
	return nil
}

func hostileWalkFaults(t *testing.T, g *WalkGraph) []string {
	for _, c := range cruelties(g.Seed) {
		c.Events, c.Barrier = true, false
		if faults := hostileWalk(t, g, c.Hostile, c.Options); len(faults) > 0 {
			return faults
		}
	}
	return nil
}

func hostileWalk(t *testing.T, g *WalkGraph, h Hostile, o machine.Options) []string {
	head := fmt.Sprintf("%+v %+v", h, o)
	got, err := HostileWalk(t, g, h, o)
	if err != nil {
		return []string{head, err.Error()}
	}
	if faults := WalkDifferences(OracleWalk(g, 0, got.Events), got); len(faults) > 0 {
		return append([]string{head}, faults...)
	}
	return nil
}

// reportWalk prints a failing graph, made as small as it goes.
func reportWalk(t *testing.T, g *WalkGraph, faults func(*WalkGraph) []string) {
	t.Helper()
	first := kindOf(faults(g))
	small := Reduce(g, func(g *WalkGraph) bool { return kindOf(faults(g)) == first })
	t.Errorf("seed %d (go test ./scheduler/schedulertest -run Property -seed=%d)\n%s\n%s", g.Seed, g.Seed, small, strings.Join(faults(small), "\n"))
}
