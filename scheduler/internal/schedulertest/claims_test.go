package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// claimGraph is a graph of nodes that replace files with few names: plain nodes, fan-outs,
// stages of pipelines, and nested runs of such graphs.
type claimGraph struct {
	seed  uint64
	nodes []*claimNode
	depth int
}

type claimNode struct {
	id          string
	items       int // of a fan-out or, with row, a pipeline; 0 for a plain node
	row         bool
	concurrency int
	names       int
	fail        int   // percentage of executions that fail
	retry       bool  // the first attempt of some executions fails
	after       []int // nodes before it
	sub         *claimGraph
}

func generateClaims(seed uint64, depth int) *claimGraph {
	rng := rand.New(rand.NewPCG(seed, 0x636c61696d))
	g := &claimGraph{seed: seed, depth: depth}
	for i := range 1 + rng.IntN(4) {
		n := &claimNode{id: fmt.Sprint("n", i), concurrency: 1 + rng.IntN(4), names: 1 + rng.IntN(12), fail: []int{0, 0, 20}[rng.IntN(3)], retry: rng.IntN(3) == 0}
		if rng.IntN(3) > 0 {
			n.items = 1 + rng.IntN(8)
			n.row = rng.IntN(3) == 0
		}
		if depth < 2 && rng.IntN(4) == 0 {
			n.sub = generateClaims(rng.Uint64(), depth+1)
		}
		for j := range i {
			if rng.IntN(3) == 0 {
				n.after = append(n.after, j)
			}
		}
		g.nodes = append(g.nodes, n)
	}
	return g
}

// shelf holds the files of a run.
type shelf struct {
	mu    sync.Mutex
	files map[string]string
	open  int // number of files prepared, and neither in place nor discarded
}

// replacer is the handler of a node.
type replacer struct {
	g     *claimGraph
	n     *claimNode
	shelf *shelf
	slow  uint64
}

func (*replacer) Replaces() core.Replaces { return core.ReplacesRendered }

func (g *claimGraph) digest(path string, index int) uint64 {
	return digest(g.seed, path, fmt.Sprint(index))
}

// target returns the name of the file that an execution replaces; ok is false if the
// execution fails.
func (n *claimNode) target(h uint64) (name string, ok bool) {
	return fmt.Sprint("t", draw(h, "name")%uint64(n.names)), !chance(draw(h, "fail"), n.fail)
}

func (r *replacer) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	path, index := in.Node(), in.Index()
	h := r.g.digest(path, index)
	if r.slow > 0 {
		time.Sleep(time.Duration(digest(r.slow, path, fmt.Sprint(index, in.Attempt())) % 1000))
	}
	name, ok := r.n.target(h)
	if !ok {
		return core.Result{}, core.Permanent(errors.New("wanted"))
	}
	if r.n.retry && in.Attempt() == 1 && chance(draw(h, "retry"), 50) {
		return core.Result{}, errors.New("wanted at first")
	}
	r.shelf.mu.Lock()
	defer r.shelf.mu.Unlock()
	if !in.Shared().Defer { // no other execution could have that name
		if len(r.g.nodes) > 1 || r.g.depth > 0 || r.n.items > 0 {
			return core.Result{}, core.Permanent(errors.New("the handler was not asked to defer"))
		}
		r.shelf.files[name] = fmt.Sprintf("%s#%d", path, index)
		return core.Write("log", []any{name}), nil
	}
	r.shelf.open++
	return core.Result{Placement: &core.Placement{Target: name, Name: name,
		Place: func(context.Context) (core.Result, error) {
			r.shelf.mu.Lock()
			defer r.shelf.mu.Unlock()
			r.shelf.open--
			r.shelf.files[name] = fmt.Sprintf("%s#%d", path, index)
			return core.Write("log", []any{name}), nil
		},
		Discard: func() {
			r.shelf.mu.Lock()
			defer r.shelf.mu.Unlock()
			r.shelf.open--
		}}}, nil
}

