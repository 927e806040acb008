package verify

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file decides again whether vertices run, and compares.

// skipKind says why a vertex did not run.
type skipKind uint8

const (
	runs       skipKind = iota
	byFailure           // something upstream failed
	byFalse             // an incoming edge is false
	byAllGone           // every predecessor was skipped
	notDecided          // the log lacks a condition
)

// decision is what follows for a vertex from its predecessors and conditions.
type decision struct {
	kind    skipKind
	edge    int32   // that decided a skip, -1 for none
	cause   int32   // vertex where a skip began, -1 for the vertex itself
	handled []int32 // on: fail edges that take up a failure
}

// decide follows the rule of readiness: a failure that blocks comes first, then a
// false edge, then one live edge lets it run.
func (f *frame) decide(i int32) decision {
	d := decision{edge: -1, cause: -1}
	in := f.p.InEdges(i)
	if len(in) == 0 {
		return d
	}
	if f.p.Vertices[i].AllDone {
		for _, e := range in {
			if f.p.Edges[e].On == plan.OnFail && f.v[f.p.Edges[e].From].status == core.Fail && f.says(e) == live {
				d.handled = append(d.handled, e)
			}
		}
		return d
	}
	blocked, untrue, anyLive, open := int32(-1), int32(-1), false, false
	for _, e := range in {
		switch f.says(e) {
		case blocks:
			if blocked < 0 {
				blocked = e
			}
		case against:
			if untrue < 0 {
				untrue = e
			}
		case live:
			anyLive = true
			if f.p.Edges[e].On == plan.OnFail {
				d.handled = append(d.handled, e)
			}
		case untold:
			f.notJudged(i, e)
			open = true
		}
	}
	switch {
	case blocked >= 0:
		d.kind, d.edge, d.cause = byFailure, blocked, f.began(blocked)
	case open:
		d.kind = notDecided
	case untrue >= 0:
		d.kind, d.edge = byFalse, untrue
	case !anyLive:
		d.kind, d.cause = byAllGone, f.began(in[0])
	}
	if d.kind != runs {
		d.handled = nil
	}
	return d
}

func (f *frame) notJudged(i, e int32) {
	edge := &f.p.Edges[e]
	f.faultOf(f.name(f.subject(i)), Skips, "the condition on %s -> %s was never judged: %s",
		f.p.Nodes[edge.FromNode].ID, f.p.Nodes[edge.ToNode].ID, whenText(edge))
}

// subject is the id of a vertex.
func (f *frame) subject(i int32) string { return f.p.Vertices[i].ID }

// began returns the vertex where the failure or skip at the source of an edge began.
func (f *frame) began(e int32) int32 {
	from := f.p.Edges[e].From
	if c := f.v[from].cause; c >= 0 {
		return c
	}
	return from
}

// saying is what an edge whose source is resolved says about its target.
type saying uint8

const (
	nothing saying = iota // its source was skipped
	live
	against
	blocks // its source failed, or was skipped because of a failure
	untold // its condition was never judged
)

func (f *frame) says(e int32) saying {
	edge := &f.p.Edges[e]
	src := &f.v[edge.From]
	failed, gone := src.status == core.Fail, src.status == core.Skipped
	switch {
	case edge.On == plan.OnSuccess && (failed || src.skip == byFailure):
		return blocks
	case edge.On == plan.OnFail && !failed:
		return against
	}
	if edge.When != nil || edge.Else {
		switch f.verdicts[e] {
		case unjudged:
			return untold
		case isFalse:
			return against
		}
	}
	switch {
	case edge.When != nil:
		return live // also out of a source that was skipped
	case gone && (edge.Else || edge.On == plan.OnSuccess):
		return nothing
	}
	return live
}

// judged takes in the event of a condition.
func (f *frame) judged(n *plan.Node) {
	e := f.c.e
	if e.Result == nil {
		f.c.breaks(Skips, "a judged condition without a result")
		return
	}
	found := false
	for _, i := range f.p.InEdges(n.Vertex) {
		edge := &f.p.Edges[i]
		if f.p.Nodes[edge.FromNode].ID != e.From || f.p.Nodes[edge.ToNode].ID != e.To || !sameText(e.When, whenText(edge)) {
			continue
		}
		if !found {
			f.mayJudge(i)
			f.look(edge)
		}
		found = true
		f.verdicts[i] = isFalse
		if *e.Result {
			f.verdicts[i] = isTrue
		}
		if edge.Else {
			f.otherwise(i)
		}
	}
	if !found {
		f.c.breaks(Skips, "the workflow has no edge %s -> %s with the condition %s", e.From, e.To, e.When)
	}
}

