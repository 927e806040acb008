package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// cacheFlow is a workflow of the node score, which has a cache and computes out from in. fail makes it
// fail.
func cacheFlow(calls *int, fail *bool) *core.Workflow {
	h := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		*calls++
		if fail != nil && *fail {
			return core.Result{}, errors.New("no score")
		}
		n, _ := in.Get("in")
		if item, ok := in.Item(); ok {
			n = item
		}
		return core.Write("out", fmt.Sprintf("score of %v", n)), nil
	})
	w := fields(graph(map[string]core.HandlerFunc{"score": h}, []string{"score"}), "in", "out")
	w.Inputs = []core.InputDecl{{Name: text("in"), Default: "a"}, {Name: text("other"), Default: "x"}}
	n := w.Nodes[0]
	n.Reads, n.Writes, n.Cache = []source.Text{text("in")}, []source.Text{text("out")}, &core.Cache{}
	return w
}

// runCached runs a workflow as the run with that id.
func runCached(t *testing.T, s store.Store, w *core.Workflow, id string, o scheduler.Options, inputs map[string]any) *core.Report {
	t.Helper()
	o.Run = id
	if s != nil {
		o.Recording = &scheduler.Recording{Store: s}
	}
	report, err := scheduler.Run(t.Context(), compile(t, w), inputs, o)
	if report == nil {
		t.Fatal(err)
	}
	return report
}

// What an execution depends on is part of its key; names and limits are not.
func TestCacheKey(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *core.Workflow, n *core.Node, inputs map[string]any)
		hit    bool
	}{
		{"nothing", func(*core.Workflow, *core.Node, map[string]any) {}, true},
		{"id", func(_ *core.Workflow, n *core.Node, _ map[string]any) { n.ID = text("rate") }, true},
		{"timeout", func(_ *core.Workflow, n *core.Node, _ map[string]any) {
			n.Timeout = new(source.At(time.Hour, source.Position{}))
		}, true},
		{"retries", func(_ *core.Workflow, n *core.Node, _ map[string]any) {
			n.OnError = &core.OnError{Policy: text("retry"), Attempts: new(source.At(3, source.Position{}))}
		}, true},
		{"description", func(_ *core.Workflow, n *core.Node, _ map[string]any) { n.Description = text("other") }, true},
		{"ttl", func(_ *core.Workflow, n *core.Node, _ map[string]any) {
			n.Cache = &core.Cache{TTL: new(source.At(time.Hour, source.Position{}))}
		}, true},
		{"a field that is read", func(_ *core.Workflow, _ *core.Node, in map[string]any) { in["in"] = "b" }, false},
		{"an input", func(_ *core.Workflow, _ *core.Node, in map[string]any) { in["other"] = "y" }, false},
		{"args", func(_ *core.Workflow, n *core.Node, _ map[string]any) {
			n.Args = source.Tree(value.ObjectOf("x", int64(1)), source.Position{})
		}, false},
		{"config", func(_ *core.Workflow, n *core.Node, _ map[string]any) {
			n.Config = source.Tree(value.ObjectOf("impl", "rate"), source.Position{})
		}, false},
		{"kind", func(_ *core.Workflow, n *core.Node, _ map[string]any) { n.Kind = text("other") }, false},
		{"version", func(_ *core.Workflow, n *core.Node, _ map[string]any) { n.Version = text("2") }, false},
		{"cache.version", func(_ *core.Workflow, n *core.Node, _ map[string]any) { n.Cache = &core.Cache{Version: text("2")} }, false},
		{"type of a write", func(w *core.Workflow, _ *core.Node, _ map[string]any) {
			w.Fields[1].Type = &value.Type{Kind: value.StringType}
		}, false},
		{"cache.key", func(_ *core.Workflow, n *core.Node, _ map[string]any) { n.Cache = &core.Cache{Key: text("$.in")} }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, calls := memory.New(nil), 0
			runCached(t, s, cacheFlow(&calls, nil), "r1", scheduler.Options{}, nil)
			w, inputs := cacheFlow(&calls, nil), map[string]any{}
			tt.change(w, w.Nodes[0], inputs)
			report := runCached(t, s, w, "r2", scheduler.Options{}, inputs)
			if hit := calls == 1; hit != tt.hit || report.Status != core.RunSuccess {
				t.Errorf("%s, hit %t, want %t", report.Status, hit, tt.hit)
			}
		})
	}
}