func (g *claimGraph) workflow(s *shelf, slow uint64, k nestedKind) *core.Workflow {
	array := &value.Type{Kind: value.ArrayType}
	w := &core.Workflow{Name: text("claims"), Fields: []core.FieldDecl{{Name: text("log"), Type: array, Merge: text("array_append"), Default: value.Missing}}}
	for _, n := range g.nodes {
		d := &core.Node{ID: text(n.id), Kind: text("fn"), Writes: texts([]string{"log"}), HasWrites: true}
		if n.sub != nil {
			d.Kind = text("nested")
			k[d] = &core.Frame{Workflow: n.sub.workflow(s, slow, k)}
		} else {
			d.Handler = &replacer{g, n, s, slow}
		}
		if n.retry {
			d.OnError = policy("retry", 2, "")
		}
		if n.items > 0 {
			list := core.FieldDecl{Name: text("list" + n.id), Type: array, Default: numbers(1, n.items)}
			w.Fields = append(w.Fields, list)
			if n.row {
				w.Pipelines = append(w.Pipelines, &core.Pipeline{ID: text("p" + n.id), Items: text("$." + list.Name.Value), Stages: texts([]string{n.id}), Concurrency: number(n.concurrency)})
			} else {
				d.ForEach = &core.ForEach{Source: text("$." + list.Name.Value), Concurrency: number(n.concurrency)}
			}
		}
		w.Nodes = append(w.Nodes, d)
		for _, j := range n.after {
			w.Edges = append(w.Edges, &core.Edge{From: text(g.nodes[j].id), To: text(n.id)})
		}
	}
	return w
}

func (g *claimGraph) plan(t *testing.T, s *shelf, slow uint64) *plan.Plan {
	t.Helper()
	k := nestedKind{}
	p, ds := plan.Compile(g.workflow(s, slow, k), core.NewRegistry(k), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// claimOracle runs a graph one execution after the other, in canonical order.
type claimOracle struct {
	files  map[string]string
	claims map[string][]claimStep
}

type claimStep struct {
	g     *claimGraph
	n     int
	index int
}

// apart reports whether no path leads from one execution to the other.
func apart(a, b []claimStep) bool {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		return a[i].n == b[i].n || !a[i].g.leads(min(a[i].n, b[i].n), max(a[i].n, b[i].n))
	}
	return false
}

// leads reports whether a path leads from one node to a later one. A pipeline without edges
// comes after everything else.
func (g *claimGraph) leads(from, to int) bool {
	if g.alone(from) || g.alone(to) {
		return true
	}
	return slices.ContainsFunc(g.nodes[to].after, func(j int) bool { return j == from || j > from && g.leads(from, j) })
}

func (g *claimGraph) alone(i int) bool {
	return g.nodes[i].row && len(g.nodes[i].after) == 0 && !slices.ContainsFunc(g.nodes, func(n *claimNode) bool { return slices.Contains(n.after, i) })
}

// order returns the canonical order: by level, plain nodes first, and units without edges
// last.
func (g *claimGraph) order() []int {
	level := make([]int, len(g.nodes))
	var all []int
	for i, n := range g.nodes {
		for _, j := range n.after {
			level[i] = max(level[i], level[j]+1)
		}
		if all = append(all, i); g.alone(i) {
			level[i] = 1000
		}
	}
	rank := func(i int) int {
		if g.nodes[i].row {
			return 2*level[i] + 1
		}
		return 2 * level[i]
	}
	slices.SortStableFunc(all, func(a, b int) int { return rank(a) - rank(b) })
	return all
}

// run returns the number of failed executions of each node, -1 for a node that was skipped.
func (o *claimOracle) run(g *claimGraph, path string, chain []claimStep) map[string]int {
	failed := map[string]int{}
	for _, i := range g.order() {
		n := g.nodes[i]
		if slices.ContainsFunc(n.after, func(j int) bool { return failed[g.nodes[j].id] != 0 }) {
			failed[n.id] = -1
			continue
		}
		for index := range max(1, n.items) {
			place := index
			if n.items == 0 {
				place = -1
			}
			if !o.execute(g, i, path, place, append(slices.Clone(chain), claimStep{g, i, place})) {
				failed[n.id]++
			}
		}
	}
	return failed
}

func (o *claimOracle) execute(g *claimGraph, i int, path string, index int, chain []claimStep) bool {
	n := g.nodes[i]
	name := path + n.id
	if n.sub != nil {
		if index >= 0 {
			name += fmt.Sprintf("[%d]", index)
		}
		for try := 1; ; try++ {
			ok := true
			for _, bad := range o.run(n.sub, name+"/", chain) {
				ok = ok && bad == 0
			}
			if ok {
				return true
			}
			maps.DeleteFunc(o.claims, func(_ string, c []claimStep) bool { return len(c) >= len(chain) && slices.Equal(c[:len(chain)], chain) })
			if !n.retry || try == 2 {
				return false
			}
		}
	}
	target, ok := n.target(g.digest(name, index))
	if other, taken := o.claims[target]; !ok || taken && apart(other, chain) {
		return false
	}
	o.claims[target] = chain
	o.files[target] = fmt.Sprintf("%s#%d", name, index)
	return true
}

// summary formats the results that must be equal at every limit.
func summary(r *core.Report, files map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s=%s ", k, files[k])
	}
	for _, n := range r.Nodes() {
		fmt.Fprintf(&b, "\n%s %s failed=%d", n.ID, n.Status, n.Failed)
		if n.Failure != nil {
			fmt.Fprintf(&b, " %s", n.Failure.Message)
		}
	}
	return fmt.Sprintf("%s\n%s %s", b.String(), r.Status, value.JSON(r.State))
}

