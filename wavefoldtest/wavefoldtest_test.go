package wavefoldtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/wavefoldtest"
)

// recordingTB is a testing.TB that records the reports to it.
type recordingTB struct {
	testing.TB
	lines []string
}

func (*recordingTB) Helper() {}

func (r *recordingTB) Errorf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recordingTB) Error(args ...any) { r.lines = append(r.lines, fmt.Sprint(args...)) }

func (r *recordingTB) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recordingTB) Fatalf(format string, args ...any) {
	r.Errorf("fatal: "+format, args...)
	runtime.Goexit()
}

// reports returns the reports of a part of a test.
func reports(t *testing.T, f func(tb testing.TB)) string {
	r := &recordingTB{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return strings.Join(r.lines, "\n")
}

var (
	rows  = wavefold.NewField[[]int]("rows")
	total = wavefold.NewField[int]("total")
)

// nightly fails twice before it loads. send always fails.
func nightly() *wavefold.Graph {
	tries := 0
	return wavefold.New("nightly",
		wavefold.Source("load", rows, func(context.Context) ([]int, error) {
			if tries++; tries < 3 {
				return nil, errors.New("the shop is closed")
			}
			return []int{1, 2, 3}, nil
		}, wavefold.Retry(3, wavefold.Backoff{Base: time.Hour})),
		wavefold.Map("sum", rows, total, func(_ context.Context, rows []int) (n int, _ error) {
			for _, r := range rows {
				n += r
			}
			return n, nil
		}),
		wavefold.Do("alert", func(context.Context) error { return nil }, wavefold.After("sum"), wavefold.When("$.total > 500")),
		wavefold.Do("send", func(context.Context) error { return errors.New("no route to host") }, wavefold.After("sum")),
		wavefold.Do("archive", func(context.Context) error { return nil }, wavefold.After("send")),
	)
}

func TestMetExpectationsReportNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := wavefoldtest.Run(t, nightly())
		r.Ran("load", "sum", "send")
		r.Order("load", "sum", "send")
		r.Attempts("load", 3)
		r.Skipped("alert", "$.total > 500")
		r.Skipped("archive", "send failed")
		r.Failed("send", "no route")
		r.State("rows", []any{1, 2.0, int64(3)})
		r.State("total", 6)
		r.State("other", value.Missing)
		if r.Err == nil || time.Since(began) < 3*time.Hour {
			t.Errorf("%v after %v", r.Err, time.Since(began))
		}
	})
}

func TestUnmetExpectationsAreReported(t *testing.T) {
	tests := []struct {
		name   string
		expect func(r *wavefoldtest.Result)
		want   string
	}{
		{"succeeded", func(r *wavefoldtest.Result) { r.Succeeded() }, "the run is failed, want success: node send: no route to host"},
		{"ran", func(r *wavefoldtest.Result) { r.Ran("load", "alert", "snd") },
			"alert did not run: it was skipped, because the condition on sum -> alert is false: $.total > 500\nsnd did not run: there is no such node, did you mean \"send\"?\nsum ran, and was not expected to\nsend ran, and was not expected to"},
		{"order", func(r *wavefoldtest.Result) { r.Order("send", "sum") }, "sum began before send had ended"},
		{"order of what did not run", func(r *wavefoldtest.Result) { r.Order("sum", "archive") }, "archive did not run: it was skipped, because send failed"},
		{"skipped", func(r *wavefoldtest.Result) { r.Skipped("sum", "") }, "sum was not skipped: it ended as success"},
		{"skipped for another reason", func(r *wavefoldtest.Result) { r.Skipped("archive", "false") }, `archive was skipped because send failed, want "false" in the reason`},
		{"failed", func(r *wavefoldtest.Result) { r.Failed("load", "") }, "load did not fail: it ended as success"},
		{"failed in another way", func(r *wavefoldtest.Result) { r.Failed("send", "timeout") }, `send failed with "no route to host", want "timeout" in it`},
		{"attempts", func(r *wavefoldtest.Result) { r.Attempts("load", 1) }, "load was tried 3 times, want 1: it ended as success"},
		{"state", func(r *wavefoldtest.Result) { r.State("total", 7) }, "the state ends with total = 6, want 7"},
		{"no state", func(r *wavefoldtest.Result) { r.State("totl", 6) }, "the state ends with totl = nothing, want 6"},
	}
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range tests {
			got := reports(t, func(tb testing.TB) { tt.expect(wavefoldtest.Run(tb, nightly())) })
			if got != tt.want {
				t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
			}
		}
	})
}

func TestInvalidGraphsEndTheTest(t *testing.T) {
	wrong := wavefold.New("wrong", wavefold.Do("a", func(context.Context) error { return nil }, wavefold.After("b")))
	got := reports(t, func(tb testing.TB) { wavefoldtest.Run(tb, wrong); tb.Errorf("went on") })
	if !strings.HasPrefix(got, "fatal: graph wrong does not compile:") || !strings.Contains(got, `unknown node "b"`) || strings.Contains(got, "went on") {
		t.Error(got)
	}
	got = reports(t, func(tb testing.TB) {
		wavefoldtest.Run(tb, nightly(), wavefold.Set("nobody", 1))
		tb.Errorf("went on")
	})
	if !strings.HasPrefix(got, "fatal: graph nightly cannot run:") || strings.Contains(got, "went on") {
		t.Error(got)
	}
}

const orders = `name: orders
state:
  schema:
    rows: {type: array}
graph:
  nodes:
    - {id: load, kind: tool, impl: load, writes: [rows]}
    - {id: alert, kind: tool, impl: alert}
  edges:
    - {from: load, to: alert, when: length($.rows) > 2}
`

// Each mock file is a subtest, which reports the expectations that are not met.
func TestMocks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"orders.yaml":     orders,
		"few.mock.yaml":   "nodes:\n  load: [{delta: {rows: [1]}}]\nexpect:\n  nodes: {alert: skipped}\n",
		"many.mock.yaml":  "nodes:\n  load: [{delta: {rows: [1, 2, 3]}}]\nexpect:\n  nodes: {alert: success}\n",
		"wrong.mock.yaml": "nodes:\n  load: [{delta: {rows: [1]}}]\nexpect:\n  nodes: {alert: success}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e, flow := wavefold.NewEngine(), filepath.Join(dir, "orders.yaml")
	wavefoldtest.Mocks(t, e, flow, filepath.Join(dir, "[fm]*.mock.yaml"))
	got := strings.ReplaceAll(reports(t, func(tb testing.TB) { wavefoldtest.Mock(tb, e, flow, filepath.Join(dir, "wrong.mock.yaml")) }), dir+"/", "")
	want := "wrong.mock.yaml:4:18: nodes.alert: want success, got skipped\nthe condition on load -> alert is false: length($.rows) > 2, with length($.rows) = 1"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = reports(t, func(tb testing.TB) {
		wavefoldtest.Mock(tb, e, flow, filepath.Join(dir, "none.mock.yaml"))
		tb.Errorf("went on")
	})
	if !strings.Contains(got, "MISSING_FILE") || strings.Contains(got, "went on") {
		t.Error(got)
	}
}
