package cli

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
)

// walkedPath collects the visits of a walk from its events.
type walkedPath struct {
	list []walked
	at   map[walked]int // the place of each visit in list
}

// walked is a visit.
type walked struct {
	node  string
	visit int
}

// add adds the visit that an event begins. A resumed run begins visits again that it has not kept; the visits
// after them do not count.
func (w *walkedPath) add(e *core.Event) {
	if e.Type != core.NodeStarted || e.Visit == 0 || e.Unit != "" || e.Attempt > 1 || strings.Contains(e.Node, "/") {
		return
	}
	visit := walked{e.Node, e.Visit}
	if i, again := w.at[visit]; again {
		for _, dropped := range w.list[i:] {
			delete(w.at, dropped)
		}
		w.list = w.list[:i]
	}
	if w.at == nil {
		w.at = map[walked]int{}
	}
	w.at[visit] = len(w.list)
	w.list = append(w.list, visit)
}

// nodes returns the nodes in the order of their visits.
func (w *walkedPath) nodes() []string {
	nodes := make([]string, len(w.list))
	for i := range nodes {
		nodes[i] = w.list[i].node
	}
	return nodes
}

// printInspectedWalk prints the path of a walk and the changes of its graph.
func (a *app) printInspectedWalk(x *inspection) {
	if len(x.Path) > 0 {
		tty.Fprintf(a.Out, "\npath: %s\n", pathText(joinRepeats(x.Path)))
	} else if len(x.Changes) > 0 {
		tty.Fprintf(a.Out, "\n")
	}
	shown := min(len(x.Changes), maxChanges)
	(&changes{list: x.Changes[:shown], more: len(x.Changes) - shown}).print(a.Out)
}

// joinRepeats joins visits of the same node that follow each other: "refine ×3".
func joinRepeats(path []string) (list []string) {
	for i := 0; i < len(path); {
		n := 1
		for i+n < len(path) && path[i+n] == path[i] {
			n++
		}
		text := path[i]
		if n > 1 {
			text += fmt.Sprintf(" ×%d", n)
		}
		list, i = append(list, text), i+n
	}
	return list
}
