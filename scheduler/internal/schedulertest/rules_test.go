package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// rule is a small graph with the outcome that the rules require, derived by hand. Both the
// oracle and the engine must agree with it.
type rule struct {
	name string
	// fields are "name", "name merge" or "name merge = default".
	fields []string
	// nodes are "id" or "id action; action": write F V, add F V (an array of one), see F
	// (writes what it sees of F, as a string, to seen), send V, fail, flaky (the first
	// attempt fails), retry N, skip (policy), each F, max N (max_failures), all_done, stop
	// N (returns early for item N), failon N (fails for item N), fail_run (policy), again N
	// (the first N attempts ask for a retry), failed (returns the status fail), partial,
	// panic, permanent, spill (an undeclared write), allow_partial, auto_status. V is
	// $item, $round, in:ID (an edge input) or an integer. Actions before fail, again and so
	// on take effect on the result as well.
	nodes []string
	// edges are "a->b", then "on S", then "when C" or "else".
	edges     []string
	pipelines []string // id F stage stage, then !skip for the policy
	loops     []string // id max until...: body body
	// want lists "id=status", "id=status@attempts" or "id=skipped:why:cause", then
	// "run=status".
	want  string
	state string // JSON of the final state
}

var rules = []rule{
	{name: "a failed predecessor skips whatever other edges say", nodes: []string{"good", "bad fail", "t"},
		edges: []string{"good->t", "bad->t"}, want: "good=success bad=fail t=skipped:failure:bad run=failed"},
	{name: "one skipped and one done predecessor runs", fields: []string{"x"}, nodes: []string{"a", "s", "b", "t"},
		edges: []string{"a->s when $.x == 1", "s->t", "b->t"}, want: "s=skipped:condition: t=success run=success"},
	{name: "a false condition skips although another edge is live", fields: []string{"x"}, nodes: []string{"a", "b", "t"},
		edges: []string{"a->t when $.x == 1", "b->t"}, want: "t=skipped:condition: run=success"},
	{name: "all skipped cascades to the root", fields: []string{"x"}, nodes: []string{"a", "b", "c", "d"},
		edges: []string{"a->b when $.x == 1", "b->c", "c->d"}, want: "b=skipped:condition: c=skipped:skipped:b d=skipped:skipped:b"},
	{name: "a true condition out of a skipped node revives", fields: []string{"keep", "x"}, nodes: []string{"a write keep 1", "b", "c"},
		edges: []string{"a->b when $.x == 1", "b->c when $.keep == 1"}, want: "b=skipped:condition: c=success", state: `{"keep":1}`},
	{name: "nothing revives behind a failure", fields: []string{"keep"}, nodes: []string{"a fail", "b", "c"},
		edges: []string{"a->b", "b->c when $.keep != 1"}, want: "b=skipped:failure:a c=skipped:failure:a run=failed"},
	{name: "a condition is judged on the state of the target", fields: []string{"x"},
		nodes: []string{"a write x 1", "mid write x 2", "t"}, edges: []string{"a->mid", "mid->t", "a->t when $.x == 2"},
		want: "t=success", state: `{"x":2}`},
	{name: "neighbours do not see each other", fields: []string{"x", "seen array_append"}, nodes: []string{"a write x 1", "b see x", "r", "c see x"},
		edges: []string{"r->c"}, want: "a=success b=success c=success", state: `{"x":1,"seen":["missing","1"]}`},
	{name: "the later of a level wins", fields: []string{"x"}, nodes: []string{"a write x 1", "b write x 2"}, want: "a=success", state: `{"x":2}`},
	{name: "set_once refuses the later of a level", fields: []string{"x set_once", "y"}, nodes: []string{"a write x 1", "b write x 2; write y 2; retry 3", "t"},
		edges: []string{"b->t"}, want: "a=success b=fail t=skipped:failure:b run=failed", state: `{"x":1}`},
	{name: "a starting value counts as present", fields: []string{"x set_once = 5"}, nodes: []string{"a write x 1"}, want: "a=fail run=failed", state: `{"x":5}`},
	{name: "a retried node writes once", fields: []string{"x array_append"}, nodes: []string{"a add x 1; flaky; retry 2"}, want: "a=success run=success", state: `{"x":[1]}`},
	{name: "an explicit skip policy tolerates", nodes: []string{"a fail; skip", "b"}, edges: []string{"a->b"}, want: "a=fail b=skipped:failure:a run=partial_success"},
	{name: "a retry without attempts left does not tolerate", nodes: []string{"a fail; retry 2"}, want: "a=fail run=failed"},
	{name: "33: on: fail runs its target and does not handle the failure", nodes: []string{"a fail", "b", "c", "d"}, edges: []string{"a->b on fail", "a->c", "b->d"},
		want: "a=fail b=success c=skipped:failure:a d=success run=failed"},
	{name: "34: on: fail with handles: true handles a failure", nodes: []string{"a fail", "b", "c"}, edges: []string{"a->b on fail handles", "a->c"},
		want: "a=fail b=success c=skipped:failure:a run=partial_success"},
	{name: "34: a failure is handled in whatever way the target ends", nodes: []string{"a fail", "b fail; skip"}, edges: []string{"a->b on fail handles"},
		want: "a=fail b=fail run=partial_success"},
	{name: "34: a false condition handles nothing", fields: []string{"x"}, nodes: []string{"a fail", "b"}, edges: []string{"a->b on fail handles when $.x == 1"},
		want: "a=fail b=skipped:condition: run=failed"},
	{name: "34: each failure needs an edge of its own", nodes: []string{"a fail", "b fail", "c"}, edges: []string{"a->c on fail handles", "b->c on fail"},
		want: "a=fail b=fail c=success run=failed"},
	{name: "34: into all_done a live edge handles", nodes: []string{"a fail", "b", "c all_done"}, edges: []string{"a->c on fail handles", "b->c"},
		want: "a=fail c=success run=partial_success"},
	{name: "35: on_error: skip forgives without an edge", nodes: []string{"a fail; skip", "b"}, edges: []string{"a->b on fail"},
		want: "a=fail b=success run=partial_success"},
	{name: "35: one of two live edges handles", nodes: []string{"a fail", "b", "c"}, edges: []string{"a->b on fail", "a->c on fail handles"},
		want: "a=fail b=success c=success run=partial_success"},
	{name: "on: fail is false when the source succeeded", nodes: []string{"a", "b", "c"}, edges: []string{"a->b on fail", "c->b"}, want: "b=skipped:condition: run=success"},
	{name: "on: fail asks for the source's own failure", nodes: []string{"a fail", "b", "c"}, edges: []string{"a->b", "b->c on fail"},
		want: "b=skipped:failure:a c=skipped:condition: run=failed"},
	{name: "on: done absorbs but does not handle", nodes: []string{"a fail", "b", "c", "d"}, edges: []string{"a->b", "b->c on done", "c->d"},
		want: "b=skipped:failure:a c=success d=success run=failed"},
	{name: "34: an edge whose target is skipped handles nothing", nodes: []string{"a fail", "x fail; skip", "b"}, edges: []string{"a->b on fail handles", "x->b"},
		want: "b=skipped:failure:x run=failed"},
	{name: "all_done runs whatever happened", fields: []string{"x"}, nodes: []string{"a fail", "b", "t all_done"},
		edges: []string{"a->t", "b->t when $.x == 1"}, want: "t=success run=failed"},
	{name: "else is true when no condition held", fields: []string{"x"}, nodes: []string{"a write x 3", "b", "c", "d"},
		edges: []string{"a->b when $.x == 1", "a->c when $.x == 2", "a->d else"}, want: "b=skipped:condition: c=skipped:condition: d=success", state: `{"x":3}`},
	{name: "else is false when a condition held", fields: []string{"x"}, nodes: []string{"a write x 2", "b", "d", "e"},
		edges: []string{"a->b when $.x == 2", "a->d else", "d->e"}, want: "b=success d=skipped:condition: e=skipped:skipped:d", state: `{"x":2}`},
	{name: "with an else all conditions are judged right above the source", fields: []string{"x"},
		nodes: []string{"a write x 1", "mid write x 2", "t", "e"}, edges: []string{"a->mid", "mid->t", "a->t when $.x == 2", "a->e else"},
		want: "t=skipped:condition: e=success", state: `{"x":2}`},
	{name: "else out of a skipped source is not live", fields: []string{"x"}, nodes: []string{"r", "a", "b", "c"},
		edges: []string{"r->a when $.x == 1", "a->b when $.x == 1", "a->c else"}, want: "a=skipped:condition: b=skipped:condition: c=skipped:skipped:a"},
	{name: "else out of a skipped source leaves the choice to others", fields: []string{"x"}, nodes: []string{"r", "a", "b", "c", "d"},
		edges: []string{"r->a when $.x == 1", "a->b when $.x == 1", "a->c else", "d->c"}, want: "b=skipped:condition: c=success"},
	{name: "else is false beside a condition that revives", fields: []string{"x", "keep = 1"}, nodes: []string{"r", "a", "b", "c", "d"},
		edges: []string{"r->a when $.x == 1", "a->b when $.keep == 1", "a->c else", "d->c"}, want: "b=success c=skipped:condition:", state: `{"keep":1}`},
	{name: "a skipped node resolves as a writer of nothing", fields: []string{"x", "seen array_append"},
		nodes: []string{"a fail", "w write x 1", "q", "r", "s see x"}, edges: []string{"a->w", "q->r", "r->s"},
		want: "w=skipped:failure:a s=success", state: `{"seen":["missing"]}`},
	{name: "edge outputs reach direct successors, false values too", fields: []string{"x"}, nodes: []string{"a send 0", "b write x in:a"},
		edges: []string{"a->b"}, want: "b=success", state: `{"x":0}`},
	{name: "every item sees the snapshot", fields: []string{"out array_append", "seen array_append"},
		nodes: []string{"l add out 7", "f each out; add out $item; see out", "t see out"}, edges: []string{"l->f", "f->t"},
		want: "f=success", state: `{"out":[7,7],"seen":["[7]","[7,7]"]}`},
	{name: "a source that is not an array fails without executions", fields: []string{"x"}, nodes: []string{"f each x; retry 3"}, want: "f=fail run=failed"},
	{name: "an empty source is done", fields: []string{"x = []"}, nodes: []string{"f each x", "t"}, edges: []string{"f->t"}, want: "f=success t=success", state: `{"x":[]}`},
	{name: "set_once takes the first item and fails the node", fields: []string{"x = [4,5,6]", "y set_once", "z array_append"},
		nodes: []string{"f each x; write y $item; add z $item"}, want: "f=fail run=failed", state: `{"x":[4,5,6],"y":4,"z":[4]}`},
	{name: "items behind the cut are void", fields: []string{"x = [4,5,6]", "y set_once", "z array_append"},
		nodes: []string{"f each x; max 0; write y 1; add z $item"}, want: "f=fail", state: `{"x":[4,5,6],"y":1,"z":[4]}`},
	{name: "a refused item counts for the cut", fields: []string{"x = [4,5,6]", "y set_once", "z array_append"},
		nodes: []string{"f each x; max 0; add z $item; stop 6; write y 1"}, want: "f=fail", state: `{"x":[4,5,6],"y":1,"z":[4]}`},
	{name: "a failed fan-out sends nothing", fields: []string{"x = [4,5]", "y set_once"}, nodes: []string{"f each x; write y 1; send 1", "t all_done; send in:f"},
		edges: []string{"f->t"}, want: "f=fail t=fail", state: `{"x":[4,5],"y":1}`},
	{name: "a fan-out sends the list", fields: []string{"x = [4,5]", "y"}, nodes: []string{"f each x; stop 4; send $item", "t write y in:f"},
		edges: []string{"f->t"}, want: "t=success", state: `{"x":[4,5],"y":[null,5]}`},
	{name: "a unit's policy is for its own faults", fields: []string{"x = [4]", "y"}, nodes: []string{"s1 fail", "s2"}, pipelines: []string{"p x s1 !skip", "q y s2 !skip"},
		want: "p=fail q=fail s1=fail s2=skipped:failure:q run=failed", state: `{"x":[4]}`},
	{name: "a unit's policy tolerates its own faults", fields: []string{"y"}, nodes: []string{"s2"}, pipelines: []string{"q y s2 !skip"}, want: "q=fail run=partial_success"},
	{name: "a stage's policy tolerates its failures", fields: []string{"x = [4]"}, nodes: []string{"s1 fail; skip", "t"}, pipelines: []string{"p x s1"},
		edges: []string{"s1->t"}, want: "p=fail t=skipped:failure:s1 run=partial_success", state: `{"x":[4]}`},
	{name: "rows see what earlier rows and stages wrote", fields: []string{"x = [1,2]", "z array_append", "seen array_append"},
		nodes: []string{"s1 add z $item", "s2 see z"}, pipelines: []string{"p x s1 s2"},
		want: "s1=success s2=success p=success", state: `{"x":[1,2],"z":[1,2],"seen":["[1]","[1,2]"]}`},
	{name: "a stage gets what the previous one sent", fields: []string{"x = [1,2]", "z array_append"},
		nodes: []string{"s1 send $item", "s2", "s3 add z in:s1", "s4 send $item", "s5 add z in:s4"}, pipelines: []string{"p x s1 s2 s3", "q x s4 s5"},
		want: "s3=fail s5=success p=fail q=success", state: `{"x":[1,2],"z":[1,2]}`},
	{name: "a failing stage ends its row only", fields: []string{"x = [1,2]", "y set_once", "z array_append"},
		nodes: []string{"s1 write y $item", "s2 add z $item", "t"}, pipelines: []string{"p x s1 s2"}, edges: []string{"s2->t"},
		want: "s1=fail s2=success t=skipped:failure:s1 p=fail run=failed", state: `{"x":[1,2],"y":1,"z":[1]}`},
	{name: "a stage that never ran is skipped", fields: []string{"x = [1,2]"}, nodes: []string{"s1 fail", "s2"}, pipelines: []string{"p x s1 s2"},
		want: "s1=fail s2=skipped:failure:s1 p=fail run=failed", state: `{"x":[1,2]}`},
	{name: "no rows are fine", fields: []string{"x = []"}, nodes: []string{"s1", "t"}, pipelines: []string{"p x s1"}, edges: []string{"s1->t"},
		want: "s1=success t=success p=success run=success", state: `{"x":[]}`},
	{name: "one false condition skips the whole unit", fields: []string{"x = [1]"}, nodes: []string{"a", "s1", "s2"}, pipelines: []string{"p x s1 s2"},
		edges: []string{"a->s2 when $.x == 1"}, want: "s1=skipped:condition: s2=skipped:condition: p=skipped run=success", state: `{"x":[1]}`},
	{name: "units without edges run last, pipelines first", fields: []string{"x = [1]", "y", "seen array_append"},
		nodes: []string{"b see y; write y 9", "s1 see y", "a write y 1", "c"}, pipelines: []string{"p x s1"}, loops: []string{"l 1: b"},
		edges: []string{"c->a"}, want: "b=success s1=success", state: `{"x":[1],"y":9,"seen":["1","1"]}`},
	{name: "the body runs before until is judged", fields: []string{"x = 1"}, nodes: []string{"b write x $round"}, loops: []string{"l 5 $.x == 2: b"},
		want: "b=success l=success:until:3", state: `{"x":2}`},
	{name: "a loop without until runs all its rounds", fields: []string{"x array_append"}, nodes: []string{"b add x $round"}, loops: []string{"l 3: b"},
		want: "b=success l=success:max_iters:3", state: `{"x":[0,1,2]}`},
	{name: "a failing round is dropped and ends the loop", fields: []string{"x array_append", "y set_once"}, nodes: []string{"b add x $round", "c write y 1", "t"},
		loops: []string{"l 3: b c"}, edges: []string{"c->t"}, want: "b=success c=fail l=fail t=skipped:failure:c run=failed", state: `{"x":[0],"y":1}`},
	{name: "a body sees the one before it and the round before", fields: []string{"x array_append", "seen array_append"}, nodes: []string{"b add x $round; send $round", "c see x; add x in:b"},
		loops: []string{"l 2: b c"}, want: "l=success", state: `{"x":[0,0,1,1],"seen":["[0]","[0,0,1]"]}`},
}

