package schedulertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// StepsLogOf formats a run in the format of the oracle.
func StepsLogOf(r *core.Report, events []core.Event) *StepsLog {
	log := &StepsLog{}
	for _, e := range events {
		switch e.Type {
		case core.NodeFinished, core.NodeFailed:
			log.Walk = append(log.Walk, fmt.Sprintf("%s#%d %s after %d", e.Node, e.Visit, e.Status, attempts(events, e)))
		case core.EdgeChosen:
			log.Walk = append(log.Walk, fmt.Sprintf("%s -> %s %s", e.Node, e.To, e.Step))
			log.Results = append(log.Results, fmt.Sprintf("%s#%d called %q, guards failed %q", e.Node, e.Visit, stringsOf(e.Values, "tool_calls"), stringsOf(e.Values, "guards_failed")))
			log.panicked(&e)
		case core.GraphChanged:
			log.Changes = append(log.Changes, fmt.Sprintf("%s#%d accepted %s", e.Node, e.Visit, e.Step))
		case core.GraphRejected:
			log.Changes = append(log.Changes, fmt.Sprintf("%s#%d rejected %s", e.Node, e.Visit, e.Step))
		}
	}
	end := string(r.Status)
	if f, ok := errors.AsType[*core.NodeError](r.Err); ok {
		switch f.Failure.Class {
		case core.ClassMaxIterations, core.ClassNodeBudget, core.ClassUnknownNode:
			end += " " + f.Failure.Class
		default:
			end += " " + core.ClassError + " at " + f.Node
		}
	}
	log.Walk = append(log.Walk, end)
	state := r.State
	if c, ok := r.State.Get(core.ContextField); ok {
		state, _ = c.(*value.Object)
	}
	log.State = sortedJSON(state)
	return log
}

// panicked adds the conditions that panicked before an edge was chosen.
func (l *StepsLog) panicked(e *core.Event) {
	list, _ := e.Values.Get("conditions")
	conditions, _ := list.([]any)
	for _, c := range conditions {
		o := c.(*value.Object)
		to, _ := o.Get("to")
		if p, _ := o.Get("panicked"); p == true {
			l.Panicked = append(l.Panicked, fmt.Sprintf("%s#%d to %v", e.Node, e.Visit, to))
		}
	}
}

// stringsOf returns a list of strings in an event.
func stringsOf(o *value.Object, key string) (list []string) {
	v, _ := o.Get(key)
	all, _ := v.([]any)
	for _, s := range all {
		list = append(list, s.(string))
	}
	return list
}

// outermost returns the log without nested runs.
func (l *StepsLog) outermost() *StepsLog {
	nested := func(line string) bool { return strings.Contains(line, "/") }
	return &StepsLog{Walk: slices.DeleteFunc(slices.Clone(l.Walk), nested), Changes: slices.DeleteFunc(slices.Clone(l.Changes), nested)}
}
