package schedulertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Feature is a situation that a graph may exercise.
type Feature string

// Features that the property tests promise to cover. Features that describe events count
// only if they occurred in the oracle's run, not if they were merely possible.
const (
	CrossBranchReads Feature = "cross-branch reads" // a node sees a write from a lower level of a node that is not its ancestor
	SetOnce          Feature = "set_once"           // a field that can reject writes is written
	Rejections       Feature = "refusals"           // a write was rejected
	Failures         Feature = "failures"
	Retries          Feature = "retries"
	Units            Feature = "units"
	WhenChains       Feature = "chains of when" // the target of a conditional edge has a conditional edge
	FanOuts          Feature = "fan-outs"
	Collected        Feature = "collected results"
	RefusedLists     Feature = "refused lists of results"
	EmptyFanOuts     Feature = "empty fan-outs"
	Cuts             Feature = "max_failures cuts"
	Skips            Feature = "skips"
	OnEdges          Feature = "on: fail or done"
	Handled          Feature = "handled failures"
	Alerts           Feature = "failures that an edge routes and does not handle"
	ElseEdges        Feature = "else edges"
	AllDone          Feature = "all_done joins"
	Joins            Feature = "joins that take some predecessors" // a join needs fewer predecessors than it has, and it has run
	EdgeOutputs      Feature = "edge outputs"
	Inner            Feature = "repeated stages or rounds"
	UnitFailures     Feature = "failing units"
	Isolated         Feature = "units without edges"
	Unordered        Feature = "unordered writers"
	Partial          Feature = "partial success"
	Nested           Feature = "nested runs"
	Statuses         Feature = "conditions on $nodes"
	Overflows        Feature = "overflows"  // a sum exceeded its range
	LostReads        Feature = "lost reads" // a node failed because it reads such a sum
	Changed          Feature = "statuses changed by settings"
	Gates            Feature = "gates"
	Pauses           Feature = "pauses"
)

// FeaturesOf returns the features that a graph exercises in the oracle's run.
func FeaturesOf(g *Graph, run *Run) []Feature {
	if g.Walk != nil {
		return g.walkFeatures(run.Walk)
	}
	out := run.Outcome
	w, _ := g.Workflow(&Recorder{})
	o := newOracle(w, g.Values())
	return slices.Concat(o.staticFeatures(), g.edgeFeatures(o, out), g.runFeatures(out))
}

// features is the set of features found in a graph.
type features []Feature

func (fs *features) mark(yes bool, f Feature) {
	if yes && !slices.Contains(*fs, f) {
		*fs = append(*fs, f)
	}
}

func when(yes bool, f Feature) []Feature {
	if yes {
		return []Feature{f}
	}
	return nil
}

func (o *oracle) staticFeatures() []Feature {
	above := o.ancestors()
	var cross, unordered, alone bool
	for _, w := range o.units {
		alone = alone || w.rank > 0 && len(w.in) == 0 && len(w.out) == 0
		for _, r := range o.units {
			ordered := above[r][w] || above[w][r]
			cross = cross || w.level < r.level && !ordered && sharesField(w, r, reads)
			unordered = unordered || w != r && !ordered && sharesField(w, r, writes)
		}
	}
	return slices.Concat(when(cross, CrossBranchReads), when(unordered, Unordered), when(alone, Isolated),
		when(len(o.w.Pipelines)+len(o.w.Loops) > 0, Units))
}

func (o *oracle) ancestors() map[*unit]map[*unit]bool {
	above := map[*unit]map[*unit]bool{}
	sorted := slices.Clone(o.units)
	slices.SortStableFunc(sorted, func(a, b *unit) int { return a.level - b.level })
	for _, u := range sorted {
		above[u] = map[*unit]bool{}
		for _, e := range u.in {
			from := o.of[e.From.Value]
			above[u][from] = true
			for a := range above[from] {
				above[u][a] = true
			}
		}
	}
	return above
}

func reads(n *core.Node) []source.Text { return n.Reads }

func writes(n *core.Node) []source.Text { return n.Writes }

// sharesField reports whether w writes a field that the function of names for r.
func sharesField(w, r *unit, of func(*core.Node) []source.Text) bool {
	for _, n := range w.members {
		for _, m := range r.members {
			for _, f := range n.Writes {
				if slices.Contains(source.Strings(of(m)), f.Value) {
					return true
				}
			}
		}
	}
	return false
}

