package incremental_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/incremental"
	"github.com/wavefold/wavefold/nodes/wait"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const doc = `name: load
inputs:
  since: {type: integer, default: 0}
  days: {type: array}
incremental:
  cursor: {input: since, from: $.newest}
  partitions: {input: days, node: load}
state: {schema: {newest: {type: integer}}}
graph:
  nodes: [{id: load, kind: wait, duration: 0s, for_each: {source: $.days}}]
`

func compile(t *testing.T, text string) *plan.Plan {
	t.Helper()
	reg := core.NewRegistry(wait.Kind)
	w, ds := native.Parse("load.yaml", []byte(text), native.OptionsFor(reg))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	w.Dir = t.TempDir()
	p, ds := plan.Compile(w, reg, plan.Options{Lint: lint.Check})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// item returns the event that one partition ended.
func item(i int, failure *core.Failure) core.Event {
	e := core.Event{Type: core.ItemFinished, Node: "load", Item: core.Nth(i)}
	if failure != nil {
		e.Type, e.Error = core.ItemFailed, failure
	}
	return e
}

// report returns the report of a run in which the given nodes failed.
func report(status core.RunStatus, newest any, failed ...core.NodeReport) *core.Report {
	return &core.Report{Status: status, State: value.ObjectOf("newest", newest), Nodes: func() []core.NodeReport { return failed }}
}

func days(list ...any) map[string]any { return map[string]any{"days": list} }

func TestSessions(t *testing.T) {
	p := compile(t, doc)
	failed, cancelled := &core.Failure{Class: core.ClassError}, &core.Failure{Class: core.ClassCanceled}
	for i, step := range []struct {
		given   map[string]any
		options incremental.Options
		inputs  string // the inputs of the run: since and days
		events  []core.Event
		report  *core.Report
		file    string // cursor, done, failed
	}{
		{given: days("a", value.ObjectOf("d", int64(1)), "c"), inputs: `none ["a",{"d":1},"c"]`,
			events: []core.Event{item(0, nil), item(1, failed), item(2, cancelled)}, report: report(core.RunFailed, int64(7)), file: `none ["a"] [{"d":1}]`},
		{given: days("a", value.ObjectOf("d", int64(1)), "c"), inputs: `none [{"d":1},"c"]`,
			events: []core.Event{item(0, nil)}, report: report(core.RunCancelled, int64(7)), file: `none ["a",{"d":1}] []`},
		{given: days("a", value.ObjectOf("d", int64(1)), "c", "c"), inputs: `none ["c"]`,
			events: []core.Event{item(0, failed)}, report: report(core.RunPartial, int64(8), core.NodeReport{ID: "load", Status: core.Fail, Handled: true}), file: `none ["a",{"d":1}] ["c"]`},
		{given: days(), inputs: `none []`, report: report(core.RunPartial, int64(9007199254740993)), file: `9007199254740993 ["a",{"d":1}] ["c"]`},
		{given: days("a", "b", "c"), options: incremental.Options{RetryFailed: true}, inputs: `9007199254740993 ["c"]`,
			events: []core.Event{item(0, nil)}, report: report(core.RunSuccess, nil), file: `9007199254740993 ["a",{"d":1},"c"] []`},
		{given: days("a", "b"), options: incremental.Options{FullRefresh: true}, inputs: `none ["a","b"]`,
			events: []core.Event{item(0, failed), item(1, nil)}, report: report(core.RunSuccess, int64(3)), file: `3 [{"d":1},"c","b"] ["a"]`},
		{given: days(), options: incremental.Options{Since: int64(2)}, inputs: `2 []`, report: report(core.RunFailed, int64(9)), file: `3 [{"d":1},"c","b"] ["a"]`},
		{given: map[string]any{"days": []any{}, "since": int64(5)}, inputs: `5 []`, report: report(core.RunSuccess, int64(9)), file: `9 [{"d":1},"c","b"] ["a"]`},
	} {
		s, err := incremental.Begin(p, step.given, step.options)
		if err != nil {
			t.Fatal(i, err)
		}
		since := "none"
		if v, ok := s.Inputs["since"]; ok {
			since = value.JSON(v)
		}
		if got := since + " " + value.JSON(s.Inputs["days"]); got != step.inputs {
			t.Errorf("step %d: inputs %s, want %s", i, got, step.inputs)
		}
		for _, e := range step.events {
			s.Listen(e)
			other := e
			other.Node, other.Type, other.Error = "outer/load", core.ItemFinished, nil
			s.Listen(other) // an event of a nested workflow
		}
		if err := s.End(step.report); err != nil {
			t.Fatal(i, err)
		}
		if got := saved(t, s.Path()); got != step.file {
			t.Errorf("step %d: saved %s, want %s", i, got, step.file)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.Workflow.Dir, ".*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// A failed node keeps the cursor and the partition from advancing, even if the failure
// is handled. Rejected rows make a node a partial success, which is not a failure.
func TestFailuresKeepProgress(t *testing.T) {
	p := compile(t, doc)
	node := func(kind core.EventType, path string, at core.Ordinal) core.Event {
		return core.Event{Type: kind, Node: path, Item: at}
	}
	fail := func(id, class string, handled bool) core.NodeReport {
		return core.NodeReport{ID: id, Status: core.Fail, Handled: handled, Failure: &core.Failure{Class: class}}
	}
	var none core.Ordinal
	partly := item(0, nil)
	partly.Status = core.PartialSuccess.String()
	for name, c := range map[string]struct {
		strict       bool
		status       core.RunStatus
		nodes        []core.NodeReport
		events       []core.Event
		file         string
		kept, undone string
	}{
		"success":                  {status: core.RunSuccess, file: `7 ["a"] []`},
		"rejected rows":            {status: core.RunPartial, nodes: []core.NodeReport{{ID: "read", Status: core.PartialSuccess}}, events: []core.Event{partly}, file: `7 ["a"] []`},
		"rejected rows, strict":    {strict: true, status: core.RunPartial, events: []core.Event{partly}, file: `none [] ["a"]`, kept: "the run succeeded in part only, and --strict is given"},
		"success, strict":          {strict: true, status: core.RunSuccess, file: `7 ["a"] []`},
		"a handled failure":        {status: core.RunPartial, nodes: []core.NodeReport{fail("save", core.ClassError, true)}, file: `none [] ["a"]`, kept: "node save failed", undone: "node save failed"},
		"an item failed":           {status: core.RunPartial, nodes: []core.NodeReport{fail("load", core.ClassError, true)}, file: `none ["a"] []`, kept: "node load failed"},
		"cancelled":                {status: core.RunCancelled, nodes: []core.NodeReport{fail("save", core.ClassCanceled, false)}, file: `none ["a"] []`, kept: "node save failed"},
		"cancelled between nodes":  {status: core.RunCancelled, file: `none ["a"] []`, kept: "the run is cancelled"},
		"a nested node":            {status: core.RunPartial, events: []core.Event{node(core.NodeFailed, "other/save", none)}, file: `none [] ["a"]`, kept: "node other/save failed", undone: "node other/save failed"},
		"a nested row":             {status: core.RunPartial, events: []core.Event{node(core.ItemFailed, "other/save", core.Nth(3))}, file: `none [] ["a"]`, kept: "node other/save failed", undone: "node other/save failed"},
		"a nested node, done anew": {status: core.RunPartial, events: []core.Event{node(core.NodeFailed, "other/save", none), node(core.NodeRetrying, "other", none)}, file: `7 ["a"] []`},
		"inside of an item":        {status: core.RunPartial, events: []core.Event{node(core.NodeFailed, "load[0]/save", none)}, file: `none [] ["a"]`, kept: "node load[0]/save failed"},
		"inside of another item":   {status: core.RunPartial, events: []core.Event{node(core.NodeFailed, "load[01]/save", none)}, file: `none ["a"] []`, kept: "node load[01]/save failed"},
		"an item done anew":        {status: core.RunPartial, events: []core.Event{node(core.NodeFailed, "load[0]/save", none), node(core.NodeRetrying, "load", core.Nth(0))}, file: `7 ["a"] []`},
	} {
		path := filepath.Join(t.TempDir(), "x.json")
		s, err := incremental.Begin(p, days("a"), incremental.Options{File: path, Strict: c.strict})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.events {
			s.Listen(e)
		}
		if !slices.ContainsFunc(c.events, func(e core.Event) bool { return e.Type == core.ItemFinished }) {
			s.Listen(item(0, nil))
		}
		if err := s.End(report(c.status, int64(7), c.nodes...)); err != nil {
			t.Fatal(err)
		}
		if got := saved(t, path); got != c.file || s.KeptReason != c.kept || s.UndoneReason != c.undone {
			t.Errorf("%s: saved %s, kept for %q, undone for %q; want %s, %q, %q", name, got, s.KeptReason, s.UndoneReason, c.file, c.kept, c.undone)
		}
	}
}

// saved returns a short form of the progress file.
func saved(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.ParseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	cursor := "none"
	if c, ok := v.(*value.Object).Get("cursor"); ok {
		cursor = value.JSON(c)
	}
	p, _ := v.(*value.Object).Get("partitions")
	done, _ := p.(*value.Object).Get("done")
	failed, _ := p.(*value.Object).Get("failed")
	return cursor + " " + value.JSON(done) + " " + value.JSON(failed)
}

func TestBadFiles(t *testing.T) {
	p := compile(t, doc)
	for text, want := range map[string]string{
		`{`:                                     "is damaged: unexpected EOF; remove it to start again",
		`{"version": 1, "wrkflow": "load"}`:     "is damaged",
		`{"version": 2, "workflow": "load"}`:    "has version 2, this program writes version 1",
		`{"version": 1, "workflow": "another"}`: `belongs to workflow "another", not to "load"`,
		`{"version": 1, "workflow": "load", "cursor": "x"}`: `x.json: the cursor does not fit the input "since": want integer, got string "x"; correct it there, or start again with --full-refresh`,
	} {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := incremental.Begin(p, days(), incremental.Options{File: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	p := compile(t, doc)
	for want, c := range map[string]struct {
		given   map[string]any
		options incremental.Options
	}{
		"the input since is given twice":                 {map[string]any{"days": []any{}, "since": int64(1)}, incremental.Options{Since: int64(2)}},
		"the input days lists the partitions and has no": {},
		"input \"days\": want array, got integer":        {given: map[string]any{"days": int64(1)}},
	} {
		if _, err := incremental.Begin(p, c.given, c.options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	plain := compile(t, "name: x\ngraph: {nodes: [{id: a, kind: wait, duration: 0s}]}\n")
	if _, err := incremental.Begin(plain, nil, incremental.Options{}); !errors.Is(err, incremental.ErrNothing) {
		t.Error(err)
	}
}

// An error is returned if the file cannot be written, and the old file is kept.
func TestUnwritable(t *testing.T) {
	p := compile(t, doc)
	path := filepath.Join(t.TempDir(), "gone", "x.json")
	s, err := incremental.Begin(p, days(), incremental.Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.End(report(core.RunSuccess, int64(1))); err == nil {
		t.Error("no error")
	}
}

func TestFindings(t *testing.T) {
	reg := core.NewRegistry(wait.Kind)
	for section, want := range map[string]string{
		"{}":                                   `load.yaml:5:14: error: incremental: want cursor or partitions`,
		"{cursor: {input: x, from: $.newest}}": `incremental cursor: input: there is no declared input "x"`,
		"{cursor: {input: since, from: $.newst}}":  `incremental cursor: from: unknown field "newst" (did you mean "newest"?)`,
		"{cursor: {input: days, from: $.newest}}":  `incremental cursor: from: $.newest is of type integer, the input "days" of type array`,
		"{partitions: {input: since, node: load}}": `incremental partitions: input: the input "since" lists the partitions and must be an array, not of type integer`,
		"{partitions: {input: days, node: lod}}":   `incremental partitions: node: unknown node "lod" (did you mean "load"?)`,
		"{partition: {}}":                          `unknown key "partition" (did you mean "partitions"?`,
	} {
		a, b := strings.Index(doc, "incremental:"), strings.Index(doc, "state:")
		text := doc[:a] + "incremental: " + section + "\n" + doc[b:]
		w, ds := native.Parse("load.yaml", []byte(text), native.OptionsFor(reg))
		if !ds.Failed(false) {
			_, ds = plan.Compile(w, reg, plan.Options{Lint: lint.Check})
		}
		if !strings.Contains(ds.Error(), want) {
			t.Errorf("%s: %s, want %s", section, ds.Error(), want)
		}
	}
}

// A process that is killed while it writes the file leaves a temporary file. The run that is resumed writes the same and
// leaves none.
func TestTemporaryFileOfAKilledProcess(t *testing.T) {
	p := compile(t, doc)
	end := func() string {
		s, err := incremental.Begin(p, days(), incremental.Options{FullRefresh: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.End(report(core.RunSuccess, int64(3))); err != nil {
			t.Fatal(err)
		}
		return s.Path()
	}
	path := end()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%x.tmp", filepath.Base(path), sum[:8]))
	if err := os.WriteFile(temp, append(data[:10:10], strings.Repeat("x", 1000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	end()
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, data) {
		t.Errorf("the file is %s, %v; want %s", again, err, data)
	}
	if _, err := os.Stat(temp); err == nil {
		t.Error("the temporary file is still there")
	}
}
