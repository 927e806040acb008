package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// vertex is the run-time side of a plan.Vertex. It holds no pointers, so that the
// garbage collector passes over those of a large graph.
type vertex struct {
	pending  int32 // gates before the decision
	waits    int32 // fields before the start
	attempts int32
	phase    phase
	status   core.Status
	skip     skipReason
	handled  bool // an on: fail edge with handles: true led from it to a target that ran
	started  int64
	ended    int64
}

// fate says why a vertex failed or was skipped.
type fate struct {
	failure *core.Failure // nil unless it failed
	cause   int32         // vertex where the failure behind a skip began, -1 for none
	edge    int32         // edge that decided a skip, -1 for none
}

var noFate = fate{cause: -1, edge: -1}

// frame is one run of one graph: the run itself or a nested one.
type frame struct {
	m      *Machine
	id     int64
	p      *plan.Plan
	path   string
	parent *frame
	owner  ID // the work in the parent that this frame does
	mode   planner

	v         []vertex
	fates     []fate  // by vertex; nil until one does not end well
	judges    []int32 // gates left of each judge
	verdicts  []verdict
	ledger    *state.Ledger
	readersAt []int32 // next reader of each field
	doneAt    []int32 // first reader of each field that may yet look
	inputs    *core.Object
	outputs   []any              // by node; nil until somebody sends
	tasks     []task             // by vertex; nil until one is needed
	held      map[int32]*Outcome // results that wait for their commit, by vertex
	notes     map[int32]string
	trails    map[int32]trail      // of the attempts of plain nodes, by vertex
	usage     map[int32]core.Usage // what calls to models took, by node

	group      group
	ready      bitset // startable vertices that need a slot, by rank
	riding     bitset // vertices that hold their slot and can start more
	due        []gate // work list of settle
	unresolved int
	flying     int // handlers of this frame in flight
	children   int // nested frames alive
	clean      bool
	quiet      bool // nobody listens, and there are no inputs: a bare node is given nothing
	foreign    bool // code of the user's may run in it, see guard.go
	barrier    bool
	level      int32 // open level, with barrier
	levelLeft  int32
	stopped    bool
	failedRun  bool  // stopped by fail_run
	doomed     bool  // a failure is being resolved that stops it
	deadline   int64 // when the timeout of its node ends it, 0 for never
	expired    bool  // stopped by that

	pending map[ID]*pendingPlace // results that wait to be put in place
	placers []int32              // the vertices they are of, ascending
	claimAt int                  // claimers that are resolved without a gap

	changes map[int32]string // why nodes ended otherwise than their last attempts
	joins   []join
	arms    []int32 // gates left of each arm of a join
}

// gate is an entry of the work list.
type gate struct {
	kind gateKind
	at   int32
}

type gateKind uint8

const (
	decideGate gateKind = iota
	judgeGate
	commitGate
	levelGate
	joinGate
)

// task is a vertex that consists of many executions.
type task interface {
	slotHolder
	// canStart reports whether startOne would find something, limits included,
	// except for the slot of the task itself.
	canStart() bool
	// startOne starts one piece of user code and reports whether it did.
	startOne() bool
	// answer takes in an answer; false drops it.
	answer(e *Event) bool
	// holds reports whether the task holds a slot.
	holds() bool
	// find returns the execution that an id names, nil if it has ended.
	find(id ID) work
	// commit is called when it is the task's turn at refusing fields.
	commit()
	// stop ends what is neither started nor in flight.
	stop()
	// reissue issues again what is in flight, and sets the timers again.
	reissue()
}

func (m *Machine) newFrame(id int64, p *plan.Plan, path string, parent *frame, start []any, inputs *core.Object) *frame {
	f := &frame{
		m: m, id: id, p: p, path: path, parent: parent,
		v:          make([]vertex, len(p.Vertices)),
		ledger:     state.NewLedger(p.Schema, p.Writers, start, m.opts.Guard),
		inputs:     inputs,
		ready:      newBitset(len(p.Vertices)),
		riding:     newBitset(len(p.Vertices)),
		unresolved: len(p.Vertices),
		clean:      true,
		foreign:    m.opts.Guard != nil && p.Foreign,
	}
	f.quiet = !m.opts.Events && path == "" && inputs.Len() == 0
	if len(p.Readers) > 0 {
		at := make([]int32, 2*len(p.Readers))
		f.readersAt, f.doneAt = at[:len(p.Readers)], at[len(p.Readers):]
	}
	if len(p.Judges) > 0 {
		f.judges = make([]int32, len(p.Judges))
		f.verdicts = make([]verdict, len(p.Edges))
	}
	if len(p.Joins) > 0 {
		f.joins, f.arms = make([]join, len(p.Joins)), make([]int32, len(p.Arms))
	}
	f.group.limit = firstPositive(p.Concurrency, m.opts.Concurrency, 1)
	f.barrier = p.Barrier
	f.mode = newPlanner(f)
	m.frames = append(m.frames, f)
	if id != 0 {
		if m.nested == nil {
			m.nested = map[int64]*frame{}
		}
		m.nested[id] = f
	}
	return f
}