// visits contains the rules about what follows an attempt, with the numbers that they have
// in the documentation of outcomes.
var visits = []rule{
	{name: "1: two requests, then success: three calls and one outcome", fields: []string{"x array_append"}, nodes: []string{"w retry 3; add x 1; again 2", "t"},
		edges: []string{"w->t"}, want: "w=success@3 t=success run=success", state: `{"x":[1]}`},
	{name: "1: allow_partial comes before auto_status, both before the edges", nodes: []string{"w retry 3; allow_partial; auto_status; again 9", "t", "u"},
		edges: []string{"w->t", "w->u on fail"}, want: "w=success@3 t=success u=skipped:condition: run=success"},
	{name: "1: $nodes never shows a request", nodes: []string{"w retry 2; again 9", "t", "u"},
		edges: []string{"w->t on done when $nodes.w.status == 'retry'", "w->u on done when $nodes.w.status == 'fail'"}, want: "w=fail@2 t=skipped:condition: u=success"},
	{name: "2: a returned fail is final", nodes: []string{"w retry 5; failed"}, want: "w=fail@1 run=failed"},
	{name: "2: a returned partial success is final", nodes: []string{"w retry 5; partial"}, want: "w=partial_success@1 run=partial_success"},
	{name: "2: an error is tried again", nodes: []string{"w retry 5; fail"}, want: "w=fail@5"},
	{name: "4: what cannot be cured is tried once", nodes: []string{"w retry 5; permanent"}, want: "w=fail@1"},
	{name: "5: no attempt left, allow_partial", fields: []string{"x"}, nodes: []string{"w retry 2; allow_partial; write x 1; again 9", "t"}, edges: []string{"w->t"},
		want: "w=partial_success@2 t=success run=partial_success", state: `{"x":1}`},
	{name: "5: no attempt left", fields: []string{"x"}, nodes: []string{"w retry 2; write x 1; again 9", "t"}, edges: []string{"w->t"},
		want: "w=fail@2 t=skipped:failure:w run=failed"},
	{name: "5: the last attempt decides, an error", nodes: []string{"w retry 3; allow_partial; again 2; fail"}, want: "w=fail@3 run=failed"},
	{name: "5: the last attempt decides, a request", nodes: []string{"w retry 2; allow_partial; flaky; again 9"}, want: "w=partial_success@2"},
	{name: "6: allow_partial does not touch a returned fail", nodes: []string{"w retry 2; allow_partial; failed"}, want: "w=fail@1 run=failed"},
	{name: "7: auto_status lifts an error", fields: []string{"x"}, nodes: []string{"w auto_status; write x 1; fail", "t"}, edges: []string{"w->t"},
		want: "w=success@1 t=success run=success"},
	{name: "7: auto_status lifts what cannot be cured", nodes: []string{"w retry 3; auto_status; permanent"}, want: "w=success@1 run=success"},
	{name: "7: auto_status lifts a panic, which is not tried again", nodes: []string{"w retry 3; auto_status; panic"}, want: "w=success@1 run=success"},
	{name: "7: auto_status lifts a partial success", nodes: []string{"w auto_status; partial"}, want: "w=success run=success"},
	{name: "7: auto_status keeps the rest of a returned fail", fields: []string{"x", "y"}, nodes: []string{"w auto_status; write x 1; send 7; failed", "t write y in:w"},
		edges: []string{"w->t"}, want: "w=success t=success", state: `{"x":1,"y":7}`},
	{name: "7: a returned fail without auto_status leaves nothing", fields: []string{"x"}, nodes: []string{"w write x 1; send 7; failed"}, want: "w=fail"},
	{name: "7: auto_status does not lift a skip", fields: []string{"x"}, nodes: []string{"a", "w auto_status"}, edges: []string{"a->w when $.x == 1"}, want: "w=skipped:condition:"},
	{name: "7: nor what the state refuses", fields: []string{"x set_once"}, nodes: []string{"a write x 1", "w auto_status; allow_partial; write x 2"}, edges: []string{"a->w"},
		want: "w=fail run=failed", state: `{"x":1}`},
	{name: "7: nor what nobody can read any more", fields: []string{"x sum = 9223372036854775807"}, nodes: []string{"a write x 1", "w auto_status; see x"}, edges: []string{"a->w"},
		want: "a=success w=fail run=failed"},
	{name: "7: auto_status lifts a result outside of the write set", nodes: []string{"w auto_status; send 1; spill"}, want: "w=success"},
	{name: "8: without a policy there is one attempt", nodes: []string{"w again 1"}, want: "w=fail@1"},
	{name: "8: attempts are those of a visit", nodes: []string{"w retry 2; again 1"}, loops: []string{"l 3: w"}, want: "w=success@6 l=success:max_iters:3"},
	{name: "9: what an attempt wrote that is tried again is dropped", fields: []string{"x array_append"}, nodes: []string{"w retry 4; allow_partial; add x 1; again 9"},
		want: "w=partial_success@4", state: `{"x":[1]}`},
	{name: "11: a panic is not tried again", nodes: []string{"w retry 3; panic"}, want: "w=fail@1"},
	{name: "29: each item has attempts of its own", fields: []string{"x = [1,2,3]", "y array_append"}, nodes: []string{"w retry 3; each x; add y $item; again 2"},
		want: "w=success@9", state: `{"x":[1,2,3],"y":[1,2,3]}`},
	{name: "29: an item that asks for too much is partial", fields: []string{"x = [1,2]", "y array_append"}, nodes: []string{"w retry 2; allow_partial; each x; add y $item; stop 2; again 9"},
		want: "w=partial_success@3 run=partial_success", state: `{"x":[1,2],"y":[1,2]}`},
	{name: "29: an item that is lifted does not count as failed", fields: []string{"x = [1,2]", "y array_append"}, nodes: []string{"w auto_status; each x; max 0; failon 1; add y $item"},
		want: "w=success@2 run=success", state: `{"x":[1,2],"y":[2]}`},
	{name: "29: a fan-out without an array has no visit to lift", fields: []string{"x = 1"}, nodes: []string{"w auto_status; each x"}, want: "w=fail run=failed", state: `{"x":1}`},
	{name: "29: a stage that is lifted does not end its row", fields: []string{"x = [1,2]", "y array_append"},
		nodes: []string{"s auto_status; failon 1; send $item", "e add y $item"}, pipelines: []string{"p x s e"}, want: "s=success e=success p=success run=success", state: `{"x":[1,2],"y":[1,2]}`},
	{name: "29: a stage that asks for too much ends its row", fields: []string{"x = [1,2]", "y array_append"},
		nodes: []string{"s retry 2; stop 2; again 9", "e add y $item"}, pipelines: []string{"p x s e"}, want: "s=fail@3 e=success@1 p=fail", state: `{"x":[1,2],"y":[2]}`},
	{name: "29: a round that is lifted does not end the loop", fields: []string{"x"}, nodes: []string{"b auto_status; write x $round; failed"}, loops: []string{"l 5 $.x == 2: b"},
		want: "b=success@3 l=success:until:3", state: `{"x":2}`},
	{name: "29: a partial round makes the loop partial", fields: []string{"x"}, nodes: []string{"b retry 2; allow_partial; write x $round; again 9"}, loops: []string{"l 5 $.x == 1: b"},
		want: "b=partial_success@4 l=partial_success:until:2 run=partial_success", state: `{"x":1}`},
}

