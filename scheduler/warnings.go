package scheduler

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// maxWarnings limits the number of distinct warnings that a run keeps; all are counted.
const maxWarnings = 100

// warnings holds the warnings of the handlers of a run.
type warnings struct {
	mu    sync.Mutex
	total int64
	of    map[core.NodeWarning]int64 // without their counts
}

func (w *warnings) add(node, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total++
	key := core.NodeWarning{Node: node, Text: text}
	if _, known := w.of[key]; !known && len(w.of) >= maxWarnings {
		return
	}
	if w.of == nil {
		w.of = map[core.NodeWarning]int64{}
	}
	w.of[key]++
}

// report returns the warnings by node and text, and the number of all warnings.
func (w *warnings) report() ([]core.NodeWarning, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []core.NodeWarning
	for key, n := range w.of {
		key.Count = n
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b core.NodeWarning) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Text, b.Text))
	})
	return list, w.total
}

// alarm turns the warnings of an attempt in a strict run into its failure. A nil alarm, as in other
// runs, does nothing.
type alarm struct {
	logs core.Logs
	node string // the node of the attempt

	mu    sync.Mutex
	first string // the first warning, or "" if there is none
}

// newAlarm returns the alarm of an attempt, nil unless the run is strict.
func (r *run) newAlarm(c *machine.Command) *alarm {
	if !r.opts.Strict {
		return nil
	}
	a := &alarm{node: c.Call.Name(c.Node)}
	a.logs = core.Logs{Handler: func(in core.Input) slog.Handler { return r.handler(in, a) }, Warned: a.err}
	return a
}

func (a *alarm) warn(node, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first != "" {
		return
	}
	if a.first = text; node != a.node { // the maker of a stream that the node reads
		a.first = "node " + node + ": " + text
	}
}

// err returns the failure of an attempt that has warned, nil if it has not.
func (a *alarm) err() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == "" {
		return nil
	}
	return strictly(a.first)
}

// strictly returns the failure for a warning in a strict run.
func strictly(warning string) *core.Failure {
	return &core.Failure{Class: core.ClassError, Category: core.Deterministic, Message: "a warning fails a strict run: " + warning}
}

// logs returns the destination of the log records of an attempt.
func (x *executor) logs() *core.Logs {
	if x.alarm != nil {
		return &x.alarm.logs
	}
	return x.run.baseInput.Logs
}

// warningText formats a record as one line.
func warningText(message string, values *value.Object) string {
	if values.Len() == 0 {
		return message
	}
	var parts []string
	for name, v := range values.All() {
		parts = append(parts, name+" "+value.JSON(v))
	}
	return message + " (" + strings.Join(parts, ", ") + ")"
}
