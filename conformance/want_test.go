package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// want holds the expected results of a run. Absent keys are not checked, except Run,
// Nodes and State.
type want struct {
	// Run is the status of the run; success if absent. "refused" means that the run
	// does not begin because of its starting values; the file says contains parts of
	// the error.
	Run string `json:"run"`
	// Nodes are the statuses of the nodes that do not end as a success; "none" means
	// that the node is never reached.
	Nodes map[string]string `json:"nodes"`
	// State is the whole final state; {} if absent.
	State map[string]any `json:"state"`
	// Skips are the reasons of skipped nodes: "failure X" (the root cause is the
	// failure of X), "false X" (the edge from X requires something that was not true),
	// "all X" (every predecessor was skipped, starting with X), "lost X" (cancelled by
	// a race that X won), or the reason of a join with too few predecessors in its own
	// words.
	Skips map[string]string `json:"skips"`
	// Error is a part of the run's error, "" if there is none. Failures are parts of
	// the errors of nodes, Classes their classes.
	Error    *string           `json:"error"`
	Failures map[string]string `json:"failures"`
	Classes  map[string]string `json:"classes"`
	// Handled lists the failed nodes whose failure is tolerated or handled; [] if there
	// are none.
	Handled []string `json:"handled"`
	// Units describe how pipelines and loops end: status, rows or rounds, reason.
	Units map[string]string `json:"units"`
	// Outputs are the outputs of nodes along their edges. Attempts, Items and Failed
	// are counts by node.
	Outputs  map[string]any `json:"outputs"`
	Attempts map[string]int `json:"attempts"`
	Items    map[string]int `json:"items"`
	Failed   map[string]int `json:"failed"`
	// Trace lists all executions in the order in which they start at limit 1: node,
	// #item, @round, !attempt from the second on.
	Trace []string `json:"trace"`
	// Saw holds inputs of executions: state, args, edges, item, index, loop. Only the
	// listed inputs are compared.
	Saw map[string]map[string]any `json:"saw"`
	// Peak is the maximum number of concurrent executions, by limit, then by node or
	// "total". Starts are the starts of executions in milliseconds, by limit. Every
	// execution takes 10 ms.
	Peak   map[string]map[string]int   `json:"peak"`
	Starts map[string]map[string]int64 `json:"starts"`
	// Events lists all events of the types that occur in it, in their order at limit 1:
	// type, then the execution.
	Events []string `json:"events"`
	// Limits are the limits to run with, if not 1, 2 and 8; 0 means the limit of the
	// document. Time means that the outcome depends on time, for example because the
	// run is stopped, so that it is run with equal durations only.
	Limits []int `json:"limits"`
	Time   bool  `json:"time"`
}

// check compares the results that must be the same at every limit.
func (w *want) check(t *testing.T, o *outcome) {
	t.Helper()
	r := o.report
	if run := cmp.Or(w.Run, "success"); string(r.Status) != run {
		t.Errorf("the run ended as %s (%v), want %s", r.Status, r.Err, run)
	}
	if w.State == nil {
		w.State = map[string]any{}
	}
	same(t, "state", r.State.Map(), w.State)
	w.checkNodes(t, r)
	w.checkUnits(t, r)
	if w.Error != nil {
		if got := fmt.Sprint(r.Err); *w.Error == "" && r.Err != nil || !strings.Contains(got, *w.Error) {
			t.Errorf("the run's error is %s, want %q in it", got, *w.Error)
		}
	}
	saw := map[string]handlerInput{}
	for _, x := range o.rec.list {
		saw[x.key] = x.input
	}
	for key, parts := range w.Saw {
		got, ok := saw[key]
		if !ok {
			t.Errorf("%s was not executed", key)
			continue
		}
		all := plainJSON(got).(map[string]any)
		for part, want := range parts {
			same(t, key+" saw "+part, all[part], want)
		}
	}
}

func (w *want) checkNodes(t *testing.T, r *core.Report) {
	t.Helper()
	known := map[string]bool{}
	for _, n := range r.Nodes() {
		known[n.ID] = true
		if w.Handled != nil && n.Handled != slices.Contains(w.Handled, n.ID) {
			t.Errorf("node %s: handled is %v", n.ID, n.Handled)
		}
		status := n.Status.String()
		if n.Status == core.StatusNone {
			status = "none"
		}
		if want := cmp.Or(w.Nodes[n.ID], "success"); status != want {
			t.Errorf("node %s ended as %s (%s%v), want %s", n.ID, status, n.Reason, n.Failure, want)
		}
		if want, ok := w.Skips[n.ID]; ok {
			if got := formatSkip(n); got != want {
				t.Errorf("node %s was skipped by %q (%s), want %q", n.ID, got, n.Reason, want)
			}
		}
		if want, ok := w.Failures[n.ID]; ok && (n.Failure == nil || !strings.Contains(n.Failure.Message, want)) {
			t.Errorf("node %s has the failure %v, want %q", n.ID, n.Failure, want)
		}
		if want, ok := w.Classes[n.ID]; ok && (n.Failure == nil || n.Failure.Class != want) {
			t.Errorf("node %s has the failure %+v, want class %q", n.ID, n.Failure, want)
		}
		if want, ok := w.Outputs[n.ID]; ok {
			if want == "missing" && value.IsMissing(n.Output) {
				continue
			}
			same(t, "output of "+n.ID, value.Plain(n.Output), want)
		}
	}
	for what, m := range map[string]map[string]int{"attempts": w.Attempts, "items": w.Items, "failed": w.Failed} {
		for id, want := range m {
			n, _ := r.Node(id)
			if got := map[string]int{"attempts": n.Attempts, "items": n.Items, "failed": n.Failed}[what]; got != want {
				t.Errorf("node %s: %d %s, want %d", id, got, what, want)
			}
		}
	}
	for _, m := range []map[string]string{w.Nodes, w.Skips, w.Failures, w.Classes} {
		for id := range m {
			if !known[id] {
				t.Errorf("there is no node %s", id)
			}
		}
	}
}