// workflow builds the graph of a rule.
func (r rule) workflow(t *testing.T) *core.Workflow {
	w := &core.Workflow{Name: text("rule"), Mode: core.ModeDAG}
	for _, f := range r.fields {
		w.Fields = append(w.Fields, ruleField(t, f))
	}
	if !slices.ContainsFunc(w.Fields, func(f core.FieldDecl) bool { return f.Name.Value == "seen" }) {
		w.Fields = append(w.Fields, ruleField(t, "seen array_append"))
	}
	for _, n := range r.nodes {
		w.Nodes = append(w.Nodes, ruleNode(n))
	}
	for _, e := range r.edges {
		w.Edges = append(w.Edges, ruleEdge(e))
	}
	for _, p := range r.pipelines {
		words := strings.Fields(p)
		line := &core.Pipeline{ID: text(words[0]), Items: text("$." + words[1]), Stages: texts(words[2:])}
		if words[len(words)-1] == "!skip" {
			line.Stages, line.OnError = line.Stages[:len(line.Stages)-1], policy("skip", 0, "")
		}
		w.Pipelines = append(w.Pipelines, line)
	}
	for _, l := range r.loops {
		head, body, _ := strings.Cut(l, ":")
		words := strings.SplitN(head, " ", 3)
		loop := &core.Loop{ID: text(words[0]), MaxIters: number(int(whole(words[1]))), Body: texts(strings.Fields(body)), BodyIsList: true}
		if len(words) == 3 {
			loop.Until = condition(words[2])
		}
		w.Loops = append(w.Loops, loop)
	}
	return w
}

