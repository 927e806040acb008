package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

const described = `
name: day
runtime: {concurrency: 3, max_in_flight: 9}
inputs:
  orders: {type: array}
state:
  schema:
    orders: {type: array}
    rate: {type: number}
    total: {type: number, merge: sum}
    log: {type: array, merge: array_append}
    report: {type: string, merge: set_once}
    first: {type: string, merge: set_once}
    done: {type: boolean, default: false}
graph:
  nodes:
    - {id: load, kind: fn, phase: in, writes: [rate], description: the first}
    - {id: score, kind: fn, reads: [rate], writes: [log], for_each: {source: $.orders, concurrency: 4}}
    - {id: side, kind: fn, writes: [total]}
    - {id: late, kind: fn, writes: [log, first]}
    - {id: yes, kind: fn, reads: [total], args: {all: $.log, how: $nodes.side.status}}
    - {id: no, kind: fn, join: all_done}
    - {id: s1, kind: fn, reads: [report]}
    - {id: s2, kind: fn, writes: [report]}
    - {id: body, kind: fn, writes: [report, done]}
    - {id: s3, kind: fn, reads: [first], writes: [first]}
    - {id: s4, kind: fn, writes: [first]}
  edges:
    - {from: load, to: score}
    - {from: side, to: late}
    - {from: score, to: yes, when: $.total > 3}
    - {from: score, to: no, when: else}
    - {from: score, to: no, on: fail}
    - {from: score, to: s3}
    - {from: score, to: s4}
  pipelines:
    - {id: rows, items: $.orders, stages: [s1, s2], concurrency: 2, phase: out}
    - {id: reading, items: $.orders, stages: [s3]}
    - {id: writing, items: $.orders, stages: [s4]}
  loops:
    - {id: again, body: body, until: $.done, max_iters: 7}
`

const descriptionOfDay = `day width=4 concurrency=3 max_in_flight=9
0 load node phase=in [load fn writes=rate "the first"]
0 side node [side fn writes=total]
1 score for_each source=$.orders:4 [score fn reads=rate,orders writes=log]
1 late node [late fn writes=log,first]
2 yes node [yes fn reads=total,log after=side]
  when total<-side
  reads log<-late
2 no node all_done [no fn]
  when total<-side
2 reading pipeline source=$.orders:1 [s3 fn reads=first writes=first]
  reads first<-late
2 writing pipeline source=$.orders:1 [s4 fn writes=first]
  merge first<-late,reading
3 rows pipeline phase=out last source=$.orders:2 [s1 fn reads=report] [s2 fn writes=report]
4 again loop last until=$.done max=7 [body fn writes=report,done]
load -> score
side -> late
score -> yes when $.total > 3
score -> no else
score -> no on fail
score -> s3
score -> s4
`

func TestDescribe(t *testing.T) {
	p := mustCompile(t, described)
	if got := draw(p.Describe()); got != descriptionOfDay {
		t.Errorf("got\n%swant\n%s", got, descriptionOfDay)
	}
	if _, err := json.Marshal(p.Describe()); err != nil {
		t.Error(err)
	}
}

// draw formats a description as text.
func draw(d *Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s width=%d concurrency=%d max_in_flight=%d\n", d.Name, d.Width, d.Concurrency, d.MaxInFlight)
	add := func(format string, v any) {
		if v != "" && v != 0 {
			fmt.Fprintf(&b, format, v)
		}
	}
	mark := func(word string, is bool) {
		if is {
			b.WriteString(word)
		}
	}
	for _, level := range d.Levels {
		for _, v := range level {
			fmt.Fprintf(&b, "%d %s %s", v.Level, v.ID, v.Shape)
			add(" phase=%s", v.Phase)
			mark(" last", v.Last)
			mark(" all_done", v.AllDone)
			add(" source=%s", v.Source)
			add(":%d", v.Concurrency)
			add(" until=%s", v.Until)
			add(" max=%d", v.MaxIters)
			for _, n := range v.Nodes {
				fmt.Fprintf(&b, " [%s %s", n.ID, n.Kind)
				add(" reads=%s", strings.Join(n.Reads, ","))
				add(" writes=%s", strings.Join(n.Writes, ","))
				add(" after=%s", strings.Join(n.After, ","))
				add(" %q", n.Description)
				b.WriteString("]")
			}
			b.WriteString("\n")
			for _, w := range v.Waits {
				fmt.Fprintf(&b, "  %s %s<-%s", w.For, w.Field, strings.Join(w.Writers, ","))
				add("+%d", w.More)
				b.WriteString("\n")
			}
		}
	}
	for _, e := range d.Edges {
		fmt.Fprintf(&b, "%s -> %s", e.From, e.To)
		add(" when %s", e.When)
		mark(" else", e.Else)
		add(" on %s", e.On)
		mark(" implied", e.Implied)
		b.WriteString("\n")
	}
	return b.String()
}

