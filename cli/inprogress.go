package cli

import (
	"fmt"
	"strings"
	"sync"

	"github.com/wavefold/wavefold/core"
)

// inProgress tracks the executions in progress, so that an interrupt can report what the
// command waits for.
type inProgress struct {
	mu   sync.Mutex
	open []execution // in the order of their starts
}

// execution is a node, item, row or round in progress.
type execution struct {
	node        string
	item, round core.Ordinal
}

// apply updates the list with an event.
func (a *inProgress) apply(e *core.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := execution{e.Node, e.Item, e.Round}
	switch e.Type {
	case core.NodeStarted, core.ItemStarted:
		if e.Node != "" && e.Total == 0 { // not a unit or a fan-out as a whole
			a.open = append(a.open, x)
		}
	case core.NodeRetrying, core.NodeFinished, core.NodeFailed, core.ItemFinished, core.ItemFailed:
		for i, o := range a.open {
			if o == x {
				a.open = append(a.open[:i], a.open[i+1:]...)
				return
			}
		}
	}
}

// maxAwaited is the maximum number of nodes that a message names.
const maxAwaited = 3

// String lists the nodes in progress: "load, score (4 items) and 2 more".
func (a *inProgress) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var nodes []string
	items := map[string]int{}
	for _, x := range a.open {
		if _, ok := items[x.node]; !ok && !a.isEnclosing(x.node) {
			nodes = append(nodes, x.node)
		}
		items[x.node]++
	}
	if len(nodes) == 0 {
		return "what runs"
	}
	for i, n := range nodes {
		if items[n] > 1 {
			nodes[i] = fmt.Sprintf("%s (%d items)", n, items[n])
		}
	}
	more := ""
	if n := len(nodes) - maxAwaited; n > 0 {
		nodes, more = nodes[:maxAwaited], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(nodes, ", ") + more
}

// isEnclosing reports whether a node is a nested workflow that has an execution in progress.
func (a *inProgress) isEnclosing(node string) bool {
	for _, x := range a.open {
		if strings.HasPrefix(x.node, node+"/") || strings.HasPrefix(x.node, node+"[") {
			return true
		}
	}
	return false
}