func whole(s string) int64 {
	var n int64
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(err)
	}
	return n
}

func ruleField(t *testing.T, s string) core.FieldDecl {
	s, def, has := strings.Cut(s, " = ")
	name, merge, _ := strings.Cut(s, " ")
	d := core.FieldDecl{Name: text(name), Merge: text(merge), Default: value.Missing}
	switch merge {
	case "array_append":
		d.Type = &value.Type{Kind: value.ArrayType}
	case "sum":
		d.Type = &value.Type{Kind: value.IntegerType}
	}
	if has {
		v, err := value.ParseJSON([]byte(def))
		if err != nil {
			t.Fatal(err)
		}
		d.Default = v
	}
	return d
}

func ruleEdge(s string) *core.Edge {
	s, cond, has := strings.Cut(s, " when ")
	s, otherwise := strings.CutSuffix(s, " else")
	s, handles := strings.CutSuffix(s, " handles")
	s, on, _ := strings.Cut(s, " on ")
	from, to, _ := strings.Cut(s, "->")
	e := &core.Edge{From: text(from), To: text(to), On: text(on), Else: otherwise}
	if has {
		e.When = condition(cond)
	}
	if handles {
		e.Handles = &source.Located[bool]{Value: true}
	}
	return e
}

// ruleNode parses a node; its handler executes the actions in order.
func ruleNode(s string) *core.Node {
	id, rest, _ := strings.Cut(s, " ")
	n := &core.Node{ID: text(id), Kind: text("fn"), HasWrites: true}
	var actions [][]string
	for _, a := range strings.Split(rest, "; ") {
		words := strings.Fields(a)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "retry":
			n.OnError = policy("retry", int(whole(words[1])), "")
		case "skip", "fail_run":
			n.OnError = policy(words[0], 0, "")
		case "each":
			n.ForEach = &core.ForEach{Source: text("$." + words[1])}
		case "max":
			n.ForEach.MaxFailures = &source.Int{Value: int(whole(words[1]))}
		case "all_done":
			n.Join = core.JoinOf(text("all_done"))
		case "allow_partial":
			n.AllowPartial = true
		case "auto_status":
			n.AutoStatus = true
		case "see":
			n.Reads, n.Writes = append(n.Reads, text(words[1])), append(n.Writes, text("seen"))
		case "write", "add":
			n.Writes = append(n.Writes, text(words[1]))
		}
		actions = append(actions, words)
	}
	n.Handler = core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) { return act(actions, in) })
	return n
}