// The value of cache.key takes the place of all that the node reads.
func TestCacheKeyExpression(t *testing.T) {
	s, calls := memory.New(nil), 0
	for i, in := range []string{"ab", "xy", "abc"} {
		w := cacheFlow(&calls, nil)
		w.Nodes[0].Cache.Key = text("length($.in)")
		runCached(t, s, w, fmt.Sprint("r", i), scheduler.Options{}, map[string]any{"in": in})
	}
	if calls != 2 {
		t.Errorf("%d calls, want one for each length", calls)
	}
}

// A hit has the state of the run that made it, no attempt, and a reason; so has the replay of its journal.
func TestCacheHit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, calls := memory.New(nil), 0
		flow := func() *core.Workflow {
			w := cacheFlow(&calls, nil)
			w.Nodes[0].Cache.TTL = new(source.At(time.Hour, source.Position{}))
			return w
		}
		cold := runCached(t, s, flow(), "r1", scheduler.Options{}, nil)
		time.Sleep(59 * time.Minute)
		var reasons []string
		warm := runCached(t, s, flow(), "r2", scheduler.Options{Listener: func(e core.Event) {
			if e.Type == core.NodeFinished {
				reasons = append(reasons, e.Reason)
			}
		}}, nil)
		n, _ := warm.Node("score")
		if n.Attempts != 0 || n.Items != 1 || n.Reason != "cached: run r1, 59m0s ago" || strings.Join(reasons, ", ") != n.Reason {
			t.Errorf("%+v, events %q", n, reasons)
		}
		if value.JSON(cold.State) != value.JSON(warm.State) || calls != 1 {
			t.Errorf("%d calls; state %s, then %s", calls, value.JSON(cold.State), value.JSON(warm.State))
		}
		time.Sleep(time.Minute)
		runCached(t, s, flow(), "r3", scheduler.Options{}, nil)
		if calls != 2 {
			t.Errorf("%d calls, want another one at an age of ttl", calls)
		}
		time.Sleep(time.Minute)
		runCached(t, s, flow(), "r4", scheduler.Options{NoCache: true}, nil)
		if calls != 3 {
			t.Errorf("%d calls, want another one without the cache", calls)
		}
		runCached(t, s, flow(), "r5", scheduler.Options{Refresh: []string{"score"}}, nil)
		last, _ := runCached(t, s, flow(), "r6", scheduler.Options{}, nil).Node("score")
		if calls != 4 || last.Reason != "cached: run r5, 0s ago" {
			t.Errorf("%d calls, %s", calls, last.Reason)
		}
		if _, err := scheduler.Run(t.Context(), compile(t, flow()), nil, scheduler.Options{Refresh: []string{"scor"}}); err == nil || !strings.Contains(err.Error(), `node "scor" has no cache (nodes with a cache: score)`) {
			t.Errorf("an unknown node: %v", err)
		}
	})
}

// Failures are not kept, and neither is a result whose record is lost in a crash.
func TestCacheKeepsCommittedSuccesses(t *testing.T) {
	s, calls, fail := memory.New(nil), 0, true
	runCached(t, s, cacheFlow(&calls, &fail), "r1", scheduler.Options{}, nil)
	fail = false
	runCached(t, &cacheCrash{crashing{Store: s, left: 2}, s}, cacheFlow(&calls, &fail), "r2", scheduler.Options{}, nil)
	runCached(t, s, cacheFlow(&calls, &fail), "r3", scheduler.Options{}, nil)
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
	runCached(t, s, cacheFlow(&calls, &fail), "r4", scheduler.Options{}, nil)
	if calls != 3 {
		t.Errorf("%d calls, want none after r3 has succeeded", calls)
	}
}