func (g *Graph) edgeFeatures(o *oracle, out *Outcome) []Feature {
	var chain, on, other, sent, status, alert bool
	for _, e := range g.Edges {
		from, to := out.Nodes[e.From], out.Nodes[e.To]
		alert = alert || e.On == "fail" && !e.Handles && from.Status == core.Fail && !from.Handled && to.Items > 0
		status = status || strings.Contains(e.When, "$nodes")
		on = on || e.On == "fail" || e.On == "done"
		other = other || e.Else
		sent = sent || !value.IsMissing(out.Nodes[e.From].Output) && out.Nodes[e.To].Items > 0
		for _, f := range g.Edges {
			chain = chain || e.When != "" && f.When != "" && o.of[e.To] == o.of[f.From]
		}
	}
	done := slices.ContainsFunc(g.Nodes, func(n *Node) bool { return n.AllDone })
	some := slices.ContainsFunc(o.units, func(u *unit) bool {
		j, n := u.join(), len(o.predecessors(u))
		return j != nil && need(j, n) > 0 && need(j, n) < n && out.Nodes[u.members[0].ID.Value].Status != core.Skipped
	})
	return slices.Concat(when(some, Joins), when(chain, WhenChains), when(on, OnEdges), when(alert, Alerts), when(other, ElseEdges), when(sent, EdgeOutputs), when(done, AllDone), when(status, Statuses))
}

func (g *Graph) runFeatures(out *Outcome) []Feature {
	var all features
	mark := all.mark
	for _, n := range g.Nodes {
		r := out.Nodes[n.ID]
		mark(n.Sub != nil && r.Items > 0, Nested)
		mark(n.Role == core.RoleHuman && r.Items > 0, Gates)
		mark(n.Pause != "" && r.Items > 0, Pauses)
		mark(r.Status == core.Fail, Failures)
		mark(r.Attempts > r.Items, Retries)
		mark(r.Class == core.ClassMerge && g.writesCanFail(n), Rejections)
		mark(r.Class == core.ClassMerge && !g.writesCanFail(n), LostReads)
		mark(r.Status == core.Skipped, Skips)
		mark(r.Status == core.PartialSuccess, Partial)
		mark(r.Status.Succeeded() && r.Changed, Changed)
		mark(r.Handled && n.Policy != "skip" && n.Then != "skip", Handled)
		mark(n.Source != "" && r.Items > 0, FanOuts)
		mark(n.Collect != "" && r.Items > 0 && r.Status.Succeeded(), Collected)
		mark(n.Collect != "" && r.Items > 0 && r.Failed == 0 && r.Class == core.ClassMerge, RefusedLists)
		mark(n.Source != "" && r.Items == 0 && r.Status == core.Success, EmptyFanOuts)
		mark(n.Source == "" && r.Items > 1, Inner)
		mark(n.MaxFailures >= 0 && r.Failed > n.MaxFailures, Cuts) // the cut may come after the last item
		mark(r.Items > 0 && g.writesCanFail(n), SetOnce)
	}
	mark(out.Lost, Overflows)
	for _, u := range out.Units {
		mark(u.Status == core.Fail, UnitFailures)
	}
	return all
}

func (g *Graph) writesCanFail(n *Node) bool {
	return slices.ContainsFunc(n.Writes, func(w string) bool { return g.field(w).Merge == "set_once" || g.field(w).Merge == "cap" })
}

// Tally counts features over many graphs.
type Tally struct {
	Graphs int
	Counts map[Feature]int
}

// Add counts the features of one graph.
func (t *Tally) Add(features []Feature) {
	if t.Counts == nil {
		t.Counts = map[Feature]int{}
	}
	t.Graphs++
	for _, f := range features {
		t.Counts[f]++
	}
}

// Share returns the percentage of graphs with a feature.
func (t *Tally) Share(f Feature) float64 { return 100 * float64(t.Counts[f]) / float64(t.Graphs) }

// String lists the shares, the rarest first.
func (t *Tally) String() string {
	var names []Feature
	for f := range t.Counts {
		names = append(names, f)
	}
	slices.SortFunc(names, func(a, b Feature) int {
		if c := t.Counts[a] - t.Counts[b]; c != 0 {
			return c
		}
		return strings.Compare(string(a), string(b))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%d graphs", t.Graphs)
	for _, f := range names {
		fmt.Fprintf(&b, "\n%5.1f %% %s", t.Share(f), f)
	}
	return b.String()
}
