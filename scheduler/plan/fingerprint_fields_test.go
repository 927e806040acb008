package plan_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const (
	fieldsDoc = `name: t
inputs:
  n: {type: integer, required: true}
  days: {type: array, required: true}
state:
  schema: {out: {type: array, merge: array_append}, list: {type: array}, k: {type: integer}}
graph:
  nodes:
    - {id: a, kind: tool, impl: noop, reads: [k], writes: [out], args: {x: 1}}
    - {id: b, kind: tool, impl: noop, writes: []}
    - {id: c, kind: tool, impl: noop, writes: [out], for_each: {source: $input.days, collect: out}, on_error: {policy: retry, attempts: 2}}
    - {id: j, kind: tool, impl: noop, writes: [], join: any}
    - {id: sub, kind: workflow, file: inner.yaml, args: {k: 1}, writes: [k], outputs: {k: k}}
    - {id: w, kind: wait, duration: 1s}
    - {id: s, kind: tool, impl: noop, writes: []}
    - {id: r, kind: tool, impl: noop, writes: []}
  edges:
    - {from: a, to: j, when: $.k > 1}
    - {from: b, to: j}
    - {from: a, to: b}
  pipelines: [{id: p, items: $.list, stages: [s]}]
  loops: [{id: l, body: [r], until: $.k > 1, max_iters: 3}]
incremental:
  cursor: {input: n, from: $.k}
  partitions: {input: days, node: c}
`

	fieldsInner = `name: inner
inputs: {k: {type: integer}, m: {type: integer}}
graph:
  nodes: [{id: x, kind: tool, impl: noop, writes: []}]
`

	fieldsDOT = `digraph g {
  start [shape=Mdiamond]
  ask [shape=hexagon, label="Ship?"]
  fork [shape=component]
  a [shape=parallelogram, tool_command="true"]
  b [shape=parallelogram, tool_command="true"]
  meet [shape=parallelogram, tool_command="true"]
  exit [shape=Msquare]
  start -> ask
  ask -> fork [label="[Y] Yes"]
  ask -> exit [label="[N] No"]
  fork -> a
  fork -> b
  a -> meet
  b -> meet
  meet -> exit
}
`

	fieldsSWEny = `id: t
name: t
entry: a
nodes:
  a: {name: First, instruction: Do it}
  b: {name: Second, instruction: Check it}
edges:
  - {from: a, to: b, when: it is done}
  - {from: b, to: a, when: it is not, max_iterations: 2}
`
)

const fieldsBuilder = `{"nodes": [
  {"id": "s", "type": "start", "data": {"initialInput": "x"}},
  {"id": "a", "type": "agent", "data": {"tools": {"subagents": true}}},
  {"id": "b", "type": "agent"},
  {"id": "c", "type": "if", "data": {"conditions": [{"operator": "equal", "value": "x"}]}},
  {"id": "p", "type": "approval", "data": {"prompt": "Go?"}}],
"connections": [{"source": "s", "target": "a"}, {"source": "a", "target": "b", "sourceHandle": "subagent"}, {"source": "a", "target": "c"},
  {"source": "c", "target": "p", "sourceHandle": "false"}, {"source": "p", "target": "a", "sourceHandle": "reject"}]}
`

