// Package timeline lists the executions of a run from its events, and finds the chain of attempts and
// waits that decided when the run ended.
package timeline

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// StatusOpen is the status of an execution that has not ended.
const StatusOpen = "open"

// noWait is the time between ready and started up to which an execution has not waited for a slot: it
// is the time that the engine takes.
const noWait = time.Millisecond

// Run is the timeline of a run. An execution is all attempts for one node, item, row, round or visit.
// The zero Run is empty.
type Run struct {
	// Generations are the generations of nodes that begin from now on, by the path of the node
	// without indexes; see core.Input.IdempotencyKey.
	Generations map[string]int

	all   []*Execution
	open  map[place]*Execution
	asked map[place]*Execution     // what a person has to let begin
	ready map[string]moment        // the last one of each node
	first map[string]time.Duration // how long fan-outs have waited whose first item has not begun
	ends  []attemptEnd             // in order
	outer map[string]bool          // paths of nodes that contain others
	// repeated are the pauses of nodes that contain others, in the order in which they ended.
	repeated []repeat
	breaks   []int // the events with which the run continued after an interruption
	start    time.Time
	seq      int // the number of events so far
}

// Execution is one execution. Times are since the start of the run.
type Execution struct {
	place
	Kind    string
	Attempt int    // the last one
	Status  string // StatusOpen if it has not ended
	Key     string // its idempotency key
	Started time.Duration
	Ended   time.Duration // 0 if it has not ended
	Waited  time.Duration // for a slot before its first attempt, after everything else was there
	Pauses  []Pause       // in order
	asked   *Pause        // a person had to let it begin
	ready   int           // place of these in the order of all events
	started int
	ended   int
}

// place identifies an execution among the executions that are open at a time.
type place struct {
	Path  string
	Item  core.Ordinal
	Round core.Ordinal
	Visit int
}

type moment struct {
	seq int
	at  time.Time
}

// Name returns the path with the index of the item or round in brackets, if there is one.
func (p place) Name() string {
	e := core.Event{Node: p.Path, Item: p.Item, Round: p.Round}
	return e.Execution()
}

// Add adds the next event. It does not keep it.
func (t *Run) Add(e *core.Event) {
	t.seq++
	if t.start.IsZero() {
		t.start, t.open, t.ready, t.outer = e.Time, map[place]*Execution{}, map[string]moment{}, map[string]bool{}
		t.asked = map[place]*Execution{}
		t.first = map[string]time.Duration{}
	}
	if e.Type == core.RunResumed {
		t.breaks = append(t.breaks, t.seq)
	}
	if e.Node == "" {
		return
	}
	switch e.Type {
	case core.NodeReady:
		t.ready[e.Node] = moment{t.seq, e.Time}
	case core.NodeStarted:
		if _, fanOut := e.Total.Get(); !fanOut {
			t.begin(e)
		} else if r, ok := t.ready[e.Node]; ok {
			t.first[e.Node] = e.Time.Sub(r.at)
		}
	case core.ItemStarted, core.NodeRepeated:
		t.begin(e)
	case core.NodeRetrying:
		t.pause(e, RetryDelay)
	case core.NodeAsked:
		t.pause(e, Answer)
	case core.NodeAnswered:
		t.answered(e)
	case core.ItemFinished, core.ItemFailed, core.NodeFinished, core.NodeFailed:
		t.end(e)
	}
}

func placeOf(e *core.Event) place { return place{e.Node, e.Item, e.Round, e.Visit} }

func (t *Run) begin(e *core.Event) {
	at := placeOf(e)
	x := t.open[at]
	if x == nil {
		if x = t.asked[at]; x == nil {
			x = &Execution{place: at}
		}
		x.Kind, x.Status, x.Started, x.started = e.Kind, StatusOpen, e.Time.Sub(t.start), t.seq
		x.Key = t.key(e)
		if r, ok := t.ready[e.Node]; ok {
			x.ready = r.seq
			waited := e.Time.Sub(r.at)
			if at.Item != 0 { // the fan-out has waited, for its first item
				waited = t.first[e.Node]
				delete(t.first, e.Node)
			}
			if waited > noWait {
				x.Waited = waited
			}
		}
		t.let(x)
		if i := strings.LastIndexByte(e.Node, '/'); i >= 0 {
			t.outer[plan.PartPath(e.Node[:i])] = true
		}
		t.open[at] = x
		t.all = append(t.all, x)
	} else {
		t.proceed(x, e)
	}
	x.Attempt = e.Attempt
}

// key returns the idempotency key of an execution.
func (t *Run) key(e *core.Event) string {
	key := e.Run + "/" + e.Node
	if i, ok := e.Item.Get(); ok {
		key += "[" + strconv.Itoa(i) + "]"
	}
	if i, ok := e.Round.Get(); ok {
		key += "#" + strconv.Itoa(i)
	}
	if e.Visit > 0 {
		key += "#" + strconv.Itoa(e.Visit)
	}
	if g := t.Generations[plan.PartPath(e.Node)]; g > 1 {
		key += "~" + strconv.Itoa(g)
	}
	return key
}

func (t *Run) end(e *core.Event) {
	at := placeOf(e)
	x := t.open[at]
	if x == nil { // a fan-out as a whole, or an item that was cancelled
		return
	}
	t.proceed(x, e)
	delete(t.open, at)
	x.Status, x.Ended, x.ended = e.Status, e.Time.Sub(t.start), t.seq
	t.ends = append(t.ends, attemptEnd{x, len(x.Pauses), t.seq})
}

// Executions lists all executions in the order of their starts. If a resumed run has executed several
// with the same key, it lists only the last one.
func (t *Run) Executions() []*Execution {
	last := make(map[string]*Execution, len(t.all))
	for _, x := range t.all {
		last[x.Key] = x
	}
	return slices.DeleteFunc(slices.Clone(t.all), func(x *Execution) bool { return last[x.Key] != x })
}
