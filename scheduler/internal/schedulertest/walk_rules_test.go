package schedulertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// walkRule is a handwritten walk with the result that both the oracle and the machine must
// have.
type walkRule struct {
	name, doc string
	path      string
	end       string // "success", or the class of the failure and the node where it occurred
	calls     string // "a2 b1"; "" means no check
	nodes     string // "a fail"; "" means no check
	context   string // "k=1"; "" means no check, "k=" means that k is missing. Fields count, too
}

var walkRules = []walkRule{
	{name: "the retry loop ends with success", doc: `
		w attempts=3 does retry retry success
		start -> w -> exit`,
		path: "start w exit", end: "success", calls: "w3", nodes: "w success"},
	{name: "a fail is final", doc: `
		w policy=standard does fail success
		start -> w -> exit`,
		path: "start w exit", end: "success", calls: "w1", nodes: "w fail"},
	{name: "an error is tried again", doc: `
		w attempts=3 does error error success
		start -> w -> exit`,
		path: "start w exit", end: "success", calls: "w3", nodes: "w success"},
	{name: "a permanent error and a panic are not", doc: `
		w attempts=3 does permanent success
		v attempts=3 does panic success
		start -> w -> v -> exit`,
		path: "start w v exit", end: "success", calls: "w1 v1", nodes: "w fail, v fail"},
	{name: "one attempt is the default, the graph may say otherwise", doc: `
		graph retries=1
		w does retry success
		v attempts=1 does retry success
		start -> w -> v -> exit`,
		path: "start w v exit", end: "success", calls: "w2 v1", nodes: "w success, v fail"},
	{name: "allow_partial makes something of a last retry only", doc: `
		a attempts=2 allow_partial does retry
		b attempts=2 allow_partial does retry error
		c attempts=2 allow_partial does error retry
		d allow_partial does fail
		start -> a -> b -> c -> d -> exit`,
		path: "start a b c d exit", end: "success", calls: "a2 b2 c2 d1", nodes: "a partial_success, b fail, c partial_success, d fail"},
	{name: "auto_status lifts all but a skip", doc: `
		a auto_status does fail
		b auto_status does partial_success
		c auto_status does permanent
		d auto_status does skipped
		e attempts=3 allow_partial auto_status does retry
		start -> a -> b -> c -> d -> e -> exit`,
		path: "start a b c d e exit", end: "success", calls: "e3", nodes: "a success, b success, c success, d skipped, e success"},
	{name: "each visit has the whole budget", doc: `
		w attempts=2 does retry success | retry success | success
		start -> w
		w -> w [when=$.context['internal.node_visit_count'] < 3]
		w -> exit`,
		path: "start w w w exit", end: "success", calls: "w5"},
	{name: "what a retried attempt says is dropped, what the last one says is kept", doc: `
		a attempts=2 does retry,k=1 success,j=2
		b attempts=2 does retry,x=1 retry,y=2
		c does error,z=1
		start -> a -> b -> c -> exit`,
		path: "start a b c exit", end: "success", context: "k= j=2 x= y=2 z="},
	{name: "what a fail says counts before the edges are looked at", doc: `
		a does fail,k=yes
		start -> a
		a -> b [when=$.context.k == 'yes']
		a -> c
		b -> exit
		b
		c
		c -> exit`,
		path: "start a b exit", end: "success", context: "k=yes"},
	{name: "a refused write is a failure that no setting lifts", doc: `
		graph field=f:set_once
		a writes=f allow_partial auto_status does success,write=f,k=1
		b writes=f auto_status does success,write=f,k=2
		start -> a -> b -> exit`,
		path: "start a b exit", end: "success", nodes: "a success, b fail", context: "k=1 failure_class=deterministic"},

	{name: "a condition beats everything, the heaviest, then the smallest id", doc: `
		a does success,label=x,next=e,k=1
		b
		c
		d
		e
		start -> a
		a -> d [when=$.context.k == '1'; weight=1]
		a -> c [when=$.context.k == '1'; weight=2]
		a -> b [when=outcome == 'success'; weight=2]
		a -> e [label=x; weight=9]
		b -> exit
		c -> exit
		d -> exit
		e -> exit`,
		path: "start a b exit", end: "success"},
	{name: "a label takes the first edge in the file without a condition", doc: `
		a does success,label=approve
		b
		c
		start -> a
		a -> b [label=approve; when=outcome == 'fail']
		a -> c [label=[A] Approve]
		a -> b [label=approve; weight=9]
		b -> exit
		c -> exit`,
		path: "start a c exit", end: "success"},
	{name: "a condition compares labels as they are written", doc: `
		a does success,label=Approve
		b
		c
		start -> a
		a -> b [when=preferred_label == 'approve']
		a -> c [when=preferred_label == 'Approve']
		b -> exit
		c -> exit`,
		path: "start a c exit", end: "success", context: "preferred_label=Approve"},
	{name: "suggestions in their order, before weights", doc: `
		a does success,next=nobody,next=c,next=b
		b
		c
		start -> a
		a -> b [weight=9]
		a -> c
		b -> exit
		c -> exit`,
		path: "start a c exit", end: "success"},
	{name: "weights, then ids", doc: `
		a
		b
		c
		start -> a
		a -> c
		a -> b
		a -> exit [weight=-1]
		b -> exit
		c -> exit`,
		path: "start a b exit", end: "success"},
	{name: "outcome is never retry", doc: `
		a attempts=2 does retry
		start -> a
		a -> exit [when=outcome == 'retry']
		a -> b [when=outcome != 'retry']
		b
		b -> exit`,
		path: "start a b exit", end: "success"},
	{name: "a conditional is transparent", doc: `
		a does fail,transient,label=later
		d kind=conditional
		b
		c
		start -> a -> d
		d -> b [when=outcome == 'success']
		d -> c [when=outcome == 'fail' && $.context.failure_class == 'transient_infra' && preferred_label == 'later']
		b -> exit
		c -> exit`,
		path: "start a d c exit", end: "success", nodes: "d success"},
	{name: "two conditionals in a row see the same stage", doc: `
		a does partial_success
		d kind=conditional
		e kind=conditional
		start -> a -> d -> e
		e -> exit [when=outcome == 'partial_success']`,
		path: "start a d e exit", end: "success"},
	{name: "a conditional that a restart leads to sees itself", doc: `
		a
		d kind=conditional
		e kind=conditional
		start -> a
		a -> d [restart]
		d -> e [restart; when=outcome == 'success']
		e -> exit [when=outcome == 'success']`,
		path: "start a d e exit", end: "success"},
	{name: "a conditional counts its own visits", doc: `
		a
		d kind=conditional
		start -> a -> a2 -> d
		a2
		d -> a2 [when=$.context['internal.node_visit_count'] < 2]
		d -> exit`,
		path: "start a a2 d a2 d exit", end: "success"},

	{name: "a fail goes on along an edge without a condition", doc: `
		a does fail
		b
		start -> a -> b -> exit`,
		path: "start a b exit", end: "success", nodes: "a fail"},
	{name: "a fail without an edge goes to its target", doc: `
		graph target=b
		a target=nobody fallback=c does fail | success
		b
		c
		start -> a
		a -> exit [when=outcome == 'success']
		b -> exit
		c -> a`,
		path: "start a c a exit", end: "success"},
	{name: "or to that of the graph", doc: `
		graph target=nobody fallback=b
		a does fail
		b
		start -> a
		a -> exit [when=outcome == 'success']
		b -> exit`,
		path: "start a b exit", end: "success"},
	{name: "or nowhere", doc: `
		a does fail
		start -> a
		a -> exit [when=outcome == 'success']`,
		path: "start a", end: "no_route a"},
	{name: "a success without an edge has nowhere to go, whatever its target", doc: `
		a target=b does success
		b
		start -> a
		a -> exit [when=outcome == 'fail']
		b -> exit`,
		path: "start a", end: "no_route a"},

	{name: "a gate sends the walk back", doc: `
		plan
		build does success
		check gate target=build does fail | success
		start -> plan -> build -> check -> exit`,
		path: "start plan build check build check exit", end: "success"},
	{name: "a gate that was not visited is open", doc: `
		a
		check gate
		start -> a
		a -> exit
		a -> check [when=outcome == 'fail']
		check -> exit`,
		path: "start a exit", end: "success"},
	{name: "partial_success passes, skipped does not", doc: `
		a gate does partial_success
		b gate does skipped
		start -> a -> b -> exit`,
		path: "start a b", end: "goal_gate b"},
	{name: "the last outcome counts", doc: `
		a gate does success | fail
		start -> a
		a -> a [when=outcome == 'success']
		a -> exit`,
		path: "start a a", end: "goal_gate a"},
	{name: "the gate that was completed first comes first", doc: `
		z gate target=b does fail
		a gate target=c does fail
		b does fail
		c
		graph jumps=1
		start -> z -> a -> exit
		b -> exit
		c -> exit`,
		path: "start z a b", end: "goal_gate z"},
	{name: "the exit is not a target of a gate", doc: `
		graph target=exit fallback=b
		a gate target=exit does fail
		b
		graph jumps=1
		start -> a -> exit
		b -> exit`,
		path: "start a b", end: "goal_gate a"},
	{name: "ten jumps by default", doc: `
		a gate target=a does fail,transient
		start -> a -> exit`,
		path: "start" + strings.Repeat(" a", 11), end: "goal_gate a"},

	{name: "as many visits as it says", doc: `
		graph visits=9
		a visits=3
		start -> a -> a`,
		path: "start a a a", end: "visit_limit a"},
	{name: "the graph says it for all", doc: `
		graph visits=2
		a
		start -> a -> a`,
		path: "start a a", end: "visit_limit a"},
	{name: "the third failure of a kind ends the run", doc: `
		a does fail,note=Row_17_broke | fail,note=row_9_broke | fail,note=row_3_BROKE
		start -> a
		a -> a [when=$.context['internal.node_visit_count'] < 5]
		a -> exit`,
		path: "start a a a", end: "failure_cycle a"},
	{name: "other failures and transient ones do not", doc: `
		a does fail,note=x | fail,note=y | fail,transient | fail,transient | fail,transient | fail,note=x | success
		start -> a
		a -> a [when=outcome == 'fail']
		a -> exit`,
		path: "start a a a a a a a exit", end: "success"},
	{name: "a success in between resets nothing", doc: `
		graph repeat=2
		a does fail | success | fail
		start -> a
		a -> a [when=$.context['internal.node_visit_count'] < 5]`,
		path: "start a a a", end: "failure_cycle a"},

	{name: "a restart forgets the context and the outcomes, not the visits", doc: `
		a does success,k=1
		check gate does fail | success
		b does success | success,j=2
		start -> a -> check -> b
		b -> b [restart; when=$.context.k == '1']
		b -> exit`,
		path: "start a check b b exit", end: "success", context: "k= j=2"},
	{name: "a transient failure may cross", doc: `
		a does fail,transient | success
		start -> a
		a -> a [restart; when=outcome == 'fail']
		a -> exit`,
		path: "start a a exit", end: "success"},
	{name: "another one may not", doc: `
		a does fail | success
		start -> a
		a -> a [restart; when=outcome == 'fail']
		a -> exit`,
		path: "start a", end: "restart_blocked a"},
	{name: "nor may a skip", doc: `
		a does skipped
		start -> a
		a -> a [restart]`,
		path: "start a", end: "restart_blocked a"},

	{name: "an unanswered gate follows no plain edge", doc: `
		h kind=human does fail
		start -> h -> exit`,
		path: "start h", end: "no_route h"},
	{name: "but a condition, or a target", doc: `
		h kind=human does fail
		g kind=human target=b does fail
		b
		start -> h
		h -> g [when=outcome == 'fail']
		h -> exit
		g -> exit
		b -> exit`,
		path: "start h g b exit", end: "success"},
	{name: "whatever a setting makes of an unanswered gate", doc: `
		h kind=human auto_status does fail
		b
		start -> h
		h -> b [when=outcome == 'fail']
		h -> exit
		b -> exit`,
		path: "start h", end: "no_route h", nodes: "h success"},
	{name: "the answer picks the edge", doc: `
		h kind=human does success,label=[N]No
		b
		start -> h
		h -> exit [label=Yes]
		h -> b [label=No]
		b -> exit`,
		path: "start h b exit", end: "success"},
	{name: "a condition swallows the answer", doc: `
		h kind=human does success,label=No
		b
		start -> h
		h -> exit [when=outcome == 'success']
		h -> b [label=No]
		b -> exit`,
		path: "start h exit", end: "success"},

	{name: "branches run once, the join is after all of them", doc: `
		f kind=parallel
		a does success,k=1
		b
		m
		start -> f -> a -> m -> exit
		f -> b -> m`,
		path: "start f m exit", end: "success", calls: "a1 b1 m1", context: "k="},
	{name: "wait_all is a partial success if one fails", doc: `
		f kind=parallel join=wait_all
		a does fail
		b
		m
		start -> f -> a -> m
		f -> b -> m
		m -> exit`,
		path: "start f m exit", end: "success", nodes: "f partial_success"},
	{name: "even if all fail", doc: `
		f kind=parallel join=wait_all
		a does fail
		m
		start -> f -> a -> m -> exit`,
		path: "start f m exit", end: "success", nodes: "f partial_success"},
	{name: "a partial success is neither good nor bad", doc: `
		f kind=parallel join=first_success
		g kind=parallel join=wait_all
		a does partial_success
		b does partial_success
		m
		start -> g -> b -> f -> a -> m -> exit
		f -> m [when=outcome == 'fail']`,
		path: "start g f m exit", end: "success", nodes: "g success, f fail"},
	{name: "k_of_n runs the retry loop in its branches", doc: `
		f kind=parallel join=k_of_n:2
		a attempts=2 does retry success
		b
		m
		start -> f -> a -> m -> exit
		f -> b -> m`,
		path: "start f m exit", end: "success", calls: "a2 b1", nodes: "f success"},
	{name: "first_success gives the others up", doc: `
		f kind=parallel join=first_success
		a does success,after=5
		b does success,after=1
		m
		start -> f -> a -> m -> exit
		f -> b -> m`,
		path: "start f m exit", end: "success", nodes: "f success, b success"},
	{name: "quorum of a share that is a whole number", doc: `
		f kind=parallel join=quorum:0.6
		a
		b
		c
		d does fail
		e does fail
		m
		start -> f -> a -> m -> exit
		f -> b -> m
		f -> c -> m
		f -> d -> m
		f -> e -> m`,
		path: "start f m exit", end: "success", nodes: "f success"},
	{name: "a failed join takes the conditional edges of the fork", doc: `
		f kind=parallel join=k_of_n:2
		a does fail
		b
		m
		c
		start -> f -> a -> m -> exit
		f -> b -> m
		f -> c [when=outcome == 'fail']
		c -> exit`,
		path: "start f c exit", end: "success", nodes: "f fail"},
	{name: "or the target, or ends the run", doc: `
		f kind=parallel join=k_of_n:2 target=g
		g kind=parallel join=first_success
		a does fail
		b does fail
		m
		start -> f -> a -> m -> exit
		g -> b -> m`,
		path: "start f g", end: "no_route g"},
	{name: "fail_fast ends the others", doc: `
		f kind=parallel join=wait_all errors=fail_fast
		a does success,after=5
		b does fail,after=1
		m
		start -> f -> a -> m -> exit
		f -> b -> m`,
		path: "start f m exit", end: "success", nodes: "f partial_success"},
	{name: "ignore counts no failure", doc: `
		f kind=parallel join=wait_all errors=ignore
		a
		b does fail
		m
		start -> f -> a -> m -> exit
		f -> b -> m`,
		path: "start f m exit", end: "success", nodes: "f success"},
	{name: "two branches may not both set a field once", doc: `
		graph field=x:set_once
		f kind=parallel auto_status
		a writes=x does success,write=x
		b writes=x does success,write=x
		m
		c
		start -> f -> a -> m -> exit
		f -> b -> m
		f -> c [when=outcome == 'fail']
		c -> exit`,
		path: "start f c exit", end: "success", nodes: "f fail"},
	{name: "what branches of branches write is merged", doc: `
		graph field=n:sum
		f kind=parallel
		g kind=parallel
		a writes=n does success,write=n
		b writes=n does success,write=n
		c writes=n does success,write=n
		m
		start -> f -> g -> a
		g -> b
		g -> m [when=outcome == 'fail']
		f -> c -> m -> exit`,
		path: "start f m exit", end: "success", context: "n=3"},
	{name: "the join is the smallest id after all branches", doc: `
		f kind=parallel
		a
		b
		c
		m
		n
		start -> f -> a -> n -> exit
		a -> m
		a -> c
		f -> b -> n
		b -> m
		c -> exit
		m -> exit`,
		path: "start f m exit", end: "success"},
}