// look looks at what the log says that a condition read. Where code of a Go type can
// have a part in it, it may have failed.
func (f *frame) look(edge *plan.Edge) {
	if edge.When == nil || f.p.Foreign || hidden(f.c.e.Values) {
		return
	}
	level := f.p.Vertices[edge.To].Level
	if edge.Judged {
		level = f.p.Judges[f.p.Vertices[edge.From].Judge].Level
	}
	f.saw(edge, level)
	f.reconsider(edge)
}

// reconsider evaluates a condition again on what it read.
func (f *frame) reconsider(edge *plan.Edge) {
	e := f.c.e
	r, ok := f.c.replays[edge.When]
	if !ok {
		r, _ = edge.When.Replay()
		f.c.replays[edge.When] = r
	}
	if r == nil {
		return
	}
	switch result, known := r.Test(e.Values); {
	case !known:
		f.c.unchecked(Skips, "the condition on %s -> %s: the values in the log leave open what it says", e.From, e.To)
	case result != *e.Result:
		f.c.breaks(Skips, "the condition %s is %t in the log, and %t on what it read: %s", e.When, *e.Result, result, brief(e.Values))
	}
}

// mayJudge checks that a condition is judged when all it depends on is there.
func (f *frame) mayJudge(i int32) {
	edge := &f.p.Edges[i]
	const what = "its condition is judged"
	if f.v[edge.To].settled {
		f.c.breaks(Skips, "the condition on %s -> %s is judged after it was decided that %s %s",
			f.c.e.From, f.c.e.To, f.c.e.To, f.fate(edge.To))
		return
	}
	if edge.Judged {
		j := &f.p.Judges[f.p.Vertices[edge.From].Judge]
		if f.v[edge.From].phase != resolved {
			f.c.breaks(Order, "%s before %s is resolved", what, f.c.e.From)
		}
		if edge.When != nil {
			f.condition(edge.When, edge, j.Level, what)
		}
		return
	}
	if !f.predecessors(edge.To, what) && edge.When != nil {
		f.condition(edge.When, edge, f.p.Vertices[edge.To].Level, what)
	}
}

func (f *frame) fate(i int32) string {
	if f.v[i].status == core.Skipped {
		return "is skipped"
	}
	return "runs"
}

// otherwise checks an else edge against the conditions beside it.
func (f *frame) otherwise(e int32) {
	anyLive := false
	for _, other := range f.p.Judges[f.p.Vertices[f.p.Edges[e].From].Judge].Edges {
		if f.p.Edges[other].Else {
			continue
		}
		switch f.says(other) {
		case untold:
			f.notJudged(f.p.Edges[e].To, other)
			return
		case live:
			anyLive = true
		}
	}
	if (f.verdicts[e] == isTrue) == anyLive {
		f.c.breaks(Skips, "the else edge %s -> %s is %t, and of the other edges out of %s one %s", f.c.e.From, f.c.e.To,
			*f.c.e.Result, f.c.e.From, map[bool]string{true: "is live", false: "must be live"}[anyLive])
	}
}

// skipped takes in a skip. Each member of a unit has one.
func (f *frame) skipped(n *plan.Node) {
	i := n.Vertex
	v, e := &f.v[i], f.c.e
	if v.phase != undecided && (v.phase != resolved || v.status != core.Skipped) || v.skips >= max(1, f.members(i)) {
		f.c.breaks(Lifecycle, "is skipped %s", f.after(v))
		return
	}
	d, first := f.settle(i, "is skipped")
	v.skips++
	if first {
		v.skip, v.cause = d.kind, d.cause
		f.compareSkip(i, d)
	}
	if e.Status != core.Skipped.String() {
		f.c.breaks(Statuses, "is skipped with the status %q", e.Status)
	}
	if v.skips == max(1, f.members(i)) {
		if v.skip == runs || v.skip == notDecided { // it should not be; go on from what the log says
			v.skip = byFalse
		}
		f.resolve(i, core.Skipped)
	}
}