// Items, rows and nodes without a path between them never replace each other's files, and
// the remaining files do not depend on the limit or on timing.
func TestPropertyClaims(t *testing.T) {
	conflicts := 0
	for seed := range graphs() / 5 {
		g := generateClaims(seed, 0)
		o := &claimOracle{files: map[string]string{}, claims: map[string][]claimStep{}}
		want := o.run(g, "", nil)
		first := ""
		check := func(how string, r *core.Report, s *shelf) {
			t.Helper()
			if r == nil {
				return
			}
			for _, n := range r.Nodes() {
				failed := n.Failed
				if n.Items <= 1 && n.Status == core.Fail {
					failed = 1
				}
				if n.Status == core.Skipped {
					failed = -1
				}
				if failed != want[n.ID] {
					t.Errorf("seed %d, %s: node %s: %d failed, want %d", seed, how, n.ID, failed, want[n.ID])
				}
				if n.Failure != nil && strings.Contains(n.Failure.Message, "has written it in this run already") {
					conflicts++
				}
			}
			if !maps.Equal(s.files, o.files) {
				t.Errorf("seed %d, %s: files %v, want %v", seed, how, s.files, o.files)
			}
			if s.open != 0 {
				t.Errorf("seed %d, %s: %d results are neither in place nor discarded", seed, how, s.open)
			}
			if got := summary(r, s.files); first == "" {
				first = got
			} else if got != first {
				t.Errorf("seed %d, %s: got\n%s\nwant\n%s", seed, how, got, first)
			}
		}
		for _, limit := range []int{1, 2, 8, 64} {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{files: map[string]string{}}
				r, _ := scheduler.Run(t.Context(), g.plan(t, s, seed*7+uint64(limit)), nil, scheduler.Options{Concurrency: limit})
				check(fmt.Sprint("limit ", limit), r, s)
			})
		}
		for _, h := range []Hostile{{Seed: seed}, {Seed: seed + 1, JSON: true, Split: true, Yield: true}, {Seed: seed, Double: true}, {Seed: seed, Reload: true}} {
			s := &shelf{files: map[string]string{}}
			r, _, err := h.Run(g.plan(t, s, 0), nil, machine.Options{Concurrency: 8, Events: seed%2 == 0})
			if err != nil {
				t.Errorf("seed %d, %+v: %v", seed, h, err)
				continue
			}
			if h.Reload {
				s.open = 0 // commands that are issued again prepare their files again
			}
			check(fmt.Sprintf("%+v", h), r, s)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if conflicts == 0 {
		t.Error("no graph had a conflict")
	}
}
