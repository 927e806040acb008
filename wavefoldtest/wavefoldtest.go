// Package wavefoldtest helps to test graphs and workflow files with package testing.
//
//	func TestNightly(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) { // waits, retries and timeouts take no time
//			r := wavefoldtest.Run(t, nightly(fakeShop{}), day.Is("2024-01-31"))
//			r.Ran("load", "price", "save")
//			r.Attempts("load", 3)
//			r.Skipped("alert", "$.total > 500")
//			r.State("total", 12.5)
//		})
//	}
//
// A graph is a value and its functions are arguments, so a test builds the graph with
// fakes for external services. Workflow files, whose nodes are not Go functions, are
// tested with mock files: see Mock.
package wavefoldtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/rehearse"
	_ "github.com/wavefold/wavefold/llm/jsonschema" // documents may have schemas
)

// Result is a completed run with methods for expectations. A method whose expectation
// is not met reports an error to the test and lets the test continue.
type Result struct {
	*wavefold.Result
	// Err is the error that Graph.Run returned.
	Err error
	// Events are the events of the run, in order.
	Events []core.Event

	t testing.TB
}

// Run runs a graph and returns when the run has ended. A failed run is not an error of
// the test: check it with Succeeded, Failed or Err. A graph that does not compile, or
// an input that does not fit, ends the test.
func Run(t testing.TB, g *wavefold.Graph, inputs ...wavefold.RunOption) *Result {
	t.Helper()
	if err := g.Compile(); err != nil {
		t.Fatalf("graph %s does not compile:\n%v", g.Name(), err)
	}
	var mu sync.Mutex
	var events []core.Event
	listen := wavefold.WithListener(func(e core.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	})
	r, err := g.Run(t.Context(), append(slices.Clone(inputs), listen)...)
	if _, ok := source.AsDiagnostics(err); ok {
		t.Fatalf("graph %s cannot run:\n%v", g.Name(), err)
	}
	mu.Lock()
	defer mu.Unlock()
	return &Result{Result: r, Err: err, Events: slices.Clone(events), t: t}
}

// Succeeded expects that the run succeeded. A partial success is an error.
func (r *Result) Succeeded() {
	r.t.Helper()
	if r.Status != core.RunSuccess {
		r.t.Errorf("the run is %s, want %s%s", r.Status, core.RunSuccess, errorSuffix(r.Err))
	}
}

// Ran expects that exactly these nodes ran, in any order, however they ended.
func (r *Result) Ran(nodes ...string) {
	r.t.Helper()
	var more []string
	missing := slices.Clone(nodes)
	for _, n := range r.Nodes() {
		if n.Status == core.StatusNone || n.Status == core.Skipped {
			continue
		}
		if at := slices.Index(missing, n.ID); at >= 0 {
			missing = slices.Delete(missing, at, at+1)
		} else {
			more = append(more, n.ID)
		}
	}
	for _, id := range missing {
		r.t.Errorf("%s did not run: %s", id, r.describe(id))
	}
	for _, id := range more {
		r.t.Errorf("%s ran, and was not expected to", id)
	}
}

// Order expects that each of these nodes ended before the next one began.
func (r *Result) Order(nodes ...string) {
	r.t.Helper()
	for i := range len(nodes) - 1 {
		before, after := r.eventSeq(nodes[i], true), r.eventSeq(nodes[i+1], false)
		switch {
		case before == 0:
			r.t.Errorf("%s did not run: %s", nodes[i], r.describe(nodes[i]))
		case after == 0:
			r.t.Errorf("%s did not run: %s", nodes[i+1], r.describe(nodes[i+1]))
		case before > after:
			r.t.Errorf("%s began before %s had ended", nodes[i+1], nodes[i])
		}
	}
}

// eventSeq returns the number of the event that begins or ends a node, or 0 if there is
// none.
func (r *Result) eventSeq(node string, end bool) int64 {
	for _, e := range r.Events {
		if e.Node != node {
			continue
		}
		if begins := e.Type == core.NodeStarted; begins && !end || end && (e.Type == core.NodeFinished || e.Type == core.NodeFailed) {
			return e.Seq
		}
	}
	return 0
}