// leftOut lists the fields of plans that are not in fingerprints, with the reason.
var leftOut = map[string]string{
	"Plan.Name": "the name of a document does not count", "Plan.Workflow": "what is compiled of it counts", "Plan.Refused": "such a plan does not run", "Plan.Overlap": "see TestFingerprintWithoutLimits", "Plan.key": "see TestFingerprintWithoutLimits",
	"Plan.Concurrency": "results do not depend on it", "Plan.MaxInFlight": "results do not depend on it", "Plan.Durability": "results do not depend on it", "Plan.Races": "follows from Joins",
	"Plan.Stdout": "follows from the nodes", "Plan.Stdin": "follows from the nodes", "Plan.Secrets": "follows from the configuration of nodes",
	"Plan.RunsUserCode": "code does not count", "Plan.Nested": "follows from the nodes", "Plan.Conventions": "follows from Mode and Walk.Router",
	"Plan.context": "follows from the schema", "Plan.Claimers": "follows from the nodes", "Plan.replaces": "follows from the nodes", "Plan.upserts": "follows from the nodes",
	"Plan.adds":    "the program, see AddedKinds",
	"Plan.outputs": "follows from the nodes", "Plan.inputs": "follows from the nodes", "Plan.ElseGroups": "follows from the edges", "Plan.JoinBranches": "follows from the edges",
	"Plan.Levels": "follows from the edges", "Plan.Out": "follows from the edges", "Plan.OutStart": "follows from the edges", "Plan.In": "follows from the edges",
	"Plan.InStart": "follows from the edges", "Plan.Writers": "follows from WriterVertex", "Plan.writerLevels": "follows from WriterVertex",
	"Plan.Readers": "follows from Node.Reads", "Plan.Rank": "follows from the priorities of nodes", "Plan.ByRank": "follows from the priorities of nodes",
	"Plan.open": "follows from the schema", "Plan.maker": "code does not count", "Walk.Steps": "TestEverySettingIsInTheFingerprint changes it",
	"Plan.nodeIndex": "an index", "Plan.inputIndex": "an index", "Plan.files": "tested by TestFingerprint", "Plan.edgeDecls": "follows from Edges", "Plan.positions": "not in a document",

	"Plan.Schema": "tested by TestFingerprint", "Plan.Walk": "its fields are tested", "Plan.Vertices": "the fields of units are tested",
	"Plan.Flow": "its fields are tested", "Flow.Nodes": "their fields are tested", "Flow.Start": "follows from the roles of nodes", "Flow.Context": "follows from the schema",
	"FlowNode.Ways": "follow from the edges", "FlowNode.Output": "the test of documents changes it", "Edge.Delegates": "follows from the handle",
	"Plan.Nodes": "their fields are tested", "Plan.Edges": "their fields are tested", "Plan.Joins": "their fields are tested", "Plan.WriterVertex": "tested by TestFingerprint",

	"Walk.Router": "tested by TestAddedRouter", "Walk.Nodes": "their fields are tested", "Walk.Edges": "their fields are tested",
	"Walk.Exit": "follows from the roles of nodes", "Walk.Context": "follows from the schema", "Walk.Pairs": "follows from the edges", "Walk.Briefs": "follows from the nodes",
	"WalkNode.Out": "follows from the edges", "WalkNode.Next": "follows from the configuration of the node",

	"Parallel.Branches": "follows from the edges", "Parallel.Edges": "follows from the edges", "Parallel.Meet": "follows from the edges",
	"WalkEdge.Pair": "follows from the edges",

	"Node.Handler": "code does not count", "Node.Value": "code does not count", "Node.Index": "is in the order", "Node.Vertex": "is in the order", "Node.Member": "is in the order",
	"Node.FieldsOnly": "follows from reads, args and limits", "Node.Pull": "marks nodes that are not in the plan", "Node.Puller": "follows from Source",
	"Node.Cancellable": "follows from Joins", "Node.Args": "Decl.Args counts as written", "Node.Models": "follows from the kind and its configuration",
	"Node.Claims": "follows from the kind and its configuration", "Node.Upserts": "follows from the kind and its configuration",
	"Node.upserts": "follows from the kind and its configuration", "Node.replaces": "follows from the kind and its configuration",
	"Node.Asks": "follows from the kind", "Node.Briefed": "follows from the kind and its configuration", "Node.Stdout": "follows from the kind and its configuration",
	"Node.Stdin": "follows from the kind and its configuration", "Node.WriteFields": "follows from Writes", "Node.StreamTo": "follows from the kind and its configuration",
	"Node.Phase": "phases do not count", "Node.Lacks": "follows from the kind and its configuration", "Node.rare": "follows from the kind and its configuration",
	"Node.Retry": "its fields are tested", "Node.Frame": "its fields are tested", "Frame.Plan": "tested by TestFingerprint", "Edge.FromNode": "the declared edge names it",
	"Node.Decl": "the test of documents changes it",

	"Edge.From": "follows from FromNode", "Edge.To": "follows from ToNode", "Edge.InElseGroup": "follows from Else of the other edges", "Edge.JoinBranch": "follows from Joins",
	"Unit.Phase": "phases do not count", "Unit.LastClaim": "follows from the nodes", "Unit.Puller": "follows from Items", "Unit.NodeRefs": "follows from Items, Until and the nodes", "Unit.Fields": "follows from the writes of members",
	"Join.Vertex": "is in the order", "Join.Policy": "Need and Race say what it means", "Join.From": "follows from the edges", "Join.To": "follows from the edges",
	"Join.Losers": "follows from the edges", "Output.Name": "Inner names the field",
}

