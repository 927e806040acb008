package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// walkScript is a handwritten walk: a few lines of text.
//
//	graph visits=3 target=a          settings of the graph
//	w attempts=3 does retry retry success | fail
//	start -> w -> exit
//	w -> b [when=outcome == 'fail'; weight=2; label=No; restart]
//
// A node is declared by its first line; start and exit need none. The word "does" is
// followed by its visits, separated by bars, each with the results of its attempts: a
// status, error, permanent or panic, followed by other parts of the result, as in
// fail,transient,k=1 or success,label=No. The last visit repeats, and so does the last
// attempt.
type walkScript struct {
	w        *core.Workflow
	handlers map[string]*scriptedHandler
	mu       sync.Mutex
	calls    map[string]int
	instant  bool // no execution takes time
}

// scripted parses a script. A script that it cannot parse is a bug in the test.
func scripted(doc string) *walkScript {
	s := &walkScript{w: &core.Workflow{Name: text("script"), Mode: core.ModeWalk, Walk: &core.Walk{}}, handlers: map[string]*scriptedHandler{}}
	s.node("start kind=start")
	for line := range strings.Lines(doc) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case strings.HasPrefix(line, "graph "):
			s.graph(strings.Fields(line)[1:])
		case strings.Contains(line, "->"):
			s.edges(line)
		default:
			s.node(line)
		}
	}
	s.node("exit kind=exit")
	return s
}

func integer(s string) *source.Int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("schedulertest: " + err.Error())
	}
	return &source.Int{Value: n}
}

func (s *walkScript) graph(settings []string) {
	for _, set := range settings {
		switch k, v, _ := strings.Cut(set, "="); k {
		case "visits":
			s.w.Walk.MaxVisits = integer(v)
		case "jumps":
			s.w.Walk.MaxJumps = integer(v)
		case "repeat":
			s.w.Walk.RepeatLimit = integer(v)
		case "retries":
			s.w.Walk.MaxRetries = integer(v)
		case "target":
			s.w.Walk.RetryTarget = text(v)
		case "fallback":
			s.w.Walk.FallbackRetryTarget = text(v)
		case "field":
			name, merge, _ := strings.Cut(v, ":")
			s.w.Fields = append(s.w.Fields, core.FieldDecl{Name: text(name), Merge: text(merge), Type: &value.Type{Kind: value.IntegerType}, Default: value.Missing})
		default:
			panic("schedulertest: graph has no " + k)
		}
	}
}

func (s *walkScript) node(line string) {
	line, does, acts := strings.Cut(line, " does ")
	words := strings.Fields(line)
	n := &core.Node{ID: text(words[0]), HasWrites: true}
	for _, set := range words[1:] {
		switch k, v, _ := strings.Cut(set, "="); k {
		case "kind":
			n.Kind = text(v)
		case "attempts":
			n.OnError = &core.OnError{Policy: text("retry"), Attempts: integer(v)}
		case "policy":
			n.OnError = &core.OnError{Policy: text("retry"), Preset: text(v)}
		case "allow_partial":
			n.AllowPartial = true
		case "auto_status":
			n.AutoStatus = true
		case "gate":
			n.GoalGate = true
		case "target":
			n.RetryTarget = text(v)
		case "fallback":
			n.FallbackRetryTarget = text(v)
		case "visits":
			n.MaxVisits = integer(v)
		case "writes":
			n.Writes = append(n.Writes, text(v))
		case "join":
			n.Join = joinNamed(v)
		case "most", "errors":
			if n.Parallel == nil {
				n.Parallel = &core.Parallel{}
			}
			if k == "most" {
				n.Parallel.MaxParallel = integer(v)
			} else {
				n.Parallel.ErrorPolicy = text(v)
			}
		default:
			panic("schedulertest: a node has no " + k)
		}
	}
	if n.Kind.Value == "" || n.Kind.Value == "human" {
		h := &scriptedHandler{s: s}
		for visit := range strings.SplitSeq(does, "|") {
			h.visits = append(h.visits, strings.Fields(visit))
		}
		if !acts {
			h.visits = [][]string{{"success"}}
		}
		if s.handlers[n.ID.Value] = h; n.Kind.Value == "" {
			n.Kind, n.Handler = text("fn"), h
		}
	}
	s.w.Nodes = append(s.w.Nodes, n)
}