func TestDescribeImplied(t *testing.T) {
	w := layered(2, 1)
	w.Edges[0].Implied = true
	p, ds := Compile(w, nil, Options{Lint: lint})
	if p == nil {
		t.Fatal(ds)
	}
	if d := p.Describe(); !d.Edges[0].Implied {
		t.Errorf("the edge is not marked: %+v", d.Edges[0])
	}
}

// A wait names ten writers and counts the others.
func TestDescribeManyWriters(t *testing.T) {
	w := layered(2, 30)
	w.Fields = []core.FieldDecl{{Name: source.Text{Value: "log"}, Merge: source.Text{Value: "array_append"}, Default: value.Missing}}
	for _, n := range w.Nodes[:30] {
		n.Writes = []source.Text{{Value: "log"}}
	}
	w.Nodes[30].Reads = []source.Text{{Value: "log"}}
	p, ds := Compile(w, nil, Options{Lint: lint})
	if p == nil {
		t.Fatal(ds)
	}
	waits := p.Describe().Levels[1][0].Waits
	if len(waits) != 1 || len(waits[0].Writers) != 10 || waits[0].More != 18 {
		t.Errorf("waits %+v", waits)
	}
}

// The kind of a node determines whether the node has effects outside the run, unless the node sets
// that itself.
func TestEffects(t *testing.T) {
	p := mustCompile(t, `
name: x
graph:
  nodes:
    - {id: plain, kind: fn}
    - {id: marked, kind: fn, effects: true}
    - {id: called, kind: tool, impl: f, writes: []}
    - {id: harmless, kind: tool, impl: f, writes: [], effects: false}
`)
	for _, n := range p.Describe().Levels[0] {
		d := n.Nodes[0]
		if want := d.ID == "marked" || d.ID == "called"; d.Effects != want {
			t.Errorf("%s: effects %t, want %t", d.ID, d.Effects, want)
		}
	}
}

// direct is a kind whose nodes only direct a walk.
type direct struct {
	name string
	role core.Role
}

func (d direct) Name() string { return d.name }
func (direct) Keys() []string { return nil }

func (d direct) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Role: d.role}, nil
}

// TestDescribeDistances: the description of a walk used the unit of a vertex that has none.
func TestDescribeDistances(t *testing.T) {
	w := &core.Workflow{Mode: core.ModeWalk, Name: source.Text{Value: "walk"}}
	for _, n := range []string{"start", "exit", "check", "fix", "lost", "early"} {
		node := &core.Node{ID: source.Text{Value: n}, Kind: source.Text{Value: n}}
		if n != "start" && n != "exit" {
			node.Kind, node.Handler = source.Text{}, core.HandlerFunc(nothing)
		}
		w.Nodes = append(w.Nodes, node)
	}
	for _, e := range []string{"start early", "start check", "early check", "check fix", "fix check", "check exit", "lost exit"} {
		from, to, _ := strings.Cut(e, " ")
		w.Edges = append(w.Edges, &core.Edge{From: source.Text{Value: from}, To: source.Text{Value: to}, Label: source.Text{Value: "to " + to}})
	}
	p, ds := Compile(w, core.NewRegistry(direct{"start", core.RoleStart}, direct{"exit", core.RoleExit}), Options{Lint: lint})
	if p == nil {
		t.Fatal(ds)
	}
	d := p.Describe()
	got := fmt.Sprint(d.Routing.Start, " ", d.Width, " ", d.Edges[5].Label)
	for _, level := range d.Levels {
		for _, v := range level {
			got += fmt.Sprintf("\n%d %s %s %s", v.Level, v.ID, v.Shape, v.Nodes[0].ID)
		}
	}
	const want = `start 2 to exit
0 start node start
1 check node check
1 early node early
2 exit node exit
2 fix node fix
3 lost node lost`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
