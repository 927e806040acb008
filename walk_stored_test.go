package wavefold_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store/file"
)

// storedWalk is a walk a -> b -> c that is built again for each run, as in another
// process.
type storedWalk struct {
	router  wavefold.WalkRouter
	longer  bool // c -> d
	changed bool // a has another version
	down    bool // c fails
	failed  bool // the first visit of b fails, and the walk returns to it
	ran     []string
	visited map[string]int
}

func (s *storedWalk) graph() *wavefold.Graph {
	s.ran, s.visited = nil, map[string]int{}
	step := func(id string, options ...wavefold.Option) wavefold.Part {
		return wavefold.Do(id, func(context.Context) error {
			s.ran = append(s.ran, id)
			if s.visited[id]++; id == "c" && s.down || id == "b" && s.failed && s.visited[id] == 1 {
				return errors.New("the service is down")
			}
			return nil
		}, options...)
	}
	a := []wavefold.Option{wavefold.Entry()}
	if s.router == wavefold.ByOutcomes {
		a = nil
	}
	if s.changed {
		a = append(a, wavefold.Version("2"))
	}
	parts := []wavefold.Part{s.router, step("a", a...), step("b"), step("c")}
	nodes := []string{"a", "b", "c"}
	if s.longer {
		parts, nodes = append(parts, step("d")), append(nodes, "d")
	}
	if s.router == wavefold.ByOutcomes {
		parts, nodes = append(parts, wavefold.Start("start"), wavefold.Exit("exit")), slices.Concat([]string{"start"}, nodes)
	}
	w := wavefold.NewWalk("stored", parts...)
	switch {
	case s.failed && s.router == wavefold.BySteps:
		w.OnError("b", "b", wavefold.Priority(1))
	case s.failed && s.router == wavefold.ByOutcomes:
		w.When("b", "b", wavefold.CondExpr("outcome=fail"))
	}
	if w.Sequential(nodes...); s.router == wavefold.ByOutcomes {
		w.When(nodes[len(nodes)-1], "exit", wavefold.CondExpr("outcome=success"))
	}
	return w.Graph()
}

func fileStore(t *testing.T, dir string) *file.Store {
	t.Helper()
	s, err := file.Open(dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var walkRouters = []wavefold.WalkRouter{wavefold.BySteps, wavefold.ByOutcomes, wavefold.ByModel}

// end waits for the end of a run that must succeed.
func end(t *testing.T, r *wavefold.Running, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if res, err := r.Wait(); err != nil || res.Status != core.RunSuccess && res.Status != core.RunPartial {
		t.Fatalf("status %s, error %v", res.Status, err)
	}
}

// A stored walk in Go continues in another process: what had returned is not called again.
func TestResumeOfWalks(t *testing.T) {
	for _, router := range walkRouters {
		t.Run(string(router), func(t *testing.T) {
			dir := t.TempDir()
			s := fileStore(t, dir)
			w := &storedWalk{router: router, down: true}
			if _, err := w.graph().Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r")); err == nil {
				t.Fatal("the service is up")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = fileStore(t, dir)
			defer s.Close()
			w.down = false
			r, err := w.graph().Resume(t.Context(), "r", wavefold.WithStore(s))
			end(t, r, err)
			if !slices.Equal(w.ran, []string{"c"}) {
				t.Errorf("the resumed run has called %v", w.ran)
			}
		})
	}
}

// A walk in Go that has changed where the replay begins, or after it, is replayed.
func TestReplayOfChangedWalks(t *testing.T) {
	for _, router := range walkRouters {
		for _, failed := range []bool{false, true} {
			if failed && router == wavefold.ByModel {
				continue // such a walk has no edge for failures
			}
			name := string(router)
			if failed {
				name += " with a failed visit"
			}
			t.Run(name, func(t *testing.T) {
				s := fileStore(t, t.TempDir())
				defer s.Close()
				w := &storedWalk{router: router, failed: failed}
				if _, err := w.graph().Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r")); err != nil {
					t.Fatal(err)
				}
				w.longer = true
				g := w.graph()
				w.failed = false
				r, err := g.Replay(t.Context(), "r", "c", wavefold.WithStore(s))
				end(t, r, err)
				if !slices.Equal(w.ran, []string{"c", "d"}) {
					t.Errorf("the replay has called %v", w.ran)
				}
				if _, err = g.Replay(t.Context(), "r", "d", wavefold.WithStore(s)); err == nil || err.Error() != "a replay cannot begin at node d: run r has not visited it" {
					t.Errorf("a replay from a node that was not visited: %v", err)
				}
				// What is shared must not have changed.
				w.changed, w.failed = true, failed
				g = w.graph()
				_, err = g.Replay(t.Context(), "r", "c", wavefold.WithStore(s))
				if c, ok := errors.AsType[*scheduler.ChangedError](err); !ok || !slices.Equal(c.Nodes, []string{"a"}) {
					t.Errorf("a shared node has changed: %v", err)
				}
			})
		}
	}
}

// The node that a replay begins at may be another one now, and later ones may be gone.
func TestReplayOfAWalkWithoutItsEnd(t *testing.T) {
	s := fileStore(t, t.TempDir())
	defer s.Close()
	w := &storedWalk{router: wavefold.BySteps, longer: true}
	if _, err := w.graph().Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r")); err != nil {
		t.Fatal(err)
	}
	w.longer = false
	r, err := w.graph().Replay(t.Context(), "r", "b", wavefold.WithStore(s))
	end(t, r, err)
	if !slices.Equal(w.ran, []string{"b", "c"}) {
		t.Errorf("the replay has called %v", w.ran)
	}
	_, err = w.graph().Replay(t.Context(), "r", "d", wavefold.WithStore(s))
	if err == nil || !strings.Contains(err.Error(), "it was removed from the workflow") {
		t.Errorf("got %v", err)
	}
}