// Each field of a plan is in its fingerprint or in leftOut.
func TestEveryFieldIsInTheFingerprint(t *testing.T) {
	dag, walk := printed(t, "flow.yaml", fieldsDoc, fieldsInner, ""), printed(t, "g.dot", fieldsDOT, fieldsInner, "")
	flow := printed(t, "b.json", fieldsBuilder, fieldsInner, "")
	node := func(p *plan.Plan, id string) *plan.Node {
		n, ok := p.Node(id)
		if !ok {
			t.Fatal("no node", id)
		}
		return n
	}
	choice := -1
	for i := range walk.Walk.Edges {
		if walk.Walk.Edges[i].Label == "[Y] Yes" {
			choice = i
		}
	}
	used := map[string]bool{}
	for _, s := range []struct {
		p     *plan.Plan
		parts []any
	}{
		{dag, []any{dag, dag.Incremental, node(dag, "a"), node(dag, "c").Retry, node(dag, "sub").Frame, &node(dag, "sub").Frame.Outputs[0],
			node(dag, "w").Wait, &dag.Edges[0], &dag.Joins[0]}},
		{walk, []any{walk.Walk, &walk.Walk.Nodes[node(walk, "fork").Index], walk.Walk.Nodes[node(walk, "fork").Index].Parallel, &walk.Walk.Edges[choice]}},
		{flow, []any{flow.Flow, &flow.Flow.Nodes[node(flow, "a").Index]}},
	} {
		if s.p == dag {
			for i := range dag.Vertices {
				if u := dag.Vertices[i].Unit; u != nil {
					s.parts = append(s.parts, u)
				}
			}
		}
		before := s.p.Fingerprint()
		for _, part := range s.parts {
			v := reflect.ValueOf(part).Elem()
			for i := range v.NumField() {
				name := v.Type().Name() + "." + v.Type().Field(i).Name
				if leftOut[name] != "" {
					used[name] = true
					continue
				}
				if !v.Type().Field(i).IsExported() {
					t.Errorf("%s is neither exported nor left out", name)
					continue
				}
				old := reflect.New(v.Field(i).Type()).Elem()
				old.Set(v.Field(i))
				v.Field(i).Set(changed(t, name, old, dag.Edges[0].When))
				if s.p.Fingerprint() == before {
					t.Errorf("%s changes from %v to %v and the fingerprint does not", name, old, v.Field(i))
				}
				v.Field(i).Set(old)
			}
		}
		if s.p.Fingerprint() != before {
			t.Fatal("the plan is not as it was")
		}
	}
	for name := range leftOut {
		if !used[name] {
			t.Errorf("%s is left out and does not exist", name)
		}
	}
}

// changed returns another value of the type of v, for example condition if v is not a condition.
func changed(t *testing.T, name string, v reflect.Value, condition *expressions.Program) reflect.Value {
	t.Helper()
	c := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Bool:
		c.SetBool(!v.Bool())
	case reflect.String:
		c.SetString(v.String() + "x")
	case reflect.Int, reflect.Int32, reflect.Int64:
		if c.SetInt(1); v.Int() == 1 {
			c.SetInt(0)
		}
	case reflect.Uint8:
		c.SetUint(1 - min(1, v.Uint()))
	case reflect.Float64:
		c.SetFloat(v.Float() + 1)
	case reflect.Slice:
		if v.Len() == 0 {
			return reflect.Append(c, reflect.Zero(v.Type().Elem()))
		}
		return v.Slice(0, v.Len()-1)
	case reflect.Pointer:
		switch {
		case name == "Plan.Mode":
			return reflect.ValueOf(&plan.Mode{Name: "other"})
		case !v.IsNil():
			return c
		case v.Type() == reflect.TypeFor[*expressions.Program]():
			return reflect.ValueOf(condition)
		}
		return reflect.New(v.Type().Elem())
	default:
		t.Fatalf("%s: no other value of %s", name, v.Type())
	}
	return c
}

