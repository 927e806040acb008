package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// FlowGraph is a flow together with the replies of its agents and the decisions of people, as plain
// data like [Graph].
type FlowGraph struct {
	Seed  uint64
	Nodes []*FlowGraphNode // the first one is the start
	Edges []FlowGraphEdge
	Most  int // the limit of arrivals, 0 for the default
	Fail  int // the chance in percent that a reply is an error
	Silly int // the chance in percent that a person does not decide at first
	Leave int // the chance in percent that there is no decision
	// Approve makes every decision an approval.
	Approve bool
}

// FlowGraphNode is a node of a flow.
type FlowGraphNode struct {
	ID, Type   string
	Conditions []core.FlowCondition
	Attempts   int
}

// FlowGraphEdge is an edge between two nodes; To need not be a node.
type FlowGraphEdge struct{ From, To, Handle string }

// String formats the graph.
func (g *FlowGraph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d most %d fail %d silly %d leave %d\n", g.Seed, g.Most, g.Fail, g.Silly, g.Leave)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s %s %v attempts %d\n", n.ID, n.Type, n.Conditions, n.Attempts)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s %s\n", e.From, e.To, e.Handle)
	}
	return b.String()
}

// flowWords are the words of replies and conditions.
var flowWords = []string{"Yes", "no", "maybe", "yes "}

// GenerateFlow returns the flow of a seed. It always compiles.
func GenerateFlow(seed uint64) *FlowGraph {
	rng := rand.New(rand.NewPCG(seed, 0x666c6f77))
	chance := func(percent int) bool { return rng.IntN(100) < percent }
	g := &FlowGraph{Seed: seed, Most: 40}
	if chance(20) {
		g.Most = 1 + rng.IntN(15)
	}
	if chance(15) {
		g.Fail = 8
	}
	if chance(30) {
		g.Silly = 50
	}
	if chance(8) {
		g.Leave = 30
	}
	types := []string{"agent", "agent", "agent", "agent", "if", "approval", "approval", "other"}
	g.Nodes = append(g.Nodes, &FlowGraphNode{ID: "s", Type: "start"})
	for i := range 2 + rng.IntN(9) {
		n := &FlowGraphNode{ID: fmt.Sprintf("n-%d", i), Type: types[rng.IntN(len(types))], Attempts: 1}
		if n.Type == "agent" && chance(25) {
			n.Attempts = 2
		}
		if n.Type == "if" {
			for range rng.IntN(4) {
				n.Conditions = append(n.Conditions, core.FlowCondition{Contains: chance(50), Value: append(flowWords, "", " YES")[rng.IntN(len(flowWords)+2)]})
			}
		}
		g.Nodes = append(g.Nodes, n)
	}
	handle := func(n *FlowGraphNode) string {
		switch n.Type {
		case "if":
			return []string{"condition-0", "condition-1", "condition-2", "false", "false", "true", "output"}[rng.IntN(7)]
		case "approval":
			return []string{"approve", "approve", "approve", "reject", "output"}[rng.IntN(5)]
		}
		return []string{"", "output", "approve"}[rng.IntN(3)]
	}
	edge := func(from int, to string) {
		g.Edges = append(g.Edges, FlowGraphEdge{g.Nodes[from].ID, to, handle(g.Nodes[from])})
	}
	for i := 1; i < len(g.Nodes); i++ {
		edge(rng.IntN(i), g.Nodes[i].ID)
	}
	for range rng.IntN(10) {
		from, to := rng.IntN(len(g.Nodes)), 1+rng.IntN(len(g.Nodes)-1)
		if from < to || chance(25) {
			edge(from, g.Nodes[to].ID)
		}
	}
	if chance(10) {
		edge(rng.IntN(len(g.Nodes)), "gone")
	}
	rng.Shuffle(len(g.Edges), func(i, j int) { g.Edges[i], g.Edges[j] = g.Edges[j], g.Edges[i] })
	return g
}

// Workflow returns the graph as a workflow with its handlers.
func (g *FlowGraph) Workflow() *core.Workflow {
	w := &core.Workflow{Name: text("flow"), Mode: core.ModeFlow, Flow: &core.Flow{MaxArrivals: number(g.Most)}}
	for _, n := range g.Nodes {
		out := &core.Node{ID: text(n.ID), Kind: text(n.Type), Flow: &core.FlowNode{Role: map[string]core.FlowRole{
			"start": core.FlowStart, "if": core.FlowIf, "approval": core.FlowApproval, "other": core.FlowUnknown}[n.Type],
			Conditions: n.Conditions, Output: "begin"}}
		if n.Type == "agent" {
			out.Handler = core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
				input, _ := in.Shared().Edges.Get("input")
				v, err := g.reply(n.ID, in.Visit(), in.Attempt(), input)
				if err != nil {
					return core.Result{}, err
				}
				return core.Send(v), nil
			})
			if n.Attempts > 1 {
				out.OnError = &core.OnError{Policy: text("retry"), Attempts: number(n.Attempts), RetryOn: text("any")}
			}
		}
		w.Nodes = append(w.Nodes, out)
	}
	for _, e := range g.Edges {
		w.Edges = append(w.Edges, &core.Edge{From: source.Text{Value: e.From}, To: source.Text{Value: e.To}, Label: source.Text{Value: e.Handle}})
	}
	return w
}

var errReply = errors.New("the backend is away")

// reply returns what an agent answers.
func (g *FlowGraph) reply(id string, arrival, attempt int, input any) (any, error) {
	h := digest(g.Seed, "reply", id, fmt.Sprint(arrival), core.FlowText(input))
	if n := g.node(id); chance(draw(h, fmt.Sprint("error ", attempt)), g.Fail) || attempt < n.Attempts && chance(draw(h, "again"), 50) {
		return nil, errReply
	}
	word := flowWords[draw(h, "word")%uint64(len(flowWords))]
	switch draw(h, "form") % 6 {
	case 0:
		return value.ObjectOf("Kind", word, "at", int64(arrival)), nil
	case 1:
		return nil, nil
	case 2:
		return word + " from " + id, nil
	}
	return word, nil
}

// decision returns the word and the note of a person; the word is "" if there is no
// decision.
func (g *FlowGraph) decision(id string, arrival int) (word, note string) {
	h := digest(g.Seed, "decision", id, fmt.Sprint(arrival))
	switch {
	case chance(draw(h, "leave"), g.Leave):
		return "", ""
	case !g.Approve && chance(draw(h, "reject"), 25):
		return "reject", "no " + id
	}
	return "approve", ""
}

func (g *FlowGraph) node(id string) *FlowGraphNode {
	for _, n := range g.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// Ask answers as the person of the graph, in some letters and after some nonsense.
func (g *FlowGraph) Ask(_ context.Context, q core.Question) (core.Answer, error) {
	h := digest(g.Seed, "ask", q.Node, fmt.Sprint(q.Visit))
	if q.Again == "" && chance(draw(h, "silly"), g.Silly) {
		return core.Answer{Text: "do not reject"}, nil
	}
	word, note := g.decision(q.Node, q.Visit)
	if word == "" {
		return core.Answer{}, core.ErrUnanswered
	}
	if chance(draw(h, "capitals"), 50) {
		word = strings.ToUpper(word)
	}
	return core.Answer{Text: word, Note: note}, nil
}
