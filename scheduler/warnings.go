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

// warnings holds what the handlers of a run warned of.
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

// report returns the warnings by node and text, and how many there were in all.
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

// alarm makes the warnings of one attempt in a strict run its failure. A nil alarm, that
// of other runs, never does.
type alarm struct {
	logs core.Logs
	node string // whose attempt it is

	mu    sync.Mutex
	first string // "" for none
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
	if a.first = text; node != a.node { // that of a stream it reads
		a.first = "node " + node + ": " + text
	}
}

// err is the failure of an attempt that has warned, nil for others.
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

// strictly is the failure that a warning is in a strict run.
func strictly(warning string) *core.Failure {
	return &core.Failure{Class: core.ClassError, Category: core.Deterministic, Message: "a warning fails a strict run: " + warning}
}

// logs is where the log records of an attempt go.
func (x *executor) logs() *core.Logs {
	if x.alarm != nil {
		return &x.alarm.logs
	}
	return x.run.bare.Logs
}

// warningText is a record on one line.
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