// Each setting of a document that changes what a run does is in the fingerprint, including the
// settings that the plan holds elsewhere.
func TestEverySettingIsInTheFingerprint(t *testing.T) {
	minute := source.At(time.Minute, source.Position{})
	node := func(w *core.Workflow, id string) *core.Node {
		for _, n := range w.Nodes {
			if n.ID.Value == id {
				return n
			}
		}
		panic(id)
	}
	changes := map[string]struct {
		doc    string
		change func(w *core.Workflow)
	}{
		"Walk.MaxRetries":          {"g.dot", func(w *core.Workflow) { w.Walk.MaxRetries = count(7) }},
		"Walk.RetryTarget":         {"g.dot", func(w *core.Workflow) { w.Walk.RetryTarget = word("a") }},
		"Walk.FallbackRetryTarget": {"g.dot", func(w *core.Workflow) { w.Walk.FallbackRetryTarget = word("a") }},
		"Walk.MaxVisits":           {"g.dot", func(w *core.Workflow) { w.Walk.MaxVisits = count(7) }},
		"Walk.MaxJumps":            {"g.dot", func(w *core.Workflow) { w.Walk.MaxJumps = count(7) }},
		"Walk.StallTimeout":        {"g.dot", func(w *core.Workflow) { w.Walk.StallTimeout = &minute }},
		"Walk.RepeatLimit":         {"g.dot", func(w *core.Workflow) { w.Walk.RepeatLimit = count(7) }},
		"Walk.Fidelity":            {"g.dot", func(w *core.Workflow) { w.Walk.Fidelity = word(core.FidelityTruncate) }},
		"Walk.Entry":               {"t.yml", func(w *core.Workflow) { w.Walk.Entry = word("b") }},
		"Walk.MaxSteps":            {"t.yml", func(w *core.Workflow) { w.Walk.MaxSteps = count(7) }},
		"Walk.Model":               {"t.yml", func(w *core.Workflow) { w.Walk.Model = word("small") }},

		"Node.ID":    {"flow.yaml", func(w *core.Workflow) { node(w, "w").ID = word("other") }},
		"Node.Kind":  {"flow.yaml", func(w *core.Workflow) { node(w, "s").Kind, node(w, "s").Config = word("wait"), node(w, "w").Config }},
		"Node.Reads": {"flow.yaml", func(w *core.Workflow) { node(w, "a").Reads = nil }},
		"Node.Writes": {"flow.yaml", func(w *core.Workflow) {
			node(w, "s").Writes, node(w, "s").HasWrites = []source.Text{word("k")}, true
		}},
		"Node.Args":         {"flow.yaml", func(w *core.Workflow) { node(w, "a").Args = nil }},
		"Node.Config":       {"flow.yaml", func(w *core.Workflow) { node(w, "s").Config = other(node(w, "s").Config) }},
		"Node.ForEach":      {"flow.yaml", func(w *core.Workflow) { node(w, "b").ForEach = &core.ForEach{Source: word("$.list")} }},
		"Node.OnError":      {"flow.yaml", func(w *core.Workflow) { node(w, "b").OnError = &core.OnError{Policy: word("skip")} }},
		"Node.AllowPartial": {"flow.yaml", func(w *core.Workflow) { node(w, "b").AllowPartial = true }},
		"Node.AutoStatus":   {"flow.yaml", func(w *core.Workflow) { node(w, "b").AutoStatus = true }},
		"Node.Timeout":      {"flow.yaml", func(w *core.Workflow) { node(w, "b").Timeout = &minute }},
		"Node.Pause":        {"flow.yaml", func(w *core.Workflow) { node(w, "b").Pause = word("after") }},
		"Node.Cache":        {"flow.yaml", func(w *core.Workflow) { node(w, "b").Cache = &core.Cache{} }},
		"Node.Join":         {"flow.yaml", func(w *core.Workflow) { node(w, "j").Join = nil }},
		"Node.Priority":     {"flow.yaml", func(w *core.Workflow) { node(w, "b").Priority.Value = 1 }},
		"Node.Version":      {"flow.yaml", func(w *core.Workflow) { node(w, "b").Version = source.Text{Value: "2"} }},
		"Node.Effects":      {"flow.yaml", func(w *core.Workflow) { yes := true; node(w, "b").Effects = &yes }},
		"Node.Child": {"flow.yaml", func(w *core.Workflow) {
			node(w, "sub").Child = &core.Workflow{Nodes: []*core.Node{{ID: word("x"), Kind: word("wait"), Config: node(w, "w").Config}}, Fields: []core.FieldDecl{{Name: word("k"), Default: int64(1)}}}
		}},
		"Node.Label":               {"g.dot", func(w *core.Workflow) { node(w, "ask").Label = word("Ship it?") }},
		"Node.GoalGate":            {"g.dot", func(w *core.Workflow) { node(w, "a").GoalGate = true }},
		"Node.RetryTarget":         {"g.dot", func(w *core.Workflow) { node(w, "a").RetryTarget = word("b") }},
		"Node.FallbackRetryTarget": {"g.dot", func(w *core.Workflow) { node(w, "a").FallbackRetryTarget = word("b") }},
		"Node.Fidelity":            {"g.dot", func(w *core.Workflow) { node(w, "a").Fidelity = word(core.FidelityTruncate) }},
		"Node.MaxVisits":           {"g.dot", func(w *core.Workflow) { node(w, "a").MaxVisits = count(7) }},
		"Node.Random":              {"g.dot", func(w *core.Workflow) { node(w, "a").Random = true }},
		"Node.Parallel":            {"g.dot", func(w *core.Workflow) { node(w, "fork").Parallel = &core.Parallel{MaxParallel: count(7)} }},
		"Node.ViewMembers":         {"t.yml", func(w *core.Workflow) { node(w, "a").ViewMembers = []source.Text{word("x")} }},

		"Node.Flow": {"b.json", func(w *core.Workflow) { node(w, "s").Flow = &core.FlowNode{Role: core.FlowStart, Output: "y"} }},

		"Edge.From": {"flow.yaml", func(w *core.Workflow) { w.Edges[1].From = word("w") }},
		"Edge.To":   {"flow.yaml", func(w *core.Workflow) { w.Edges[1].To = word("w") }},
		"Edge.When": {"flow.yaml", func(w *core.Workflow) { w.Edges[0].When = nil }},
		"Edge.Else": {"flow.yaml", func(w *core.Workflow) { w.Edges[2].Else = true }},
		"Edge.On":   {"flow.yaml", func(w *core.Workflow) { w.Edges[1].On = word("done") }},
		"Edge.Handles": {"flow.yaml", func(w *core.Workflow) {
			yes := source.At(true, source.Position{})
			w.Edges[1].On, w.Edges[1].Handles = word("fail"), &yes
		}},
		"Edge.Label":         {"g.dot", func(w *core.Workflow) { w.Edges[1].Label = word("[S] Yes") }},
		"Edge.Weight":        {"g.dot", func(w *core.Workflow) { w.Edges[1].Weight.Value = 7 }},
		"Edge.LoopRestart":   {"g.dot", func(w *core.Workflow) { w.Edges[1].LoopRestart = true }},
		"Edge.Fidelity":      {"g.dot", func(w *core.Workflow) { w.Edges[1].Fidelity = word(core.FidelityTruncate) }},
		"Edge.Freeform":      {"g.dot", func(w *core.Workflow) { w.Edges[1].Freeform = true }},
		"Edge.MaxIterations": {"t.yml", func(w *core.Workflow) { w.Edges[1].MaxIterations = count(7) }},

		"Walk.LoopUntil":    {"steps", func(w *core.Workflow) { w.Walk.LoopUntil = nil }},
		"Walk.MaxMutations": {"steps", func(w *core.Workflow) { w.Walk.MaxMutations = count(7) }},
		"Walk.FixedGraph":   {"steps", func(w *core.Workflow) { yes := source.At(true, source.Position{}); w.Walk.FixedGraph = &yes }},
		"Node.Transitions": {"steps", func(w *core.Workflow) {
			w.Nodes[0].Transitions = []core.Transition{{Key: word("x"), To: word("b")}}
		}},
		"Node.DefaultNext": {"steps", func(w *core.Workflow) { w.Nodes[0].DefaultNext = word("b") }},
		"Node.Critical":    {"steps", func(w *core.Workflow) { w.Nodes[0].Critical = true }},
		"Node.Before": {"steps", func(w *core.Workflow) {
			w.Nodes[0].Before = func(context.Context, *core.HookState) error { return nil }
		}},
		"Node.After": {"steps", func(w *core.Workflow) {
			w.Nodes[0].After = func(context.Context, *core.VisitResult) error { return nil }
		}},
		"Edge.Cond":     {"steps", func(w *core.Workflow) { w.Edges[0].Cond = &core.Cond{Kind: word(core.CondError)} }},
		"Edge.Priority": {"steps", func(w *core.Workflow) { w.Edges[0].Priority.Value = 7 }},
	}
	notInPlans := map[string]string{
		"Walk.Router": "a walk of one router is not valid for another", "Walk.Attributes": "only drawn", "Walk.Pos": "a position",
		"Node.Phase": "only displayed", "Node.Description": "only displayed", "Node.HasWrites": "the test changes it with Writes", "Node.Classes": "formats apply styles",
		"Node.Asks": "for kinds that are not registered", "Node.Lacks": "for kinds that are not registered", "Node.Toolless": "suppresses a warning", "Node.Attributes": "only drawn",
		"Node.Handler": "code does not count", "Node.Lost": "errors", "Node.Pos": "a position",
		"Edge.Into":   "a rule of delegations",
		"Edge.Parsed": "another form of When", "Edge.Attributes": "only drawn", "Edge.Implied": "only displayed", "Edge.Lost": "errors", "Edge.Pos": "a position",
	}
	for _, of := range []reflect.Type{reflect.TypeFor[core.Walk](), reflect.TypeFor[core.Node](), reflect.TypeFor[core.Edge]()} {
		for i := range of.NumField() {
			name := of.Name() + "." + of.Field(i).Name
			c, ok := changes[name]
			if ok == (notInPlans[name] != "") {
				t.Errorf("%s: want either a change of it or the reason why it is left out", name)
			}
			if !ok {
				continue
			}
			before, after := compiled(t, c.doc, func(*core.Workflow) {}), compiled(t, c.doc, c.change)
			if before != nil && after != nil && before.Fingerprint() == after.Fingerprint() {
				t.Errorf("%s changes and the fingerprint does not", name)
			}
		}
	}
}