// compareSkip compares a skip with the decision.
func (f *frame) compareSkip(i int32, d decision) {
	e := f.c.e
	got := decision{kind: byAllGone, edge: -1}
	switch {
	case e.From != "" && e.Cause != "":
		got.kind = byFailure
	case e.From != "":
		got.kind = byFalse
	}
	switch {
	case d.kind == notDecided:
		return
	case d.kind == runs:
		f.c.breaks(Skips, "is skipped (%s), and should run: %s", e.Reason, f.whyRuns(i))
	case d.kind != got.kind || e.From != f.from(d) || e.Cause != f.causeOf(d) || !sameText(e.When, f.when(d)):
		f.c.breaks(Skips, "is skipped because %s, should be because %s", f.words(e.From, e.Cause, e.When), f.words(f.from(d), f.causeOf(d), f.when(d)))
	}
}

func (f *frame) whyRuns(i int32) string {
	for _, e := range f.p.InEdges(i) {
		if f.says(e) == live {
			return "the edge " + f.p.Nodes[f.p.Edges[e].FromNode].ID + " -> " + f.p.Nodes[f.p.Edges[e].ToNode].ID + " is live"
		}
	}
	return "nothing is against it"
}

// words says a skip in words.
func (f *frame) words(from, cause, when string) string {
	switch {
	case from == "":
		return "every predecessor was skipped, from " + cause + " on"
	case cause != "":
		return cause + " failed, over " + from
	case when == "":
		return "the edge from " + from + " is false"
	}
	return "the edge from " + from + " is false: " + when
}

func (f *frame) from(d decision) string {
	if d.edge < 0 {
		return ""
	}
	return f.p.Nodes[f.p.Edges[d.edge].FromNode].ID
}

func (f *frame) when(d decision) string {
	if d.edge < 0 {
		return ""
	}
	return whenText(&f.p.Edges[d.edge])
}

// causeOf is the node where a skip began: of a unit the member that failed first.
func (f *frame) causeOf(d decision) string {
	if d.cause < 0 {
		return ""
	}
	if u := f.v[d.cause].unit; u != nil && u.failures > 0 {
		return f.name(f.p.Nodes[f.p.Vertices[d.cause].Unit.Members[u.failedAt[1]]].ID)
	}
	return f.name(f.p.Vertices[d.cause].ID)
}

// chosen checks that a vertex that is to run follows from the decision.
func (f *frame) chosen(i int32) {
	d, first := f.settle(i, "is ready")
	if !first {
		return
	}
	if d.kind != runs && d.kind != notDecided {
		f.c.breaks(Skips, "runs, and should be skipped because %s", f.words(f.from(d), f.causeOf(d), f.when(d)))
	}
	for _, e := range d.handled {
		if !f.taken[e] {
			f.c.breaks(Skips, "runs over the edge %s -> %s (on: fail), and no event tells that this handles the failure",
				f.p.Nodes[f.p.Edges[e].FromNode].ID, f.p.Nodes[f.p.Edges[e].ToNode].ID)
			f.v[f.p.Edges[e].From].handled = true
		}
	}
}

// handledBy takes in the event of a failure that does not fail the run.
func (f *frame) handledBy(i int32) {
	v, e := &f.v[i], f.c.e
	if v.status != core.Fail {
		f.c.breaks(Statuses, "its failure is handled, and it did not fail")
		return
	}
	if e.From == "" {
		v.told = true
		if f.policy(i) != plan.PolicySkip && !f.streams(i) {
			f.c.breaks(Statuses, "its failure is tolerated, and its policy does not say so")
		}
		return
	}
	v.handled = true
	for _, k := range f.p.InEdges(f.target(e.To)) {
		edge := &f.p.Edges[k]
		if edge.On == plan.OnFail && edge.From == i && f.p.Nodes[edge.ToNode].ID == e.To && f.says(k) == live && !f.taken[k] {
			if f.taken == nil {
				f.taken = map[int32]bool{}
			}
			f.taken[k] = true
			return
		}
	}
	f.c.breaks(Skips, "its failure is handled by %s -> %s, which is no live edge with on: fail that was not told before", e.From, e.To)
}

// target returns the vertex of a node, or one without incoming edges.
func (f *frame) target(id string) int32 {
	if n, ok := f.p.Node(id); ok {
		return n.Vertex
	}
	return 0
}

// streams reports whether a vertex pulls its rows: whether that failed is not in the log.
func (f *frame) streams(i int32) bool {
	u := f.p.Vertices[i].Unit
	return u != nil && u.Puller != nil
}

func whenText(e *plan.Edge) string {
	switch {
	case e.Else:
		return "else"
	case e.When != nil:
		return e.When.Source()
	}
	return ""
}

// mask stands for a secret in what a log shows.
const mask = "***"

// sameText compares a text of the log with one of the workflow. A secret hides a part
// of it.
func sameText(got, want string) bool { return got == want || strings.Contains(got, mask) }