func joinNamed(v string) *core.Join {
	policy, number, _ := strings.Cut(v, ":")
	j := &core.Join{Policy: text(policy)}
	switch policy {
	case core.JoinKOfN:
		j.Count = integer(number)
	case core.JoinQuorum:
		f, _ := strconv.ParseFloat(number, 64)
		j.Fraction = &source.Located[float64]{Value: f}
	}
	return j
}

func (s *walkScript) edges(line string) {
	line, settings, _ := strings.Cut(strings.TrimSuffix(line, "]"), "[")
	ids := strings.Split(line, "->")
	for i := range ids[1:] {
		e := &core.Edge{From: text(strings.TrimSpace(ids[i])), To: text(strings.TrimSpace(ids[i+1]))}
		for set := range strings.SplitSeq(settings, ";") {
			switch k, v, _ := strings.Cut(strings.TrimSpace(set), "="); k {
			case "":
			case "when":
				e.When = condition(v)
			case "label":
				e.Label = text(v)
			case "weight":
				e.Weight = *integer(v)
			case "restart":
				e.LoopRestart = true
			default:
				panic("schedulertest: an edge has no " + k)
			}
		}
		s.w.Edges = append(s.w.Edges, e)
	}
}

// workflow returns the workflow and the registry of one run, and resets the counts of
// calls.
func (s *walkScript) workflow() (*core.Workflow, *core.Registry) {
	s.calls = map[string]int{}
	reg := core.NewRegistry()
	for i, name := range roleNames[1:] {
		reg.AddKind(scriptedKind{s, name, core.Role(i + 1)})
	}
	return s.w, reg
}

// scriptedKind is the kind of the nodes with a role.
type scriptedKind struct {
	s    *walkScript
	name string
	role core.Role
}

func (k scriptedKind) Name() string { return k.name }
func (scriptedKind) Keys() []string { return nil }

func (k scriptedKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	c := core.Compiled{Role: k.role}
	if h, ok := k.s.handlers[n.ID.Value]; ok {
		c.Handler = h
	}
	return c, nil
}

type scriptedHandler struct {
	s      *walkScript
	visits [][]string
}

// Handle executes the script for this attempt.
func (h *scriptedHandler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	h.s.mu.Lock()
	h.s.calls[in.Node()]++
	h.s.mu.Unlock()
	attempts := h.visits[max(1, min(in.Visit(), len(h.visits)))-1]
	parts := strings.Split(attempts[min(in.Attempt(), len(attempts))-1], ",")
	r := core.Result{Routing: &core.Routing{Context: map[string]any{}}}
	for _, set := range parts[1:] {
		switch k, v, _ := strings.Cut(set, "="); k {
		case "transient":
			r.Routing.Category = core.TransientInfra
		case "label":
			r.Routing.PreferredLabel = v
		case "next":
			r.Routing.SuggestedNext = append(r.Routing.SuggestedNext, v)
		case "note":
			r.Note = v
		case "write":
			r.Delta = map[string]any{v: int64(in.Visit())}
		case "after":
			if h.s.instant {
				break
			}
			select {
			case <-time.After(time.Duration(integer(v).Value) * time.Second):
			case <-ctx.Done():
				return core.Result{}, ctx.Err()
			}
		default:
			r.Routing.Context[k] = v
		}
	}
	switch parts[0] {
	case "error":
		if r.Routing.Category != "" {
			return r, core.Categorized(errors.New("broken"), r.Routing.Category)
		}
		return r, fmt.Errorf("broken in attempt %d", in.Attempt())
	case "permanent":
		return r, core.Permanent(errors.New("broken for good"))
	case "panic":
		panic("broken")
	}
	return r, r.Status.UnmarshalText([]byte(parts[0]))
}