// The limits of a run and the durability of its record do not change its results, so a stored run
// can be resumed after they have changed.
func TestFingerprintWithoutLimits(t *testing.T) {
	changes := map[string]func(r *core.Runtime){
		"Concurrency":    func(r *core.Runtime) { r.Concurrency = count(7) },
		"MaxInFlight":    func(r *core.Runtime) { r.MaxInFlight = count(7) },
		"Durability":     func(r *core.Runtime) { r.Durability = word("full") },
		"ConcurrencyKey": func(r *core.Runtime) { r.ConcurrencyKey = word("other") },
		"Overlap":        func(r *core.Runtime) { r.ConcurrencyKey, r.Overlap = word("other"), word("fail") },
		"Schedule":       nil, // a snapshot counts what is left of a level
	}
	before := compiled(t, "flow.yaml", func(*core.Workflow) {})
	for f := range reflect.TypeFor[core.Runtime]().Fields() {
		change, ok := changes[f.Name]
		if !ok {
			t.Errorf("Runtime.%s: want a change of it, or nil if the fingerprint includes it", f.Name)
		}
		if change == nil {
			continue
		}
		after := compiled(t, "flow.yaml", func(w *core.Workflow) { change(&w.Runtime) })
		if after.Fingerprint() != before.Fingerprint() || differences(before, after) != "" {
			t.Errorf("the fingerprint changes with Runtime.%s", f.Name)
		}
	}
}