// ended reports whether nothing is left to do or to wait for.
func (f *frame) ended() bool {
	return f.unresolved == 0 || f.stopped && f.flying == 0 && f.children == 0
}

// settle works off the consequences of what was resolved.
func (f *frame) settle() {
	for len(f.due) > 0 {
		g := f.due[len(f.due)-1]
		f.due = f.due[:len(f.due)-1]
		switch g.kind {
		case decideGate:
			f.decide(g.at)
		case judgeGate:
			f.judge(g.at)
		case commitGate:
			f.commitTurn(g.at)
		case levelGate:
			f.openLevel()
		case joinGate:
			f.lookAtJoin(g.at)
		}
	}
}

func (f *frame) rank(v int32) int32 {
	if f.p.Rank == nil {
		return v
	}
	return f.p.Rank[v]
}

func (f *frame) byRank(r int32) int32 {
	if f.p.ByRank == nil {
		return r
	}
	return f.p.ByRank[r]
}

// startOne starts the first piece of user code that may start, in canonical
// order, and reports whether there was one.
func (f *frame) startOne() bool {
	for !f.stopped {
		r := f.riding.first()
		if f.group.active < f.group.limit {
			if q := f.ready.first(); q >= 0 && (r < 0 || q < r) {
				r = q
			}
		}
		if r < 0 {
			return false
		}
		v := f.byRank(r)
		if t := f.task(v); t != nil {
			started := t.startOne()
			f.settle()
			f.refresh(v)
			if started {
				return true
			}
			if !f.stopped && f.task(v) == t && t.canStart() {
				panic("machine: " + f.p.Vertices[v].ID + " says it can start and does not")
			}
			continue
		}
		f.ready.remove(r)
		if f.startPlain(v) {
			return true
		}
		f.settle()
	}
	return false
}

// canStart reports whether startOne would find something to look at.
func (f *frame) canStart() bool {
	if f.stopped {
		return false
	}
	return !f.riding.empty() || f.group.active < f.group.limit && !f.ready.empty()
}

// answer takes in an answer to work of this frame; false drops it.
func (f *frame) answer(e *Event) bool {
	if e.ID.Node < 0 { // about the frame as a whole
		return f.mode.answer(e)
	}
	if e.Kind == Placed || e.Kind == Gone {
		return f.answerPlaced(e)
	}
	if f.quiet && e.Kind == Finished && f.answerBare(e) {
		return true
	}
	v := f.p.Nodes[e.ID.Node].Vertex
	switch t, p := f.task(v), f.v[v].phase; {
	case t != nil:
		return (p == running || p == losing) && t.answer(e)
	case e.ID != f.plainID(v) || f.p.Vertices[v].Shape != plan.Plain:
		return false
	}
	return answer(plainNode{f, v}, e)
}

func (f *frame) task(v int32) task {
	if f.tasks == nil {
		return nil
	}
	return f.tasks[v]
}

func (f *frame) setTask(v int32, t task) {
	if f.tasks == nil {
		f.tasks = make([]task, len(f.v))
	}
	f.tasks[v] = t
}

// refresh puts a vertex with a task where startOne looks for it, or removes it.
func (f *frame) refresh(v int32) {
	t, r := f.task(v), f.rank(v)
	if t == nil {
		return
	}
	can := !f.stopped && f.v[v].phase == running && t.canStart()
	if can && t.holds() {
		f.riding.add(r)
	} else {
		f.riding.remove(r)
	}
	if can && !t.holds() {
		f.ready.add(r)
	} else {
		f.ready.remove(r)
	}
}

// at returns a field after its first k writers, which are resolved.
func (f *frame) at(field, k int) any { return f.ledger.At(field, k) }

// name returns the path of a node for events and errors.
func (f *frame) name(id string) string {
	if f.path == "" {
		return id
	}
	return f.path + "/" + id
}

// fate returns why a vertex failed or was skipped.
func (f *frame) fate(v int32) fate {
	if f.fates == nil {
		return noFate
	}
	return f.fates[v]
}

func (f *frame) setFate(v int32, why fate) {
	if f.fates == nil {
		f.fates = make([]fate, len(f.v))
		for i := range f.fates {
			f.fates[i] = noFate
		}
	}
	f.fates[v] = why
}

// setFailure notes the failure with which a vertex ends.
func (f *frame) setFailure(v int32, fail *core.Failure) {
	why := noFate
	why.failure = fail
	f.setFate(v, why)
}

// output returns what a node sent, Missing for nothing.
func (f *frame) output(node int32) any {
	if f.outputs == nil {
		return core.Missing
	}
	return f.outputs[node]
}

func (f *frame) setOutput(node int32, v any) {
	if f.outputs == nil {
		f.outputs = make([]any, len(f.p.Nodes))
		for i := range f.outputs {
			f.outputs[i] = core.Missing
		}
	}
	f.outputs[node] = v
}