func act(actions [][]string, in core.Input) (core.Result, error) {
	res := core.Result{Delta: map[string]any{}}
	for _, a := range actions {
		switch a[0] {
		case "fail":
			return res, errors.New("wanted")
		case "permanent":
			return res, core.Permanent(errors.New("wanted"))
		case "panic":
			panic("wanted")
		case "again":
			if in.Attempt() <= int(whole(a[1])) {
				res.Status = core.Retry
				return res, nil
			}
		case "failed":
			res.Status = core.Fail
		case "partial":
			res.Status = core.PartialSuccess
		case "spill":
			res.Delta["undeclared"] = int64(1)
		case "failon":
			if v, _ := in.Item(); v == whole(a[1]) {
				return res, errors.New("wanted")
			}
		case "stop":
			if v, _ := in.Item(); v == whole(a[1]) {
				return res, nil
			}
		case "flaky":
			if in.Attempt() == 1 {
				return res, errors.New("wanted")
			}
		case "see":
			seen := "missing"
			if v, ok := in.Get(a[1]); ok {
				seen = value.JSON(v)
			}
			res.Delta["seen"] = []any{seen}
		case "write", "add", "send":
			v, err := operand(a[len(a)-1], in)
			if err != nil {
				return res, err
			}
			switch a[0] {
			case "send":
				res.EdgeOutput, res.HasEdgeOutput = v, true
			case "add":
				res.Delta[a[1]] = []any{v}
			default:
				res.Delta[a[1]] = v
			}
		}
	}
	return res, nil
}

