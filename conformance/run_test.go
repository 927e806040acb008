package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// variant is a way to run a document. The outcome must not depend on it.
type variant struct {
	limit      int // 0 means the limit of the document
	barrier    bool
	seed       int  // of the durations
	unobserved bool // there is no event listener, and executions take no time
}

func (v variant) String() string {
	return fmt.Sprintf("limit=%d barrier=%v durations=%d unobserved=%v", v.limit, v.barrier, v.seed, v.unobserved)
}

// limits returns the limits at which a case is run.
func (w *want) limits() []int {
	if w.Limits == nil {
		return []int{1, 2, 8}
	}
	return w.Limits
}

// checkLimits reports expectations about limits at which the case is not run: a mistake
// in want.json that would otherwise never be noticed.
func (w *want) checkLimits(t *testing.T) {
	t.Helper()
	run := map[string]bool{}
	for _, n := range w.limits() {
		run[fmt.Sprint(n)] = true
	}
	if (w.Trace != nil || w.Events != nil) && !run["1"] && !run["0"] {
		t.Error("trace and events are those of the limit 1, with which the case is not run")
	}
	for _, n := range append(sortedKeys(w.Peak), sortedKeys(w.Starts)...) {
		if !run[n] {
			t.Errorf("the case is not run with the limit %s", n)
		}
	}
}

// variants returns the ways to run a case, the simplest first.
func (w *want) variants() []variant {
	limits := w.limits()
	var list []variant
	for _, barrier := range []bool{false, true} {
		for _, limit := range limits {
			list = append(list, variant{limit: limit, barrier: barrier})
			if !w.Time {
				list = append(list, variant{limit: limit, barrier: barrier, seed: 1 + len(list)},
					variant{limit: limit, barrier: barrier, unobserved: true})
			}
		}
	}
	return list
}

// outcome is the result of a run.
type outcome struct {
	report *core.Report
	rec    *recorder
	events []core.Event
	// startErr is the error of a run that did not begin.
	startErr error
}

// run executes a plan in virtual time. A run that hangs, or leaves a goroutine behind,
// is thus detected at once.
func run(t *testing.T, p *plan.Plan, inputs map[string]any, v variant) (o *outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := &outcome{rec: newRecorder(v)}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), recorderKey{}, x.rec))
		defer cancel()
		x.rec.cancel = cancel
		var err error
		options := scheduler.Options{Run: "run", Concurrency: v.limit, Barrier: v.barrier}
		if !v.unobserved {
			options.Listener = func(e core.Event) { x.events = append(x.events, e) }
		}
		x.report, err = scheduler.Run(ctx, p, inputs, options)
		if x.startErr = err; x.report != nil {
			x.startErr = nil
		}
		o = x
	})
	return o
}

// verify checks the log of the run against the rules.
func (o *outcome) verify(t *testing.T, p *plan.Plan, v variant) {
	t.Helper()
	if v.unobserved {
		return
	}
	r, err := verify.Events(p, o.events)
	if err != nil {
		t.Errorf("with %v: %v", v, err)
		return
	}
	for _, x := range r.Violations {
		t.Errorf("with %v: %v", v, x)
	}
}

// fingerprint formats everything that must not depend on the variant.
func (o *outcome) fingerprint() map[string]any {
	var nodes, units, seen, events []string
	for _, n := range o.report.Nodes() {
		nodes = append(nodes, fmt.Sprintf("%s %s reason=%q cause=%q handled=%v attempts=%d items=%d failed=%d output=%s failure=%s",
			n.ID, n.Status, n.Reason, n.Cause, n.Handled, n.Attempts, n.Items, n.Failed, jsonOf(n.Output), failureText(n.Failure)))
	}
	for _, u := range o.report.Units() {
		units = append(units, fmt.Sprintf("%s %s %d %s", u.ID, u.Status, u.Rows, u.Reason))
	}
	for _, x := range o.rec.sorted() {
		seen = append(seen, fmt.Sprintf("%s %s", x.key, jsonOf(plainJSON(x.input))))
	}
	for _, e := range o.events {
		events = append(events, eventKey(e)+" "+e.Status+" "+e.Reason)
	}
	slices.Sort(events)
	return map[string]any{
		"status": o.report.Status, "error": fmt.Sprint(o.report.Err), "state": value.JSON(o.report.State),
		"nodes": nodes, "units": units, "executions": seen, "events": events,
	}
}

func failureText(f *core.Failure) string {
	if f == nil {
		return ""
	}
	return f.Class + ": " + f.Message
}

func jsonOf(v any) string {
	if value.IsMissing(v) {
		return "missing"
	}
	c, err := value.Canonical(v)
	if err != nil {
		return err.Error()
	}
	return value.JSON(c)
}

// runAll runs a case in all variants and compares the outcomes.
func (c *testCase) runAll(t *testing.T, p *plan.Plan) {
	t.Helper()
	c.want.checkLimits(t)
	var first map[string]any
	for _, v := range c.want.variants() {
		o := run(t, p, c.inputs, v)
		if o == nil {
			return
		}
		if (o.startErr != nil) != (c.want.Run == "refused") {
			t.Errorf("with %v: the run was refused: %v", v, o.startErr)
			return
		}
		if o.startErr != nil {
			c.checkText(t, o.startErr.Error())
			continue
		}
		c.want.check(t, o)
		o.verify(t, p, v)
		if v.seed == 0 && !v.barrier && !v.unobserved {
			c.want.checkTimes(t, o, v.limit)
		}
		if c.want.Time {
			continue // which nodes are in flight when a run is stopped depends on the limit
		}
		got := o.fingerprint()
		if first == nil {
			first = got
		}
		if v.unobserved {
			delete(got, "events")
		}
		for _, k := range sortedKeys(got) {
			same(t, fmt.Sprintf("%s with %v, want as before", k, v), got[k], first[k])
		}
		if t.Failed() {
			t.Logf("with %v: trace %s", v, excerpt(fmt.Sprint(o.rec.trace()), 0))
			return
		}
	}
}
