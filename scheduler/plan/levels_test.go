package plan

import (
	"fmt"
	"strings"
	"testing"
)

// Canonical order is by level, and within a level nodes, pipelines, loops, each in declared order.
// Units without edges come last, each on its own level.
const ordered = `
name: x
state: {schema: {rows: {type: array, default: []}, n: {type: array, merge: array_append}, once: {merge: set_once}, c: {default: 0}}}
graph:
  nodes:
    - {id: lone1, kind: fn, writes: [n]}
    - {id: lone2, kind: fn}
    - {id: sink, kind: fn, reads: [n, once]}
    - {id: a, kind: fn, writes: [n]}
    - {id: root, kind: fn, writes: [once]}
    - {id: body, kind: fn, writes: [n, once]}
    - {id: s1, kind: fn}
    - {id: s2, kind: fn, reads: [n], writes: [n]}
    - {id: free, kind: fn}
    - {id: alone, kind: fn, writes: [once]}
  edges:
    - {from: root, to: s2}
    - {from: root, to: a}
    - {from: root, to: body}
    - {from: s1, to: sink}
    - {from: body, to: sink}
    - {from: a, to: sink, when: length($.n) > 1}
  loops:
    - {id: late_loop, body: lone1, max_iters: 2}
    - {id: l, body: body, max_iters: 2}
  pipelines:
    - {id: late_line, items: $.rows, stages: [lone2]}
    - {id: p, items: $.rows, stages: [s1, s2]}
`

