package scheduler

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// ForecastCache returns what a run with these inputs would find in a store for each node of p.CachedNodes. It
// runs no handler and stores nothing: a machine is given the results that the store has, as far as these
// lead. model is the model that nodes ask if they name none. The error reports inputs that do not fit.
func ForecastCache(ctx context.Context, p *plan.Plan, inputs map[string]any, s store.Cacher, model string) (map[string]*plan.CacheForecast, error) {
	m, err := machine.New(p, objectOf(inputs), machine.Options{Run: "plan", SingleItems: true, Concurrency: max(1, p.Concurrency) + len(p.Nodes), MaxInFlight: math.MaxInt32})
	if err != nil {
		return nil, err
	}
	r := newRun(ctx, p, Options{Run: "plan"})

	r.m, r.cache = m, &caching{run: r, store: s, codec: &journal.Codec{Plan: p, Secrets: secret.SealerOf(p.Secrets)}, model: model, files: map[string]fileSum{}}
	f := &cacheForecast{run: r, found: map[string]*plan.CacheForecast{}, lists: map[string]bool{}, running: map[string]bool{}}
	for answers := []machine.Event(nil); ; answers = answers[:0] {
		for commands := m.Next(); len(commands) > 0; commands = m.Next() {
			for i := range commands {
				if c := &commands[i]; c.Op == machine.OpRun {
					answers = f.look(answers, c)
				} else if c.Op == machine.OpTimer {
					f.running[c.Call.Name(c.Node)] = true
				}
			}
		}
		if len(answers) == 0 {
			break
		}
		for i := range answers {
			m.Apply(&answers[i])
		}
	}
	for _, name := range p.CachedNodes() {
		if f.found[name] == nil {
			f.found[name] = &plan.CacheForecast{Status: plan.CacheUnknown, Why: f.unknown(p, name)}
		}
	}
	return f.found, nil
}

// cacheForecast collects what a store has for the nodes of a run.
type cacheForecast struct {
	run     *run
	found   map[string]*plan.CacheForecast
	lists   map[string]bool // the fan-outs of which all items were found, or not, by path with numbers
	running map[string]bool // the nodes that would run
}

// look looks for the result of a command, and appends the answer if there is one.
func (f *cacheForecast) look(answers []machine.Event, c *machine.Command) []machine.Event {
	name := c.Call.Name(c.Node)
	path := plan.PartPath(name)
	if c.Node.Cache() == nil || c.Call == nil || c.Call.Route != nil || c.ID.Attempt != 1 {
		f.running[path] = true
		return answers
	}
	x := executor{run: f.run, w: f.run.makeWorker(), p: c.Plan, ctx: f.run.ctx, c: c, item: -1}
	e := machine.Event{Kind: machine.Finished, ID: c.ID}
	if c.Node.Source == nil {
		if !f.find(&x, path, -1, &e.Outcome) {
			return answers
		}
		return append(answers, e)
	}
	all, known := f.lists[name]
	if !known {
		list, _ := c.Call.Items.List()
		all = true
		for place := range lengthOf(list) {
			all = f.find(&x, path, place, &machine.Outcome{}) && all
		}
		f.lists[name] = all
	}
	e.Items = make([]machine.Outcome, 1)
	if key, err := f.run.cache.key(&x, int(c.ID.From)); !all || err != nil || !f.run.cache.load(&x, key, &e.Items[0]) {
		return answers
	}
	return append(answers, e)
}

// find looks for the result of an execution, and counts it.
func (f *cacheForecast) find(x *executor, path string, place int, o *machine.Outcome) bool {
	n := f.found[path]
	if n == nil {
		n = &plan.CacheForecast{}
		f.found[path] = n
	}
	n.Executions++
	key, err := f.run.cache.key(x, place)
	if err != nil {
		n.Why = err.Error()
	}
	var entry store.CacheEntry
	found := err == nil && f.run.cache.load(x, key, o)
	if found {
		if entry, err = f.run.cache.store.GetCached(x.ctx, key); err != nil {
			found = false
		}
	}
	if found {
		n.Hits++
		if age := max(0, time.Since(entry.Stored)); n.Run == "" || age > n.Age {
			n.Run, n.Age = entry.Run, age.Truncate(time.Second)
		}
	} else {
		f.running[path] = true
	}
	switch {
	case n.Hits == n.Executions:
		n.Status = plan.CacheHit
	case n.Hits > 0:
		n.Status = plan.CachePartial
	default:
		n.Status = plan.CacheMiss
	}
	return found
}

// unknown says why it is not known whether the store has a result of a node.
func (f *cacheForecast) unknown(p *plan.Plan, name string) string {
	for _, runs := range slices.Sorted(maps.Keys(f.running)) {
		if p.Mode.Visits || journal.Affected(p, []string{runs})[name] {
			return fmt.Sprintf("it depends on %s, which runs", runs)
		}
	}
	return "it would not run, or depends on nodes that run"
}

// lengthOf returns the length of a list of items.
func lengthOf(list any) int {
	if n, ok := list.([]any); ok {
		return len(n)
	}
	c, err := value.Canonical(list)
	if n, ok := c.([]any); err == nil && ok {
		return len(n)
	}
	return 0
}
