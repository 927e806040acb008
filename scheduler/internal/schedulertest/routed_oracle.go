package schedulertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// OracleRouted runs a walk according to the rules, in the simplest way, and returns the
// expected log: a line for each visit, each step and the end.
func OracleRouted(g *RoutedGraph) []string {
	o := &routedOracle{g: g, data: map[string]any{}, evals: map[string]*value.Object{}, visits: map[string]int{}, failed: map[string]bool{}, followed: map[[2]string]int{}}
	o.walk(g.Nodes[0].ID)
	o.say("context %s", o.context())
	return o.log
}

type routedOracle struct {
	g        *RoutedGraph
	data     map[string]any
	evals    map[string]*value.Object
	visits   map[string]int
	failed   map[string]bool
	path     []string
	followed map[[2]string]int
	log      []string
}

func (o *routedOracle) say(format string, args ...any) {
	o.log = append(o.log, fmt.Sprintf(format, args...))
}

func (o *routedOracle) context() string {
	all := value.ObjectOf(core.InputsKey, value.NewObject(0))
	inputs, _ := all.Get(core.InputsKey)
	given := o.g.Inputs()
	for _, k := range sortedKeys(given) {
		inputs.(*value.Object).Set(k, given[k])
	}
	for id, v := range o.data { // sortedJSON sorts the keys
		all.Set(id, v)
	}
	return sortedJSON(all)
}

func (o *routedOracle) walk(id string) {
	limit := o.g.Steps
	if limit == 0 {
		limit = core.DefaultMaxSteps
	}
	for {
		if len(o.path) == limit {
			o.say("failed %s", core.ClassVisitLimit)
			return
		}
		o.path = append(o.path, id)
		if !o.visit(id) {
			o.say("failed %s", core.ClassError)
			return
		}
		next, ended := o.next(id)
		if ended {
			return
		}
		id = next
	}
}

// visit runs a node; it returns false if the run ends.
func (o *routedOracle) visit(id string) bool {
	n := o.g.Nodes[slices.IndexFunc(o.g.Nodes, func(n *RoutedNode) bool { return n.ID == id })]
	o.visits[id]++
	saw, previous := o.context(), ""
	for attempt := 1; ; attempt++ {
		r, err := o.g.act(n, o.visits[id], attempt, saw, previous)
		if err != nil {
			o.say("%s fail after %d", id, attempt)
			return false
		}
		if previous = r.Note; r.Status == core.Retry && attempt < n.Attempts {
			continue
		}
		if r.Status == core.Retry {
			r.Status = core.Fail
		}
		status := r.Status
		if status == core.StatusNone {
			status = core.Success
		}
		o.say("%s %s after %d", id, status, attempt)
		o.failed[id] = status == core.Fail
		if o.data[id] = value.NewObject(0); r.HasEdgeOutput {
			o.data[id] = r.EdgeOutput
		}
		if delete(o.evals, id); r.Routing != nil {
			o.evals[id] = r.Routing.Evals
			o.addEvals(id)
		}
		return true
	}
}

// addEvals adds the checks of a result to it for later nodes, unless the result is not an
// object or has such a member already.
func (o *routedOracle) addEvals(id string) {
	sent, isObject := o.data[id].(*value.Object)
	if !isObject || o.evals[id] == nil {
		return
	}
	seen := value.NewObject(sent.Len() + 1)
	for k, v := range sent.All() {
		seen.Set(k, v)
	}
	if _, exists := seen.Get(core.EvalsKey); !exists {
		seen.Set(core.EvalsKey, o.evals[id])
	}
	o.data[id] = seen
}