// Walks in Go are saved with the graphs around them and inside of them, and a saved one is
// loaded and saved with the same bytes.
func TestSaveAllWithWalks(t *testing.T) {
	for _, router := range walkRouters {
		t.Run(string(router), func(t *testing.T) {
			inner := (&storedWalk{router: router}).graph()
			drawn := filepath.Join(t.TempDir(), "drawn.dot")
			if err := os.WriteFile(drawn, []byte("digraph drawn { start -> exit }"), 0o600); err != nil {
				t.Fatal(err)
			}
			inDOT, err := wavefold.NewEngine().Load(drawn)
			if err != nil {
				t.Fatal(err)
			}
			g := wavefold.NewWalk("outer", wavefold.Sub("in", inner, wavefold.Entry()), wavefold.Sub("drawn", inDOT)).Sequential("in", "drawn").Graph()
			files, err := g.SaveAll()
			if err != nil {
				t.Fatal(err)
			}
			if names := slices.Sorted(maps.Keys(files)); !slices.Equal(names, []string{"drawn.dot", "outer.yaml", "stored.yaml"}) {
				t.Fatal(names)
			}
			dir := t.TempDir()
			for name, data := range files {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e := wavefold.NewEngine()
			if err := e.Bind(g); err != nil {
				t.Fatal(err)
			}
			for name, data := range files {
				loaded, err := e.Load(filepath.Join(dir, name))
				if err != nil {
					t.Fatalf("%s: %v\n%s", name, err, data)
				}
				again, err := loaded.Save()
				if err != nil || string(again) != string(data) {
					t.Errorf("%s: %v\n%s\nis saved again as\n%s", name, err, data, again)
				}
			}
			loaded, err := e.Load(filepath.Join(dir, "outer.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if res, err := loaded.Run(t.Context()); err != nil || res.Status != core.RunSuccess {
				t.Errorf("the saved graph: %v", err)
			}
		})
	}
}

// A stored run keeps the kinds of nodes that it may add: the engine that resumes, replays or reads it need not allow
// them, but it must have them.
func TestStoredRunKeepsAddedKinds(t *testing.T) {
	s, err := file.Open(t.TempDir(), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := wavefold.NewField[map[string]any]("out")
	graph := func(down, allow, known bool) *wavefold.Graph {
		e := wavefold.NewEngine()
		if known {
			if err := e.AddTool("help", func(context.Context) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if allow {
			e.AllowAdded("help")
		}
		return wavefold.NewWalk("w", wavefold.Using(e),
			wavefold.Map("a", wavefold.NewField[int]("n", wavefold.Default(0)), out, func(context.Context, int) (map[string]any, error) {
				return map[string]any{core.GraphAction: core.MutationAddNode, core.ActionConfig: map[string]any{"name": "b", "default_next": "c"}, "route": "b"}, nil
			}, wavefold.Entry()),
			wavefold.Do("c", func(context.Context) error {
				if down {
					return errors.New("the service is down")
				}
				return nil
			})).Graph()
	}
	ctx := t.Context()
	if _, err := graph(true, true, true).Run(ctx, wavefold.WithStore(s), wavefold.WithRunID("r")); err == nil {
		t.Fatal("the run has not failed")
	}
	end := func(r *wavefold.Running, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Wait()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(rep.Path, " ")
	}
	if _, err := graph(false, false, false).Resume(ctx, "r", wavefold.WithStore(s)); err == nil || !strings.Contains(err.Error(), "kinds that this program does not have: help") {
		t.Errorf("a program without the function: %v", err)
	}
	g := graph(false, false, true)
	if got := end(g.Resume(ctx, "r", wavefold.WithStore(s))); got != "a b c" {
		t.Errorf("resumed: %s", got)
	}
	if got := end(g.Replay(ctx, "r", "a", wavefold.WithStore(s))); got != "a b c" {
		t.Errorf("replayed: %s", got)
	}
	if _, err := g.History(ctx, s, "r", ""); err != nil {
		t.Errorf("history: %v", err)
	}
}
