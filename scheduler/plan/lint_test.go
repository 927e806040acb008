package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// TestOrderFindingsEqualSearch compares the findings about the order of reads and writes with the
// result of a search from every reader and writer. Nodes are identified by the lines of their
// fields' names.
func TestOrderFindingsEqualSearch(t *testing.T) {
	total := map[source.Code]int{}
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		w := lintGraph(rnd, 2+rnd.IntN(16))
		p, ds := Compile(w, nil, Options{Lint: lint})
		if p == nil {
			t.Fatal(ds)
		}
		got := map[string]bool{}
		for _, d := range ds {
			total[d.Code]++
			if d.Code == source.CodeUnorderedWrites {
				d.Pos.Line = 0 // the finding may be at any of several writers
				d.Pos.Column = int32(slices.IndexFunc(w.Fields, func(f core.FieldDecl) bool { return f.Name.Value == d.Message[len(`state field "`):][:2] }))
			}
			got[finding(d.Code, d.Pos.Line, d.Pos.Column)] = true
		}
		want := searchOrder(p, w)
		for k := range want {
			if !got[k] {
				t.Errorf("seed %d: %s is not reported in\n%v", seed, k, ds)
			}
		}
		for k := range got {
			if !want[k] {
				t.Errorf("seed %d: %s is reported\n%v", seed, k, ds)
			}
		}
	}
	for _, code := range []source.Code{source.CodeUnorderedWrites, source.CodeReadUnordered, source.CodeReadBefore, source.CodeNeverWritten} {
		if total[code] < 100 {
			t.Errorf("%s was reported %d times in all: the test says little", code, total[code])
		}
	}
}

func finding(code source.Code, line, field int32) string {
	return fmt.Sprint(code, " line ", line, " field ", field)
}

// lintGraph returns a random graph of plain nodes. The read of field f by node i is on line i+1,
// column f+1; the write is 1000 lines below.
func lintGraph(rnd *rand.Rand, nodes int) *core.Workflow {
	w := &core.Workflow{HasInputs: true}
	for f := range 4 {
		d := core.FieldDecl{Name: fieldName(f), Merge: text([]string{"", "set_once", "array_append", "sum"}[rnd.IntN(4)]), Default: value.Missing}
		if rnd.IntN(8) == 0 && d.Merge.Value == "" {
			d.Default = "default"
		}
		w.Fields = append(w.Fields, d)
	}
	at := func(line, f int) source.Text {
		return source.At(fieldName(f).Value, source.Position{Line: int32(line), Column: int32(f)})
	}
	for i := range nodes {
		n := handled(fmt.Sprint("n", i))
		for f := range 4 {
			if rnd.IntN(3) == 0 {
				n.Reads = append(n.Reads, at(i+1, f))
			}
			if rnd.IntN(6) == 0 {
				n.Writes = append(n.Writes, at(i+1000, f))
			}
		}
		w.Nodes = append(w.Nodes, n)
		for j := range i {
			if rnd.IntN(5) == 0 {
				w.Edges = append(w.Edges, &core.Edge{From: w.Nodes[j].ID, To: n.ID})
			}
		}
	}
	return w
}

// searchOrder finds the same as checkWrites and checkReads in a simple, slow way.
func searchOrder(p *Plan, w *core.Workflow) map[string]bool {
	want := map[string]bool{}
	never := map[int]bool{}
	for f := range p.Schema.Fields {
		writers := p.WriterVertex[f]
		for i, a := range writers {
			for _, b := range writers[i+1:] {
				if p.Schema.Fields[f].Strategy().OrderSensitive && !p.before(b)[a] {
					want[finding(source.CodeUnorderedWrites, 0, int32(f))] = true
				}
			}
		}
	}
	for v := range p.Vertices {
		n, before := &p.Nodes[p.Vertices[v].Node], p.before(int32(v))
		for _, r := range n.Reads {
			f, line := int(r.Field), n.Index+1
			switch writers := p.WriterVertex[f]; {
			case r.Threshold > 0:
				if slices.ContainsFunc(writers[:r.Threshold], func(w int32) bool { return !before[w] }) {
					want[finding(source.CodeReadUnordered, line, int32(f))] = true
				}
			case !value.IsMissing(p.Schema.Fields[f].Default):
			case len(writers) > 0:
				want[finding(source.CodeReadBefore, line, int32(f))] = true
			case !never[f]:
				never[f] = true
				want[finding(source.CodeNeverWritten, line, int32(f))] = true
			}
		}
	}
	for f := range p.Schema.Fields {
		read := slices.ContainsFunc(p.Nodes, func(n Node) bool { return slices.ContainsFunc(n.Reads, func(r Read) bool { return int(r.Field) == f }) })
		if !read && len(p.WriterVertex[f]) == 0 {
			want[finding(source.CodeUnused, 0, 0)] = true
		}
	}
	return want
}

// An edge does not handle a failure that the policy tolerates.
func TestHandlesWithoutEffect(t *testing.T) {
	for policy, want := range map[string]bool{"skip": true, "retry": false} {
		for _, handles := range []string{"handles: true", "handles: false", "on: fail"} {
			docs := files{"w.yaml": "{name: w, graph: {nodes: [{id: a, kind: fn, on_error: {policy: " + policy + "}}, {id: b, kind: fn}], edges: [{from: a, to: b, on: fail" +
				strings.TrimSuffix(", "+handles, ", on: fail") + "}]}}"}
			_, ds := docs.compile("w.yaml", false)
			if got := ds.Has(source.CodeIgnored); got != (want && handles != "on: fail") {
				t.Errorf("policy %s, %s: %v", policy, handles, ds)
			}
		}
	}
}