// The default mode may be written out.
func TestFingerprintOfTheDefaultMode(t *testing.T) {
	written := compiled(t, "flow.yaml", func(w *core.Workflow) { w.Mode = core.ModeDAG })
	if left := compiled(t, "flow.yaml", func(w *core.Workflow) { w.Mode = "" }); written.Fingerprint() != left.Fingerprint() {
		t.Error("the fingerprint changes when the default mode is written out")
	}
}

// compiled compiles a document after a change of its workflow.
func compiled(t *testing.T, name string, change func(*core.Workflow)) *plan.Plan {
	t.Helper()
	if name == "steps" {
		return compileFiles(t, "flow.yaml", map[string]string{"flow.yaml": fieldsDoc, "inner.yaml": fieldsInner}, func(w *core.Workflow) {
			*w = *fieldsSteps()
			change(w)
		})
	}
	return compileFiles(t, name, map[string]string{"flow.yaml": fieldsDoc, "inner.yaml": fieldsInner, "g.dot": fieldsDOT, "t.yml": fieldsSWEny, "b.json": fieldsBuilder}, change)
}

// fieldsSteps returns a walk by steps.
func fieldsSteps() *core.Workflow {
	noop := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	until := word("$visits > 1")
	return &core.Workflow{Name: word("s"), Mode: core.ModeWalk,
		Nodes: []*core.Node{{ID: word("a"), Handler: noop}, {ID: word("b"), Handler: noop}},
		Edges: []*core.Edge{{From: word("a"), To: word("b")}},
		Walk: &core.Walk{Router: word(core.RouterSteps), Entry: word("a"),
			LoopUntil: []*core.LoopUntil{{Node: word("b"), ExitTo: word(core.EndNode), Until: &until}}}}
}

// other returns the configuration of a tool with another implementation.
func other(config *source.Value) *source.Value {
	c := *config
	c.Values = slices.Clone(c.Values)
	v := *c.Values[0]
	v.Scalar = "other"
	c.Values[0] = &v
	return &c
}

func count(n int) *source.Int { return &source.Int{Value: n} }

func word(s string) source.Text { return source.Text{Value: s} }