func TestLevels(t *testing.T) {
	p := mustCompile(t, ordered)
	var got []string
	for l := range len(p.Levels) - 1 {
		var ids []string
		for v := p.Levels[l]; v < p.Levels[l+1]; v++ {
			if x := &p.Vertices[v]; int(x.Level) != l {
				t.Errorf("%s has level %d and lies on %d", x.ID, x.Level, l)
			}
			ids = append(ids, p.Vertices[v].ID)
		}
		got = append(got, strings.Join(ids, " "))
	}
	if want := "root free alone|a p l|sink|late_line|late_loop"; strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// TestGates checks what each vertex waits for.
func TestGates(t *testing.T) {
	p := mustCompile(t, ordered)
	want := `root pending=0 waits=0 once@0
free pending=0 waits=0
alone pending=0 waits=0 once@1
a pending=1 waits=0 n@0
p pending=1 waits=0 n@1
l pending=1 waits=1 n@2 once@2
sink pending=4 waits=2
late_line pending=3 waits=0
late_loop pending=1 waits=0 n@3
n: decide sink after 3, start sink after 3
once: start l after 2, start sink after 3
`
	if got := gates(p); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	sink, _ := p.Node("sink")
	if got := fmt.Sprint(sink.Reads); got != "[{1 3} {2 3}]" {
		t.Errorf("sink reads %s", got)
	}
	s2, _ := p.Node("s2")
	if got := fmt.Sprint(s2.Reads, p.Vertices[s2.Vertex].Unit.Reads); got != "[{1 0}] [{0 0} {1 0}]" {
		t.Errorf("s2 reads %s", got)
	}
}

func gates(p *Plan) string {
	var b strings.Builder
	for i := range p.Vertices {
		v := &p.Vertices[i]
		fmt.Fprintf(&b, "%s pending=%d waits=%d", v.ID, v.Pending, v.Waits)
		for _, s := range v.Writes {
			fmt.Fprintf(&b, " %s@%d", p.Schema.Fields[s.Field].Name, s.Slot)
		}
		b.WriteString("\n")
	}
	for f, readers := range p.Readers {
		for i, r := range readers {
			if i == 0 {
				b.WriteString(p.Schema.Fields[f].Name + ": ")
			} else {
				b.WriteString(", ")
			}
			who := ""
			if r.Gate == GateElse {
				who = p.Vertices[p.ElseGroups[r.Vertex].Source].ID
			} else {
				who = p.Vertices[r.Vertex].ID
			}
			fmt.Fprintf(&b, "%s %s after %d", [...]string{"decide", "start", "judge"}[r.Gate], who, r.Threshold)
		}
		if len(readers) > 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// The pending counts must agree with the gates that vertices open. Otherwise a vertex would start
// too early or never.
func checkPending(t interface{ Errorf(string, ...any) }, p *Plan) {
	n := len(p.Vertices)
	pending := make([]int32, n+len(p.ElseGroups))
	for v := range int32(n) {
		for _, g := range p.OutGates(v) {
			pending[g]++
		}
	}
	waits := make([]int32, n)
	for _, list := range p.Readers {
		last := int32(0)
		for _, r := range list {
			if r.Threshold < last || r.Threshold == 0 {
				t.Errorf("readers out of order: %v", list)
			}
			last = r.Threshold
			switch r.Gate {
			case GateStart:
				waits[r.Vertex]++
			case GateDecide:
				pending[r.Vertex]++
			case GateElse:
				pending[int32(n)+r.Vertex]++
			}
		}
	}
	for j := range p.ElseGroups {
		if p.ElseGroups[j].Pending != pending[n+j] {
			t.Errorf("judge %d: pending %d, opened by %d", j, p.ElseGroups[j].Pending, pending[n+j])
		}
		for _, e := range p.ElseGroups[j].Edges {
			pending[p.Edges[e].To]++
		}
	}
	for v := range p.Vertices {
		if x := &p.Vertices[v]; x.Pending != pending[v] || x.Waits != waits[v] {
			t.Errorf("%s: pending %d, opened by %d; waits %d for %d fields", x.ID, x.Pending, pending[v], x.Waits, waits[v])
		}
	}
}

func TestThreshold(t *testing.T) {
	p := mustCompile(t, ordered)
	for level, want := range []int32{0, 0, 3, 3, 3, 4} {
		if got := p.Threshold(1, int32(level)); got != want {
			t.Errorf("writers of n below level %d: got %d, want %d", level, got, want)
		}
	}
	for level, want := range []int32{0, 2, 3} {
		if got := p.Threshold(2, int32(level)); got != want {
			t.Errorf("writers of once below level %d: got %d, want %d", level, got, want)
		}
	}
}

func TestJudges(t *testing.T) {
	p := mustCompile(t, `
name: x
state: {schema: {x: {default: 0}}}
graph:
  nodes: [{id: a, kind: fn, writes: [x]}, {id: b, kind: fn}, {id: c, kind: fn}, {id: d, kind: fn}, {id: w, kind: fn, writes: [x]}]
  edges:
    - {from: a, to: b, when: $.x > 1}
    - {from: a, to: c, when: else}
    - {from: a, to: d, when: else}
    - {from: a, to: d}
    - {from: b, to: d, when: $.x > 2}
`)
	j := &p.ElseGroups[0]
	if len(p.ElseGroups) != 1 || p.Vertices[j.Source].ID != "a" || j.Level != 1 || j.Pending != 2 || fmt.Sprint(j.Edges) != "[0 1 2]" {
		t.Errorf("judges %+v", p.ElseGroups)
	}
	if got := gates(p); !strings.Contains(got, "x: decide d after 2, judge a after 2") {
		t.Errorf("gates:\n%s", got)
	}
	checkPending(t, p)
}

func TestRank(t *testing.T) {
	p := mustCompile(t, `
name: x
state: {schema: {rows: {type: array, default: []}}}
graph:
  nodes: [{id: a, kind: fn, priority: -1}, {id: b, kind: fn}, {id: c, kind: fn, priority: 5}, {id: d, kind: fn}, {id: s1, kind: fn, priority: -3}, {id: s2, kind: fn, priority: 5}]
  pipelines: [{id: p, items: $.rows, stages: [s1, s2]}]
`)
	var ids []string
	for r, v := range p.ByRank {
		ids = append(ids, p.Vertices[v].ID)
		if int(p.Rank[v]) != r {
			t.Errorf("rank of %s: %d, want %d", p.Vertices[v].ID, p.Rank[v], r)
		}
	}
	if got := strings.Join(ids, " "); got != "c p b d a" {
		t.Errorf("order of starts: %s", got)
	}
	if p := mustCompile(t, ordered); p.Rank != nil || p.ByRank != nil {
		t.Error("ranks without priorities")
	}
}