// cacheCrash is a crashing store with a cache.
type cacheCrash struct {
	crashing
	store.Cacher
}

// Each item of a fan-out has its own entry, wherever it is in the list.
func TestCacheOfItems(t *testing.T) {
	s, calls := memory.New(nil), 0
	flow := func() *core.Workflow {
		w := cacheFlow(&calls, nil)
		w.Fields[0].Type, w.Inputs[0].Type = nil, nil
		n := w.Nodes[0]
		n.Reads, n.ForEach, n.Cache.Key = nil, &core.ForEach{Source: text("$.in"), Collect: text("out")}, text("$item")
		return w
	}
	runCached(t, s, flow(), "r1", scheduler.Options{}, map[string]any{"in": []any{"a", "b"}})
	report := runCached(t, s, flow(), "r2", scheduler.Options{}, map[string]any{"in": []any{"c", "b", "a"}})
	got, _ := report.State.Get("out")
	n, _ := report.Node("score")
	if value.JSON(got) != `["score of c","score of b","score of a"]` || calls != 3 || n.Attempts != 1 || n.Items != 3 {
		t.Errorf("%s, %d calls, %+v", value.JSON(got), calls, n)
	}
	if !strings.HasPrefix(n.Reason, "2 items, first item 1: cached: run r1, ") {
		t.Errorf("reason %q", n.Reason)
	}
}

// damagedCache returns damaged entries.
type damagedCache struct{ *memory.Store }

func (s damagedCache) GetCached(_ context.Context, key string) (store.CacheEntry, error) {
	return store.DecodeCacheEntry(key, []byte("damaged"))
}

// A cache that does not work is a warning, and the node runs.
func TestCacheWarnings(t *testing.T) {
	calls := 0
	for name, tt := range map[string]struct {
		store store.Store
		o     scheduler.Options
		want  string
	}{
		"no store":      {nil, scheduler.Options{}, "cache has no effect: the run is not stored"},
		"no cache":      {&crashing{Store: memory.New(nil), left: 1000}, scheduler.Options{}, "cache has no effect: the store keeps no results of nodes"},
		"turned off":    {nil, scheduler.Options{NoCache: true}, ""},
		"damaged entry": {damagedCache{memory.New(nil)}, scheduler.Options{}, "an earlier result is not used: entry "},
	} {
		report := runCached(t, tt.store, cacheFlow(&calls, nil), "r", tt.o, nil)
		switch {
		case tt.want == "" && len(report.Warnings) > 0,
			tt.want != "" && (len(report.Warnings) != 1 || !strings.HasPrefix(report.Warnings[0].Text, tt.want)):
			t.Errorf("%s: warnings %v, want %q", name, report.Warnings, tt.want)
		}
		if out, _ := report.State.Get("out"); out != "score of a" {
			t.Errorf("%s: state %s", name, value.JSON(report.State))
		}
	}
}

// Entries contain no secrets, and a later run gets their values back.
func TestCacheSealsSecrets(t *testing.T) {
	const token = "s3cr3t-token-value"
	s, calls := &lastEntry{Store: memory.New(nil)}, 0
	for _, id := range []string{"r1", "r2"} {
		p := compile(t, cacheFlow(&calls, nil))
		p.Secrets = []core.Secret{{Name: text("TOKEN"), Read: func() (string, bool) { return token, true }}}
		report, err := scheduler.Run(t.Context(), p, map[string]any{"in": token}, scheduler.Options{Run: id, Recording: &scheduler.Recording{Store: s}})
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := report.State.Get("out"); out != "score of "+token {
			t.Errorf("%s: state %s", id, value.JSON(report.State))
		}
	}
	if calls != 1 || s.entry.Key == "" || strings.Contains(string(s.entry.Result), token) {
		t.Errorf("%d calls, entry %+v", calls, s.entry)
	}
}

// lastEntry is a store that keeps the last entry that was put.
type lastEntry struct {
	*memory.Store
	entry store.CacheEntry
}

func (s *lastEntry) PutCached(ctx context.Context, e store.CacheEntry) error {
	s.entry = e
	return s.Store.PutCached(ctx, e)
}
