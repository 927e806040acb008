package scheduler_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
)

// leaver is a handler whose result replaces a target. The first execution, by item, lasts as long
// as possible; the others wait for it.
type leaver struct {
	always bool
	target func(in core.Input) string

	mu     sync.Mutex
	placed map[string]string // by target: the execution that replaced it
	open   int
}

func (*leaver) Replaces() core.Replaces { return core.ReplacesRendered }

func (l *leaver) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if in.Index() <= 0 && !strings.HasSuffix(in.Node(), "second") {
		<-ctx.Done()
		return core.Result{}, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	name := l.target(in)
	return core.Result{Placement: &core.Placement{Target: name, Name: name, Always: l.always,
		Place: func(ctx context.Context) (core.Result, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.open--
			if err := ctx.Err(); err != nil {
				return core.Result{}, err
			}
			l.placed[name] = strings.Repeat("'", max(0, in.Index())) + in.Node()
			return core.Result{}, nil
		},
		Discard: func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.open--
		}}}, nil
}

// TestCancelledWhileWaiting: if the run was cancelled while a result waited for its turn, the
// result was dropped, and so were rejected rows, although the result described what had been done.
func TestCancelledWhileWaiting(t *testing.T) {
	list := core.FieldDecl{Name: text("list"), Default: []any{int64(1), int64(2), int64(3), int64(4)}}
	work := func(l *leaver, id string) *core.Node {
		return &core.Node{ID: text(id), HasWrites: true, Handler: l}
	}
	graphs := map[string]func(l *leaver) *core.Workflow{
		"items": func(l *leaver) *core.Workflow {
			n := work(l, "n")
			n.ForEach = &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 4}}
			return &core.Workflow{Nodes: []*core.Node{n}, Fields: []core.FieldDecl{list}}
		},
		"rows": func(l *leaver) *core.Workflow {
			return &core.Workflow{Nodes: []*core.Node{work(l, "n")}, Fields: []core.FieldDecl{list},
				Pipelines: []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: texts("n"), Concurrency: &source.Int{Value: 4}}}}
		},
		"nodes": func(l *leaver) *core.Workflow {
			return &core.Workflow{Nodes: []*core.Node{work(l, "first"), work(l, "second")}}
		},
	}
	own := func(in core.Input) string { return strings.Repeat("t", in.Index()+1) }
	same := func(core.Input) string { return "t" }
	for _, c := range []struct {
		graph  string
		always bool
		target func(core.Input) string
		want   string
	}{
		{"items", false, own, ""},
		{"items", true, own, "tt='n ttt=''n tttt='''n"},
		{"items", true, same, "t='n"}, // the first in canonical order
		{"rows", false, own, ""},
		{"rows", true, own, "tt='n ttt=''n tttt='''n"},
		{"rows", true, same, "t='n"},
		{"nodes", false, same, ""},
		{"nodes", true, same, "t=second"},
	} {
		for _, nested := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				l := &leaver{always: c.always, target: c.target, placed: map[string]string{}}
				w := graphs[c.graph](l)
				w.Name = text("t")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p := compile(t, w)
				want := c.want
				if nested { // the timeout of the outer node ends it
					sub := &core.Node{ID: text("sub"), Kind: text("sub"), Timeout: &source.Located[time.Duration]{Value: time.Second}}
					p = compileNested(t, &core.Workflow{Name: text("outer"), Nodes: []*core.Node{sub}}, frameKind{"sub", w})
					l.target = func(in core.Input) string { return c.target(in) }
					want = strings.NewReplacer("'n", "'sub/n", "=n", "=sub/n", "=second", "=sub/second").Replace(want)
				} else {
					go func() {
						synctest.Wait()
						cancel()
					}()
				}
				r, err := scheduler.Run(ctx, p, nil, scheduler.Options{Concurrency: 8})
				if err == nil {
					t.Errorf("%+v: the run is a %s", c, r.Status)
				}
				var got []string
				for _, name := range slices.Sorted(maps.Keys(l.placed)) {
					got = append(got, name+"="+l.placed[name])
				}
				if got := strings.Join(got, " "); got != want || l.open != 0 {
					t.Errorf("%s, always %v, nested %v: placed %q, %d left, want %q", c.graph, c.always, nested, got, l.open, want)
				}
			})
		}
	}
}

// TestLatePlacement: a result that comes after the timeout fails the attempt, but its rejected rows
// are still put in place.
func TestLatePlacement(t *testing.T) {
	for _, always := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := &leaver{always: always, target: func(core.Input) string { return "t" }, placed: map[string]string{}}
			slow := func(n *core.Node) *core.Node {
				n.Handler = slowly{l}
				return n
			}
			w := &core.Workflow{Name: text("t"), Nodes: []*core.Node{
				slow(&core.Node{ID: text("second"), HasWrites: true, Timeout: &source.Located[time.Duration]{Value: time.Second}}),
				{ID: text("z"), HasWrites: true, Handler: &leaver{target: l.target}},
			}, Edges: []*core.Edge{{From: text("second"), To: text("z")}}}
			r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
			if err == nil || r.Nodes()[0].Failure.Class != core.ClassTimeout {
				t.Fatalf("got %v", err)
			}
			if (l.placed["t"] != "") != always || l.open != 0 {
				t.Errorf("always %v: placed %v, %d left", always, l.placed, l.open)
			}
		})
	}
}

// slowly is a leaver that ignores its timeout for a short time.
type slowly struct{ *leaver }

func (s slowly) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	time.Sleep(2 * time.Second)
	return s.leaver.Handle(ctx, in)
}