func (w *want) checkUnits(t *testing.T, r *core.Report) {
	t.Helper()
	got := map[string]string{}
	for _, u := range r.Units() {
		got[u.ID] = fmt.Sprintf("%s %d %s", u.Status, u.Rows, u.Reason)
	}
	for id, want := range w.Units {
		if !strings.HasPrefix(got[id]+" ", want+" ") {
			t.Errorf("unit %s ended as %q, want %q", id, got[id], want)
		}
	}
}

// checkTimes compares the results that depend on the limit, with equal durations.
func (w *want) checkTimes(t *testing.T, o *outcome, limit int) {
	t.Helper()
	if limit <= 1 {
		if w.Trace != nil {
			same(t, "trace", o.rec.trace(), w.Trace)
		}
		if w.Events != nil {
			same(t, "events", eventLines(o.events, w.Events), w.Events)
		}
	}
	for who, want := range w.Peak[fmt.Sprint(limit)] {
		if got := o.rec.peak[who]; got != want {
			t.Errorf("at most %d of %s at a time, want %d", got, who, want)
		}
	}
	starts := o.rec.starts()
	for key, want := range w.Starts[fmt.Sprint(limit)] {
		if got, ok := starts[key]; !ok || got != want {
			t.Errorf("%s started (%v) at %d ms, want %d", key, ok, got, want)
		}
	}
}

var (
	falseEdge = regexp.MustCompile(`^the condition on (\w+) -> `)
	notFailed = regexp.MustCompile(`^(\w+) did not fail`)
)

// formatSkip formats the reason of a skip as in want.json.
func formatSkip(n core.NodeReport) string {
	switch {
	case falseEdge.MatchString(n.Reason):
		return "false " + falseEdge.FindStringSubmatch(n.Reason)[1]
	case notFailed.MatchString(n.Reason):
		return "false " + notFailed.FindStringSubmatch(n.Reason)[1]
	case strings.HasPrefix(n.Reason, "every predecessor"):
		return "all " + n.Cause
	case strings.HasPrefix(n.Reason, "lost the race"):
		return "lost " + n.Cause
	case n.Cause != "":
		return "failure " + n.Cause
	}
	return n.Reason
}

// eventLines formats the events whose types occur in a list.
func eventLines(events []core.Event, like []string) []string {
	types := map[string]bool{}
	for _, l := range like {
		typ, _, _ := strings.Cut(l, " ")
		types[typ] = true
	}
	out := []string{}
	for _, e := range events {
		if types[string(e.Type)] {
			out = append(out, eventKey(e))
		}
	}
	return out
}

// eventKey returns the part of an event that two runs of the same input have in common.
func eventKey(e core.Event) string {
	s := string(e.Type)
	if who := cmp.Or(e.Node, e.Unit); who != "" {
		s += " " + who
	}
	if i, ok := e.Item.Get(); ok {
		s += fmt.Sprint("#", i)
	}
	if i, ok := e.Round.Get(); ok {
		s += fmt.Sprint("@", i)
	}
	if e.Attempt > 1 {
		s += fmt.Sprint("!", e.Attempt)
	}
	if e.Type == core.EdgeJudged {
		s += " " + e.From + "->" + e.To
	}
	if e.Field != "" {
		s += " " + e.Field
	}
	return s
}

// plainJSON returns a value as encoding/json decodes it.
func plainJSON(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		panic(err)
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if a, b := jsonText(got), jsonText(want); a != b {
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		t.Errorf("%s\n got %s\nwant %s", what, excerpt(a, at), excerpt(b, at))
	}
}

// excerpt shortens a long string to the surroundings of an offset.
func excerpt(s string, at int) string {
	const maxSide = 400
	if len(s) <= 2*maxSide {
		return s
	}
	from, to := max(0, at-maxSide), min(len(s), at+maxSide)
	return "…" + s[from:to] + "…"
}

// jsonText returns JSON with sorted keys, for comparison and for display.
func jsonText(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