// check compares the result of a run with the rule.
func (r *walkRule) check(t *testing.T, runner string, out *WalkOutcome, calls map[string]int, context *value.Object) {
	t.Helper()
	end := string(out.Status)
	if out.Class != "" {
		end = out.Class + " " + out.At
	}
	if path := strings.Join(out.Path, " "); path != r.path || end != r.end {
		t.Errorf("%s: %s, %s, want %s, %s", runner, path, end, r.path, r.end)
	}
	for _, want := range strings.Fields(r.calls) {
		i := strings.IndexAny(want, "0123456789")
		if id := want[:i]; fmt.Sprint(calls[id]) != want[i:] {
			t.Errorf("%s: %d calls of %s, want %s", runner, calls[id], id, want[i:])
		}
	}
	for want := range strings.SplitSeq(r.nodes, ", ") {
		if id, status, _ := strings.Cut(want, " "); id != "" && out.Nodes[id].Status.String() != status {
			t.Errorf("%s: %s is %s, want %s", runner, id, out.Nodes[id].Status, status)
		}
	}
	for _, want := range strings.Fields(r.context) {
		k, text, _ := strings.Cut(want, "=")
		v, ok := context.Get(k)
		if !ok {
			v, ok = out.State.Get(k)
		}
		if got := fmt.Sprint(v); ok && got != text || !ok && text != "" {
			t.Errorf("%s: the context has %s = %s, want %q", runner, k, got, text)
		}
	}
}

