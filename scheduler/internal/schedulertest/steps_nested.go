package schedulertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// StepsDag is a dag in place of a node of a walk by steps: d0, which writes m or fails, and then d1, which
// runs a walk.
type StepsDag struct {
	Fail int // the chance in percent that d0 fails
	Walk *StepsGraph
}

// nest puts runs into some nodes, in runs that are nested in turn up to a depth.
func (d stepsDice) nest(depth int) {
	for _, n := range d.g.Nodes {
		if depth == 0 || !d.chance(15) {
			continue
		}
		inner := d.inner(depth - 1)
		n.Attempts, n.Flaky = 1, 0
		if d.chance(40) {
			n.Dag = &StepsDag{Fail: 25, Walk: inner}
			continue
		}
		n.Sub = inner
	}
}

// inner generates a walk that is nested. It has the seed of the outer one: conditions with one name are one
// function.
func (d stepsDice) inner(depth int) *StepsGraph {
	g := &StepsGraph{Seed: d.g.Seed, MaxMutations: -1, Added: map[string]*StepsNode{}}
	in := stepsDice{rand.New(rand.NewPCG(d.Uint64(), 0x7375626e)), g}
	in.graph()
	for _, n := range g.Nodes {
		n.Fail /= 2
	}
	g.Schema, g.Kinds, g.MaxSteps = true, d.g.Kinds, 1+in.IntN(12)
	in.nest(depth)
	return g
}

// at returns the node with a path, such as n1[2]/d1/n0, and its graph.
func (g *StepsGraph) at(path string) (*StepsGraph, *StepsNode) {
	for {
		outer, rest, nested := strings.Cut(path, "/")
		id, _, _ := strings.Cut(outer, "[")
		n := g.node(id)
		if !nested {
			return g, n
		}
		if path, g = rest, n.Sub; n.Dag != nil {
			path, g = strings.TrimPrefix(rest, "d1/"), n.Dag.Walk
		}
	}
}

// nestedText describes the nested runs of a node.
func (n *StepsNode) nestedText() string {
	inner := n.Sub
	if n.Dag != nil {
		inner = n.Dag.Walk
	}
	if inner == nil {
		return ""
	}
	return "    in " + n.ID + ": " + strings.ReplaceAll(inner.String(), "\n", "\n    ") + "\n"
}

// nest makes a node of a workflow run another workflow if the graph says so.
func (n *StepsNode) nest(out *core.Node, reg *core.Registry, handler core.Handler, nested nestedKind) {
	if n.Sub == nil && n.Dag == nil {
		return
	}
	run := func(node *core.Node, w *core.Workflow, writes []string) {
		node.Kind, node.Handler = text("nested"), nil
		node.Args = source.Tree(value.ObjectOf("m", "$.m"), source.Position{})
		frame := &core.Frame{Workflow: w, Outputs: map[string]string{}}
		for _, name := range writes {
			frame.Outputs[name] = name
		}
		nested[node] = frame
	}
	if n.Sub != nil {
		run(out, n.Sub.workflow(reg, handler, nested), n.Writes)
		return
	}
	inner := n.Dag.Walk.workflow(reg, handler, nested)
	w := &core.Workflow{Name: text("dag"), Mode: core.ModeDAG, Fields: inner.Fields}
	d0 := &core.Node{ID: text("d0"), Kind: text("fn"), Handler: n.Dag.first(n.Dag.Walk.Seed), Writes: texts([]string{"m"}), HasWrites: true}
	d1 := &core.Node{ID: text("d1"), Reads: texts([]string{"m"}), Writes: texts([]string{"m", "sum"}), HasWrites: true}
	run(d1, inner, []string{"m", "sum"})
	w.Nodes, w.Edges = []*core.Node{d0, d1}, []*core.Edge{{From: text("d0"), To: text("d1")}}
	run(out, w, n.Writes)
}

// first returns d0.
func (s *StepsDag) first(seed uint64) core.Handler {
	return core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		m, ok := s.decide(seed, in.Node())
		if !ok {
			return core.Result{}, core.Permanent(errHook)
		}
		return core.Result{Delta: map[string]any{"m": m}}, nil
	})
}

// decide returns what d0 writes; ok is false if it fails.
func (s *StepsDag) decide(seed uint64, path string) (m int64, ok bool) {
	h := digest(seed, "d0", path)
	return int64(h / 100 % 4), int(h%100) >= s.Fail
}

// sub runs what is nested in a node, according to the rules.
func (o *stepsOracle) sub(n *StepsNode, path string) *StepsVisit {
	inputs := map[string]any{}
	if m, ok := o.state["m"]; ok {
		if _, isInt := m.(int64); !isInt {
			return &StepsVisit{Err: "lost"} // the nested run does not accept it
		}
		inputs["m"] = m
	}
	prefix, g := path+"/", n.Sub
	if n.Dag != nil {
		m, ok := n.Dag.decide(o.g.Seed, prefix+"d0")
		status := core.Fail
		if ok {
			status = core.Success
		}
		o.log.Walk = append(o.log.Walk, fmt.Sprintf("%sd0#0 %s after 1", prefix, status))
		if !ok {
			return &StepsVisit{Err: "lost"}
		}
		prefix, g, inputs["m"] = prefix+"d1/", n.Dag.Walk, m
	}
	in := newStepsOracle(g, o.log)
	in.prefix, in.state = prefix, inputs
	end, class := in.walk()
	o.log.mark("nested run failed", end != "success")
	o.log.mark("nested run succeeded", end == "success")
	o.log.mark("run nested in a nested one", o.prefix != "")
	v := &StepsVisit{Writes: map[string]any{}}
	if n.Dag != nil {
		status := core.Success
		if end != "success" {
			status = core.Fail
		}
		o.log.Walk = append(o.log.Walk, fmt.Sprintf("%s#0 %s after 1", strings.TrimSuffix(prefix, "/"), status))
	}
	if end != "success" {
		return &StepsVisit{Err: "lost", class: class}
	}
	for _, name := range n.Writes {
		if x, ok := in.state[name]; ok {
			v.Writes[name] = x
		}
	}
	return v
}