func operand(s string, in core.Input) (any, error) {
	if id, ok := strings.CutPrefix(s, "in:"); ok {
		v, sent := in.EdgeInput(id)
		if !sent {
			return nil, fmt.Errorf("nothing from %s", id)
		}
		return v, nil
	}
	switch s {
	case "$item":
		v, _ := in.Item()
		return v, nil
	case "$round":
		return int64(in.Round()), nil
	}
	return whole(s), nil
}

func TestOracleFollowsRules(t *testing.T) {
	for _, r := range slices.Concat(rules, visits) {
		t.Run(r.name, func(t *testing.T) { r.check(t, Oracle(r.workflow(t), nil, nil)) })
	}
}

// check compares an outcome with the rule.
func (r rule) check(t *testing.T, out *Outcome) {
	t.Helper()
	for _, w := range strings.Fields(r.want) {
		id, _, _ := strings.Cut(w, "=")
		if got := r.describe(id, out, w); got != w {
			t.Errorf("got %s, want %s", got, w)
		}
	}
	want := r.state
	if want == "" {
		want = "{}"
	}
	if got := value.JSON(out.State); got != want {
		t.Errorf("state\n got %s\nwant %s", got, want)
	}
}

// describe formats the outcome of id with as much detail as want has.
func (r rule) describe(id string, out *Outcome, want string) string {
	if id == "run" {
		return "run=" + string(out.Status)
	}
	if u, ok := out.Units[id]; ok {
		if strings.Contains(want, ":") {
			return fmt.Sprintf("%s=%s:%s:%d", id, u.Status, u.Reason, u.Rows)
		}
		return fmt.Sprintf("%s=%s", id, u.Status)
	}
	n := out.Nodes[id]
	if strings.Contains(want, "@") {
		return fmt.Sprintf("%s=%s@%d", id, n.Status, n.Attempts)
	}
	if n.Status == core.Skipped && strings.Contains(want, ":") {
		return fmt.Sprintf("%s=skipped:%s:%s", id, n.Skip, n.Cause)
	}
	return fmt.Sprintf("%s=%s", id, n.Status)
}