// TestWalkRulesOnOracle runs the handwritten walks with the oracle.
func TestWalkRulesOnOracle(t *testing.T) {
	for _, r := range walkRules {
		t.Run(r.name, func(t *testing.T) {
			s := scripted(r.doc)
			s.instant = true
			w, reg := s.workflow()
			out := WalkOracle(w, reg, nil, 0, func(fork string, _ int) (begun, ended []string) {
				for _, e := range w.Edges {
					if e.From.Value == fork && e.When == nil {
						begun = append(begun, e.To.Value)
					}
				}
				return begun, byTime(s, begun)
			})
			r.check(t, "oracle", out, s.calls, out.Context)
		})
	}
}

// byTime sorts branches by their durations.
func byTime(s *walkScript, ids []string) []string {
	long := func(id string) int {
		if s.handlers[id] == nil {
			return 0
		}
		_, after, ok := strings.Cut(s.handlers[id].visits[0][0], "after=")
		if !ok {
			return 0
		}
		return integer(after[:1]).Value
	}
	return slices.SortedStableFunc(slices.Values(ids), func(a, b string) int { return long(a) - long(b) })
}

// TestWalkRulesOnEngine runs the handwritten walks with the engine, in virtual time.
func TestWalkRulesOnEngine(t *testing.T) {
	for _, r := range walkRules {
		t.Run(r.name, func(t *testing.T) {
			for _, limit := range []int{1, 8} {
				synctest.Test(t, func(t *testing.T) {
					s := scripted(r.doc)
					w, reg := s.workflow()
					p, ds := plan.Compile(w, reg, plan.Options{})
					if p == nil {
						t.Fatal(ds)
					}
					report, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: limit})
					out := WalkOutcomeOf(p, report, nil)
					r.check(t, fmt.Sprint("limit ", limit), out, s.calls, out.Context)
				})
			}
		})
	}
}

// TestWalkRulesHostile runs the handwritten walks that do not depend on time with the
// hostile driver.
func TestWalkRulesHostile(t *testing.T) {
	for _, r := range walkRules {
		if strings.Contains(r.doc, "after=") {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			for seed := range some(5) {
				for _, c := range faultModes(seed) {
					s := scripted(r.doc)
					w, reg := s.workflow()
					p, ds := plan.Compile(w, reg, plan.Options{})
					if p == nil {
						t.Fatal(ds)
					}
					report, _, err := c.Hostile.Run(p, nil, c.Options)
					if err != nil {
						t.Fatal(err)
					}
					out := WalkOutcomeOf(p, report, nil)
					again := r
					again.calls = "" // lost calls are repeated
					again.check(t, fmt.Sprintf("%+v", c), out, nil, out.Context)
				}
			}
		})
	}
}