// next decides which node the walk visits next.
func (o *routedOracle) next(id string) (next string, ended bool) {
	var open []*RoutedEdge
	conditional := false
	for _, e := range o.g.Edges {
		if e.From != id {
			continue
		}
		conditional = conditional || e.When != ""
		if e.Max == 0 || o.followed[[2]string{e.From, e.To}] < e.Max {
			open = append(open, e)
		}
	}
	if o.g.DryRun && conditional {
		o.say("%s -> (end) dry_run: dry run", id)
		return "", o.end()
	}
	if len(open) == 0 {
		return "", o.end()
	}
	if len(open) == 1 && open[0].When == "" {
		return o.follow(open[0], core.StepUnconditional), false
	}
	var choices []core.RouteChoice
	fallback := core.NoRoute
	for i, e := range open {
		choices = append(choices, core.RouteChoice{Target: e.To, When: e.When})
		if e.When == "" {
			fallback = i
		}
	}
	a, err := o.g.answer(id, o.visits[id], o.view()+fmt.Sprint(o.failures(), fallback), choices)
	if err != nil {
		o.say("failed %s", core.ClassError)
		return "", true
	}
	switch {
	case a.Choice >= 0 && a.Choice < len(open) && a.Choice != fallback:
		return o.follow(open[a.Choice], core.StepModel), false
	case fallback >= 0:
		return o.follow(open[fallback], core.StepFallback), false
	case a.Choice == core.NoRoute && !a.Unusable:
		o.say("%s -> (end) none: no condition fits", id)
	default:
		o.say("%s -> (end) none: invalid route target", id)
	}
	return "", o.end()
}

func (o *routedOracle) follow(e *RoutedEdge, step string) string {
	o.followed[[2]string{e.From, e.To}]++
	reason := "only path"
	if e.When != "" {
		reason = e.When
	}
	o.say("%s -> %s %s: %s", e.From, e.To, step, reason)
	return e.To
}

func (o *routedOracle) failures() []string {
	failed := []string{}
	for id, yes := range o.failed {
		if yes {
			failed = append(failed, id)
		}
	}
	slices.Sort(failed)
	return failed
}

func (o *routedOracle) end() bool {
	if len(o.failures()) > 0 {
		o.say("failed %s", core.ClassError)
	} else {
		o.say("success")
	}
	return true
}

// view returns the view of the model.
func (o *routedOracle) view() string {
	view := value.NewObject(len(o.data))
	for _, n := range o.g.Nodes {
		sent, ok := o.data[n.ID]
		if !ok {
			continue
		}
		object, isObject := sent.(*value.Object)
		entry := value.NewObject(4)
		switch {
		case n.Shown != nil:
			for _, name := range n.Shown {
				entry.Set(name, nil)
				if isObject {
					if v, ok := object.Get(name); ok {
						entry.Set(name, v)
					}
				}
			}
		case isObject:
			for k, v := range object.All() {
				entry.Set(k, v)
			}
		case o.evals[n.ID] == nil:
			view.Set(n.ID, sent)
			continue
		default:
			entry.Set("output", sent)
		}
		if e := o.evals[n.ID]; e != nil {
			entry.Set(core.EvalsKey, e)
		}
		view.Set(n.ID, entry)
	}
	return sortedJSON(view)
}

// RoutedLog formats a run in the format of the oracle.
func RoutedLog(r *core.Report, events []core.Event) []string {
	var log []string
	for _, e := range events {
		switch e.Type {
		case core.NodeFinished, core.NodeFailed:
			log = append(log, fmt.Sprintf("%s %s after %d", e.Node, e.Status, attempts(events, e)))
		case core.EdgeChosen:
			log = append(log, fmt.Sprintf("%s -> %s %s: %s", e.From, e.To, e.Step, e.Reason))
		}
	}
	end := "success"
	if f, ok := errors.AsType[*core.Failure](r.Err); ok {
		end = "failed " + f.Class
	}
	log = append(log, strings.TrimSpace(end))
	c, _ := r.State.Get(core.ContextField)
	return append(log, "context "+sortedJSON(c.(*value.Object)))
}

// attempts counts the attempts of the visit that ended with the event.
func attempts(events []core.Event, end core.Event) int {
	n := 0
	for _, e := range events {
		if e.Type == core.NodeStarted && e.Node == end.Node && e.Visit == end.Visit {
			n++
		}
	}
	return n
}