// Skipped expects that a node was skipped for a reason that contains the given string.
func (r *Result) Skipped(node, reason string) {
	r.t.Helper()
	n, ok := r.Node(node)
	switch {
	case !ok || n.Status != core.Skipped:
		r.t.Errorf("%s was not skipped: %s", node, r.describe(node))
	case !strings.Contains(n.Reason, reason):
		r.t.Errorf("%s was skipped because %s, want %q in the reason", node, n.Reason, reason)
	}
}

// Failed expects that a node failed with a message that contains the given string.
func (r *Result) Failed(node, message string) {
	r.t.Helper()
	n, ok := r.Node(node)
	switch {
	case !ok || n.Status != core.Fail || n.Failure == nil:
		r.t.Errorf("%s did not fail: %s", node, r.describe(node))
	case !strings.Contains(n.Failure.Message, message):
		r.t.Errorf("%s failed with %q, want %q in it", node, n.Failure.Message, message)
	}
}

// Attempts expects the number of a node's attempts, including the attempts of all
// items, rows and rounds.
func (r *Result) Attempts(node string, n int) {
	r.t.Helper()
	if got, _ := r.Node(node); got.Attempts != n {
		r.t.Errorf("%s was tried %d times, want %d: %s", node, got.Attempts, n, r.describe(node))
	}
}

// State expects the final value of a field. Values are compared by their JSON form, so
// that a map and a struct with the same content are equal. value.Missing means no value.
func (r *Result) State(field string, want any) {
	r.t.Helper()
	got, ok := r.Report.State.Get(field)
	if !ok {
		got = value.Missing
	}
	if c, err := value.Canonical(want); value.IsMissing(want) != value.IsMissing(got) || err != nil || !value.Equal(got, c) {
		r.t.Errorf("the state ends with %s = %s, want %s", field, canonicalJSON(got), canonicalJSON(want))
	}
}

// canonicalJSON returns the canonical JSON of a value.
func canonicalJSON(v any) string {
	if value.IsMissing(v) {
		return "nothing"
	}
	c, err := value.Canonical(v)
	if err != nil {
		return fmt.Sprintf("%v (%v)", v, err)
	}
	return value.JSON(c)
}

// describe describes how a node ended.
func (r *Result) describe(id string) string {
	n, ok := r.Node(id)
	switch {
	case !ok:
		var known []string
		for _, n := range r.Nodes() {
			known = append(known, n.ID)
		}
		if hint := source.DidYouMean(id, known); hint != "" {
			return "there is no such node, " + hint
		}
		return "there is no such node"
	case n.Status == core.StatusNone:
		return "the run ended before" + errorSuffix(r.Err)
	case n.Status == core.Skipped:
		return "it was skipped, because " + n.Reason
	case n.Failure != nil:
		return "it failed: " + n.Failure.Message
	}
	return "it ended as " + n.Status.String()
}

func errorSuffix(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// Mocks tests a workflow file with all mock files that match a pattern, each in a
// subtest: see Mock.
//
//	wavefoldtest.Mocks(t, engine, "orders.yaml", "testdata/*.mock.yaml")
func Mocks(t *testing.T, e *wavefold.Engine, workflow, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no mock file matches %q%s", pattern, errorSuffix(err))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { Mock(t, e, workflow, file) })
	}
}

// Mock tests a workflow file with a mock file, like "wavefold test": no handler is
// called, nothing is written, and time is virtual. Each expectation that is not
// satisfied is an error of the test. Files that cannot be used end the test. The engine
// provides the kinds and tools, which are not executed.
func Mock(t testing.TB, e *wavefold.Engine, workflow, file string) {
	t.Helper()
	f, ds := rehearse.ReadMock(file)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	misses, ds := rehearse.Test(e, workflow, f, rehearse.Options{})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	for _, m := range misses {
		text := fmt.Sprintf("%s: %s: want %s, got %s", m.At, m.What, m.Want, m.Got)
		if m.Because != "" {
			text += "\n" + m.Because
		}
		t.Error(text)
	}
}
